//! AXI4 master of the bridge on `dev_*`: bursts of the drive's packets, and checks of the answers.

use std::collections::VecDeque;
use std::sync::Arc;

use super::link::{BackPressure, Channel};
use crate::signals::{DriveInputs, DriveOutputs, MAX_BEAT_BYTES};

/// `dev_*` has 4 bits of identifier.
const IDENTIFIERS: usize = 16;
/// AxBURST of incrementing addresses.
const INCR: u8 = 1;
pub(super) const ADDRESS_MASK: u64 = (1 << 40) - 1;
/// Most violations that are kept.
const MAX_VIOLATIONS: usize = 32;

/// A read of the drive within 4 KiB. After a reset it has no tag and its data are dropped.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadBurst {
    pub(super) tag: Option<u8>,
    pub(super) id: u8,
    pub(super) address: u64,
    pub(super) len_bytes: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct ReadProgress {
    pub(super) burst: ReadBurst,
    pub(super) received_bytes: u32,
}

/// A write of the drive within 4 KiB.
#[derive(Clone, Debug)]
pub(super) struct WriteBurst {
    pub(super) address: u64,
    pub(super) data: Arc<[u8]>,
    pub(super) offset: usize,
    pub(super) len_bytes: usize,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DevEvents {
    pub(super) read: Option<ReadProgress>,
    /// Bytes of a write whose last beat was taken.
    pub(super) written_bytes: u32,
}

#[derive(Clone, Debug)]
pub(super) struct DevPort {
    beat_bytes: u64,
    write_id: u8,
    outstanding_writes: u64,
    reads: VecDeque<ReadBurst>,
    read_address: Option<ReadBurst>,
    /// Reads whose address was taken, per identifier, with the bytes received.
    answers: [VecDeque<(ReadBurst, u32)>; IDENTIFIERS],
    /// Received bytes per tag.
    buffers: Vec<Vec<u8>>,
    write_addresses: VecDeque<(u64, u8)>,
    write_address: Option<(u64, u8)>,
    writes: VecDeque<WriteBurst>,
    /// Bytes of the first write that were taken; whether its next beat is on the port.
    sent_bytes: usize,
    is_beat_shown: bool,
    /// Addresses shown, bursts whose data ended, and responses, since the start.
    addresses_shown: u64,
    bursts_ended: u64,
    responses: u64,
    violations: Vec<String>,
}

impl DevPort {
    pub(super) fn new(
        beat_bytes: usize,
        tags: u16,
        outstanding_writes: u8,
        write_id: u8,
    ) -> DevPort {
        assert!(matches!(beat_bytes, 16 | 32 | MAX_BEAT_BYTES), "a bus of {beat_bytes} bytes");
        DevPort {
            beat_bytes: beat_bytes as u64,
            write_id,
            outstanding_writes: u64::from(outstanding_writes),
            reads: VecDeque::new(),
            read_address: None,
            answers: Default::default(),
            buffers: vec![Vec::new(); usize::from(tags)],
            write_addresses: VecDeque::new(),
            write_address: None,
            writes: VecDeque::new(),
            sent_bytes: 0,
            is_beat_shown: false,
            addresses_shown: 0,
            bursts_ended: 0,
            responses: 0,
            violations: Vec::new(),
        }
    }

    /// AxSIZE of whole bus words.
    fn size(&self) -> u8 {
        self.beat_bytes.trailing_zeros() as u8
    }

    /// Beats of a burst less one.
    fn len(&self, address: u64, bytes: u64) -> u8 {
        let beats = (address % self.beat_bytes + bytes).div_ceil(self.beat_bytes);
        assert!((1..=256).contains(&beats), "a burst of {beats} beats");
        (beats - 1) as u8
    }

    pub(super) fn read(&mut self, burst: ReadBurst) {
        assert!(is_within_page(burst.address, u64::from(burst.len_bytes)));
        self.reads.push_back(burst);
    }

    pub(super) fn write(&mut self, burst: WriteBurst) {
        let bytes = burst.len_bytes as u64;
        assert!(is_within_page(burst.address, bytes));
        let len = self.len(burst.address, bytes);
        self.write_addresses.push_back((burst.address, len));
        self.writes.push_back(burst);
    }

