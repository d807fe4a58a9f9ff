//! The memory behind the core's `mem_*` port: the ring of chunk buffers.
//!
//! # Purpose
//! As late as AXI4 allows: a write is in memory when its response is offered; a read takes the
//! bytes that memory holds when its address is accepted. So a core that reads before a write was
//! acknowledged gets old bytes. Memory begins with [`POISON`].

use std::collections::VecDeque;

use crate::pace::{Pace, mix};
use crate::signals::{Inputs, Outputs};

/// Value of bytes that were never written.
pub const POISON: u8 = 0xa5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryOptions {
    /// From the address of a read to its first beat.
    pub read_latency_cycles: u64,
    /// From the last beat of a write to its response.
    pub write_latency_cycles: u64,
    /// Reads accepted and not ended.
    pub max_reads: usize,
    /// Writes accepted and not ended.
    pub max_writes: usize,
    /// Answer out of order between different identifiers.
    pub reorder: bool,
    /// Pauses of each of the five channels.
    pub pace: Pace,
}

impl Default for MemoryOptions {
    fn default() -> MemoryOptions {
        MemoryOptions {
            read_latency_cycles: 40,
            write_latency_cycles: 20,
            max_reads: 32,
            max_writes: 32,
            reorder: false,
            pace: Pace::FULL,
        }
    }
}

#[derive(Debug)]
struct ReadBurst {
    id: u8,
    due: u64,
    data: Vec<u8>,
    given: usize,
}

/// Beats of a write burst; its address may come before or after them.
#[derive(Debug, Default)]
struct WriteData {
    data: Vec<u8>,
    strobes: Vec<u64>,
    ended: bool,
}

#[derive(Debug)]
struct WriteBurst {
    id: u8,
    address: usize,
    due: u64,
    beats: WriteData,
}

pub struct RingMemory {
    options: MemoryOptions,
    bytes: Vec<u8>,
    beat_bytes: usize,
    reads: VecDeque<ReadBurst>,
    /// The first of `reads` is being answered.
    reading: bool,
    /// A beat was offered and not taken, so it stays.
    held: bool,
    write_addresses: VecDeque<(u8, usize)>,
    write_data: VecDeque<WriteData>,
    writes: VecDeque<WriteBurst>,
    /// The first of `writes` is in memory and its response is offered.
    responding: bool,
    spare: Vec<Vec<u8>>,
    /// So many further read bursts are answered with SLVERR.
    pub read_errors: u32,
    /// So many further write bursts are answered with SLVERR.
    pub write_errors: u32,
}

const ERROR: u8 = 2;

impl std::fmt::Debug for RingMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (reads, writes) = (self.reads.len(), self.writes.len());
        let bytes = self.bytes.len();
        write!(f, "RingMemory({bytes} bytes, {reads} reads, {writes} writes)")
    }
}

