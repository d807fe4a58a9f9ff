//! Rates by what was written: whether a drive has begun to collect garbage, and whether its random
//! writes are steady.

use assay_stats::steady::{SNIA_WINDOW, SteadyEvaluation, SteadyRule};
use assay_store::model::{PROBE_START_PCT, SPARE_PCT, Warning};
use assay_suite::expand::Cell;
use assay_units::Nanos;
use assay_units::rate::per_second;
use assay_workload::access::{AREA_PER_LEAD, AddressPattern};
use assay_workload::plan::Workload;

use super::results::STEADY_BYTES_PER_SECOND;
use crate::warn;

/// Parts of the area whose rates are compared while it is written: spare of a few percent is seen
/// to end within a tenth of itself.
const PARTS_OF_PASS: u64 = 1000;
/// Share of the area that is written before the parts that count: caches are full by then.
const COUNTED_FROM: f64 = 0.7;
/// Parts whose mean rate is that without garbage collection, where it is highest.
const REFERENCE_PARTS: usize = 50;
/// With 50 % spare, writes are still slowed to 58 % by garbage collection.
const SLOWED_SHARE: f64 = 0.85;
/// Parts whose mean rate is compared: single ones are slowed by caches and erases.
const SLOWED_PARTS: usize = 20;

/// Parts of the area whose rates the steady-state rule is about: a window is a tenth of the area.
const PARTS_OF_PROBE: u64 = 50;
/// SNIA's rule with half its limits: rounds of a fiftieth of the area follow each other closely.
const PROBE_RULE: SteadyRule = SteadyRule::Snia {
    window: SNIA_WINDOW,
    range_pct: 10.0,
    excursion_pct: 5.0,
};

/// What a drive's writes are watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Watched {
    /// The rate falls because free space is used up.
    Collection {
        area_bytes: u64,
    },
    Steadiness {
        area_bytes: u64,
    },
}

impl Watched {
    pub(super) fn of(cell: &Cell, workload: &Workload) -> Option<Watched> {
        let area_bytes = workload.area.size_bytes;
        match workload.access.pattern {
            AddressPattern::Steady => Some(Watched::Collection { area_bytes }),
            _ => (cell.probes_steadiness).then_some(Watched::Steadiness { area_bytes }),
        }
    }

    pub(super) fn area_bytes(self) -> u64 {
        match self {
            Watched::Collection { area_bytes } | Watched::Steadiness { area_bytes } => area_bytes,
        }
    }

    fn part_bytes(self) -> u64 {
        let parts = match self {
            Watched::Collection { .. } => PARTS_OF_PASS,
            Watched::Steadiness { .. } => PARTS_OF_PROBE,
        };
        (self.area_bytes() / parts).max(1)
    }
}

/// Rates of equal parts of the writes.
#[derive(Debug, Default)]
pub(super) struct WriteCourse {
    part: (u64, Nanos),
    pub(super) rates: Vec<f64>,
    pub(super) written_bytes: u64,
    /// Parts from [`COUNTED_FROM`] on.
    counted: usize,
    reference: f64,
}

impl WriteCourse {
    /// A part is as long as its intervals, at least.
    pub(super) fn add(&mut self, watched: Watched, bytes: u64, span: Nanos) {
        self.written_bytes += bytes;
        self.part = (self.part.0 + bytes, self.part.1 + span);
        if self.part.0 < watched.part_bytes() {
            return;
        }
        self.rates.push(per_second(self.part.0, self.part.1));
        self.part = (0, Nanos::ZERO);
        if self.written_bytes as f64 > watched.area_bytes() as f64 * COUNTED_FROM {
            self.counted += 1;
            if let Some(last) = self.rates.last_chunk::<REFERENCE_PARTS>()
                && self.counted >= REFERENCE_PARTS
            {
                self.reference = self.reference.max(assay_stats::mean(last));
            }
        }
    }

    pub(super) fn has_ended(&self, watched: Watched) -> bool {
        match watched {
            Watched::Collection { area_bytes } => {
                let last = self.rates.last_chunk::<SLOWED_PARTS>();
                let is_slow = |last: &[f64; SLOWED_PARTS]| {
                    assay_stats::mean(last) < self.reference * SLOWED_SHARE
                };
                beyond_area_bytes(self.written_bytes, area_bytes) > 0 && last.is_some_and(is_slow)
            }
            Watched::Steadiness { .. } => self.steadiness().achieved,
        }
    }

    pub(super) fn values(&self, watched: Watched) -> Vec<(&'static str, f64)> {
        match watched {
            _ if !self.has_ended(watched) => Vec::new(),
            Watched::Collection { area_bytes } => {
                let spare = beyond_area_bytes(self.written_bytes, area_bytes) as f64;
                vec![(SPARE_PCT, spare * 100.0 / area_bytes as f64)]
            }
            Watched::Steadiness { .. } => {
                let mean = self.steadiness().mean;
                let start = self.rates.first().map(|first| first / mean * 100.0);
                let start = start.map(|pct| (PROBE_START_PCT, pct));
                let mean = (STEADY_BYTES_PER_SECOND, mean);
                start.into_iter().chain([mean]).collect()
            }
        }
    }

    pub(super) fn warning(&self, watched: Watched) -> Option<Warning> {
        match watched {
            _ if self.has_ended(watched) => None,
            Watched::Collection { .. } => Some(warn::no_collection()),
            Watched::Steadiness { .. } => {
                let why = self.steadiness().why;
                Some(warn::probe_not_steady(why.as_deref().unwrap_or_default()))
            }
        }
    }

    fn steadiness(&self) -> SteadyEvaluation {
        PROBE_RULE.evaluate(&self.rates)
    }
}

/// What a pass has written beyond its lead and the area once.
fn beyond_area_bytes(written_bytes: u64, area_bytes: u64) -> u64 {
    written_bytes.saturating_sub(area_bytes + area_bytes / AREA_PER_LEAD)
}

#[cfg(test)]
#[path = "../../tests/unit/run/written.rs"]
mod tests;
