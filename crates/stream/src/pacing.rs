//! Rate-limited sources, and accounting of stalls.

use assay_io::Nanos;

use crate::buffer_table::BufferTable;
use crate::registers::Registers;
use crate::status::{Backlog, Stall, Stalls};

/// A source that delivers at a fixed rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceRate {
    pub rate_bytes_per_s: u64,
    /// The longest the source can be blocked before it loses data; `None`: indefinitely.
    pub deadline: Option<Nanos>,
}

/// When a chunk was requested and taken, and whether it waited for a slot.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkTimes {
    pub wanted_at: Nanos,
    pub now: Nanos,
    pub waited: bool,
}

/// Stalls of one recording.
#[derive(Debug, Default)]
pub(crate) struct StallAccounting {
    source_rate: Option<SourceRate>,
    began: Nanos,
    chunk_bytes: u64,
    pub stalls: Stalls,
    /// The open stall of a rate-limited source; the time at which the previous chunk was taken.
    open: Option<Stall>,
    taken_at: Nanos,
    high_water_bytes: u64,
    /// Of the whole stream; the greatest number where it is not known.
    length_bytes: u64,
}

impl StallAccounting {
    pub fn new(
        source_rate: Option<SourceRate>,
        began: Nanos,
        chunk_bytes: u64,
        length_bytes: Option<u64>,
    ) -> StallAccounting {
        StallAccounting {
            length_bytes: length_bytes.unwrap_or(u64::MAX),
            source_rate,
            began,
            chunk_bytes,
            taken_at: began,
            ..StallAccounting::default()
        }
    }

    /// When the source will have delivered a chunk; `None` for a source without a rate.
    pub fn due(&self, chunk: u64) -> Option<Nanos> {
        let source_rate = self.source_rate?;
        let bytes = u128::from(chunk + 1) * u128::from(self.chunk_bytes);
        let ns = bytes * 1_000_000_000 / u128::from(source_rate.rate_bytes_per_s.max(1));
        Some(self.began + Nanos(u64::try_from(ns).expect("a stream lasts less than 584 years")))
    }

    /// A chunk is taken; `done` chunks have completed.
    pub fn taken(&mut self, chunk: u64, done: u64, times: ChunkTimes, registers: &Registers) {
        match self.due(chunk) {
            Some(due) => {
                self.paced(chunk, due, times, registers);
                self.watch(done, times.now);
            }
            None if times.waited && times.now > times.wanted_at => {
                let stall = Stall {
                    at_ns: times.wanted_at.0 - self.began.0,
                    duration_ns: times.now.0 - times.wanted_at.0,
                    late_ns: 0,
                    chunk,
                };
                self.add(stall, registers);
            }
            None => {}
        }
        self.taken_at = times.now;
    }

    /// Consecutive waits are one stall, until a chunk comes after the previous one was taken.
    fn paced(&mut self, chunk: u64, due: Nanos, times: ChunkTimes, registers: &Registers) {
        let (began, now) = (self.began.0, times.now.0);
        let behind = due <= self.taken_at;
        if let Some(stall) = self.open.as_mut().filter(|_| behind) {
            stall.duration_ns = now - (began + stall.at_ns);
            stall.late_ns = stall.late_ns.max(now - due.0);
            return;
        }
        self.end(registers);
        if times.waited && now > due.0 {
            self.open = Some(Stall {
                at_ns: due.0 - began,
                duration_ns: now - due.0,
                late_ns: now - due.0,
                chunk,
            });
        }
    }

    /// Track the bytes delivered and not yet written.
    fn watch(&mut self, done: u64, now: Nanos) {
        if let Some(source_rate) = self.source_rate {
            let elapsed = u128::from(now.0 - self.began.0);
            let bytes = elapsed * u128::from(source_rate.rate_bytes_per_s) / 1_000_000_000;
            let delivered = u64::try_from(bytes).expect("a stream of less than 16 EiB");
            // A chunk may complete before the rounded delivery count includes it.
            let held = delivered.min(self.length_bytes);
            let held = held.saturating_sub(done * self.chunk_bytes);
            self.high_water_bytes = self.high_water_bytes.max(held);
        }
    }

    /// Close an open stall.
    pub fn end(&mut self, registers: &Registers) {
        if let Some(stall) = self.open.take() {
            self.add(stall, registers);
        }
    }

    fn add(&mut self, stall: Stall, registers: &Registers) {
        let deadline = self.source_rate.and_then(|rate| rate.deadline);
        self.stalls.add(stall, deadline.map(|d| d.0));
        registers.stalled(stall.duration_ns);
    }

    /// Backlog of a source that cannot wait, with a ring of this size, of a stream of `sent_bytes`.
    pub fn backlog(
        &self,
        buffer_bytes: u64,
        sent_bytes: u64,
        buffer_table: Option<&BufferTable>,
    ) -> Option<Backlog> {
        let source_rate = self.source_rate?;
        let sustained = buffer_table.map_or(0, |buffer_table| buffer_table.rate_for(buffer_bytes));
        Some(Backlog {
            rate_bytes_per_s: source_rate.rate_bytes_per_s,
            buffer_bytes,
            // A source ends when it has delivered its stream.
            high_water_bytes: self.high_water_bytes.min(sent_bytes),
            sustainable_bytes_per_s: sustained.min(source_rate.rate_bytes_per_s),
        })
    }
}

#[cfg(test)]
#[path = "../tests/unit/pacing.rs"]
mod tests;
