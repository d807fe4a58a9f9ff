//! Recovery of the write rate by idle time (SNIA SSS PTS, host idle recovery test). While the host
//! is idle a drive may collect garbage and fold its write cache. What that is worth is the rate of
//! the bursts that follow idle time, relative to that of continuous writes before them.

use assay_store::model::{Bursts, CellKind, CellPlan};
use assay_store::read::{CellDrive, CellRecord, Run};
use assay_store::series::IntervalSample;

/// Silence of this share of the idle time ends a burst: shorter ones are stalls of the drive.
const SILENT_SHARE: f64 = 0.5;
/// A shorter burst, relative to its planned length, was cut off by the end of the cell.
const WHOLE_SHARE: f64 = 0.75;
/// Last part of a cell of continuous writes, whose rate is that before the bursts.
const LAST_SHARE: f64 = 0.5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// Time since the start of the cell.
    pub start_s: f64,
    /// Rate over the length of a burst.
    pub iops: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct IdleSegment {
    pub active_s: f64,
    /// Idle time between two bursts.
    pub idle_s: f64,
    /// Whole bursts, in time order.
    pub bursts: Vec<Burst>,
    /// Rate of the continuous writes before the cell.
    pub before_iops: Option<f64>,
}

impl IdleSegment {
    /// All bursts but the first follow idle time.
    pub fn iops(&self) -> Option<f64> {
        let after = self.bursts.get(1..).filter(|after| !after.is_empty())?;
        Some(after.iter().map(|burst| burst.iops).sum::<f64>() / after.len() as f64)
    }

    /// Rate relative to the rate before: 100 where idle time recovers nothing.
    pub fn recovery_pct(&self) -> Option<f64> {
        let before = self.before_iops.filter(|before| *before > 0.0)?;
        Some(100.0 * self.iops()? / before)
    }
}

/// None where intervals are longer than half of the idle time: bursts cannot be told apart.
pub fn bursts(drive: &CellDrive, plan: Bursts) -> Vec<Burst> {
    let active_s = plan.active_ns as f64 / 1e9;
    let silence_s = SILENT_SHARE * plan.idle_ns as f64 / 1e9;
    let intervals = drive.measured_intervals();
    let longest_s = intervals.iter().map(IntervalSample::elapsed_s);
    if longest_s.fold(0.0, f64::max) > silence_s {
        return Vec::new();
    }
    // Start, end and I/Os of each.
    let mut found: Vec<(f64, f64, u64)> = Vec::new();
    for interval in intervals.iter().filter(|interval| interval.ios() > 0) {
        match found.last_mut() {
            Some((_, end_s, ios)) if interval.start_s() - *end_s < silence_s => {
                (*end_s, *ios) = (interval.end_s(), *ios + interval.ios());
            }
            _ => found.push((interval.start_s(), interval.end_s(), interval.ios())),
        }
    }
    let whole = |(start_s, end_s, _): &(f64, f64, u64)| end_s - start_s >= WHOLE_SHARE * active_s;
    let found = found.into_iter().filter(whole);
    found.map(|(start_s, _, ios)| Burst { start_s, iops: ios as f64 / active_s }).collect()
}

/// `None` for a cell without bursts.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<IdleSegment> {
    let plan = cell.plan.workload.bursts?;
    Some(IdleSegment {
        active_s: plan.active_ns as f64 / 1e9,
        idle_s: plan.idle_ns as f64 / 1e9,
        bursts: bursts(cell.drive(drive)?, plan),
        before_iops: before(run, cell, drive),
    })
}

fn is_continuous(plan: &CellPlan) -> bool {
    matches!(plan.kind, CellKind::Measure | CellKind::Soak)
        && plan.workload.bursts.is_none()
        && plan.workload.rw.contains("write")
}

/// Rate of the last measured cell of continuous writes before `cell`.
fn before(run: &Run, cell: &CellRecord, drive: usize) -> Option<f64> {
    let at = run.cells.iter().position(|c| c.plan.id == cell.plan.id)?;
    let earlier = run.cells[..at].iter().rev();
    let mut rates = earlier
        .filter(|c| c.plan.drives == [drive] && is_continuous(&c.plan))
        .filter_map(|c| last_rate(c.drive(drive)?));
    rates.next()
}

/// `None` without intervals.
fn last_rate(drive: &CellDrive) -> Option<f64> {
    drive.result.as_ref()?;
    let intervals = drive.measured_intervals();
    let (first, last) = (intervals.first()?, intervals.last()?);
    let from_s = last.end_s() - LAST_SHARE * (last.end_s() - first.start_s());
    // By their middles, so that the last interval is always among them, also where it is the only
    // one.
    let middle = |i: &IntervalSample| (i.start_s() + i.end_s()) / 2.0;
    let inside = intervals.iter().filter(|i| middle(i) >= from_s - 1e-9);
    let (ios, span_s) =
        inside.fold((0, 0.0), |(ios, span_s), i| (ios + i.ios(), span_s + i.elapsed_s()));
    (span_s > 0.0).then(|| ios as f64 / span_s)
}

#[cfg(test)]
#[path = "../tests/unit/recovery.rs"]
mod tests;
