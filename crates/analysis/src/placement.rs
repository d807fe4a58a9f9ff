//! What separating streams by placement handles saves (Flexible Data Placement): the same jobs at
//! once, first mixed by one handle, then each by its own. A job's reference is the first cell of
//! the view `placement` on the same drive with the same job. The saving is the write amplification
//! of the mixed jobs over that of the separated ones, each of all jobs together: the counters are
//! the drive's.

use assay_store::model::CellView;
use assay_store::read::{CellRecord, Run};

use crate::endurance;
use crate::interference::{self, Interference};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Write amplification mixed over that separated; `None` without both.
    pub saving: Option<f64>,
    /// Rate and latencies of the job, relative to mixed.
    pub job: Interference,
}

fn mixed<'a>(run: &'a Run, cell: &CellRecord) -> Option<&'a CellRecord> {
    let job = cell.plan.job.as_ref()?;
    let same = |other: &&CellRecord| {
        other.plan.view == Some(CellView::Placement)
            && other.plan.drives == cell.plan.drives
            && other.plan.job.as_ref().is_some_and(|other| other.name == job.name)
    };
    let first = run.cells.iter().find(same)?;
    (first.plan.id != cell.plan.id).then_some(first)
}

/// `None` of other views, of the mixed jobs, and where either was not measured.
pub fn of_cell(run: &Run, cell: &CellRecord, drive: usize) -> Option<Separation> {
    if cell.plan.view != Some(CellView::Placement) {
        return None;
    }
    let mixed = mixed(run, cell)?;
    let (before, now) = (mixed.drive(drive)?, cell.drive(drive)?);
    let results = before.result.as_ref().zip(now.result.as_ref())?;
    let factor = |cell, part| Some(endurance::of_cell(run, cell, part)?.ok()?.factor);
    let factors = factor(mixed, before).zip(factor(cell, now));
    let factors = factors.filter(|(_, separated)| *separated > 0.0);
    Some(Separation {
        saving: factors.map(|(mixed, separated)| mixed / separated),
        job: interference::between(results.0, results.1),
    })
}
