//! The unit in which a drive maps its data. Without garbage collection, random writes of less than
//! a unit are amplified by the unit over their size, and those of a multiple of it are not. So the
//! unit is the smallest size that is amplified no more than the largest one, if the next smaller
//! one is amplified clearly more. Where already the smallest size is not amplified, the unit is at
//! most that.

use assay_store::model::CellView;
use assay_store::read::Run;

use crate::endurance;

/// Amplifications within this factor are alike: counters round, and metadata are written too.
const ALIKE: f64 = 1.15;
/// Below the unit the amplification grows from one size to the next smaller one by their ratio, two
/// or more; this much at least.
const CLEARLY_MORE: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Bytes(u64),
    /// The smallest size measured.
    AtMost(u64),
}

/// Points are sizes in bytes and amplifications. `None` of fewer than two sizes, and where they do
/// not follow the law.
pub fn unit(points: &[(u64, f64)]) -> Option<Unit> {
    let mut points = points.to_vec();
    points.sort_by_key(|point| point.0);
    let (_, least) = *points.last().filter(|_| points.len() > 1)?;
    let at = points.iter().position(|(_, factor)| *factor <= ALIKE * least)?;
    let (bytes, factor) = points[at];
    // All larger ones are alike.
    let follow = points[at..].iter().all(|(_, factor)| *factor <= ALIKE * least);
    match at.checked_sub(1).map(|below| points[below].1) {
        _ if !follow => None,
        None => Some(Unit::AtMost(bytes)),
        Some(below) => (below >= CLEARLY_MORE * factor).then_some(Unit::Bytes(bytes)),
    }
}

/// Unit from the cells with the view `amplification`.
pub fn of_run(run: &Run, drive: usize) -> Option<Unit> {
    let cells = run.cells.iter().filter(|cell| {
        let w = &cell.plan.workload;
        cell.plan.view == Some(CellView::Amplification)
            && w.rw == "randwrite"
            && w.bs_bytes > 0
            && w.offset_bytes.is_multiple_of(w.bs_bytes)
    });
    let points = cells.filter_map(|cell| {
        let found = endurance::of_cell(run, cell, cell.drive(drive)?)?.ok()?;
        Some((cell.plan.workload.bs_bytes, found.factor))
    });
    unit(&points.collect::<Vec<_>>())
}

#[cfg(test)]
#[path = "../tests/unit/indirection.rs"]
mod tests;