    pub(super) fn buffer(&mut self, tag: u8) -> &mut Vec<u8> {
        &mut self.buffers[usize::from(tag)]
    }

    /// Link down: reads answered later are dropped, writes that have arrived are carried out.
    pub(super) fn orphan_reads(&mut self) {
        self.reads.clear();
        let on_port = self.read_address.iter_mut();
        let answered = self.answers.iter_mut().flatten().map(|(burst, _)| burst);
        on_port.chain(answered).for_each(|burst| burst.tag = None);
    }

    /// A completion of this tag's read was lost: the rest of the read is dropped.
    pub(super) fn orphan_tag(&mut self, tag: u8) {
        let answered = self.answers.iter_mut().flatten().map(|(burst, _)| burst);
        let lost = answered.filter(|burst| burst.tag == Some(tag));
        lost.for_each(|burst| burst.tag = None);
    }

    pub(super) fn buffered_bytes(&self) -> u32 {
        self.writes.iter().map(|burst| burst.len_bytes as u32).sum()
    }

    /// Protocol violations of the core, in order.
    pub(super) fn violations(&self) -> &[String] {
        &self.violations
    }

    pub(super) fn report(&mut self, cycle: u64, what: std::fmt::Arguments<'_>) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations.push(format!("cycle {cycle}: {what}"));
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.read_address.is_some()
            || self.write_address.is_some()
            || !self.reads.is_empty()
            || !self.writes.is_empty()
            || !self.write_addresses.is_empty()
    }

    /// Sets the inputs of all `dev_*` channels and takes what the core gives.
    pub(super) fn step(
        &mut self,
        cycle: u64,
        random: &BackPressure,
        takes_data: bool,
        outputs: &DriveOutputs,
        inputs: &mut DriveInputs,
    ) -> DevEvents {
        let mut events = DevEvents::default();
        self.step_read_address(cycle, random, outputs, inputs);
        self.step_write_address(cycle, random, outputs, inputs);
        events.written_bytes = self.step_write_data(cycle, random, outputs, inputs);
        let takes_response = random.allows(Channel::WriteResponse, cycle);
        inputs.dev_b_ready = u8::from(takes_response);
        if takes_response && outputs.dev_b_valid != 0 {
            self.take_response(cycle, outputs);
        }
        let takes_data = takes_data && random.allows(Channel::ReadData, cycle);
        inputs.dev_r_ready = u8::from(takes_data);
        if takes_data && outputs.dev_r_valid != 0 {
            events.read = self.take_data(cycle, outputs);
        }
        events
    }

    fn step_read_address(
        &mut self,
        cycle: u64,
        random: &BackPressure,
        outputs: &DriveOutputs,
        inputs: &mut DriveInputs,
    ) {
        if self.read_address.is_none() && random.allows(Channel::ReadAddress, cycle) {
            self.read_address = self.reads.pop_front();
        }
        inputs.dev_ar_valid = u8::from(self.read_address.is_some());
        let Some(burst) = self.read_address else {
            return;
        };
        inputs.dev_ar_id = burst.id;
        inputs.dev_ar_addr = burst.address & ADDRESS_MASK;
        inputs.dev_ar_len = self.len(burst.address, u64::from(burst.len_bytes));
        inputs.dev_ar_size = self.size();
        inputs.dev_ar_burst = INCR;
        if outputs.dev_ar_ready != 0 {
            self.answers[usize::from(burst.id)].push_back((burst, 0));
            if let Some(tag) = burst.tag {
                self.buffers[usize::from(tag)].clear();
            }
            self.read_address = None;
        }
    }

    fn step_write_address(
        &mut self,
        cycle: u64,
        random: &BackPressure,
        outputs: &DriveOutputs,
        inputs: &mut DriveInputs,
    ) {
        let has_room = self.addresses_shown - self.responses < self.outstanding_writes;
        if self.write_address.is_none() && has_room && random.allows(Channel::WriteAddress, cycle) {
            self.write_address = self.write_addresses.pop_front();
            self.addresses_shown += u64::from(self.write_address.is_some());
        }
        inputs.dev_aw_valid = u8::from(self.write_address.is_some());
        if let Some((address, len)) = self.write_address {
            inputs.dev_aw_id = self.write_id;
            inputs.dev_aw_addr = address & ADDRESS_MASK;
            inputs.dev_aw_len = len;
            inputs.dev_aw_size = self.size();
            inputs.dev_aw_burst = INCR;
            if outputs.dev_aw_ready != 0 {
                self.write_address = None;
            }
        }
    }

