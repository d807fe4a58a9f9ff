use std::collections::BTreeMap;

use assay_device::session::DriveSession;
use assay_stats::mean;
use assay_store::model::{CellResult, NOT_NEEDED, OperatingPoint, PointPlan};
use assay_units::Nanos;
use assay_units::text::format_size;
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;

use super::cell::Finished;
use assay_suite::SuiteError;

use crate::ExecuteError;
use assay_suite::expand::{Cell, PointRule, RunPlan};

/// Bytes that the segments before one have written to a drive.
fn written_before(cell: &Cell, drive: usize, earlier: &Finished) -> u64 {
    let Some(segment) = &cell.plan.segment else {
        return 0;
    };
    let ids = (1..segment.number).map(|number| format!("{}/segment={number}", segment.of));
    let results = ids.filter_map(|id| earlier.get(&id));
    let of_drive = results.flatten().filter(|result| result.drive == drive);
    of_drive.map(|result| result.write.bytes).sum()
}

/// Of a segment that ends by bytes: what those before it have written, and what is left for it.
pub(super) fn bytes_left(cell: &Cell, drive: usize, earlier: &Finished) -> Option<(u64, u64)> {
    let goal = cell.plan.segment.as_ref()?.written_bytes?;
    let before = written_before(cell, drive, earlier);
    Some((before, goal.saturating_sub(before)))
}

pub(super) fn written_already(cell: &Cell, earlier: &Finished) -> Option<String> {
    let goal = cell.plan.segment.as_ref()?.written_bytes?;
    let drives = cell.plan.drives.iter();
    let done = drives.map(|drive| written_before(cell, *drive, earlier));
    let written = done.min().filter(|written| *written >= goal)?;
    Some(format!(
        "{NOT_NEEDED}: {} are written, and {} were to be by the end of this segment",
        format_size(written),
        format_size(goal)
    ))
}

/// Threads and I/Os in flight per thread.
pub(super) type ThreadsAndDepth = (u32, u32);

/// One point of a grid, over the last window of its rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct GridPoint {
    at: ThreadsAndDepth,
    iops: f64,
    response_ns: f64,
}

/// Means of the last `window` results of each point.
fn grid(plan: &RunPlan, of: &str, drive: usize, earlier: &Finished) -> Vec<GridPoint> {
    let mut results: BTreeMap<ThreadsAndDepth, (usize, Vec<&CellResult>)> = BTreeMap::new();
    let cells = plan.cells.iter();
    for cell in cells.filter(|c| c.plan.step == of && c.plan.drives == [drive]) {
        let workload = &cell.plan.workload;
        let at = (workload.numjobs, workload.iodepth);
        let window = cell.plan.round.as_ref().map_or(1, |round| round.window);
        let found = earlier.get(&cell.plan.id).into_iter().flatten();
        let of_point = results.entry(at).or_default();
        of_point.0 = window as usize;
        of_point.1.extend(found.filter(|result| result.drive == drive));
    }
    let point = |(at, (window, results)): (ThreadsAndDepth, (usize, Vec<&CellResult>))| {
        let last = &results[results.len().saturating_sub(window)..];
        let of = |figure: fn(&CellResult) -> f64| {
            mean(&last.iter().map(|r| figure(r)).collect::<Vec<_>>())
        };
        (!last.is_empty()).then(|| GridPoint {
            at,
            iops: of(CellResult::iops),
            response_ns: of(|result| result.latency().mean),
        })
    };
    results.into_iter().filter_map(point).collect()
}

fn choose(grid: &[GridPoint], which: OperatingPoint, limit: Nanos) -> Option<ThreadsAndDepth> {
    let fast = || grid.iter().filter(|p| p.response_ns < limit.0 as f64);
    let by_rate = |a: &&GridPoint, b: &&GridPoint| a.iops.total_cmp(&b.iops);
    let (least, most) = (fast().min_by(by_rate)?, fast().max_by(by_rate)?);
    let chosen = match which {
        OperatingPoint::Max => most,
        OperatingPoint::Mid => {
            let middle = f64::midpoint(least.iops, most.iops);
            let distance = |p: &GridPoint| (p.iops - middle).abs();
            fast().min_by(|a, b| distance(a).total_cmp(&distance(b)))?
        }
        OperatingPoint::Min => return Some((1, 1)),
    };
    Some(chosen.at)
}

pub(super) fn point(
    plan: &RunPlan,
    cell: &Cell,
    of: &PointPlan,
    rule: &PointRule,
    drive: usize,
    earlier: &Finished,
) -> Result<ThreadsAndDepth, ExecuteError> {
    let grid = grid(plan, &of.of, drive, earlier);
    choose(&grid, of.which, rule.limit).ok_or_else(|| ExecuteError::NoPoint {
        cell: cell.plan.id.clone(),
        step: of.of.clone(),
        limit: rule.limit.to_string(),
    })
}

pub(super) fn at_point(
    cell: &Cell,
    rule: &PointRule,
    (threads, depth): ThreadsAndDepth,
    drive: &DriveSession,
) -> Result<Workload, ExecuteError> {
    let options =
        JobOptions { numjobs: Some(threads), iodepth: Some(depth), ..rule.options.clone() };
    let planned = Workload::plan_on(&options, drive)
        .map_err(|source| SuiteError::Cell { cell: cell.plan.id.clone(), source });
    Ok(planned?)
}

#[cfg(test)]
#[path = "../../tests/unit/run/depends.rs"]
mod tests;
