//! Fault injection by command ordinal.

use assay_units::{Nanos, Op, Rng};

use crate::command::Status;
use crate::options::{Fault, FaultKind};

/// Effect of a fault on a write's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteEffect {
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

/// Faults planned for one command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultEffects {
    /// Status of the completion.
    pub status: Status,
    /// Extra time in nanoseconds.
    pub spike_ns: u64,
    /// Effect on a write's bytes.
    pub write: WriteEffect,
    /// Drive-level fault just before the command.
    pub drive: DriveFault,
    /// A flush that is acknowledged without effect.
    pub dropped: bool,
}

/// A fault of the whole drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DriveFault {
    /// Nothing.
    #[default]
    None,
    /// Power fails and returns at once.
    PowerLoss,
    /// Surprise removal.
    Removed,
}

/// Planned faults and the ordinal counters.
#[derive(Clone, Debug)]
pub struct FaultPlan {
    faults: Vec<Fault>,
    bits: Rng,
    reads: u64,
    writes: u64,
    flushes: u64,
    /// Unreadable media: start and end in bytes.
    bad: Vec<(u64, u64)>,
}

impl FaultPlan {
    /// A plan; `seed` selects the bits flipped in corrupted writes.
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

    /// Whether nothing is planned.
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// Count a read or write without a planned fault; returns its ordinal.
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

    /// Count a command; returns its ordinal (0 unless read or write) and its planned faults.
    #[inline]
    pub fn next(&mut self, op: Op) -> (u64, FaultEffects) {
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
                let effects = FaultEffects {
                    dropped: self.faults.iter().any(is_it),
                    ..FaultEffects::default()
                };
                return (0, effects);
            }
            _ => return (0, FaultEffects::default()),
        };
        if self.faults.is_empty() {
            return (ordinal, FaultEffects::default());
        }
        (ordinal, self.look_up(op, ordinal))
    }

    fn look_up(&self, op: Op, ordinal: u64) -> FaultEffects {
        let mut effects = FaultEffects::default();
        for fault in &self.faults {
            match fault.kind {
                FaultKind::LatencySpike(Nanos(ns)) if fault.ordinal == self.reads + self.writes => {
                    effects.spike_ns = effects.spike_ns.saturating_add(ns);
                }
                FaultKind::PowerLoss if fault.ordinal == self.reads + self.writes => {
                    effects.drive = DriveFault::PowerLoss;
                }
                FaultKind::SurpriseRemoval if fault.ordinal == self.reads + self.writes => {
                    effects.drive = DriveFault::Removed;
                }
                FaultKind::ReadError if op == Op::Read && fault.ordinal == ordinal => {
                    effects.status = Status::UnrecoveredReadError;
                }
                FaultKind::WriteError if op == Op::Write && fault.ordinal == ordinal => {
                    effects.status = Status::WriteFault;
                }
                FaultKind::CorruptWrite if op == Op::Write && fault.ordinal == ordinal => {
                    effects.write = WriteEffect::Corrupted;
                }
                FaultKind::DropWrite if op == Op::Write && fault.ordinal == ordinal => {
                    effects.write = WriteEffect::Dropped;
                }
                FaultKind::MisdirectWrite if op == Op::Write && fault.ordinal == ordinal => {
                    effects.write = WriteEffect::Misdirected;
                }
                _ => {}
            }
        }
        effects
    }

    /// Whether any media is unreadable.
    #[inline]
    pub fn has_bad_media(&self) -> bool {
        !self.bad.is_empty()
    }

    /// First unreadable byte.
    pub fn first_bad(&self) -> Option<u64> {
        self.bad.iter().map(|&(from, _)| from).min()
    }

    /// Whether a command hits unreadable media. Writing, zeroing or deallocating remaps the range, which is
    /// readable from then on.
    pub fn hits_bad_media(&mut self, op: Op, offset: u64, len: u64) -> bool {
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

    /// Whether the read of this ordinal returns stale data.
    pub fn is_stale(&self, ordinal: u64) -> bool {
        self.faults
            .iter()
            .any(|fault| fault.kind == FaultKind::StaleRead && fault.ordinal == ordinal)
    }

    /// Whether any stale read is planned.
    pub fn has_stale(&self) -> bool {
        self.faults
            .iter()
            .any(|fault| fault.kind == FaultKind::StaleRead)
    }

    /// True capacity in bytes of a counterfeit drive.
    pub fn true_bytes(&self) -> Option<u64> {
        let wraps = self.faults.iter().filter_map(|fault| match fault.kind {
            FaultKind::Counterfeit { bytes } => Some(bytes),
            _ => None,
        });
        wraps.min()
    }

    /// Bit that a corrupted write of `bytes` bytes flips.
    pub fn pick_bit(&mut self, bytes: usize) -> u64 {
        self.bits.below(bytes as u64 * 8)
    }
}

#[cfg(test)]
#[path = "../tests/unit/faults.rs"]
mod tests;
