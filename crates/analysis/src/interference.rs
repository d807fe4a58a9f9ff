//! What other jobs cost a workload on the same drive. The slowdown of a percentile is that of the
//! workload's latency beside the others over that of the same workload alone, on the same drive, in
//! the same run; the kept rate is its rate beside the others relative to that alone. The plan names
//! the cell that measured it alone ([`assay_store::model::JobPlan::alone`]). A percentile with
//! fewer samples than lie beyond it is the maximum and gives no slowdown. Tail percentiles have no
//! interval within a run (docs/statistics.md), so a slowdown of one run has none either.

use assay_stats::LatencySummary;
use assay_store::model::CellResult;
use assay_store::read::{CellRecord, Run};

/// One sample is beyond the percentile.
pub const P99_SAMPLES: u64 = 100;
pub const P99_99_SAMPLES: u64 = 10_000;

/// A workload beside others, relative to the same workload alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interference {
    /// Slowdown of the median latency.
    pub p50: Option<f64>,
    pub p99: Option<f64>,
    pub p99_99: Option<f64>,
    /// Rate beside the others relative to that alone.
    pub kept_iops_pct: Option<f64>,
}

/// The cell that measured the workload alone.
pub fn alone<'a>(run: &'a Run, cell: &CellRecord, drive: usize) -> Option<&'a CellResult> {
    let id = cell.plan.job.as_ref()?.alone.as_ref()?;
    let alone = run.cells.iter().find(|other| other.plan.id == *id)?;
    alone.drive(drive)?.result.as_ref()
}

/// `None` where the workload was not measured alone.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<Interference> {
    let alone = alone(run, cell, drive)?;
    let beside = cell.drive(drive)?.result.as_ref()?;
    Some(between(alone, beside))
}

/// `None` without flushes, or where the workload was not measured alone.
pub fn of_flushes(run: &Run, cell: &CellRecord, drive: usize) -> Option<Interference> {
    let alone = &alone(run, cell, drive)?.flush;
    let beside = &cell.drive(drive)?.result.as_ref()?.flush;
    let known = alone.latency_ns.samples > 0 && beside.latency_ns.samples > 0;
    known.then(|| {
        let iops = (alone.iops, beside.iops);
        between_latencies(&alone.latency_ns, &beside.latency_ns, iops)
    })
}

/// Compares the operations that each result did most of.
pub fn between(alone: &CellResult, beside: &CellResult) -> Interference {
    let iops = (alone.iops(), beside.iops());
    between_latencies(alone.latency(), beside.latency(), iops)
}

fn between_latencies(
    a: &LatencySummary,
    b: &LatencySummary,
    (alone_iops, beside_iops): (f64, f64),
) -> Interference {
    let samples = a.samples.min(b.samples);
    let slowdown = |alone_ns: u64, beside_ns: u64, needed: u64| {
        let known = samples >= needed && alone_ns > 0;
        known.then(|| beside_ns as f64 / alone_ns as f64)
    };
    Interference {
        p50: slowdown(a.p50, b.p50, 1),
        p99: slowdown(a.p99, b.p99, P99_SAMPLES),
        p99_99: slowdown(a.p99_99, b.p99_99, P99_99_SAMPLES),
        kept_iops_pct: (alone_iops > 0.0).then(|| 100.0 * beside_iops / alone_iops),
    }
}

#[cfg(test)]
#[path = "../tests/unit/interference.rs"]
mod tests;
