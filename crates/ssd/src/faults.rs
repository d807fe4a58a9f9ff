//! Faults by ordinal: what is planned, and what happens to a given command.

use assay_units::{Nanos, Op, Rng};

use crate::command::Status;
use crate::options::{Fault, FaultKind};

/// What becomes of a write's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteFate {
    /// Stored where they belong.
    #[default]
    Stored,
    /// Stored with one bit flipped.
    Corrupted,
    /// Not stored.
    Dropped,
    /// Stored elsewhere.
    Misdirected,
}

/// What a plan holds for one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fate {
    /// Status to end with.
    pub status: Status,
    /// Extra time in nanoseconds.
    pub spike_ns: u64,
    /// What becomes of a write's bytes.
    pub write: WriteFate,
    /// What happens to the whole drive before the command reaches it.
    pub drive: DriveFate,
    /// A flush that does nothing.
    pub dropped: bool,
}

/// What happens to the whole drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriveFate {
    /// Nothing.
    #[default]
    None,
    /// It loses power and has it back.
    PowerLoss,
    /// It is gone.
    Removed,
}

/// The planned faults and the counters that find them.
#[derive(Clone, Debug)]
pub struct FaultPlan {
    faults: Vec<Fault>,
    bits: Rng,
    reads: u64,
    writes: u64,
    flushes: u64,
    /// Media that cannot be read until it is written: start and end in bytes.
    bad: Vec<(u64, u64)>,
}

impl FaultPlan {
    /// A plan; `seed` chooses the bits that corrupted writes lose.
    pub fn new(faults: Vec<Fault>, seed: u64) -> FaultPlan {
        let bad = faults.iter().filter_map(|fault| match fault.kind {
            FaultKind::MediaError {
                offset_bytes,
                len_bytes,
            } => Some((offset_bytes, offset_bytes.saturating_add(len_bytes))),
            _ => None,
        });
        FaultPlan {
            bad: bad.collect(),
            faults,
            bits: Rng::stream(seed, "fault bits"),
            reads: 0,
            writes: 0,
            flushes: 0,
        }
    }

    /// Is nothing planned?
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// Count a read or a write for which nothing is planned; returns its ordinal.
    #[inline]
    pub fn count(&mut self, is_read: bool) -> u64 {
        let counter = if is_read {
            &mut self.reads
        } else {
            &mut self.writes
        };
        *counter += 1;
        *counter
    }

    /// Count a read or write and say what is planned for it, with its ordinal (0 for other operations).
    #[inline]
    pub fn next(&mut self, op: Op) -> (u64, Fate) {
        let ordinal = match op {
            Op::Read => {
                self.reads += 1;
                self.reads
            }
            Op::Write => {
                self.writes += 1;
                self.writes
            }
            Op::Flush if !self.faults.is_empty() => {
                self.flushes += 1;
                let is_it = |fault: &Fault| {
                    fault.kind == FaultKind::DropFlush && fault.ordinal == self.flushes
                };
                let fate = Fate {
                    dropped: self.faults.iter().any(is_it),
                    ..Fate::default()
                };
                return (0, fate);
            }
            _ => return (0, Fate::default()),
        };
        if self.faults.is_empty() {
            return (ordinal, Fate::default());
        }
        (ordinal, self.look_up(op, ordinal))
    }

    fn look_up(&self, op: Op, ordinal: u64) -> Fate {
        let mut fate = Fate::default();
        for fault in &self.faults {
            match fault.kind {
                FaultKind::LatencySpike(Nanos(ns)) if fault.ordinal == self.reads + self.writes => {
                    fate.spike_ns = fate.spike_ns.saturating_add(ns);
                }
                FaultKind::PowerLoss if fault.ordinal == self.reads + self.writes => {
                    fate.drive = DriveFate::PowerLoss;
                }
                FaultKind::SurpriseRemoval if fault.ordinal == self.reads + self.writes => {
                    fate.drive = DriveFate::Removed;
                }
                FaultKind::ReadError if op == Op::Read && fault.ordinal == ordinal => {
                    fate.status = Status::UnrecoveredReadError;
                }
                FaultKind::WriteError if op == Op::Write && fault.ordinal == ordinal => {
                    fate.status = Status::WriteFault;
                }
                FaultKind::CorruptWrite if op == Op::Write && fault.ordinal == ordinal => {
                    fate.write = WriteFate::Corrupted;
                }
                FaultKind::DropWrite if op == Op::Write && fault.ordinal == ordinal => {
                    fate.write = WriteFate::Dropped;
                }
                FaultKind::MisdirectWrite if op == Op::Write && fault.ordinal == ordinal => {
                    fate.write = WriteFate::Misdirected;
                }
                _ => {}
            }
        }
        fate
    }

    /// Are there media errors by place?
    #[inline]
    pub fn has_bad_media(&self) -> bool {
        !self.bad.is_empty()
    }

    /// The first byte of media that cannot be read.
    pub fn first_bad(&self) -> Option<u64> {
        self.bad.iter().map(|&(from, _)| from).min()
    }

    /// A command touches this place: does it find media that cannot be read? Whatever is written, zeroed or deallocated is moved to
    /// other media, and can be read from then on.
    pub fn meets_bad_media(&mut self, op: Op, offset: u64, len: u64) -> bool {
        let end = offset.saturating_add(len);
        match op {
            Op::Read => self.bad.iter().any(|&(from, to)| from < end && offset < to),
            Op::Flush => false,
            Op::Write | Op::WriteZeroes | Op::Discard => {
                let pieces = self
                    .bad
                    .iter()
                    .flat_map(|&(from, to)| [(from, to.min(offset)), (from.max(end), to)]);
                self.bad = pieces.filter(|(from, to)| from < to).collect();
                false
            }
        }
    }

    /// Does the read of this ordinal return stale data?
    pub fn is_stale(&self, ordinal: u64) -> bool {
        self.faults
            .iter()
            .any(|fault| fault.kind == FaultKind::StaleRead && fault.ordinal == ordinal)
    }

    /// Is any stale read planned?
    pub fn has_stale(&self) -> bool {
        self.faults
            .iter()
            .any(|fault| fault.kind == FaultKind::StaleRead)
    }

    /// How many bytes a drive of forged capacity truly has.
    pub fn true_bytes(&self) -> Option<u64> {
        let wraps = self.faults.iter().filter_map(|fault| match fault.kind {
            FaultKind::Counterfeit { bytes } => Some(bytes),
            _ => None,
        });
        wraps.min()
    }

    /// Which bit of `bytes` bytes a corrupted write loses.
    pub fn pick_bit(&mut self, bytes: usize) -> u64 {
        self.bits.below(bytes as u64 * 8)
    }
}

#[cfg(test)]
#[path = "../tests/unit/faults.rs"]
mod tests;
