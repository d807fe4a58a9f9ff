//! Is the figure of a cell that of a drive at rest, as its suite says it is?
//!
//! # Mechanism
//! A cell whose step is `steady`, or that is scored (view `consistency`), says so of a span: the scored one, or all that was measured. Four things speak
//! against it, and the first that does is the answer:
//!
//! - too few intervals to tell ([`LEAST_INTERVALS`]);
//! - attribution shows fresh flash or collection on its way in the span;
//! - too little was written for collection to have come to rest: less than what was never written and [`LEAST_WRITTEN`] of the capacity, however level the rate
//!   (a drive that was filled in order collects its first garbage from flash that is full of valid data, at a rate that is steady for minutes and not the later one);
//! - the rate moves: SNIA's limits on rise and range, over the span and (dwell) over the one before it.
//!
//! SNIA's rule is of five rounds of a minute each. Second by second it would refuse drives that alternate by nature, such as one that throttles for ten
//! seconds in forty: so the rise is that of the median slope between all pairs of intervals (P. K. Sen, "Estimates of the regression coefficient based on
//! Kendall's tau", 1968), which neither alternation nor outliers move, and the range is that of the means of both halves.
//!
//! # Non-goals
//! Rounds are judged while the run goes on (`suite::execute::rounds`), and have their own record.

use assay_stats::change::median;
use assay_stats::steady::{SNIA_EXCURSION_PCT, SNIA_RANGE_PCT};
use assay_store::model::{CellPlan, View};
use assay_store::read::{CellDrive, CellRecord, Run};
use assay_store::series::IntervalSample;
use assay_units::Op;

use crate::attribution::{self, Cause, Watched};
use crate::score;

/// With fewer intervals in the span nobody can tell a rate at rest from one that moves.
pub const LEAST_INTERVALS: usize = 10;
/// Collection cannot be at rest before this share of the capacity was written to a full drive. The simulated drives of report B, filled in order, are from here on within
/// SNIA's range of where they settle; before, as level as they may be for minutes, they are not.
pub const LEAST_WRITTEN: f64 = 0.15;
/// A phase that covers less than this share of the span is its edge.
const EDGE: f64 = 0.1;
/// The median slope is taken between so many means at most: pairs grow with the square.
const MOST_POINTS: usize = 400;

/// Do suite and view say that figures of such a cell are those of a drive at rest?
pub fn is_claimed(plan: &CellPlan) -> bool {
    plan.steady || plan.view == Some(View::Consistency)
}

/// Why the figures of a drive in a cell are not those of a drive at rest, though they are said to be; `None` where they are, or where nothing says so, or nothing
/// was measured. `drive` is its index in [`Manifest::drives`](assay_store::model::Manifest::drives).
pub fn objection(run: &Run, cell: &CellRecord, drive: usize) -> Option<String> {
    if !is_claimed(&cell.plan) {
        return None;
    }
    let part = cell.drives.iter().find(|part| part.drive == drive)?;
    let watched = attribution::watched(run, cell, drive)?;
    let (from_s, to_s) = span(&cell.plan, part, &watched)?;
    let inside = watched.moments.iter().filter(|m| m.start_s >= from_s);
    let intervals = inside.count();
    if intervals < LEAST_INTERVALS {
        return Some(format!(
            "{intervals} intervals are too few to tell, it takes {LEAST_INTERVALS}: let it run for longer"
        ));
    }
    young(&watched, from_s, to_s)
        .or_else(|| untouched(part, &watched, from_s))
        .or_else(|| moving(&rates(part), from_s, to_s))
}

/// The span that the figure is of, seconds since the cell's start; half an interval of leeway, for edges that are not exactly on the second.
fn span(plan: &CellPlan, part: &CellDrive, watched: &Watched) -> Option<(f64, f64)> {
    let (first, last) = (watched.moments.first()?, watched.moments.last()?);
    let end = last.start_s + last.elapsed_s;
    let from = match plan.view {
        // Too short for a score is too short to be at rest.
        Some(View::Consistency) => score::of(part).map_or(end, |score| score.from_s),
        _ => first.start_s,
    };
    Some((from - last.elapsed_s / 2.0, end))
}

