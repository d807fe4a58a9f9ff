use assay_units::{Op, Rng};

use crate::command::Status;
use crate::options::{Fault, FaultKind, MAX_LATENCY_SPIKE};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WriteEffect {
    #[default]
    Stored,
    /// Stored with one bit flipped.
    Corrupted,
    Dropped,
    Misdirected,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultEffects {
    pub status: Status,
    pub spike_ns: u64,
    pub write: WriteEffect,
    pub drive: Option<FaultKind>,
    pub dropped: bool,
}

#[derive(Clone, Debug)]
pub struct FaultPlan {
    faults: Vec<Fault>,
    bits: Rng,
    counts: [u64; 2],
    flushes: u64,
    bad: Vec<(u64, u64)>,
}

impl FaultPlan {
    /// `seed` selects the bits flipped. Panics with a latency spike above [`MAX_LATENCY_SPIKE`].
    pub fn new(faults: Vec<Fault>, seed: u64) -> FaultPlan {
        let is_too_long = |fault: &Fault| match fault.kind {
            FaultKind::LatencySpike(spike) => spike > MAX_LATENCY_SPIKE,
            _ => false,
        };
        assert!(!faults.iter().any(is_too_long), "latency spikes are bounded");
        let bad = faults.iter().filter_map(|fault| match fault.kind {
            FaultKind::MediaError { offset_bytes, len_bytes } => {
                let end_bytes =
                    offset_bytes.checked_add(len_bytes).expect("media errors end below 2^64");
                Some((offset_bytes, end_bytes))
            }
            _ => None,
        });
        FaultPlan {
            bad: bad.collect(),
            faults,
            bits: Rng::stream(seed, "fault bits"),
            counts: [0; 2],
            flushes: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    #[inline]
    pub fn count(&mut self, is_read: bool) -> u64 {
        let counter = &mut self.counts[usize::from(is_read)];
        *counter += 1;
        *counter
    }

    /// Count a command; returns its ordinal (0 unless read or write) and its planned faults.
    #[inline]
    pub fn next(&mut self, op: Op) -> (u64, FaultEffects) {
        if matches!(op, Op::Read | Op::Write) {
            let ordinal = self.count(op == Op::Read);
            return (ordinal, self.planned(op, ordinal));
        }
        let mut effects = FaultEffects::default();
        if op == Op::Flush {
            self.flushes += 1;
            effects.dropped = self.has(FaultKind::DropFlush, self.flushes);
        }
        (0, effects)
    }

    fn has(&self, kind: FaultKind, ordinal: u64) -> bool {
        self.faults.contains(&Fault { kind, ordinal })
    }

    fn planned(&self, op: Op, ordinal: u64) -> FaultEffects {
        let mut effects = FaultEffects::default();
        for fault in &self.faults {
            let is_this_io = fault.ordinal == self.counts.iter().sum::<u64>();
            let is_this_read = op == Op::Read && fault.ordinal == ordinal;
            let is_this_write = op == Op::Write && fault.ordinal == ordinal;
            match fault.kind {
                FaultKind::LatencySpike(spike) if is_this_io => {
                    effects.spike_ns = (effects.spike_ns + spike.0).min(MAX_LATENCY_SPIKE.0);
                }
                kind @ (FaultKind::PowerLoss | FaultKind::SurpriseRemoval) if is_this_io => {
                    effects.drive = Some(kind);
                }
                FaultKind::ReadError if is_this_read => {
                    effects.status = Status::UnrecoveredReadError;
                }
                FaultKind::WriteError if is_this_write => effects.status = Status::WriteFault,
                FaultKind::CorruptWrite if is_this_write => effects.write = WriteEffect::Corrupted,
                FaultKind::DropWrite if is_this_write => effects.write = WriteEffect::Dropped,
                FaultKind::MisdirectWrite if is_this_write => {
                    effects.write = WriteEffect::Misdirected;
                }
                _ => {}
            }
        }
        effects
    }

    pub fn first_bad(&self) -> Option<u64> {
        self.bad.iter().map(|&(from, _)| from).min()
    }

    /// Whether a command hits unreadable media; writing, zeroing or deallocating makes it readable.
    pub fn hits_bad_media(&mut self, op: Op, offset: u64, len: u64) -> bool {
        if op == Op::Flush {
            return false;
        }
        let end = offset + len;
        if op == Op::Read {
            return self.bad.iter().any(|&(from, to)| from < end && offset < to);
        }
        let around = |&(from, to): &(u64, u64)| [(from, to.min(offset)), (from.max(end), to)];
        let remaining = self.bad.iter().flat_map(around);
        self.bad = remaining.filter(|(from, to)| from < to).collect();
        false
    }

    pub fn is_stale(&self, ordinal: u64) -> bool {
        self.has(FaultKind::StaleRead, ordinal)
    }

    pub fn has_stale(&self) -> bool {
        let mut kinds = self.faults.iter().map(|fault| fault.kind);
        kinds.any(|kind| kind == FaultKind::StaleRead)
    }

    pub fn tears_writes(&self) -> bool {
        self.has(FaultKind::TornWrites, 0)
    }

    pub fn true_bytes(&self) -> Option<u64> {
        let wraps = self.faults.iter().filter_map(|fault| match fault.kind {
            FaultKind::Counterfeit { bytes } => Some(bytes),
            _ => None,
        });
        wraps.min()
    }

    pub fn pick_bit(&mut self, bytes: usize) -> u64 {
        self.bits.below(bytes as u64 * 8)
    }
}

#[cfg(test)]
#[path = "../tests/unit/faults.rs"]
mod tests;
