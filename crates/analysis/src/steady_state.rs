//! Steady-state check of a cell whose figures are declared steady. A cell whose step is `steady`,
//! or that is scored (view `consistency`), declares steady state for a span: the scored part, or
//! all measured intervals. The first of these conditions that holds rejects it:
//!
//! - fewer than [`LEAST_INTERVALS`] intervals;
//! - attribution finds fresh flash or the onset of garbage collection in the span;
//! - less was written than the area that is never written plus [`LEAST_WRITTEN`] of the capacity,
//!   however level the rate (a drive that was filled sequentially first collects superblocks full
//!   of valid data, at a rate that is constant for minutes but is not the steady one), unless the
//!   step before it prepared steady state and its probe found it;
//! - the rate moves: SNIA's limits on range and excursion, over the span and (dwell) relative to
//!   the span before it.
//!
//! SNIA's rule is defined for five rounds of a minute each. Applied to seconds it would reject
//! drives whose rate alternates, such as one that throttles for ten seconds of every forty: so the
//! excursion is that of the median slope between all pairs of intervals (P. K. Sen, "Estimates of
//! the regression coefficient based on Kendall's tau", 1968), which is robust against alternation
//! and outliers. Rounds are evaluated during the run (`execute::run::rounds`).

use assay_stats::steady::{SNIA_EXCURSION_PCT, SNIA_RANGE_PCT};
use assay_stats::{mean, median};
use assay_store::model::{CellPlan, CellView};
use assay_store::read::{CellDrive, CellRecord, CellState, Run};
use assay_store::series::IntervalSample;
use assay_units::Op;

use crate::attribution::{self, Cause, ObservedCell};
use crate::{left_state, score};

pub const LEAST_INTERVALS: usize = 10;
/// Share of the capacity written to a full drive before which garbage collection cannot be in
/// steady state. Simulated drives after AnandTech M8Pe, filled sequentially, are within SNIA's
/// range of their steady rate from here on, and not before, however level the rate.
pub const LEAST_WRITTEN: f64 = 0.15;
/// Phases that cover less than this share of the span are edges.
const EDGE: f64 = 0.1;
/// Most means between which slopes are taken: pairs grow with the square.
const MOST_POINTS: usize = 400;

/// Suite or view declare the figures of such a cell steady.
pub fn claims_steady_state(plan: &CellPlan) -> bool {
    plan.steady || plan.view == Some(CellView::Consistency)
}

/// `None` where the figures are steady, where nothing declares them steady, or nothing was
/// measured. `drive` is the index in [`Manifest::drives`](assay_store::model::Manifest::drives).
pub fn not_steady_reason(run: &Run, cell: &CellRecord, drive: usize) -> Option<String> {
    if !claims_steady_state(&cell.plan) {
        return None;
    }
    let part = cell.drive(drive)?;
    let observed = attribution::observe(run, cell, drive)?;
    let (from_s, to_s) = span(&cell.plan, part, &observed)?;
    let intervals = observed.intervals.iter();
    let intervals = intervals.filter(|i| i.sample.start_s() >= from_s).count();
    if intervals < LEAST_INTERVALS {
        return Some(format!(
            "{intervals} intervals are too few, at least {LEAST_INTERVALS} are needed: use a \
             longer runtime"
        ));
    }
    transient(&observed, from_s, to_s)
        .or_else(|| match left_state::began_steady(run, cell, drive) {
            true => None,
            false => too_little_written(part, &observed, from_s),
        })
        .or_else(|| moving(&observed, from_s, to_s))
}

/// Why a result is missing or incomplete: (short, in full). `None` for a finished cell that is
/// steady where it should be.
pub fn remark(
    cell: &CellRecord,
    has_result: bool,
    not_steady_reason: impl FnOnce() -> Option<String>,
) -> Option<(&'static str, String)> {
    match &cell.state {
        CellState::Finished if has_result => not_steady_reason().map(|why| ("not steady", why)),
        CellState::Finished => {
            Some(("no result", "the cell finished without a result for this drive".to_owned()))
        }
        CellState::Planned => Some(("not reached", "the run ended before this cell".to_owned())),
        CellState::Skipped(why) => Some(("skipped", why.clone())),
        CellState::Failed(why) => Some(("failed", why.clone())),
        CellState::Unfinished => Some((
            "unfinished",
            "the run was interrupted in this cell; the figure covers what was measured until \
                 then"
                .to_owned(),
        )),
    }
}

