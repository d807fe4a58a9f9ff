//! Knees of a run: sufficient queue depth of sweeps, sustainable load of load curves.

use assay_stats::knee::{self, DepthKnee, LATENCY_FACTOR, LoadKnee, LoadPoint, SHARE};
use assay_store::model::{CellResult, CellView, OFFERED_IOPS, WorkloadRecord};
use assay_store::read::{CellRecord, CellState, Run};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepKnee {
    /// Index into [`Run::cells`] of the cell to report.
    pub cell: usize,
    /// Depth is that of all threads together, rate is IOPS.
    pub knee: DepthKnee,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveKnee {
    /// Index into [`Run::cells`] of the highest sustainable load.
    pub cell: usize,
    pub knee: LoadKnee,
}

/// Threads times depth of each. Saturates: a manifest can hold any numbers.
pub fn total_depth(workload: &WorkloadRecord) -> u32 {
    workload.numjobs.saturating_mul(workload.iodepth)
}

/// One per workload, in the order they first occur. Only whole cells with [`CellView::Knee`] count,
/// and one of them is no sweep.
pub fn of_step(run: &Run, step: &str, drive: usize) -> Vec<SweepKnee> {
    // These vary within a sweep.
    let same = |workload| WorkloadRecord { iodepth: 0, numjobs: 0, ..workload };
    let point = |cell: &CellRecord| {
        let depth = total_depth(&cell.plan.workload);
        Some((depth, result(cell, drive)?.iops()))
    };
    let sweeps = sweeps(run, step, drive, CellView::Knee, same, point).into_iter();
    let knee = |(cells, points): (Vec<usize>, Vec<(u32, f64)>)| {
        let knee = knee::lowest_depth_reaching(&points, SHARE).filter(|_| points.len() > 1)?;
        let cell = cells[knee.index];
        Some(SweepKnee { cell, knee })
    };
    sweeps.filter_map(knee).collect()
}

/// One per workload. Only whole open-loop cells with [`CellView::Load`] count.
pub fn of_load(run: &Run, step: &str, drive: usize) -> Vec<CurveKnee> {
    let same = |workload| WorkloadRecord { rate_iops: 0.0, ..workload };
    let point = |cell: &CellRecord| {
        let result = result(cell, drive)?;
        Some(LoadPoint {
            offered: offered(run, cell, drive).filter(|rate| *rate > 0.0)?,
            done: result.iops(),
            latency_ns: result.latency().mean,
            seconds: result.elapsed.as_secs_f64(),
        })
    };
    let curves = sweeps(run, step, drive, CellView::Load, same, point).into_iter();
    let knee = |(cells, points): (Vec<usize>, Vec<LoadPoint>)| {
        let knee = knee::load_knee(&points, LATENCY_FACTOR)?;
        let cell = cells[knee.index];
        Some(CurveKnee { cell, knee })
    };
    curves.filter_map(knee).collect()
}

/// As recorded, else as planned, else (a run of an earlier version) the planned share of the best
/// rate of the step that the load refers to. `None` for a closed loop.
pub fn offered(run: &Run, cell: &CellRecord, drive: usize) -> Option<f64> {
    let recorded = || Some(*cell.drive(drive)?.result.as_ref()?.values.get(OFFERED_IOPS)?);
    let planned = Some(cell.plan.workload.rate_iops).filter(|rate| *rate > 0.0);
    let from_share = || {
        let load = cell.plan.load.as_ref()?;
        let cells = run.cells.iter().filter(|c| c.plan.step == load.of);
        let results = cells.filter_map(|c| c.drive(drive)?.result.as_ref());
        let best = results.map(CellResult::iops).reduce(f64::max)?;
        Some(best * load.percent / 100.0)
    };
    recorded().or(planned).or_else(from_share)
}

fn result(cell: &CellRecord, drive: usize) -> Option<&CellResult> {
    let finished = cell.state == CellState::Finished;
    cell.drive(drive).filter(|_| finished)?.result.as_ref()
}

/// Indices and points of whole cells, by variant and by what `same` leaves of their workloads.
fn sweeps<P>(
    run: &Run,
    step: &str,
    drive: usize,
    view: CellView,
    same: impl Fn(WorkloadRecord) -> WorkloadRecord,
    point: impl Fn(&CellRecord) -> Option<P>,
) -> Vec<(Vec<usize>, Vec<P>)> {
    let mut keys: Vec<(WorkloadRecord, Option<&str>)> = Vec::new();
    let mut sweeps: Vec<(Vec<usize>, Vec<P>)> = Vec::new();
    for (index, cell) in run.cells.iter().enumerate() {
        let plan = &cell.plan;
        let fits = plan.step == step && plan.view == Some(view) && plan.drives == [drive];
        let Some(point) = point(cell).filter(|_| fits) else {
            continue;
        };
        let workload = same(WorkloadRecord {
            options: String::new(),
            offset_bytes: 0,
            ..plan.workload.clone()
        });
        let key = (workload, plan.variant.as_deref());
        let known = keys.iter().position(|k| *k == key);
        let at = known.unwrap_or_else(|| {
            keys.push(key);
            sweeps.push((Vec::new(), Vec::new()));
            keys.len() - 1
        });
        sweeps[at].0.push(index);
        sweeps[at].1.push(point);
    }
    sweeps
}

#[cfg(test)]
#[path = "../tests/unit/knee.rs"]
mod tests;
