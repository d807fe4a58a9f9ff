//! One drive's result in one cell.

use std::cell::OnceCell;
use std::rc::Rc;

use assay_analysis::attribution::{self, RatePhase};
use assay_analysis::estimate::{self, Estimates};
use assay_analysis::steady_state;
use assay_store::model::{CellPlan, CellResult};
use assay_store::read::{CellDrive, CellRecord};
use assay_store::series::IntervalSample;

use crate::axis::Axis;
use crate::drive_set::DriveSet;
use crate::format::joined;
use crate::table::{Row, TableCell};

/// One drive's result in one cell.
#[derive(Clone, Debug)]
pub struct Point<'a> {
    pub set: &'a DriveSet<'a>,
    /// Index in the drive set.
    pub run: usize,
    /// Index of the drive in the run's manifest.
    pub index: usize,
    /// The drive, as a position in the drive set.
    pub drive: usize,
    pub cell: &'a CellRecord,
    pub data: Option<&'a CellDrive>,
    /// Why the drive was not in steady state, where the cell requires it.
    pub not_steady_reason: Option<String>,
    /// Of a concurrent cell: the same workload of the drive alone, of the same step, else of any.
    pub alone: Option<Box<Point<'a>>>,
    /// Attributed on the first use, once for all clones.
    pub phases: Rc<OnceCell<Vec<RatePhase>>>,
    /// Indices into the rows and columns of its section.
    pub row: usize,
    pub column: usize,
}

impl<'a> Point<'a> {
    pub(super) fn new(
        set: &'a DriveSet<'a>,
        run: usize,
        cell: &'a CellRecord,
        index: usize,
    ) -> Option<Point<'a>> {
        Some(Point {
            set,
            run,
            index,
            drive: set.position(run, index)?,
            cell,
            data: cell.drives.iter().find(|p| p.drive == index),
            not_steady_reason: steady_state::not_steady_reason(&set.runs[run], cell, index),
            alone: None,
            phases: Rc::default(),
            row: 0,
            column: 0,
        })
    }

    /// The result, complete or not.
    pub fn result(&self) -> Option<&'a CellResult> {
        self.data.and_then(|p| p.result.as_ref())
    }

    /// Its measured intervals; none without measurements.
    pub fn measured_intervals(&self) -> Vec<IntervalSample> {
        self.data.map(CellDrive::measured_intervals).unwrap_or_default()
    }

    /// Its figures with their confidence intervals; none without measurements.
    pub fn estimates(&self) -> Estimates {
        self.data.map(estimate::estimate_cell).unwrap_or_default()
    }

    /// Its phases with their causes, in time order.
    pub fn phases(&self) -> &[RatePhase] {
        let run = &self.set.runs[self.run];
        self.phases.get_or_init(|| attribution::of_cell(run, self.cell, self.index))
    }

    pub fn plan(&self) -> &'a CellPlan {
        &self.cell.plan
    }

    /// Its variant; empty without one.
    pub fn variant(&self) -> &'a str {
        self.plan().variant.as_deref().unwrap_or("")
    }

    /// The name of its drive, marked when simulated.
    pub fn name(&self) -> String {
        self.set.full_name(self.drive)
    }

    /// The name of its drive in charts, which are marked as a whole where every drive is simulated.
    pub fn chart_name(&self) -> String {
        self.set.chart_name(self.drive)
    }

    /// A row under the heading of its drive.
    pub fn table_row(&self, cells: Vec<TableCell>) -> Row {
        Row::new(self.set.drives[self.drive].heading.clone(), cells)
    }

    /// True when its cell measures several drives concurrently.
    pub fn is_concurrent(&self) -> bool {
        self.cell.plan.drives.len() > 1
    }

    /// True where the host, not the drive, set its rate.
    pub fn is_host_limited(&self) -> bool {
        let run = self.set.runs.get(self.run);
        run.is_some_and(|run| run.is_host_limited(&self.plan().id, self.index))
    }

    /// True for a measurement of another point's workload, with that drive alone.
    pub(super) fn is_alone(&self, concurrent: &Point<'_>) -> bool {
        let (a, b) = (&self.plan().workload, &concurrent.plan().workload);
        !self.is_concurrent()
            && self.drive == concurrent.drive
            && self.result().is_some()
            && (&a.rw, a.bs_bytes, a.numjobs, a.iodepth, &a.data, a.direct)
                == (&b.rw, b.bs_bytes, b.numjobs, b.iodepth, &b.data, b.direct)
    }

    /// Why the result is missing or incomplete: (short, in full). `None` for a finished cell.
    pub fn remark(&self) -> Option<(&'static str, String)> {
        let has_result = self.result().is_some();
        if let Some(reason) = &self.plan().unfit {
            return Some(("not compared", reason.clone()));
        }
        steady_state::remark(self.cell, has_result, || self.not_steady_reason.clone())
    }

    /// Its values on these axes: `4 KiB, 16 threads, depth 1`.
    pub fn coordinates(&self, axes: &[Axis]) -> String {
        joined(axes.iter().map(|a| a.value(self.plan()).label), ", ")
    }
}
