//! The same short workloads on a drive in several states of fill: empty, full, after idle time,
//! deallocated. The state of a cell is its variant. Its reference is the first cell of the run with
//! the same workload on the same drive: that on the empty drive. AnandTech's reviews of NVMe drives
//! run each burst on an empty and on a full drive (docs/sources.md, "AnandTech 660p").

use assay_store::model::{CellPlan, CellView};
use assay_store::read::{CellRecord, Run};

use crate::interference;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FillEffect {
    /// Rate relative to that on the empty drive.
    pub of_empty_pct: Option<f64>,
    /// 99th percentile latency over that on the empty drive; `None` with too few samples.
    pub p99_ratio: Option<f64>,
}

pub fn same_workload(a: &CellPlan, b: &CellPlan) -> bool {
    let key = |plan: &CellPlan| {
        let w = &plan.workload;
        let area = (w.offset_bytes, w.span_bytes);
        (w.rw.clone(), w.bs_bytes, w.iodepth, w.numjobs, area, w.power_state)
    };
    key(a) == key(b)
}

/// `None` for the cell on the empty drive itself.
pub fn reference<'a>(run: &'a Run, cell: &CellRecord) -> Option<&'a CellRecord> {
    let same = |other: &&CellRecord| {
        other.plan.view == Some(CellView::Fill)
            && other.plan.drives == cell.plan.drives
            && same_workload(&other.plan, &cell.plan)
    };
    let first = run.cells.iter().find(same)?;
    (first.plan.id != cell.plan.id).then_some(first)
}

/// `None` of other views, of the empty drive, and where either was not measured.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<FillEffect> {
    if cell.plan.view != Some(CellView::Fill) {
        return None;
    }
    let empty = reference(run, cell)?.drive(drive)?.result.as_ref()?;
    let now = cell.drive(drive)?.result.as_ref()?;
    let found = interference::between(empty, now);
    Some(FillEffect { of_empty_pct: found.kept_iops_pct, p99_ratio: found.p99 })
}

#[cfg(test)]
#[path = "../tests/unit/fill.rs"]
mod tests;
