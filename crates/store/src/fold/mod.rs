//! Folding a journal into a [`Run`]: one streaming pass; intervals recorded in parts are read again.
//!
//! Memory: per interval and operation one summary (some 200 bytes); full histograms only for the cells that are open at
//! that moment (one per drive and operation). Interval histograms are summed and dropped.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use assay_stats::{Histogram, JobTotals, LatencySummary};
use assay_units::Nanos;

use crate::error::StoreError;
use crate::journal::{JOURNAL_FILE, JournalReader, LineContent};
use crate::model::{CellKind, CellResult, Entry, IntervalRecord, Manifest, Warning};
use crate::read::{CellState, Run};
use crate::run::{MANIFEST_FILE, sha256_of};
use crate::series::{OpSample, silent};
use crate::thin::thin;

mod cell;
mod sum;

use cell::{Cell, Point, PointKey, key};
use sum::{joined, summed, untraced};

/// Notes of damage kept; further ones are counted.
const MAX_NOTES: usize = 200;

/// Called with (cell, drive within the cell, sum of its measured intervals) whenever a cell's intervals are complete;
/// again for the same cell when it was measured again, and then only the last call counts.
pub(crate) type TotalsSink<'a> = &'a mut dyn FnMut(usize, usize, &JobTotals);

/// Fold a run folder.
pub(crate) fn fold(path: &Path, sink: TotalsSink<'_>) -> Result<Run, StoreError> {
    let manifest = Manifest::load(path)?;
    let journal = path.join(JOURNAL_FILE);
    let mut reader = JournalReader::open(&journal)?;
    let mut fold = Fold::new(path, manifest, sink);
    while let Some(line) = reader
        .next_line()
        .map_err(StoreError::io("read", &journal))?
    {
        match line.content {
            LineContent::Entry(entry) => fold.entry(line.number, line.offset, *entry)?,
            LineContent::Unknown(event) => fold.unknown(line.number, event),
            LineContent::Damaged(reason) => {
                fold.begun.get_or_insert(true);
                fold.note_line(line.number, &reason);
            }
        }
    }
    fold.finish()
}

struct Fold<'a> {
    path: PathBuf,
    sink: TotalsSink<'a>,
    simulated: Vec<bool>,
    index: BTreeMap<String, usize>,
    cells: Vec<Cell>,
    /// With: raised while its cell was being measured?
    warnings: Vec<(Warning, bool)>,
    unknown: BTreeMap<String, (u64, u64)>,
    notes: Vec<String>,
    notes_left_out: usize,
    /// Was the first event [`Entry::Manifest`]? None without events.
    begun: Option<bool>,
    second_reader: Option<JournalReader<BufReader<File>>>,
    run: Run,
}

