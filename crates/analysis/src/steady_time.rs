//! Time until the rate of a long write is steady. The cell is divided into rounds of a minute
//! ([`ROUND_S`]), or into [`ROUNDS`] equal ones where it is shorter than an hour. It is steady from
//! the first round on from which every window of five rounds until the end of the cell meets SNIA's
//! rule (SNIA PTS 2.0.2, 2.1.24: range at most 20 % of the mean, rise or fall of the least-squares
//! line at most 10 %), and has a mean within [`WITHIN_PCT`] of that of the last window. The first
//! such window is not enough: a drive that was filled sequentially collects superblocks full of
//! valid data, at a rate that is constant for minutes and not the steady one, and fresh flash is
//! written at a constant rate too.

use assay_stats::mean;
use assay_stats::steady::{SNIA_RANGE_PCT, SNIA_WINDOW, SteadyRule};
use assay_store::model::CellView;
use assay_store::read::{CellDrive, CellRecord, Run};
use assay_store::series::IntervalSample;
use assay_units::Op;

use crate::steady_state::not_steady_reason;

/// Length of a round of SNIA's tests.
pub const ROUND_S: f64 = 60.0;
/// Number of rounds of a cell shorter than an hour.
pub const ROUNDS: usize = 60;
/// A conclusion needs two windows.
pub const LEAST_ROUNDS: usize = 2 * SNIA_WINDOW;
/// Half of the range that SNIA's rule allows.
pub const WITHIN_PCT: f64 = SNIA_RANGE_PCT / 2.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeToSteady {
    /// Start of the first steady round, since the start of the cell.
    pub seconds: f64,
    /// Writes of the cell until then.
    pub written_bytes: u64,
    /// The written bytes over the drive's capacity; `None` where that is unknown.
    pub capacities: Option<f64>,
    /// Length of a round: the resolution of the time.
    pub round_s: f64,
    /// Mean rate of the last window.
    pub level_iops: f64,
}

/// `Err` has the reason where the rate never became steady. `None` of other views than
/// `consistency` and `saturation`, and with fewer than [`LEAST_ROUNDS`] rounds.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<Result<TimeToSteady, String>> {
    let views = [CellView::Consistency, CellView::Saturation];
    if !cell.plan.view.is_some_and(|view| views.contains(&view)) {
        return None;
    }
    let part = cell.drive(drive)?;
    part.result.as_ref()?;
    // A cell whose figures are not steady never became so, however level its rate.
    if let Some(why) = not_steady_reason(run, cell, drive) {
        return Some(Err(why));
    }
    let capacity_bytes = run.manifest.drives.get(drive)?.capacity_bytes;
    of_part(part, capacity_bytes)
}

fn of_part(part: &CellDrive, capacity_bytes: u64) -> Option<Result<TimeToSteady, String>> {
    let intervals = part.measured_intervals();
    let (first, last) = (intervals.first()?, intervals.last()?);
    let length_s = last.end_s() - first.start_s();
    let minutes = (length_s / ROUND_S).round() as usize;
    let count = minutes.max(ROUNDS).min(intervals.len());
    if count < LEAST_ROUNDS {
        return None;
    }
    let edge = |round: usize| round * intervals.len() / count;
    let rates: Vec<f64> =
        (0..count).map(|round| rate(&intervals[edge(round)..edge(round + 1)])).collect();
    let (from, level_iops) = match steady_from(&rates) {
        Ok(found) => found,
        Err(why) => return Some(Err(why)),
    };
    let start = &intervals[edge(from)];
    let writes = part.series.iter().filter(|p| p.op == Op::Write);
    let before = writes.filter(|p| p.end <= start.start);
    let written_bytes = before.map(|p| p.bytes).sum();
    let capacity = Some(capacity_bytes as f64).filter(|bytes| *bytes > 0.0);
    Some(Ok(TimeToSteady {
        seconds: start.start_s(),
        written_bytes,
        capacities: capacity.map(|bytes| written_bytes as f64 / bytes),
        round_s: length_s / count as f64,
        level_iops,
    }))
}

fn rate(intervals: &[IntervalSample]) -> f64 {
    let ios: u64 = intervals.iter().map(IntervalSample::ios).sum();
    let span_s: f64 = intervals.iter().map(IntervalSample::elapsed_s).sum();
    ios as f64 / span_s.max(f64::MIN_POSITIVE)
}

/// The first steady round, and the mean of the last window; or why that window is not steady.
fn steady_from(rates: &[f64]) -> Result<(usize, f64), String> {
    let rule = SteadyRule::default();
    let windows: Vec<&[f64]> = rates.windows(SNIA_WINDOW).collect();
    let Some(last) = windows.last() else {
        return Err("fewer rounds than a window has".to_owned());
    };
    if let Some(why) = rule.evaluate(last).why {
        return Err(format!("the last {SNIA_WINDOW} rounds: {why}"));
    }
    let level = mean(last);
    let steady = |window: &&[f64]| {
        let near = (mean(window) - level).abs() <= WITHIN_PCT / 100.0 * level;
        near && rule.evaluate(window).achieved
    };
    let unsteady = windows.iter().rposition(|window| !steady(window));
    Ok((unsteady.map_or(0, |at| at + 1), level))
}

#[cfg(test)]
#[path = "../tests/unit/steady_time.rs"]
mod tests;
