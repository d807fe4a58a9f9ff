//! AXI4: five channels, INCR bursts of whole bus words.

use std::collections::VecDeque;

use super::{Channel, Violation};
use crate::signals::{DriveInputs, DriveOutputs, Inputs, MAX_BEAT_BYTES, Outputs};

#[derive(Clone, Copy, Debug)]
pub struct AxiSample<'s> {
    /// Valid, ready, identifier, address, beats - 1.
    pub aw: (u8, u8, u8, u64, u8),
    /// Valid, ready, strobes, last.
    pub w: (u8, u8, u64, u8),
    pub w_data: &'s [u8],
    /// Valid, ready, identifier, response.
    pub b: (u8, u8, u8, u8),
    /// Valid, ready, identifier, address, beats - 1.
    pub ar: (u8, u8, u8, u64, u8),
    /// Valid, ready, identifier, response, last.
    pub r: (u8, u8, u8, u8, u8),
    pub r_data: &'s [u8],
}

pub(super) fn memory<'s>(inputs: &'s Inputs, outputs: &'s Outputs, beat: usize) -> AxiSample<'s> {
    let (i, o) = (inputs, outputs);
    AxiSample {
        aw: (o.mem_aw_valid, i.mem_aw_ready, o.mem_aw_id, o.mem_aw_addr, o.mem_aw_len),
        w: (o.mem_w_valid, i.mem_w_ready, o.mem_w_strb, o.mem_w_last),
        w_data: &o.mem_w_data[..beat],
        b: (i.mem_b_valid, o.mem_b_ready, i.mem_b_id, i.mem_b_resp),
        ar: (o.mem_ar_valid, i.mem_ar_ready, o.mem_ar_id, o.mem_ar_addr, o.mem_ar_len),
        r: (i.mem_r_valid, o.mem_r_ready, i.mem_r_id, i.mem_r_resp, i.mem_r_last),
        r_data: &i.mem_r_data[..beat],
    }
}

pub(super) fn drive<'s>(
    inputs: &'s DriveInputs,
    outputs: &'s DriveOutputs,
    beat: usize,
) -> AxiSample<'s> {
    let (i, o) = (inputs, outputs);
    AxiSample {
        aw: (i.dev_aw_valid, o.dev_aw_ready, i.dev_aw_id, i.dev_aw_addr, i.dev_aw_len),
        w: (i.dev_w_valid, o.dev_w_ready, i.dev_w_strb, i.dev_w_last),
        w_data: &i.dev_w_data[..beat],
        b: (o.dev_b_valid, i.dev_b_ready, o.dev_b_id, o.dev_b_resp),
        ar: (i.dev_ar_valid, o.dev_ar_ready, i.dev_ar_id, i.dev_ar_addr, i.dev_ar_len),
        r: (o.dev_r_valid, i.dev_r_ready, o.dev_r_id, o.dev_r_resp, o.dev_r_last),
        r_data: &o.dev_r_data[..beat],
    }
}

type Word = [u8; MAX_BEAT_BYTES];

fn word(data: &[u8]) -> Word {
    let mut word = [0; MAX_BEAT_BYTES];
    word[..data.len()].copy_from_slice(data);
    word
}

const IDS: usize = 256;

#[derive(Debug)]
pub struct AxiMonitor {
    name: String,
    beat_bytes: usize,
    aw: Channel<(u8, u64, u8)>,
    w: Channel<(u64, u8, Word)>,
    b: Channel<(u8, u8)>,
    ar: Channel<(u8, u64, u8)>,
    r: Channel<(u8, u8, u8, Word)>,
    /// Bursts whose data have not all been seen: identifier, beats.
    write_addresses: VecDeque<(u8, u32)>,
    /// Beats of complete bursts ahead of their addresses; then of the open burst.
    early_beats: VecDeque<u32>,
    beats: u32,
    /// Writes without response, by identifier.
    unacknowledged: Vec<u32>,
    /// Beats of reads that are left, by identifier.
    reads: Vec<VecDeque<u32>>,
}

impl AxiMonitor {
    pub fn new(name: String, beat_bytes: usize) -> AxiMonitor {
        AxiMonitor {
            name,
            beat_bytes,
            aw: Channel::default(),
            w: Channel::default(),
            b: Channel::default(),
            ar: Channel::default(),
            r: Channel::default(),
            write_addresses: VecDeque::new(),
            early_beats: VecDeque::new(),
            beats: 0,
            unacknowledged: vec![0; IDS],
            reads: vec![VecDeque::new(); IDS],
        }
    }

    /// Fails with the first broken rule of this cycle.
    pub fn observe(&mut self, cycle: u64, sample: &AxiSample<'_>) -> Result<(), Violation> {
        let result = self.write(sample).and_then(|()| self.read(sample));
        result.map_err(|rule| self.violation(cycle, rule))
    }

