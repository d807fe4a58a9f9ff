//! The core's AXI4-Stream ports: a source before `s_*`, a sink behind `m_*`.

use std::collections::VecDeque;

use crate::pace::Pace;
use crate::signals::{Inputs, Outputs};

/// Shortest wait that [`SourcePort`] keeps: one microsecond.
pub const MIN_WAIT_CYCLES: u64 = crate::TICK_CYCLES;

/// A time in which the source had a beat and the core took none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub at_cycle: u64,
    pub cycles: u64,
    /// Bytes taken before.
    pub at_bytes: u64,
}

#[derive(Debug)]
pub struct SourcePort {
    beat_bytes: usize,
    pace: Pace,
    bytes: VecDeque<u8>,
    last: bool,
    /// A beat was offered and not taken, so it stays.
    held: bool,
    taken_bytes: u64,
    /// Where a beat keeps other bytes than there are, and which.
    wrong_keep: Option<(u64, u64)>,
    waiting_since: Option<u64>,
    waits: Vec<Wait>,
}

impl SourcePort {
    pub fn new(beat_bytes: usize, pace: Pace) -> SourcePort {
        SourcePort {
            beat_bytes,
            pace,
            bytes: VecDeque::new(),
            last: false,
            held: false,
            taken_bytes: 0,
            wrong_keep: None,
            waiting_since: None,
            waits: Vec::new(),
        }
    }

    /// Less than a beat at the end waits for more, or for the end of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        assert!(!self.last, "the stream has ended");
        self.bytes.extend(bytes);
    }

    /// The beat behind this many bytes keeps these bytes, whatever the rules say; it is full.
    pub fn keep_wrongly(&mut self, at_bytes: u64, keep: u64) {
        self.wrong_keep = Some((at_bytes, keep));
    }

    /// `tlast` comes with the last byte, or with an empty beat when all bytes are taken.
    pub fn end(&mut self) {
        self.last = true;
    }

    pub fn queued_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Less than a beat is left, and no `tlast`.
    pub fn is_drained(&self) -> bool {
        self.bytes.len() < self.beat_bytes && !self.last
    }

    /// Since the last call of [`SourcePort::clear`].
    pub fn taken_bytes(&self) -> u64 {
        self.taken_bytes
    }

    /// Forget what is left, except an offered beat, which stays on the bus until it is taken.
    pub fn clear(&mut self) {
        self.bytes.truncate(if self.held { self.beat_bytes } else { 0 });
        self.last = self.last && self.held && self.bytes.len() <= self.beat_bytes;
        self.taken_bytes = 0;
        self.waits.clear();
    }

    /// Waits of at least [`MIN_WAIT_CYCLES`] that have ended, oldest first; they are removed.
    pub fn take_waits(&mut self) -> Vec<Wait> {
        std::mem::take(&mut self.waits)
    }

    pub fn is_busy(&self) -> bool {
        !self.is_drained()
    }

    pub fn is_held(&self) -> bool {
        self.held
    }

    /// Choose `s_*` in this cycle.
    pub fn step(&mut self, cycle: u64, outputs: &Outputs, inputs: &mut Inputs) {
        let offers = self.is_busy() && (self.held || !self.pace.pauses_at(cycle));
        inputs.s_valid = u8::from(offers);
        if !offers {
            return;
        }
        let count = self.bytes.len().min(self.beat_bytes);
        if !self.held {
            inputs.s_data[..self.beat_bytes].fill(0);
            for (place, byte) in inputs.s_data.iter_mut().zip(self.bytes.range(..count)) {
                *place = *byte;
            }
            inputs.s_keep = if count == 0 { 0 } else { u64::MAX >> (64 - count) };
            inputs.s_last = u8::from(self.last && self.bytes.len() == count);
            if let Some((_, keep)) = self.wrong_keep.take_if(|(at, _)| *at == self.taken_bytes) {
                inputs.s_keep = keep;
            }
        }
        self.held = outputs.s_ready == 0;
        if self.held {
            self.waiting_since.get_or_insert(cycle);
            return;
        }
        self.bytes.drain(..count);
        self.taken_bytes += count as u64;
        if inputs.s_last != 0 {
            self.last = false;
        }
        if let Some(at_cycle) = self.waiting_since.take() {
            let cycles = cycle - at_cycle;
            if cycles >= MIN_WAIT_CYCLES {
                let at_bytes = self.taken_bytes - count as u64;
                self.waits.push(Wait { at_cycle, cycles, at_bytes });
            }
        }
    }
}

/// End of a packet that the core gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketEnd {
    /// Bytes before it that were not removed.
    pub at: usize,
    /// `m_user` of its last beat.
    pub user: u8,
}

#[derive(Debug)]
pub struct SinkPort {
    beat_bytes: usize,
    pace: Pace,
    open: bool,
    bytes: Vec<u8>,
    ends: Vec<PacketEnd>,
}

impl SinkPort {
    pub fn new(beat_bytes: usize, pace: Pace) -> SinkPort {
        SinkPort { beat_bytes, pace, open: true, bytes: Vec::new(), ends: Vec::new() }
    }

    pub fn set_open(&mut self, open: bool) {
        self.open = open;
    }

    /// Bytes taken and not removed.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes before the first `tlast`, if a packet has ended.
    pub fn packet_end(&self) -> Option<usize> {
        self.ends.first().map(|end| end.at)
    }

    /// Ends of packets behind bytes that were not removed.
    pub fn packet_ends(&self) -> &[PacketEnd] {
        &self.ends
    }

    pub fn remove(&mut self, count: usize) {
        self.bytes.drain(..count);
        self.ends.retain(|end| end.at > count);
        for end in &mut self.ends {
            end.at -= count;
        }
    }

    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Choose `m_ready` in this cycle.
    pub fn step(&mut self, cycle: u64, outputs: &Outputs, inputs: &mut Inputs) {
        let ready = self.open && !self.pace.pauses_at(cycle);
        inputs.m_ready = u8::from(ready);
        if !ready || outputs.m_valid == 0 {
            return;
        }
        let count = if outputs.m_last != 0 {
            outputs.m_keep.count_ones() as usize
        } else {
            self.beat_bytes
        };
        self.bytes.extend_from_slice(&outputs.m_data[..count]);
        if outputs.m_last != 0 {
            self.ends.push(PacketEnd { at: self.bytes.len(), user: outputs.m_user });
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/stream_port.rs"]
mod tests;
