//! Knees of a run: sufficient queue depth of sweeps, sustainable load of load curves.

use assay_stats::knee::{self, DepthKnee, LATENCY_FACTOR, LoadKnee, LoadPoint, SHARE};
use assay_store::model::{CellView, OFFERED_IOPS, WorkloadRecord};
use assay_store::read::{CellRecord, CellState, Run};

/// The knee of one sweep over queue depth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepKnee {
    /// Index into [`Run::cells`] of the cell to report.
    pub cell: usize,
    /// The knee; depth is that of all threads together, rate is IOPS.
    pub knee: DepthKnee,
}

/// The knee of one load curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveKnee {
    /// Index into [`Run::cells`] of the highest sustainable load.
    pub cell: usize,
    /// The knee.
    pub knee: LoadKnee,
}

/// I/Os in flight on the drive: threads times depth of each. Saturates: a manifest can hold any numbers.
pub fn total_depth(workload: &WorkloadRecord) -> u32 {
    workload.numjobs.saturating_mul(workload.iodepth)
}

/// The knees of a step's sweeps over depth on a drive: one per workload, in the order they first occur. Only whole cells
/// with [`CellView::Knee`] count.
pub fn of_step(run: &Run, step: &str, drive: usize) -> Vec<SweepKnee> {
    sweeps(run, step, drive, CellView::Knee, |w| {
        // These vary within a sweep.
        WorkloadRecord {
            iodepth: 0,
            numjobs: 0,
            ..grouping_key(w)
        }
    })
    .into_iter()
    .filter_map(|cells| {
        let points: Vec<(u32, f64)> = cells
            .iter()
            .filter_map(|cell| {
                let record = &run.cells[*cell];
                Some((
                    total_depth(&record.plan.workload),
                    result(record, drive)?.iops(),
                ))
            })
            .collect();
        let knee = knee::lowest_depth_reaching(&points, SHARE)?;
        Some(SweepKnee {
            cell: cells[knee.index],
            knee,
        })
    })
    .collect()
}

/// The knees of a step's load curves on a drive: one per workload. Only whole open-loop cells with [`CellView::Load`] count; what was
/// offered is the share of the rate that the cell it refers to reached, or the workload's own rate.
pub fn of_load(run: &Run, step: &str, drive: usize) -> Vec<CurveKnee> {
    sweeps(run, step, drive, CellView::Load, |w| WorkloadRecord {
        rate_iops: 0.0,
        ..grouping_key(w)
    })
    .into_iter()
    .filter_map(|cells| {
        let (cells, points): (Vec<usize>, Vec<LoadPoint>) = cells
            .into_iter()
            .filter_map(|cell| {
                let record = &run.cells[cell];
                let result = result(record, drive)?;
                let point = LoadPoint {
                    offered: offered(record, drive)?,
                    done: result.iops(),
                    latency_ns: result.latency().mean,
                    seconds: result.elapsed.as_secs_f64(),
                };
                Some((cell, point))
            })
            .unzip();
        let knee = knee::load_knee(&points, LATENCY_FACTOR)?;
        Some(CurveKnee {
            cell: cells[knee.index],
            knee,
        })
    })
    .collect()
}

/// Offered rate of an open-loop cell, I/Os per second; `None` for a closed loop.
pub fn offered(cell: &CellRecord, drive: usize) -> Option<f64> {
    if cell.plan.load.is_some() {
        return result(cell, drive)?.values.get(OFFERED_IOPS).copied();
    }
    let rate = cell.plan.workload.rate_iops;
    (rate > 0.0).then_some(rate)
}

fn result(cell: &CellRecord, drive: usize) -> Option<&assay_store::model::CellResult> {
    if cell.state != CellState::Finished {
        return None;
    }
    cell.drives
        .iter()
        .find(|d| d.drive == drive)?
        .result
        .as_ref()
}

/// A workload without the fields that may differ within a group.
fn grouping_key(workload: &WorkloadRecord) -> WorkloadRecord {
    WorkloadRecord {
        options: String::new(),
        offset_bytes: 0,
        ..workload.clone()
    }
}

/// Whole cells of a step on a drive, as indices, by what `same` leaves of their workloads and by their variant.
fn sweeps(
    run: &Run,
    step: &str,
    drive: usize,
    view: CellView,
    same: impl Fn(&WorkloadRecord) -> WorkloadRecord,
) -> Vec<Vec<usize>> {
    let mut sweeps: Vec<(WorkloadRecord, Option<&str>, Vec<usize>)> = Vec::new();
    for (index, cell) in run.cells.iter().enumerate() {
        let plan = &cell.plan;
        let fits = plan.step == step && plan.view == Some(view) && plan.drives == [drive];
        if !fits || result(cell, drive).is_none() {
            continue;
        }
        let (key, variant) = (same(&plan.workload), plan.variant.as_deref());
        match sweeps.iter_mut().find(|s| s.0 == key && s.1 == variant) {
            Some((_, _, cells)) => cells.push(index),
            None => sweeps.push((key, variant, vec![index])),
        }
    }
    sweeps.into_iter().map(|(_, _, cells)| cells).collect()
}

#[cfg(test)]
#[path = "../tests/unit/knee.rs"]
mod tests;
