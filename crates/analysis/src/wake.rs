//! Wake-up latency: the first I/O after idle time, by the length of the idle time. A drive without
//! commands for long enough enters a non-operational power state by itself (Autonomous Power State
//! Transition, NVM Express Base Specification 2.0c, section 8.15.2), and the next command waits
//! until the drive has left it: the exit latency (EXLAT), and what is left of the entry latency
//! (ENLAT) where it arrives before the drive is in the state. Link power management (PCIe ASPM) and
//! a host that halts its processors add to it, and cannot be told apart by latency alone. Each cell
//! is one I/O at a time, with the same idle time before every one. The reference is the cell of the
//! same workload, drive and requested power state with the shortest idle time, none as a rule. The
//! wake-up latency is the median of the cell less the median of its reference. The tail of the
//! reference has no part in it: its first I/O follows whatever was before the cell.

use assay_store::model::{CellPlan, CellView};
use assay_store::read::{CellRecord, Run};

use crate::fill::same_workload;
use crate::interference::P99_SAMPLES;

/// Latency after one idle time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wake {
    /// Idle time before each I/O.
    pub idle_ns: u64,
    pub p50_ns: u64,
    /// `None` with too few I/Os.
    pub p99_ns: Option<u64>,
    /// Median less that of the reference; `None` of the reference itself.
    pub added_p50_ns: Option<f64>,
    /// 99th percentile less the median of the reference.
    pub added_p99_ns: Option<f64>,
}

/// Idle time before each I/O of the cell.
pub fn idle_ns(plan: &CellPlan) -> u64 {
    plan.workload.idle_before_io_ns.unwrap_or(0)
}

/// The cell with the shortest idle time of the same workload and drive.
fn reference<'a>(run: &'a Run, cell: &CellRecord) -> Option<&'a CellRecord> {
    let same = |other: &&CellRecord| {
        other.plan.view == Some(CellView::Wake)
            && other.plan.drives == cell.plan.drives
            && same_workload(&other.plan, &cell.plan)
    };
    let cells = run.cells.iter().filter(same);
    let shortest = cells.min_by_key(|other| idle_ns(&other.plan))?;
    (idle_ns(&shortest.plan) < idle_ns(&cell.plan)).then_some(shortest)
}

/// `None` of other views, and where nothing completed.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<Wake> {
    if cell.plan.view != Some(CellView::Wake) {
        return None;
    }
    let latency = cell.drive(drive)?.result.as_ref()?.latency();
    if latency.samples == 0 {
        return None;
    }
    let before = reference(run, cell).and_then(|other| {
        let latency = other.drive(drive)?.result.as_ref()?.latency();
        (latency.samples > 0).then_some(latency)
    });
    let added = |now: u64, before: u64| now as f64 - before as f64;
    let p99 = |latency: &assay_stats::LatencySummary| {
        (latency.samples >= P99_SAMPLES).then_some(latency.p99)
    };
    Some(Wake {
        idle_ns: idle_ns(&cell.plan),
        p50_ns: latency.p50,
        p99_ns: p99(latency),
        added_p50_ns: before.map(|before| added(latency.p50, before.p50)),
        added_p99_ns: before.and_then(|before| Some(added(p99(latency)?, before.p50))),
    })
}

#[cfg(test)]
#[path = "../tests/unit/wake.rs"]
mod tests;
