//! A run as read from its folder.

use std::collections::BTreeMap;

use assay_stats::{HostAudit, HostLoad};
use assay_units::{Nanos, Op};
use serde::Serialize;

use crate::error::StoreError;
use crate::fold::{TotalsSink, fold, fold_minutes, fold_segments};
use crate::model::warning::code;
use crate::model::{
    CellPlan, CellResult, Manifest, RunEnd, SteadyRecord, TelemetryRecord, Verdict, Warning,
};
use crate::series::OpSample;

/// A run as read from its folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Run {
    /// The folder it came from.
    pub path: std::path::PathBuf,
    /// The plan and its circumstances.
    pub manifest: Manifest,
    /// The self-audit, when it was reached.
    pub audit: Option<HostAudit>,
    /// One per planned cell, in order; segments of a long cell are one ([`crate::model::Segment`]).
    pub cells: Vec<CellRecord>,
    /// Warnings of the whole run, without repeats.
    pub warnings: Vec<Warning>,
    /// Steady state of rounds: one per [`SteadyRecord::group`], as last recorded.
    pub steady: Vec<SteadyRecord>,
    /// Per drive, in [`Manifest::drives`] order.
    pub verdicts: Vec<Option<Verdict>>,
    /// Its start and every resumption, in order.
    pub attempts: Vec<Attempt>,
    /// How it ended; `None` when it never did (killed, or still running).
    pub outcome: Option<RunEnd>,
    /// Damaged lines of the journal, left out, with the reason.
    pub damaged_lines: Vec<String>,
    /// Segments of long cells, by identifier; none where they stay cells of their own.
    pub segments: BTreeMap<String, SegmentPlace>,
}

/// Where a segment of a long cell lies in the cell that readers see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentPlace {
    /// Place in [`Run::cells`].
    pub cell: usize,
    /// For each drive of the cell: the time at which the segment begins, and what is added to the
    /// indices of its intervals.
    pub begins: Vec<(Nanos, u32)>,
}

impl Run {
    /// Reads a run folder, finished or not. Needs memory for one summary per interval, drive and
    /// operation, not for histograms. Fails for a newer layout or a damaged manifest.
    pub fn open(path: &std::path::Path) -> Result<Run, StoreError> {
        fold(path, &mut |_, _, _| {})
    }

    /// As [`Run::open`]; `sink` is called with (cell, drive within the cell, sum of its measured
    /// intervals) whenever a cell's intervals are complete. When a cell is measured again, only the
    /// last call counts.
    pub fn open_with_totals(
        path: &std::path::Path,
        sink: TotalsSink<'_>,
    ) -> Result<Run, StoreError> {
        fold(path, sink)
    }

    /// As [`Run::open`], with the segments of long cells as cells of their own, as in the manifest.
    pub fn open_segments(path: &std::path::Path) -> Result<Run, StoreError> {
        fold_segments(path)
    }

    /// As [`Run::open`], with the intervals of soaks by the minute, for tables of many runs.
    /// Percentiles are of the minutes' own histograms.
    pub fn open_minutes(path: &std::path::Path) -> Result<Run, StoreError> {
        fold_minutes(path)
    }

    /// Whether a warning says that the (real or modelled) host, not the drive, set the rate.
    pub fn is_host_limited(&self, cell: &str, drive: usize) -> bool {
        self.warnings.iter().any(|warning| {
            warning.code == code::HOST_LIMITED
                && warning.drive == Some(drive)
                && warning.cell.as_deref() == Some(cell)
        })
    }

    /// Whether any drive is simulated; every document about the run then states it.
    pub fn has_simulated(&self) -> bool {
        self.manifest.drives.iter().any(|drive| drive.simulated)
    }
}

/// From a start or resumption of a run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Date of its start, RFC 3339 in UTC.
    pub began: String,
    /// Date of its end; `None` when it was killed, or is still running.
    pub ended: Option<String>,
}

/// A planned cell with its state and data.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRecord {
    /// The plan.
    pub plan: CellPlan,
    /// State.
    pub state: CellState,
    /// Per drive of the cell, in the plan's order.
    pub drives: Vec<CellDrive>,
    /// Host load per interval.
    pub host: Vec<(u32, HostLoad)>,
}

impl CellRecord {
    /// A drive of the cell, by its index in [`Manifest::drives`].
    pub fn drive(&self, drive: usize) -> Option<&CellDrive> {
        self.drives.iter().find(|part| part.drive == drive)
    }
}

/// State of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellState {
    /// Planned, not reached.
    Planned,
    /// Not run, with the reason.
    Skipped(String),
    /// Begun, not finished; the series holds what was measured.
    Unfinished,
    /// Done.
    Finished,
    /// Failed, with the reason.
    Failed(String),
}

impl CellState {
    /// With its reason, if it has one.
    pub fn text(&self) -> (&'static str, Option<&str>) {
        match self {
            CellState::Planned => ("planned", None),
            CellState::Skipped(why) => ("skipped", Some(why)),
            CellState::Unfinished => ("unfinished", None),
            CellState::Finished => ("finished", None),
            CellState::Failed(why) => ("failed", Some(why)),
        }
    }
}

/// A drive in a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellDrive {
    /// Index into [`Manifest::drives`].
    pub drive: usize,
    /// As journalled for a finished cell; summed from the intervals for an unfinished one.
    pub result: Option<CellResult>,
    /// Per interval and operation, in time order.
    pub series: Vec<OpSample>,
    /// Telemetry in time order.
    pub telemetry: Vec<TelemetryRecord>,
    /// Cumulative latency distribution per operation: (latency, values up to it).
    pub distributions: Vec<(Op, Vec<(Nanos, u64)>)>,
    /// Interruptions between its segments, in time order: nothing was measured in them.
    pub gaps: Vec<Gap>,
}

/// An interruption of a cell that is measured in segments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// Its start, on the time axis of the cell.
    pub start_ns: Nanos,
    /// Length by the dates; zero for a simulated drive, whose time stands still.
    pub span_ns: Nanos,
    /// Date of the end of the segment before, RFC 3339 in UTC; empty where it is not recorded.
    pub from: String,
    /// Date of the start of the segment after.
    pub to: String,
}