impl RingMemory {
    pub fn new(bytes: usize, beat_bytes: usize, options: MemoryOptions) -> RingMemory {
        RingMemory {
            options,
            bytes: vec![POISON; bytes],
            beat_bytes,
            reads: VecDeque::new(),
            reading: false,
            held: false,
            write_addresses: VecDeque::new(),
            write_data: VecDeque::new(),
            writes: VecDeque::new(),
            responding: false,
            spare: Vec::new(),
            read_errors: 0,
            write_errors: 0,
        }
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn is_idle(&self) -> bool {
        self.reads.is_empty()
            && self.write_addresses.is_empty()
            && self.write_data.is_empty()
            && self.writes.is_empty()
    }

    /// No work before this cycle unless an output of the core changes; `None`: no work.
    pub fn next_event_cycle(&self) -> Option<u64> {
        let reads = self.reads.iter().map(|read| read.due);
        let writes = self.writes.iter().map(|write| write.due);
        reads.chain(writes).min()
    }

    /// Choose the memory's inputs of the core in this cycle.
    pub fn step(&mut self, cycle: u64, outputs: &Outputs, inputs: &mut Inputs) {
        self.read(cycle, outputs, inputs);
        self.write(cycle, outputs, inputs);
    }

    fn pauses(&self, lane: u64, cycle: u64) -> bool {
        let pace = self.options.pace;
        pace.pauses != 0 && pace.with_lane(lane).pauses_at(cycle)
    }

    fn read(&mut self, cycle: u64, outputs: &Outputs, inputs: &mut Inputs) {
        if !self.reading {
            self.reading = self.choose_read(cycle);
        }
        let offers = self.reading && (self.held || !self.pauses(0, cycle));
        inputs.mem_r_valid = u8::from(offers);
        self.held = offers && outputs.mem_r_ready == 0;
        if offers {
            let read = &mut self.reads[0];
            let next = read.given + self.beat_bytes;
            let beat = &read.data[read.given..next];
            inputs.mem_r_data[..self.beat_bytes].copy_from_slice(beat);
            inputs.mem_r_id = read.id;
            inputs.mem_r_resp = if self.read_errors > 0 { ERROR } else { 0 };
            inputs.mem_r_last = u8::from(next == read.data.len());
            if outputs.mem_r_ready != 0 {
                read.given = next;
                if next == read.data.len() {
                    self.reading = false;
                    self.read_errors = self.read_errors.saturating_sub(1);
                    let ended = self.reads.pop_front().expect("the burst being read");
                    self.spare.push(ended.data);
                }
            }
        }
        let ready = self.reads.len() < self.options.max_reads && !self.pauses(1, cycle);
        inputs.mem_ar_ready = u8::from(ready);
        if ready && outputs.mem_ar_valid != 0 {
            let address = outputs.mem_ar_addr as usize & !(self.beat_bytes - 1);
            let bytes = (usize::from(outputs.mem_ar_len) + 1) * self.beat_bytes;
            let mut data = self.spare.pop().unwrap_or_default();
            data.clear();
            data.extend_from_slice(&self.bytes[address..address + bytes]);
            self.reads.push_back(ReadBurst {
                id: outputs.mem_ar_id,
                due: cycle + self.options.read_latency_cycles,
                data,
                given: 0,
            });
        }
    }

    /// Move the next burst to answer to the front; `false` if none is due.
    fn choose_read(&mut self, cycle: u64) -> bool {
        let Some(first) = self.reads.front() else {
            return false;
        };
        if self.options.reorder {
            // A read that is due and the first of its identifier.
            let reads = &self.reads;
            let may = |&at: &usize| {
                reads[at].due <= cycle && !reads.range(..at).any(|read| read.id == reads[at].id)
            };
            let count = (0..reads.len()).filter(may).count();
            if count == 0 {
                return false;
            }
            let draw = mix(self.options.pace.seed, cycle) as usize % count;
            let at = (0..reads.len()).filter(may).nth(draw).expect("below count");
            let read = self.reads.remove(at).expect("an index of the queue");
            self.reads.push_front(read);
            return true;
        }
        first.due <= cycle
    }

    fn write(&mut self, cycle: u64, outputs: &Outputs, inputs: &mut Inputs) {
        if !self.responding && !self.pauses(2, cycle) {
            self.responding = self.choose_write(cycle);
            if self.responding {
                self.store();
            }
        }
        inputs.mem_b_valid = u8::from(self.responding);
        if self.responding {
            inputs.mem_b_id = self.writes[0].id;
            inputs.mem_b_resp = if self.write_errors > 0 { ERROR } else { 0 };
            if outputs.mem_b_ready != 0 {
                self.write_errors = self.write_errors.saturating_sub(1);
                self.responding = false;
                let ended = self.writes.pop_front().expect("the write acknowledged");
                self.spare.push(ended.beats.data);
            }
        }
        let waiting = self.write_addresses.len() + self.writes.len();
        let ready = waiting < self.options.max_writes && !self.pauses(3, cycle);
        inputs.mem_aw_ready = u8::from(ready);
        if ready && outputs.mem_aw_valid != 0 {
            let address = outputs.mem_aw_addr as usize & !(self.beat_bytes - 1);
            self.write_addresses.push_back((outputs.mem_aw_id, address));
        }
        // At most one burst of data is ahead of its address.
        let ended = self.write_data.iter().filter(|data| data.ended).count();
        let ready = ended <= self.write_addresses.len() && !self.pauses(4, cycle);
        inputs.mem_w_ready = u8::from(ready);
        if ready && outputs.mem_w_valid != 0 {
            if self.write_data.back().is_none_or(|data| data.ended) {
                let mut data = self.spare.pop().unwrap_or_default();
                data.clear();
                self.write_data.push_back(WriteData { data, ..WriteData::default() });
            }
            let burst = self.write_data.back_mut().expect("pushed above");
            let beat = &outputs.mem_w_data[..self.beat_bytes];
            burst.data.extend_from_slice(beat);
            burst.strobes.push(outputs.mem_w_strb);
            burst.ended = outputs.mem_w_last != 0;
        }
        while self.write_data.front().is_some_and(|data| data.ended) {
            let Some((id, address)) = self.write_addresses.pop_front() else {
                break;
            };
            let beats = self.write_data.pop_front().expect("seen above");
            self.writes.push_back(WriteBurst {
                id,
                address,
                due: cycle + self.options.write_latency_cycles,
                beats,
            });
        }
    }

    fn choose_write(&mut self, cycle: u64) -> bool {
        let Some(first) = self.writes.front() else {
            return false;
        };
        if !self.options.reorder {
            return first.due <= cycle;
        }
        let writes = &self.writes;
        let may = |&at: &usize| {
            writes[at].due <= cycle && !writes.range(..at).any(|other| other.id == writes[at].id)
        };
        let count = (0..writes.len()).filter(may).count();
        if count == 0 {
            return false;
        }
        let draw = mix(self.options.pace.seed, cycle ^ 0x5555) as usize % count;
        let at = (0..writes.len()).filter(may).nth(draw).expect("below count");
        let write = self.writes.remove(at).expect("an index of the queue");
        self.writes.push_front(write);
        true
    }

    fn store(&mut self) {
        let write = &self.writes[0];
        let all = u64::MAX >> (64 - self.beat_bytes);
        let beats = write.beats.data.chunks_exact(self.beat_bytes);
        for (at, (beat, &strobes)) in beats.zip(&write.beats.strobes).enumerate() {
            let address = write.address + at * self.beat_bytes;
            let place = &mut self.bytes[address..address + self.beat_bytes];
            if strobes == all {
                place.copy_from_slice(beat);
                continue;
            }
            for (byte, (old, new)) in place.iter_mut().zip(beat).enumerate() {
                if strobes >> byte & 1 == 1 {
                    *old = *new;
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/memory.rs"]
mod tests;