/// Does attribution show that the drive was still on its way there?
fn young(watched: &Watched, from_s: f64, to_s: f64) -> Option<String> {
    let phases = attribution::phases(watched);
    phases.iter().find_map(|phase| {
        let what = match phase.cause {
            Cause::Fresh => "writes still found room ready",
            Cause::CollectionOnset => "garbage collection was still on its way to a steady state",
            _ => return None,
        };
        let common_s = phase.to_s.min(to_s) - phase.from_s.max(from_s);
        (common_s > EDGE * (to_s - from_s)).then(|| format!("{what} ({})", phase.evidence))
    })
}

/// Was too little written for collection to have come to rest?
fn untouched(part: &CellDrive, watched: &Watched, from_s: f64) -> Option<String> {
    let facts = &watched.facts;
    if facts.write_share < 0.5 || facts.capacity_bytes == 0 {
        return None;
    }
    let written: u64 = part
        .series
        .iter()
        .filter(|p| p.op == Op::Write && p.start.as_secs_f64() < from_s)
        .map(|p| p.bytes)
        .sum();
    let unused = facts.capacity_bytes.saturating_sub(facts.span_bytes);
    let needed = unused as f64 + LEAST_WRITTEN * facts.capacity_bytes as f64;
    let share = |bytes: f64| bytes / facts.capacity_bytes as f64 * 100.0;
    ((written as f64) < needed).then(|| {
        format!(
            "only {:.1} % of the capacity was written before the part that counts: garbage collection need not have come to rest before {:.0} %",
            share(written as f64),
            share(needed)
        )
    })
}

/// Start, end and completions per second of each measured interval.
fn rates(part: &CellDrive) -> Vec<(f64, f64, f64)> {
    let samples = part.measured_intervals();
    let rate = |s: &IntervalSample| (s.start_s(), s.end_s(), s.iops());
    samples.iter().map(rate).collect()
}

/// Does the rate move in the span, or from the one before it to this one?
fn moving(rates: &[(f64, f64, f64)], from_s: f64, to_s: f64) -> Option<String> {
    let between = |from: f64, to: f64| -> Vec<f64> {
        let inside = rates.iter().filter(|r| r.0 >= from && r.1 <= to + 1e-6);
        inside.map(|r| r.2).collect()
    };
    let now = between(from_s, to_s);
    if let Some(why) = drifts(&now) {
        return Some(why);
    }
    let length = to_s - from_s;
    let before = between(from_s - length, from_s + 1e-6);
    // A cell whose figure is of all that was measured has nothing before.
    if before.len() < now.len().div_ceil(2) {
        return None;
    }
    let (was, is) = (mean(&before), mean(&now));
    let change_pct = (is - was).abs() / is.max(f64::MIN_POSITIVE) * 100.0;
    (change_pct > SNIA_RANGE_PCT).then(|| {
        format!(
            "its mean differs by {change_pct:.0} % from that of the same span before, at most {SNIA_RANGE_PCT} %"
        )
    })
}

/// SNIA's limits on a series that may alternate.
fn drifts(rates: &[f64]) -> Option<String> {
    let mean_of_all = mean(rates);
    if mean_of_all <= 0.0 {
        return Some("nothing was done".to_owned());
    }
    let part = rates.len().div_ceil(MOST_POINTS);
    let points: Vec<f64> = rates.chunks_exact(part.max(1)).map(mean).collect();
    let mut slopes = Vec::with_capacity(points.len() * points.len() / 2);
    for (i, a) in points.iter().enumerate() {
        for (n, b) in points[i + 1..].iter().enumerate() {
            slopes.push((b - a) / (n + 1) as f64);
        }
    }
    let across = median(&slopes) * points.len().saturating_sub(1) as f64;
    let rise_pct = across / mean_of_all * 100.0;
    if rise_pct.abs() > SNIA_EXCURSION_PCT {
        return Some(format!(
            "the rate {} by {:.0} % of its mean, at most {SNIA_EXCURSION_PCT} %",
            if rise_pct < 0.0 { "falls" } else { "rises" },
            rise_pct.abs()
        ));
    }
    let (first, second) = rates.split_at(rates.len() / 2);
    let range_pct = (mean(second) - mean(first)).abs() / mean_of_all * 100.0;
    (range_pct > SNIA_RANGE_PCT).then(|| {
        format!(
            "the means of its two halves differ by {range_pct:.0} % of the mean, at most {SNIA_RANGE_PCT} %"
        )
    })
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

#[cfg(test)]
#[path = "../tests/unit/rest.rs"]
mod tests;