    /// Data are shown from the cycle of the address on. Returns the length of a burst that ended.
    fn step_write_data(
        &mut self,
        cycle: u64,
        random: &BackPressure,
        outputs: &DriveOutputs,
        inputs: &mut DriveInputs,
    ) -> u32 {
        self.is_beat_shown |=
            self.addresses_shown > self.bursts_ended && random.allows(Channel::WriteData, cycle);
        inputs.dev_w_valid = u8::from(self.is_beat_shown);
        if !self.is_beat_shown {
            return 0;
        }
        let burst = self.writes.front().expect("a burst whose address was shown has data");
        let beat_bytes = self.beat_bytes as usize;
        let lane = ((burst.address + self.sent_bytes as u64) % self.beat_bytes) as usize;
        let left = burst.len_bytes - self.sent_bytes;
        let count = left.min(beat_bytes - lane);
        let from = burst.offset + self.sent_bytes;
        inputs.dev_w_data = [0; MAX_BEAT_BYTES];
        inputs.dev_w_data[lane..lane + count].copy_from_slice(&burst.data[from..from + count]);
        inputs.dev_w_strb = (u64::MAX >> (64 - count)) << lane;
        let is_last = count == left;
        inputs.dev_w_last = u8::from(is_last);
        if outputs.dev_w_ready == 0 {
            return 0;
        }
        self.is_beat_shown = false;
        self.sent_bytes += count;
        if !is_last {
            return 0;
        }
        let len_bytes = burst.len_bytes as u32;
        self.writes.pop_front();
        self.sent_bytes = 0;
        self.bursts_ended += 1;
        len_bytes
    }

    fn take_response(&mut self, cycle: u64, outputs: &DriveOutputs) {
        // The address and last beat of a write were taken, in this cycle at the latest.
        let addressed = self.addresses_shown - u64::from(self.write_address.is_some());
        if self.responses >= addressed.min(self.bursts_ended) {
            return self.report(cycle, format_args!("a write response without a write"));
        }
        self.responses += 1;
        let (id, code) = (outputs.dev_b_id, outputs.dev_b_resp);
        if id != self.write_id || code != 0 {
            self.report(cycle, format_args!("write response with id {id} and code {code}"));
        }
    }

    fn take_data(&mut self, cycle: u64, outputs: &DriveOutputs) -> Option<ReadProgress> {
        let id = outputs.dev_r_id;
        let answer = self.answers.get_mut(usize::from(id)).and_then(VecDeque::front_mut);
        let Some((burst, received)) = answer else {
            self.report(cycle, format_args!("read data of id {id} without a read"));
            return None;
        };
        let lane = (burst.address + u64::from(*received)) % self.beat_bytes;
        let count = (burst.len_bytes - *received).min((self.beat_bytes - lane) as u32);
        *received += count;
        let (burst, received_bytes) = (*burst, *received);
        if let Some(tag) = burst.tag {
            let word = &outputs.dev_r_data[lane as usize..][..count as usize];
            self.buffers[usize::from(tag)].extend_from_slice(word);
        }
        let is_last = received_bytes == burst.len_bytes;
        if is_last {
            self.answers[usize::from(id)].pop_front();
        }
        let (last, code) = (outputs.dev_r_last != 0, outputs.dev_r_resp);
        if last != is_last || code != 0 {
            let address = burst.address;
            self.report(
                cycle,
                format_args!(
                    "read of {address:#x}: after {received_bytes} of {} bytes last is {last}, \
                     code {code}",
                    burst.len_bytes
                ),
            );
        }
        Some(ReadProgress { burst, received_bytes })
    }
}

fn is_within_page(address: u64, bytes: u64) -> bool {
    bytes > 0 && address % 4096 + bytes <= 4096
}
