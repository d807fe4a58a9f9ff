//! Figures of a run in progress, from its growing journal. Needs no lock, and works on a folder of
//! any process.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use assay_units::{Nanos, rate};

use crate::error::StoreError;
use crate::journal::{JOURNAL_FILE, JournalReader, LineContent};
use crate::model::{Entry, IntervalRecord, Manifest, RunEnd};

/// Figures of a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgressFigures {
    /// The cell under way; none between cells.
    pub cell: Option<String>,
    /// Cells that were run, failed or were skipped during the run.
    pub cells_done: usize,
    /// Cells of the plan, without those that it skips.
    pub cells: usize,
    /// How it ended, if it has.
    pub outcome: Option<RunEnd>,
    /// Per drive, in [`Manifest::drives`] order.
    pub drives: Vec<DriveFigures>,
}

/// Figures of a drive of a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DriveFigures {
    /// I/Os per second of the latest interval; 0 between cells.
    pub iops: f64,
    /// MiB per second of the latest interval; 0 between cells.
    pub mib_per_s: f64,
    /// Composite temperature as last read, degrees Celsius.
    pub temperature_c: Option<f64>,
    /// I/Os that failed, ramps included; without those of a cell that is measured again.
    pub errors: u64,
}

/// What threads have reported of the latest interval.
#[derive(Default)]
struct Latest {
    index: u32,
    ramp: bool,
    span: (Nanos, Nanos),
    ios: u64,
    bytes: u64,
}

/// Follows the journal of a run.
pub struct RunProgress {
    path: PathBuf,
    journal: JournalReader<BufReader<File>>,
    figures: ProgressFigures,
    latest: Vec<Latest>,
    /// By cell and drive: those of a cell that is measured again do not count.
    errors: BTreeMap<(String, usize), u64>,
}

impl RunProgress {
    /// Begins with a run folder whose manifest is written.
    pub fn open(folder: &Path) -> Result<RunProgress, StoreError> {
        let manifest = Manifest::load(folder)?;
        let path = folder.join(JOURNAL_FILE);
        let drives = manifest.drives.len();
        let planned = manifest.cells.iter().filter(|cell| cell.skipped.is_none());
        Ok(RunProgress {
            journal: JournalReader::open(&path)?,
            path,
            figures: ProgressFigures {
                cells: planned.count(),
                drives: vec![DriveFigures::default(); drives],
                ..ProgressFigures::default()
            },
            latest: (0..drives).map(|_| Latest::default()).collect(),
            errors: BTreeMap::new(),
        })
    }

    /// Reads what was appended since the last call; damaged lines are left out.
    pub fn advance(&mut self) -> Result<&ProgressFigures, StoreError> {
        loop {
            let line = self.journal.next_whole_line();
            match line.map_err(StoreError::io("read", &self.path))? {
                None => return Ok(&self.figures),
                Some(line) => {
                    if let LineContent::Entry(entry) = line.content {
                        self.entry(*entry);
                    }
                }
            }
        }
    }

    fn entry(&mut self, entry: Entry) {
        match entry {
            Entry::Start { .. } => {
                self.figures.outcome = None;
                self.between_cells();
            }
            Entry::CellStart { cell, .. } => {
                self.errors.retain(|(of, _), _| *of != cell);
                self.count_errors();
                self.between_cells();
                self.figures.cell = Some(cell);
            }
            Entry::Interval(record) => self.interval(&record),
            Entry::Telemetry(record) => {
                if let Some(drive) = self.figures.drives.get_mut(record.drive) {
                    drive.temperature_c = record.temperature_c.or(drive.temperature_c);
                }
            }
            Entry::CellFinish { .. } | Entry::CellFailed { .. } | Entry::CellSkipped { .. } => {
                self.figures.cells_done += 1;
                self.between_cells();
            }
            Entry::Finish { outcome, .. } => {
                self.figures.outcome = Some(outcome);
                self.between_cells();
            }
            _ => {}
        }
    }

    fn between_cells(&mut self) {
        self.figures.cell = None;
        for (drive, latest) in self.figures.drives.iter_mut().zip(&mut self.latest) {
            (drive.iops, drive.mib_per_s) = (0.0, 0.0);
            *latest = Latest::default();
        }
    }

    fn interval(&mut self, record: &IntervalRecord) {
        let (Some(drive), Some(latest)) =
            (self.figures.drives.get_mut(record.drive), self.latest.get_mut(record.drive))
        else {
            return;
        };
        let is_part = (latest.index, latest.ramp) == (record.index, record.ramp);
        if !is_part || latest.span.1 == Nanos::ZERO {
            *latest = Latest {
                index: record.index,
                ramp: record.ramp,
                span: (record.start, record.end),
                ..Latest::default()
            };
        }
        latest.span.0 = latest.span.0.min(record.start);
        latest.span.1 = latest.span.1.max(record.end);
        let mut failed = 0_u64;
        for op in &record.ops {
            latest.ios = latest.ios.saturating_add(op.counts.ios);
            latest.bytes = latest.bytes.saturating_add(op.counts.bytes);
            failed = failed.saturating_add(op.counts.errors);
        }
        // A damaged journal can hold any times.
        let span = Nanos(latest.span.1.0.saturating_sub(latest.span.0.0));
        drive.iops = rate::per_second(latest.ios, span);
        drive.mib_per_s = rate::mib_per_second(latest.bytes, span);
        if failed > 0 {
            let key = (record.cell.clone(), record.drive);
            let known = self.errors.entry(key).or_insert(0);
            *known = known.saturating_add(failed);
            self.count_errors();
        }
    }

    fn count_errors(&mut self) {
        for drive in &mut self.figures.drives {
            drive.errors = 0;
        }
        for ((_, drive), errors) in &self.errors {
            if let Some(drive) = self.figures.drives.get_mut(*drive) {
                drive.errors = drive.errors.saturating_add(*errors);
            }
        }
    }
}