/// Seconds since the cell's start, with half an interval of tolerance for edges that are not
/// exactly on the second.
fn span(plan: &CellPlan, part: &CellDrive, observed: &ObservedCell) -> Option<(f64, f64)> {
    let (first, last) = (observed.intervals.first()?, observed.intervals.last()?);
    let end = last.sample.end_s();
    let from = match plan.view {
        // Too short for a score is too short for steady state.
        Some(CellView::Consistency) => score::score_of_cell(part).map_or(end, |score| score.from_s),
        _ => first.sample.start_s(),
    };
    Some((from - last.sample.elapsed_s() / 2.0, end))
}

/// Attribution finds the drive in transition.
fn transient(observed: &ObservedCell, from_s: f64, to_s: f64) -> Option<String> {
    let phases = attribution::phases(observed);
    phases.iter().find_map(|phase| {
        let what = match phase.cause {
            Cause::Fresh => "the drive was still writing to erased flash",
            Cause::GcOnset => "garbage collection was not in steady state",
            _ => return None,
        };
        let common_s = phase.to_s.min(to_s) - phase.from_s.max(from_s);
        (common_s > EDGE * (to_s - from_s)).then(|| format!("{what} ({})", phase.evidence))
    })
}

/// Too little was written for garbage collection to be in steady state.
fn too_little_written(part: &CellDrive, observed: &ObservedCell, from_s: f64) -> Option<String> {
    let context = &observed.context;
    if context.write_share < 0.5 || context.capacity_bytes == 0 {
        return None;
    }
    let points = part.series.iter();
    let earlier = points.filter(|p| p.op == Op::Write && p.start.as_secs_f64() < from_s);
    let written: u64 = earlier.map(|p| p.bytes).sum();
    let unused = context.capacity_bytes.saturating_sub(context.span_bytes);
    let needed = unused as f64 + LEAST_WRITTEN * context.capacity_bytes as f64;
    let share = |bytes: f64| bytes / context.capacity_bytes as f64 * 100.0;
    ((written as f64) < needed).then(|| {
        format!(
            "only {:.1} % of the capacity was written before the evaluated span: garbage \
             collection can reach steady state after {:.0} %",
            share(written as f64),
            share(needed)
        )
    })
}

/// The rate moves within the span, or relative to the span before it.
fn moving(observed: &ObservedCell, from_s: f64, to_s: f64) -> Option<String> {
    let between = |from: f64, to: f64| -> Vec<f64> {
        let samples = observed.intervals.iter().map(|i| &i.sample);
        let inside = samples.filter(|s| s.start_s() >= from && s.end_s() <= to + 1e-6);
        inside.map(IntervalSample::iops).collect()
    };
    let now = between(from_s, to_s);
    if let Some(why) = drifts(&now) {
        return Some(why);
    }
    let length = to_s - from_s;
    let before = between(from_s - length, from_s + 1e-6);
    // A span of all measured intervals has nothing before it.
    if before.len() < now.len().div_ceil(2) {
        return None;
    }
    let (was, is) = (mean(&before), mean(&now));
    let change_pct = (is - was).abs() / is.max(f64::MIN_POSITIVE) * 100.0;
    (change_pct > SNIA_RANGE_PCT).then(|| {
        format!(
            "its mean differs by {change_pct:.0} % from that of the same span before, at most \
             {SNIA_RANGE_PCT} %"
        )
    })
}

/// SNIA's limits, applied to a series that can alternate.
fn drifts(rates: &[f64]) -> Option<String> {
    let mean_of_all = mean(rates);
    if mean_of_all <= 0.0 {
        return Some("no I/O was completed".to_owned());
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
            "the means of its two halves differ by {range_pct:.0} % of the mean, at most \
             {SNIA_RANGE_PCT} %"
        )
    })
}

#[cfg(test)]
#[path = "../tests/unit/steady_state.rs"]
mod tests;
