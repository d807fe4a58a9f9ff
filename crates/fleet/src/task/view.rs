//! How far a task's drives are on this host, for display: states from the task, figures from the
//! journals.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_store::journal::{LineContent, parse_line};
use assay_store::model::{Entry, IntervalRecord, Manifest};

use super::new_lines::NewLines;
use crate::Serial;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskState {
    /// Nothing now: another drive, the shared store or a lost drive is waited for.
    #[default]
    Waiting,
    /// `assay run` measures the drive.
    Measuring,
    Shipping,
    Ended,
}

impl TaskState {
    pub const ALL: [TaskState; 4] =
        [TaskState::Waiting, TaskState::Measuring, TaskState::Shipping, TaskState::Ended];

    /// Name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            TaskState::Waiting => "waiting",
            TaskState::Measuring => "measuring",
            TaskState::Shipping => "shipping",
            TaskState::Ended => "ended",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriveView {
    pub state: TaskState,
    /// 0 before the claim was taken.
    pub attempt: u64,
    /// Run folder of the suite under way.
    pub folder: Option<PathBuf>,
    /// Complete ones.
    pub suites_done: usize,
    pub suites: usize,
    /// Seconds since 1970, UTC.
    pub shipped_at_s: Option<u64>,
    /// Length of the part of journals that is not shipped.
    pub waiting_bytes: u64,
}

#[derive(Debug, Default)]
pub struct TaskView(Mutex<BTreeMap<Serial, DriveView>>);

impl TaskView {
    pub fn snapshot(&self) -> BTreeMap<Serial, DriveView> {
        self.drives().clone()
    }

    pub(super) fn update(&self, serial: &Serial, change: impl FnOnce(&mut DriveView)) {
        change(self.drives().entry(serial.clone()).or_default());
    }

    /// A view is whole between any two updates, also after a panic of another thread.
    fn drives(&self) -> MutexGuard<'_, BTreeMap<Serial, DriveView>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Figures of a run under way, from its journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunFigures {
    /// The last cell that began.
    pub cell: Option<String>,
    pub cells_done: usize,
    /// Cells to be measured.
    pub cells: usize,
    /// Rate of the last interval.
    pub iops: Option<f64>,
    /// Rate of the last interval.
    pub bytes_per_s: Option<f64>,
    /// Failed I/Os in all intervals.
    pub errors: u64,
    pub temperature_c: Option<f64>,
}

#[derive(Debug, Default)]
pub struct JournalFollower {
    lines: NewLines,
    figures: RunFigures,
}

impl JournalFollower {
    pub fn new(folder: &Path) -> JournalFollower {
        let manifest = Manifest::load(folder).ok();
        let cells = manifest.map_or(0, |manifest| {
            let measured = manifest.cells.iter().filter(|c| c.skipped.is_none());
            measured.count()
        });
        JournalFollower {
            lines: NewLines::from_start(folder),
            figures: RunFigures { cells, ..RunFigures::default() },
        }
    }

    pub fn folder(&self) -> Option<&Path> {
        self.lines.folder()
    }

    /// Figures up to the last whole line; as before where the journal cannot be read now.
    pub fn figures(&mut self) -> &RunFigures {
        if let Some(bytes) = self.lines.take() {
            let lines = bytes.split(|&byte| byte == b'\n');
            for line in lines.filter(|line| !line.is_empty()) {
                if let LineContent::Entry(entry) = parse_line(line) {
                    self.figures.add(&entry);
                }
            }
        }
        &self.figures
    }
}

impl RunFigures {
    fn add(&mut self, entry: &Entry) {
        match entry {
            Entry::CellStart { cell, .. } => {
                self.cell = Some(cell.clone());
                (self.iops, self.bytes_per_s) = (None, None);
            }
            Entry::CellFinish { .. } | Entry::CellFailed { .. } | Entry::CellSkipped { .. } => {
                self.cells_done += 1;
                (self.iops, self.bytes_per_s) = (None, None);
            }
            Entry::Interval(interval) => self.add_interval(interval),
            Entry::Telemetry(telemetry) => {
                self.temperature_c = telemetry.temperature_c.or(self.temperature_c);
            }
            _ => {}
        }
    }

    fn add_interval(&mut self, interval: &IntervalRecord) {
        let (mut ios, mut bytes) = (0, 0);
        for op in &interval.ops {
            ios += op.counts.ios;
            bytes += op.counts.bytes;
            self.errors += op.counts.errors;
        }
        let seconds =
            interval.end.0.checked_sub(interval.start.0).map_or(0.0, |ns| ns as f64 / 1e9);
        if seconds > 0.0 {
            self.iops = Some(ios as f64 / seconds);
            self.bytes_per_s = Some(bytes as f64 / seconds);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/task_view.rs"]
mod tests;
