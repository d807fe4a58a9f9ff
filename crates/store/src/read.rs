//! A run folder folded into the one structure that reports and exports look at.

use assay_stats::HostLoad;
use assay_units::{Nanos, Op};

use crate::error::StoreError;
use crate::fold::fold;
use crate::model::{
    Audit, CellPlan, CellResult, Manifest, RunEnd, SteadyRecord, TelemetryRecord, Verdict, Warning,
};
use crate::series::OpSample;

/// A run as read from its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The folder it came from.
    pub path: std::path::PathBuf,
    /// The plan and its circumstances.
    pub manifest: Manifest,
    /// The self-audit, when it was reached.
    pub audit: Option<Audit>,
    /// One per planned cell, in the plan's order.
    pub cells: Vec<CellRecord>,
    /// Warnings of the whole run, without repeats.
    pub warnings: Vec<Warning>,
    /// How steady the rounds of each group came to be: one per [`SteadyRecord::group`], as last recorded.
    pub steady: Vec<SteadyRecord>,
    /// Per drive, in [`Manifest::drives`] order.
    pub verdicts: Vec<Option<Verdict>>,
    /// How it ended; `None` when it never did (killed, or still running).
    pub outcome: Option<RunEnd>,
    /// Lines of the journal that were damaged and left out, with why.
    pub damaged_lines: Vec<String>,
}

impl Run {
    /// Read a run folder, finished or not: everything that is proven by its checksum counts, everything else is named
    /// in [`Run::damaged_lines`]. Needs memory for one summary per interval, drive and operation, not for histograms.
    ///
    /// # Errors
    /// When it is not a run folder, was written by a newer layout, has a damaged manifest, or cannot be read.
    pub fn open(path: &std::path::Path) -> Result<Run, StoreError> {
        fold(path, &mut |_, _, _| {})
    }

    /// Is any drive of it simulated? Then every document about it says so.
    pub fn has_simulated(&self) -> bool {
        self.manifest.drives.iter().any(|drive| drive.simulated)
    }
}

/// A planned cell and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRecord {
    /// The plan.
    pub plan: CellPlan,
    /// What became of it.
    pub state: CellState,
    /// Per drive of the cell, in the plan's order.
    pub drives: Vec<CellDrive>,
    /// Host load per interval.
    pub host: Vec<(u32, HostLoad)>,
}

/// What became of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellState {
    /// Planned, not reached.
    Planned,
    /// Will not be run, and why.
    Skipped(String),
    /// Begun and never finished; what was measured is in the series.
    Unfinished,
    /// Done.
    Finished,
    /// Could not be done, and why.
    Failed(String),
}

/// One drive's part of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellDrive {
    /// Index into [`Manifest::drives`].
    pub drive: usize,
    /// The result: as journalled for a finished cell; summed from the intervals for an unfinished one.
    pub result: Option<CellResult>,
    /// Per interval and operation, in time order.
    pub series: Vec<OpSample>,
    /// What the drive said of itself, in time order.
    pub telemetry: Vec<TelemetryRecord>,
    /// Cumulative latency distribution per operation: (latency, values up to it), for percentile curves.
    pub distributions: Vec<(Op, Vec<(Nanos, u64)>)>,
}
