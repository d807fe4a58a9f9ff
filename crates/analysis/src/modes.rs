//! Modes of a drive in a cell: the levels between which its rate alternates.

use assay_stats::modes::{Mode, modes};
use assay_store::model::{CellPlan, CellView};
use assay_store::read::CellDrive;
use assay_store::series::IntervalSample;

use crate::score;

#[derive(Clone, Debug, PartialEq)]
pub struct CellModes {
    /// Modes in ascending order of IOPS, with lengths in intervals; one for a rate of one level.
    pub modes: Vec<Mode>,
    /// Mean length of an interval.
    pub interval_s: f64,
    /// Time since the cell's start.
    pub from_s: f64,
    pub to_s: f64,
}

impl CellModes {
    /// Mean length of a visit.
    pub fn dwell_s(&self, mode: &Mode) -> f64 {
        mode.dwell * self.interval_s
    }

    pub fn longest_s(&self, mode: &Mode) -> f64 {
        mode.longest * self.interval_s
    }
}

/// Of the scored part of a cell that is scored, else of all measured intervals; `None` where they
/// are too few to tell.
pub fn modes_of_cell(plan: &CellPlan, drive: &CellDrive) -> Option<CellModes> {
    let samples = drive.measured_intervals();
    let samples = match plan.view {
        Some(CellView::Consistency) => {
            let scored = score::score_of_cell(drive)?.score.samples as usize;
            &samples[samples.len() - scored..]
        }
        _ => &samples[..],
    };
    let (first, last) = (samples.first()?, samples.last()?);
    let rates: Vec<f64> = samples.iter().map(IntervalSample::iops).collect();
    let (from_s, to_s) = (first.start_s(), last.end_s());
    Some(CellModes {
        modes: modes(&rates)?,
        interval_s: (to_s - from_s) / samples.len() as f64,
        from_s,
        to_s,
    })
}

#[cfg(test)]
#[path = "../tests/unit/modes.rs"]
mod tests;