impl<'a> Fold<'a> {
    fn new(path: &Path, manifest: Manifest, sink: TotalsSink<'a>) -> Fold<'a> {
        Fold {
            path: path.to_owned(),
            sink,
            simulated: manifest.drives.iter().map(|d| d.simulated).collect(),
            index: manifest
                .cells
                .iter()
                .enumerate()
                .map(|(i, c)| (c.id.clone(), i))
                .collect(),
            cells: manifest.cells.iter().map(Cell::new).collect(),
            warnings: Vec::new(),
            unknown: BTreeMap::new(),
            notes: Vec::new(),
            notes_left_out: 0,
            begun: None,
            second_reader: None,
            run: Run {
                path: path.to_owned(),
                audit: None,
                cells: Vec::new(),
                warnings: Vec::new(),
                steady: Vec::new(),
                verdicts: vec![None; manifest.drives.len()],
                manifest,
                outcome: None,
                damaged_lines: Vec::new(),
            },
        }
    }

    fn note(&mut self, text: String) {
        if self.notes.len() < MAX_NOTES {
            self.notes.push(text);
        } else {
            self.notes_left_out += 1;
        }
    }

    fn note_line(&mut self, number: u64, reason: &str) {
        self.note(format!("{JOURNAL_FILE} line {number}: {reason}"));
    }

    fn unknown(&mut self, number: u64, event: String) {
        // Bounded like the notes: a hostile journal can have a new kind on every line.
        if self.unknown.len() < MAX_NOTES || self.unknown.contains_key(&event) {
            self.unknown.entry(event).or_insert((number, 0)).1 += 1;
        } else {
            self.notes_left_out += 1;
        }
    }

    /// The planned cell of this name, or a note that there is none.
    fn cell(&mut self, number: u64, id: &str) -> Option<usize> {
        let found = self.index.get(id).copied();
        if found.is_none() {
            self.note_line(
                number,
                &format!("the cell {id:?} is not in the manifest; left out"),
            );
        }
        found
    }

    /// Position of a drive in a cell, or a note that it has none.
    fn place(&mut self, number: u64, cell: usize, drive: usize) -> Option<usize> {
        let plan = &self.cells[cell].record.plan;
        let found = plan.drives.iter().position(|&d| d == drive);
        if found.is_none() {
            let id = plan.id.clone();
            self.note_line(
                number,
                &format!("drive {drive} is not measured by the cell {id:?}; left out"),
            );
        }
        found
    }

    fn entry(&mut self, number: u64, offset: u64, entry: Entry) -> Result<(), StoreError> {
        let first = matches!(entry, Entry::Manifest { .. });
        self.begun.get_or_insert(first);
        match entry {
            Entry::Manifest { sha256 } => {
                if sha256_of(&self.path.join(MANIFEST_FILE))? != sha256 {
                    self.note(format!(
                        "{MANIFEST_FILE} is not the one that this run was begun with: its drives and cells may be wrong"
                    ));
                }
            }
            Entry::Start { .. } => self.run.outcome = None,
            Entry::Audit(audit) => self.run.audit = Some(audit),
            Entry::CellStart { cell, .. } => {
                if let Some(at) = self.cell(number, &cell) {
                    if self.cells[at].started {
                        self.warnings
                            .retain(|(w, during)| !during || w.cell.as_ref() != Some(&cell));
                    }
                    self.cells[at].clear();
                    self.cells[at].started = true;
                    self.cells[at].record.state = CellState::Unfinished;
                }
            }
            Entry::Interval(record) => self.interval(number, offset, record),
            Entry::Host { cell, index, load } => {
                if let Some(at) = self.cell(number, &cell) {
                    self.cells[at].host.insert(index, load);
                }
            }
            Entry::Telemetry(record) => {
                if let Some(at) = self.cell(number, &record.cell)
                    && let Some(place) = self.place(number, at, record.drive)
                {
                    self.cells[at].record.drives[place].telemetry.push(record);
                }
            }
            Entry::Warning(warning) => {
                if !self.warnings.iter().any(|(known, _)| *known == warning) {
                    let during = warning
                        .cell
                        .as_ref()
                        .and_then(|id| self.index.get(id))
                        .is_some_and(|&at| self.cells[at].started);
                    self.warnings.push((warning, during));
                }
            }
            Entry::CellFinish { cell, results, .. } => {
                if let Some(at) = self.cell(number, &cell) {
                    self.close(at)?;
                    self.cells[at].record.state = CellState::Finished;
                    self.results(number, at, results);
                }
            }
            Entry::CellFailed { cell, message, .. } => {
                if let Some(at) = self.cell(number, &cell) {
                    self.close(at)?;
                    self.cells[at].record.state = CellState::Failed(message);
                }
            }
            Entry::CellSkipped { cell, reason, .. } => {
                if let Some(at) = self.cell(number, &cell) {
                    self.close(at)?;
                    self.cells[at].record.state = CellState::Skipped(reason);
                }
            }
            Entry::Steady(steady) => {
                let known = self.run.steady.iter_mut();
                match known.into_iter().find(|s| s.group == steady.group) {
                    Some(place) => *place = steady,
                    None => self.run.steady.push(steady),
                }
            }
            Entry::Verdict { drive, verdict } => match self.run.verdicts.get_mut(drive) {
                Some(place) => *place = Some(verdict),
                None => self.note_line(
                    number,
                    &format!("there is no drive {drive}; its verdict is left out"),
                ),
            },
            Entry::Finish { outcome, .. } => self.run.outcome = Some(outcome),
        }
        Ok(())
    }

    fn interval(&mut self, number: u64, offset: u64, record: IntervalRecord) {
        let Some(at) = self.cell(number, &record.cell) else {
            return;
        };
        let Some(place) = self.place(number, at, record.drive) else {
            return;
        };
        if !self.cells[at].is_open() {
            self.note_line(
                number,
                "an interval of a cell that had already ended; left out",
            );
            return;
        }
        let interval = record.interval();
        let open = &mut self.cells[at].open[place];
        match open.budget.with(&interval) {
            Ok(budget) => open.budget = budget,
            Err(reason) => return self.note_line(number, reason),
        }
        let interval = joined(interval);
        open.totals.add(&interval);
        open.spans
            .entry((interval.index, !interval.ramp))
            .and_modify(|(start, end)| {
                (*start, *end) = ((*start).min(interval.start), (*end).max(interval.end));
            })
            .or_insert((interval.start, interval.end));
        for (op, counts) in &interval.ops {
            open.points
                .entry(key(&interval, *op))
                .and_modify(|point| {
                    let figures = &mut point.figures;
                    figures.start = figures.start.min(interval.start);
                    figures.end = figures.end.max(interval.end);
                    figures.ios += counts.ios;
                    figures.bytes += counts.bytes;
                    figures.errors += counts.errors;
                    point.more.push(offset);
                })
                .or_insert_with(|| Point {
                    figures: OpSample {
                        index: interval.index,
                        ramp: interval.ramp,
                        start: interval.start,
                        end: interval.end,
                        op: *op,
                        ios: counts.ios,
                        bytes: counts.bytes,
                        errors: counts.errors,
                        latency: LatencySummary::of(&counts.latency),
                    },
                    first: offset,
                    more: Vec::new(),
                });
        }
        // Intervals without their CellStart (a damaged line) are measured all the same.
        self.cells[at].record.state = CellState::Unfinished;
    }

    /// The intervals of this cell are complete: turn them into series, distributions and the summed result.
    fn close(&mut self, at: usize) -> Result<(), StoreError> {
        let open = std::mem::take(&mut self.cells[at].open);
        for (place, drive) in open.into_iter().enumerate() {
            let mut series = Vec::with_capacity(drive.points.len());
            for (key, mut point) in drive.points {
                if !point.more.is_empty() {
                    let offsets = std::iter::once(point.first).chain(point.more);
                    point.figures.latency = LatencySummary::of(&self.latency_of(key, offsets)?);
                }
                series.push(point.figures);
            }
            let cell = &mut self.cells[at];
            let ramp = Nanos(cell.record.plan.workload.ramp_ns);
            let series = silent::fill_gaps(series, &drive.spans, ramp);
            let result = summed(
                cell.record.drives[place].drive,
                &drive.totals,
                &series,
                &cell.host,
                &self.simulated,
            );
            let target = &mut cell.record.drives[place];
            target.distributions = drive
                .totals
                .ops()
                .filter_map(|op| Some((op, &drive.totals.counts(op)?.latency)))
                .filter(|(_, latency)| !latency.is_empty())
                .map(|(op, latency)| (op, thin(&latency.cumulative())))
                .collect();
            target.telemetry.sort_by_key(|record| record.at);
            target.series = series;
            target.result = result;
            (self.sink)(at, place, &drive.totals);
        }
        Ok(())
    }

    /// The merged latencies of an interval that was recorded in several lines.
    fn latency_of(
        &mut self,
        wanted: PointKey,
        offsets: impl Iterator<Item = u64>,
    ) -> Result<Histogram, StoreError> {
        let journal = self.path.join(JOURNAL_FILE);
        let reader = match &mut self.second_reader {
            Some(reader) => reader,
            none => none.insert(JournalReader::open(&journal)?),
        };
        let mut merged = Histogram::new();
        for offset in offsets {
            let line = reader
                .line_at(offset)
                .map_err(StoreError::io("read", &journal))?;
            // If the file changed since the first pass, the summary lacks the line, as its sample count shows.
            if let Some(LineContent::Entry(entry)) = line.map(|l| l.content)
                && let Entry::Interval(record) = *entry
            {
                let interval = joined(record.interval());
                for (op, counts) in &interval.ops {
                    if key(&interval, *op) == wanted {
                        merged.merge(&counts.latency);
                    }
                }
            }
        }
        Ok(merged)
    }

    /// Take a finished cell's journalled results, and check that each is the sum of its intervals.
    fn results(&mut self, number: u64, at: usize, results: Vec<CellResult>) {
        for drive in &mut self.cells[at].record.drives {
            if !results.iter().any(|r| r.drive == drive.drive) {
                drive.result = None;
            }
        }
        for result in results {
            let Some(place) = self.place(number, at, result.drive) else {
                continue;
            };
            let cell = &self.cells[at].record;
            // Inspections, purges and idle cells have no intervals, only values.
            let difference = match cell.plan.kind {
                CellKind::Inspect | CellKind::Purge | CellKind::Idle => None,
                _ => untraced(&result, cell.drives[place].result.as_ref()),
            };
            if let Some(difference) = difference {
                let text = format!(
                    "result does not trace to its intervals: cell {:?}, drive {}, {difference}",
                    self.cells[at].record.plan.id, result.drive
                );
                self.note_line(number, &text);
            }
            let record = &mut self.cells[at].record;
            let ramp = Nanos(record.plan.workload.ramp_ns);
            let part = &mut record.drives[place];
            silent::fill_end(&mut part.series, result.elapsed, ramp);
            part.result = Some(result);
        }
    }

    fn finish(mut self) -> Result<Run, StoreError> {
        if self.begun == Some(false) {
            self.note(format!(
                "{JOURNAL_FILE} has lost its first line: whether it belongs to this run, and what else is missing, is unknown"
            ));
        }
        for at in 0..self.cells.len() {
            if self.cells[at].is_open() {
                self.close(at)?;
            }
        }
        for (event, (number, times)) in std::mem::take(&mut self.unknown) {
            self.note_line(
                number,
                &format!(
                    "{times} event(s) of a kind this version does not know ({event:?}), written by a newer assay; left out"
                ),
            );
        }
        if self.notes_left_out > 0 {
            self.notes
                .push(format!("and {} more such notes", self.notes_left_out));
        }
        let mut run = self.run;
        run.damaged_lines = self.notes;
        run.warnings = self.warnings.into_iter().map(|(w, _)| w).collect();
        run.cells = self
            .cells
            .into_iter()
            .map(|mut cell| {
                cell.record.host = cell.host.into_iter().collect();
                cell.record
            })
            .collect();
        Ok(run)
    }
}
