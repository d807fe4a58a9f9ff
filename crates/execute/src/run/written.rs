//! Rates by what was written: whether a drive has begun to collect garbage, and whether its random
//! writes are steady.

use std::collections::BTreeMap;

use assay_stats::steady::{SNIA_WINDOW, SteadyEvaluation, SteadyRule};
use assay_store::model::{
    NOT_NEEDED, PROBE_START_PCT, SPARE_PCT, STEADY_BYTES_PER_SECOND, Warning,
};
use assay_suite::expand::Cell;
use assay_units::Nanos;
use assay_units::rate::per_second;
use assay_workload::access::{AREA_PER_LEAD, AddressPattern};
use assay_workload::plan::Workload;

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

/// A drive whose write cache has borrowed flash gives it back when free space becomes scarce, which
/// moves the data of the cache: its write amplification rises while the rate is still level. Of the
/// simulated drives those with such a cache are at 1.35 to 1.5 then, all others at 1.00.
const GIVES_BACK: f64 = 1.15;
/// Shares of the area that are written before, for comparison.
const NOTHING_GIVEN_BACK: std::ops::Range<f64> = 0.5..0.9;
/// Share of the area for which it has to be so, and what is left out before the end of the pass,
/// where garbage collection begins.
const GIVEN_BACK_SHARE: f64 = 0.03;
/// Write amplification of collection, relative to that before it: with 45 % spare it is 1.75 in
/// steady state, with less spare more.
const COLLECTS: f64 = 1.75;
/// Readings for which it has to be so.
const COLLECTING_PARTS: usize = 2;
/// Readings of the drive's counters are this share of the area apart.
const COUNTED_SHARE: f64 = 0.01;

/// Parts of the area whose rates the steady-state rule is about: a window is a tenth of the area.
const PARTS_OF_PROBE: u64 = 50;
/// SNIA's rule with half its limits: rounds of a fiftieth of the area follow each other closely.
const PROBE_RULE: SteadyRule =
    SteadyRule::Snia { window: SNIA_WINDOW, range_pct: 10.0, excursion_pct: 5.0 };

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
    pub(super) fn new(cell: &Cell, workload: &Workload) -> Option<Watched> {
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

/// Of the segments of a pass, by cell: each goes on with what the one before has seen.
pub(super) type Courses = BTreeMap<String, WriteCourse>;

/// What the segments before this cell have seen.
pub(super) fn course_before<'a>(cell: &Cell, courses: &'a Courses) -> Option<&'a WriteCourse> {
    let segment = cell.plan.segment.as_ref()?;
    let before = (1..segment.number).rev();
    let mut ids = before.map(|number| format!("{}/segment={number}", segment.of));
    // Segments that were not needed have seen nothing.
    ids.find_map(|id| courses.get(&id))
}

/// A segment of a pass is not needed once the drive's free space has ended.
pub(super) fn ended_before(cell: &Cell, courses: &Courses) -> Option<String> {
    let watched = Watched::new(cell, cell.workloads.first()?)?;
    let ended = course_before(cell, courses).is_some_and(|course| course.has_ended(watched));
    ended.then(|| format!("{NOT_NEEDED}: the drive's free space has ended, and so has the pass"))
}

/// Rates of equal parts of the writes.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteCourse {
    part: (u64, Nanos),
    pub(super) rates: Vec<f64>,
    pub(super) written_bytes: u64,
    /// Parts from [`COUNTED_FROM`] on.
    counted: usize,
    reference: f64,
    /// Bytes written by the host and to the media, by the drive's counters.
    counters: Vec<(u64, u64)>,
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

    pub(super) fn add_counters(&mut self, watched: Watched, host_bytes: u64, media_bytes: u64) {
        let apart = (watched.area_bytes() as f64 * COUNTED_SHARE) as u64;
        let is_next = |last: &(u64, u64)| host_bytes.saturating_sub(last.0) >= apart;
        if matches!(watched, Watched::Collection { .. }) && self.counters.last().is_none_or(is_next)
        {
            self.counters.push((host_bytes, media_bytes));
        }
    }

    /// Between readings: share of the area that is written at the end, bytes, write amplification.
    fn amplifications(&self, area_bytes: u64) -> Vec<(f64, u64, f64)> {
        let begin = self.counters.first().map_or(0, |first| first.0);
        let parts = self.counters.windows(2).map(|pair| {
            let host = pair[1].0.saturating_sub(pair[0].0).max(1);
            let media = pair[1].1.saturating_sub(pair[0].1);
            let share = pair[1].0.saturating_sub(begin) as f64 / area_bytes.max(1) as f64;
            (share, host, media as f64 / host as f64)
        });
        parts.collect()
    }

    /// The drive moves as much data as garbage collection does, which the rate need not show.
    fn collects(&self, area_bytes: u64) -> bool {
        let parts = self.amplifications(area_bytes);
        let usual = usual_amplification(&parts);
        let last = parts.last_chunk::<COLLECTING_PARTS>();
        let collects = |part: &(f64, u64, f64)| usual > 0.0 && part.2 > usual * COLLECTS;
        last.is_some_and(|last| last.iter().all(collects))
    }

    /// Share of the area that was written while the drive gave back borrowed flash.
    fn given_back(&self, area_bytes: u64) -> Option<f64> {
        let parts = self.amplifications(area_bytes);
        let usual = usual_amplification(&parts);
        let until = parts.last()?.0 - GIVEN_BACK_SHARE;
        let later = (parts.iter())
            .filter(|part| part.0 > NOTHING_GIVEN_BACK.end && part.0 < until)
            .filter(|part| usual > 0.0 && part.2 > usual * GIVES_BACK);
        let bytes: u64 = later.map(|part| part.1).sum();
        let given = bytes as f64 / area_bytes.max(1) as f64;
        (given >= GIVEN_BACK_SHARE).then_some(given)
    }

    pub(super) fn has_ended(&self, watched: Watched) -> bool {
        match watched {
            Watched::Collection { area_bytes } => {
                let last = self.rates.last_chunk::<SLOWED_PARTS>();
                let is_slow = |last: &[f64; SLOWED_PARTS]| {
                    assay_stats::mean(last) < self.reference * SLOWED_SHARE
                };
                beyond_area_bytes(self.written_bytes, area_bytes) > 0
                    && (last.is_some_and(is_slow) || self.collects(area_bytes))
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
            Watched::Collection { area_bytes } if self.has_ended(watched) => {
                self.given_back(area_bytes).map(warn::cache_borrows)
            }
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

/// Before a drive gives anything back or collects.
fn usual_amplification(parts: &[(f64, u64, f64)]) -> f64 {
    let before = parts.iter().filter(|part| NOTHING_GIVEN_BACK.contains(&part.0));
    assay_stats::median(&before.map(|part| part.2).collect::<Vec<f64>>())
}

/// What a pass has written beyond its lead and the area once.
fn beyond_area_bytes(written_bytes: u64, area_bytes: u64) -> u64 {
    written_bytes.saturating_sub(area_bytes + area_bytes / AREA_PER_LEAD)
}

#[cfg(test)]
#[path = "../../tests/unit/run/written.rs"]
mod tests;
