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
}

/// The planned faults and the counters that find them.
#[derive(Clone, Debug)]
pub struct FaultPlan {
    faults: Vec<Fault>,
    bits: Rng,
    reads: u64,
    writes: u64,
}

impl FaultPlan {
    /// A plan; `seed` chooses the bits that corrupted writes lose.
    pub fn new(faults: Vec<Fault>, seed: u64) -> FaultPlan {
        FaultPlan {
            faults,
            bits: Rng::stream(seed, "fault bits"),
            reads: 0,
            writes: 0,
        }
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

    /// Which bit of `bytes` bytes a corrupted write loses.
    pub fn pick_bit(&mut self, bytes: usize) -> u64 {
        self.bits.below(bytes as u64 * 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_strike_their_ordinal_only() {
        let fault = |kind, ordinal| Fault { kind, ordinal };
        let mut plan = FaultPlan::new(
            vec![
                fault(FaultKind::ReadError, 2),
                fault(FaultKind::DropWrite, 1),
                fault(FaultKind::LatencySpike(Nanos(50)), 3),
                fault(FaultKind::StaleRead, 1),
            ],
            0,
        );
        let ok = Fate::default();
        assert_eq!(plan.next(Op::Read), (1, ok));
        assert_eq!(plan.next(Op::Flush), (0, ok));
        let dropped = Fate {
            write: WriteFate::Dropped,
            ..ok
        };
        assert_eq!(plan.next(Op::Write), (1, dropped));
        let failed = Fate {
            status: Status::UnrecoveredReadError,
            spike_ns: 50,
            ..ok
        };
        assert_eq!(plan.next(Op::Read), (2, failed));
        assert_eq!(plan.next(Op::Write), (2, ok));
        assert!(plan.is_stale(1) && !plan.is_stale(2) && plan.has_stale());
    }
}
