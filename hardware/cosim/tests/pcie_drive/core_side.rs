//! The core's side of one drive's ports: registers outputs once per cycle, answers `dev_*` from a
//! sparse memory, makes one access at a time on `bar_*`, and checks the drive's protocol.

use std::collections::{BTreeMap, VecDeque};

use assay_cosim::signals::{DriveInputs, DriveOutputs};
use assay_units::rng::mix;

const PAGE: u64 = 4096;

/// Sparse memory; what was never written reads as zeroes.
#[derive(Default)]
pub struct Memory {
    pages: BTreeMap<u64, Vec<u8>>,
}

impl Memory {
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        for (at, &byte) in (address..).zip(bytes) {
            let page = self.pages.entry(at / PAGE);
            page.or_insert_with(|| vec![0; PAGE as usize])[(at % PAGE) as usize] = byte;
        }
    }

    pub fn read(&self, address: u64, bytes: &mut [u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let at = address + done as u64;
            let offset = (at % PAGE) as usize;
            let len = (bytes.len() - done).min(PAGE as usize - offset);
            match self.pages.get(&(at / PAGE)) {
                Some(page) => bytes[done..done + len].copy_from_slice(&page[offset..offset + len]),
                None => bytes[done..done + len].fill(0),
            }
            done += len;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Burst {
    pub id: u8,
    pub address: u64,
    pub len: u8,
    pub cycle: u64,
}

/// An access on `bar_*`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum BarState {
    Idle,
    Write { address: Option<u32>, data: Option<u32> },
    WriteResponse,
    Read { address: u32 },
    ReadData,
    Done { data: u32, code: u8 },
}

pub struct CoreSide {
    pub memory: Memory,
    pub outputs: DriveOutputs,
    pub bar: BarState,
    pub beat_bytes: u64,
    /// Percent of cycles in which a ready is low, and in which data are late.
    pub stall_percent: u64,
    pub read_latency: u64,
    previous: DriveInputs,
    reads: VecDeque<Burst>,
    sent_beats: u64,
    write_addresses: VecDeque<Burst>,
    beats: VecDeque<(Vec<u8>, u64, bool)>,
    taken_beats: u64,
    responses: VecDeque<(u8, u64)>,
    /// All bursts, for tests that look at them.
    pub read_bursts: Vec<Burst>,
    pub write_bursts: Vec<(Burst, u64)>,
    /// Bursts longer than these are errors.
    pub max_read_bytes: u64,
    pub max_write_bytes: u64,
}

impl CoreSide {
    pub fn new(beat_bytes: u64) -> CoreSide {
        CoreSide {
            memory: Memory::default(),
            outputs: DriveOutputs::ZERO,
            bar: BarState::Idle,
            beat_bytes,
            stall_percent: 0,
            read_latency: 8,
            previous: DriveInputs::ZERO,
            reads: VecDeque::new(),
            sent_beats: 0,
            write_addresses: VecDeque::new(),
            beats: VecDeque::new(),
            taken_beats: 0,
            responses: VecDeque::new(),
            read_bursts: Vec::new(),
            write_bursts: Vec::new(),
            max_read_bytes: 512,
            max_write_bytes: 4096,
        }
    }

    fn stalls(&self, channel: u64, cycle: u64) -> bool {
        self.stall_percent > 0 && mix(channel + 77, cycle) % 100 < self.stall_percent
    }

    /// Valid stays with stable values until ready.
    fn check_stability(&self, old_ready: &DriveOutputs, inputs: &DriveInputs) {
        let old = &self.previous;
        let ar = |i: &DriveInputs| (i.dev_ar_valid, i.dev_ar_id, i.dev_ar_addr, i.dev_ar_len);
        let aw = |i: &DriveInputs| (i.dev_aw_valid, i.dev_aw_id, i.dev_aw_addr, i.dev_aw_len);
        let w = |i: &DriveInputs| (i.dev_w_valid, i.dev_w_data, i.dev_w_strb, i.dev_w_last);
        if old.dev_ar_valid != 0 && old_ready.dev_ar_ready == 0 {
            assert_eq!(ar(old), ar(inputs), "read address changed before ready");
        }
        if old.dev_aw_valid != 0 && old_ready.dev_aw_ready == 0 {
            assert_eq!(aw(old), aw(inputs), "write address changed before ready");
        }
        if old.dev_w_valid != 0 && old_ready.dev_w_ready == 0 {
            assert_eq!(w(old), w(inputs), "write data changed before ready");
        }
        if old.bar_r_valid != 0 && old_ready.bar_r_ready == 0 {
            assert_eq!((old.bar_r_data, 1), (inputs.bar_r_data, inputs.bar_r_valid));
        }
    }

    /// The clock edge after a cycle with these inputs.
    pub fn edge(&mut self, cycle: u64, old_ready: &DriveOutputs, inputs: &DriveInputs) {
        self.check_stability(old_ready, inputs);
        let now = self.outputs;
        let beat = self.beat_bytes;
        if inputs.dev_ar_valid & now.dev_ar_ready != 0 {
            let burst = Burst {
                id: inputs.dev_ar_id,
                address: inputs.dev_ar_addr,
                len: inputs.dev_ar_len,
                cycle,
            };
            let beats = u64::from(burst.len) + 1;
            let end = (burst.address / beat + beats) * beat;
            assert!(burst.address / PAGE == (end - 1) / PAGE, "read {burst:x?} crosses a page");
            assert!(
                end - burst.address / beat * beat <= self.max_read_bytes.max(beat) + beat,
                "{burst:?} too long"
            );
            self.reads.push_back(burst);
            self.read_bursts.push(burst);
        }
        if inputs.dev_aw_valid & now.dev_aw_ready != 0 {
            let burst = Burst {
                id: inputs.dev_aw_id,
                address: inputs.dev_aw_addr,
                len: inputs.dev_aw_len,
                cycle,
            };
            self.write_addresses.push_back(burst);
        }
        if inputs.dev_w_valid & now.dev_w_ready != 0 {
            let data = inputs.dev_w_data[..beat as usize].to_vec();
            self.beats.push_back((data, inputs.dev_w_strb, inputs.dev_w_last != 0));
        }
        self.take_writes(cycle);
        if now.dev_r_valid & inputs.dev_r_ready != 0 {
            self.sent_beats += 1;
            if now.dev_r_last != 0 {
                self.reads.pop_front();
                self.sent_beats = 0;
            }
        }
        if now.dev_b_valid & inputs.dev_b_ready != 0 {
            self.responses.pop_front();
        }
        self.step_bar(inputs);
        self.previous = *inputs;
        self.set_outputs(cycle + 1, now.dev_r_valid & !inputs.dev_r_ready != 0);
    }

    fn take_writes(&mut self, cycle: u64) {
        let beat = self.beat_bytes;
        while let Some(&burst) = self.write_addresses.front()
            && let Some((data, strobes, last)) = self.beats.pop_front()
        {
            let word = burst.address / beat * beat + self.taken_beats * beat;
            assert_eq!(word / PAGE, burst.address / PAGE, "write {burst:x?} crosses a page");
            let first = if self.taken_beats == 0 { burst.address % beat } else { 0 };
            assert!(strobes.trailing_zeros() as u64 == first, "strobes {strobes:x} of {burst:x?}");
            let count = u64::from((strobes >> first).trailing_ones());
            assert_eq!(strobes.count_ones() as u64, count, "strobes with holes: {strobes:x}");
            self.memory.write(word + first, &data[first as usize..(first + count) as usize]);
            self.taken_beats += 1;
            assert_eq!(last, self.taken_beats == u64::from(burst.len) + 1, "last of {burst:x?}");
            if !last {
                assert_eq!(first + count, beat, "a short beat before the last");
            }
            if last {
                let len = word + first + count - burst.address;
                assert!(len <= self.max_write_bytes, "write of {len} bytes");
                self.write_bursts.push((burst, len));
                self.responses.push_back((burst.id, cycle + 4));
                self.write_addresses.pop_front();
                self.taken_beats = 0;
            }
        }
    }

    fn step_bar(&mut self, inputs: &DriveInputs) {
        let now = self.outputs;
        match &mut self.bar {
            BarState::Write { address, data } => {
                if now.bar_aw_valid & inputs.bar_aw_ready != 0 {
                    *address = None;
                }
                if now.bar_w_valid & inputs.bar_w_ready != 0 {
                    *data = None;
                }
                if address.is_none() && data.is_none() {
                    self.bar = BarState::WriteResponse;
                }
            }
            BarState::WriteResponse if inputs.bar_b_valid & now.bar_b_ready != 0 => {
                self.bar = BarState::Done { data: 0, code: inputs.bar_b_resp };
            }
            BarState::Read { .. } if now.bar_ar_valid & inputs.bar_ar_ready != 0 => {
                self.bar = BarState::ReadData;
            }
            BarState::ReadData if inputs.bar_r_valid & now.bar_r_ready != 0 => {
                self.bar = BarState::Done { data: inputs.bar_r_data, code: inputs.bar_r_resp };
            }
            _ => {}
        }
    }

    fn set_outputs(&mut self, cycle: u64, keeps_data: bool) {
        let stalls: [bool; 6] = std::array::from_fn(|channel| self.stalls(channel as u64, cycle));
        let beat = self.beat_bytes;
        let out = &mut self.outputs;
        out.dev_ar_ready = u8::from(!stalls[0] && self.reads.len() < 16);
        out.dev_aw_ready = u8::from(!stalls[1] && self.write_addresses.len() < 4);
        out.dev_w_ready = u8::from(!stalls[2] && self.beats.len() < 8);
        out.dev_b_valid = 0;
        if let Some(&(id, from)) = self.responses.front()
            && from <= cycle
        {
            out.dev_b_valid = 1;
            out.dev_b_id = id;
        }
        out.dev_r_valid = 0;
        if let Some(&burst) = self.reads.front()
            && burst.cycle + self.read_latency <= cycle
            && (keeps_data || !stalls[3])
        {
            out.dev_r_valid = 1;
            out.dev_r_id = burst.id;
            out.dev_r_last = u8::from(self.sent_beats == u64::from(burst.len));
            let word = (burst.address / beat + self.sent_beats) * beat;
            self.memory.read(word, &mut out.dev_r_data[..beat as usize]);
        }
        out.bar_aw_valid = 0;
        out.bar_w_valid = 0;
        out.bar_ar_valid = 0;
        out.bar_b_ready = u8::from(self.bar == BarState::WriteResponse && !stalls[4]);
        out.bar_r_ready = u8::from(self.bar == BarState::ReadData && !stalls[5]);
        match self.bar {
            BarState::Write { address, data } => {
                if let Some(address) = address {
                    (out.bar_aw_valid, out.bar_aw_addr) = (1, address);
                }
                if let Some(data) = data {
                    (out.bar_w_valid, out.bar_w_data, out.bar_w_strb) = (1, data, 15);
                }
            }
            BarState::Read { address } => (out.bar_ar_valid, out.bar_ar_addr) = (1, address),
            _ => {}
        }
    }
}