    /// Fails when a request was not answered.
    pub fn check_idle(&self, cycle: u64) -> Result<(), Violation> {
        let writes = self.write_addresses.len() as u32 + self.unacknowledged.iter().sum::<u32>();
        let reads: usize = self.reads.iter().map(VecDeque::len).sum();
        if writes == 0 && reads == 0 && self.beats == 0 && self.early_beats.is_empty() {
            return Ok(());
        }
        let rule = format!("{writes} writes and {reads} reads without an answer");
        Err(self.violation(cycle, rule))
    }

    fn violation(&self, cycle: u64, rule: String) -> Violation {
        Violation { cycle, interface: self.name.clone(), rule }
    }

    fn write(&mut self, sample: &AxiSample<'_>) -> Result<(), String> {
        // Responses first, because a response may not come in the cycle of the last beat.
        let (valid, ready, id, response) = sample.b;
        if valid != 0 && self.unacknowledged[usize::from(id)] == 0 {
            return Err(format!("b: response with identifier {id}, for which no write has ended"));
        }
        if on("b", self.b.observe(valid, ready, (id, response)))? {
            self.unacknowledged[usize::from(id)] -= 1;
        }
        let (valid, ready, id, address, length) = sample.aw;
        if on("aw", self.aw.observe(valid, ready, (id, address, length)))? {
            self.check_burst("aw", address, length)?;
            self.write_addresses.push_back((id, u32::from(length) + 1));
        }
        let (valid, ready, strobes, last) = sample.w;
        if valid != 0 {
            let beyond = strobes.checked_shr(self.beat_bytes as u32);
            if beyond.unwrap_or(0) != 0 {
                return Err("w: strobes beyond the bus".to_owned());
            }
            let payload = (strobes, last, word(sample.w_data));
            if on("w", self.w.observe(valid, ready, payload))? {
                self.beats += 1;
                if last != 0 {
                    self.early_beats.push_back(self.beats);
                    self.beats = 0;
                }
            }
        } else {
            on("w", self.w.observe(valid, ready, (0, 0, [0; MAX_BEAT_BYTES])))?;
        }
        while let (Some(&beats), Some(&(id, wanted))) =
            (self.early_beats.front(), self.write_addresses.front())
        {
            if beats != wanted {
                return Err(format!("w: last beat is number {beats} of a burst of {wanted}"));
            }
            self.early_beats.pop_front();
            self.write_addresses.pop_front();
            self.unacknowledged[usize::from(id)] += 1;
        }
        let open = self.early_beats.is_empty().then(|| self.write_addresses.front());
        match open.flatten() {
            Some(&(_, wanted)) if self.beats >= wanted => {
                Err(format!("w: beat {wanted} of a burst of {wanted} is not marked as the last"))
            }
            _ => Ok(()),
        }
    }

    fn read(&mut self, sample: &AxiSample<'_>) -> Result<(), String> {
        let (valid, ready, id, response, last) = sample.r;
        if valid != 0 {
            let Some(&left) = self.reads[usize::from(id)].front() else {
                return Err(format!("r: data with identifier {id}, for which no read is open"));
            };
            if (left == 1) != (last != 0) {
                return Err(format!("r: last is {last} with {left} beats to come"));
            }
            let payload = (id, response, last, word(sample.r_data));
            if on("r", self.r.observe(valid, ready, payload))? {
                let reads = &mut self.reads[usize::from(id)];
                if left == 1 {
                    reads.pop_front();
                } else {
                    reads[0] = left - 1;
                }
            }
        } else {
            on("r", self.r.observe(valid, ready, (0, 0, 0, [0; MAX_BEAT_BYTES])))?;
        }
        // After the data, because an answer may not come in the cycle of its request.
        let (valid, ready, id, address, length) = sample.ar;
        if on("ar", self.ar.observe(valid, ready, (id, address, length)))? {
            self.check_burst("ar", address, length)?;
            self.reads[usize::from(id)].push_back(u32::from(length) + 1);
        }
        Ok(())
    }

    fn check_burst(&self, channel: &str, address: u64, length: u8) -> Result<(), String> {
        let first = address & !(self.beat_bytes as u64 - 1);
        let last = first + u64::from(length) * self.beat_bytes as u64;
        if first >> 12 == last >> 12 {
            return Ok(());
        }
        let beats = u32::from(length) + 1;
        Err(format!("{channel}: {beats} beats from {address:#x} cross a boundary of 4 KiB"))
    }
}

pub(super) fn on<T>(channel: &str, result: Result<T, &'static str>) -> Result<T, String> {
    result.map_err(|rule| format!("{channel}: {rule}"))
}
