//! Folds a journal into a [`Run`] in one streaming pass; intervals recorded in parts are read
//! again. Memory: some 200 bytes per interval and operation; full histograms, one per drive and
//! operation, only for the cells that are open at that moment.

use std::collections::{BTreeMap, btree_map};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use assay_stats::{Histogram, JobTotals, LatencySummary};
use assay_units::Nanos;

use crate::error::StoreError;
use crate::journal::{JOURNAL_FILE, JournalReader, LineContent};
use crate::model::{CellKind, CellResult, Entry, IntervalRecord, Manifest, Warning};
use crate::read::{Attempt, CellState, Run};
use crate::run::{MANIFEST_FILE, sha256_of};
use crate::series::short::Sources;
use crate::series::silent::SilentBudget;
use crate::series::{OpSample, short, silent};
use crate::thin::thin;

mod cell;
mod close;
mod join;
mod sum;

use cell::{Cell, Dates, Point, PointKey, key};
use join::JoinedSegments;
use sum::{summed, untraced};

/// Further notes are counted.
const MAX_NOTES: usize = 200;

/// As in [`Run::open_with_totals`].
pub type TotalsSink<'a> = &'a mut dyn FnMut(usize, usize, &JobTotals);

/// Segments are joined: cells are counted as in the result.
pub(crate) fn fold(path: &Path, sink: TotalsSink<'_>) -> Result<Run, StoreError> {
    read(path, sink, true, false)
}

/// Segments stay cells of their own.
pub(crate) fn fold_segments(path: &Path) -> Result<Run, StoreError> {
    read(path, &mut |_, _, _| {}, false, false)
}

/// The intervals of soaks are summed to minutes.
pub(crate) fn fold_minutes(path: &Path) -> Result<Run, StoreError> {
    read(path, &mut |_, _, _| {}, true, true)
}

fn read(path: &Path, sink: TotalsSink<'_>, joined: bool, minutes: bool) -> Result<Run, StoreError> {
    let manifest = Manifest::load(path)?;
    let journal = path.join(JOURNAL_FILE);
    let mut reader = JournalReader::open(&journal)?;
    let mut fold = Fold::new(path, manifest, sink, joined);
    fold.minutes = minutes;
    let failed = |error| StoreError::io("read", &journal)(error);
    while let Some(line) = reader.next_line().map_err(failed)? {
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
    sink: TotalsSink<'a>,
    /// Set where segments are joined.
    segments: Option<JoinedSegments>,
    /// Sum the intervals of soaks to minutes.
    minutes: bool,
    index: BTreeMap<String, usize>,
    cells: Vec<Cell>,
    /// The flag: raised while its cell was being measured.
    warnings: Vec<(Warning, bool)>,
    /// Unknown events: first line, number of lines.
    unknown: BTreeMap<String, (u64, u64)>,
    notes_left_out: usize,
    /// Whether the first event was [`Entry::Manifest`]; `None` without events.
    begun: Option<bool>,
    second_reader: Option<JournalReader<BufReader<File>>>,
    /// Without cells and warnings until the end.
    run: Run,
}

impl<'a> Fold<'a> {
    fn new(path: &Path, manifest: Manifest, sink: TotalsSink<'a>, joined: bool) -> Fold<'a> {
        let cells = manifest.cells.iter().enumerate();
        Fold {
            sink,
            segments: joined.then(|| JoinedSegments::new(&manifest.cells)),
            minutes: false,
            index: cells.map(|(at, cell)| (cell.id.clone(), at)).collect(),
            cells: manifest.cells.iter().map(Cell::new).collect(),
            warnings: Vec::new(),
            unknown: BTreeMap::new(),
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
                attempts: Vec::new(),
                outcome: None,
                damaged_lines: Vec::new(),
                segments: BTreeMap::new(),
            },
        }
    }

    fn note(&mut self, text: String) {
        if self.run.damaged_lines.len() < MAX_NOTES {
            self.run.damaged_lines.push(text);
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

    /// Notes a cell that the manifest does not have.
    fn cell(&mut self, number: u64, id: &str) -> Option<usize> {
        let found = self.index.get(id).copied();
        if found.is_none() {
            let reason = format!("the cell {id:?} is not in the manifest; left out");
            self.note_line(number, &reason);
        }
        found
    }

    /// Notes a drive that the cell does not have.
    fn place(&mut self, number: u64, cell: usize, drive: usize) -> Option<usize> {
        let plan = &self.cells[cell].record.plan;
        let found = plan.drives.iter().position(|&d| d == drive);
        if found.is_none() {
            let id = &plan.id;
            let reason = format!("drive {drive} is not measured by the cell {id:?}; left out");
            self.note_line(number, &reason);
        }
        found
    }

    fn entry(&mut self, number: u64, offset: u64, entry: Entry) -> Result<(), StoreError> {
        // A table: an arm per entry of the journal.
        let first = matches!(entry, Entry::Manifest { .. });
        self.begun.get_or_insert(first);
        match entry {
            Entry::Manifest { sha256 } => {
                if sha256_of(&self.run.path.join(MANIFEST_FILE))? != sha256 {
                    self.note(format!(
                        "{MANIFEST_FILE} is not the one that this run was begun with: its drives \
                         and cells may be wrong"
                    ));
                }
            }
            Entry::Start { at, .. } => {
                self.run.outcome = None;
                self.run.attempts.push(Attempt { began: at, ended: None });
            }
            Entry::Audit(audit) => self.run.audit = Some(audit),
            Entry::CellStart { cell: id, at: date } => {
                let attempt = self.run.attempts.len();
                if let Some(at) = self.cell(number, &id) {
                    let cell = &mut self.cells[at];
                    if cell.started {
                        self.warnings.retain(|(w, during)| !during || w.cell.as_ref() != Some(&id));
                    }
                    cell.clear();
                    cell.dates = Dates { attempt, began: date, ended: String::new() };
                    cell.started = true;
                    cell.record.state = CellState::Unfinished;
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
                    let cell = warning.cell.as_ref().and_then(|id| self.index.get(id));
                    let during = cell.is_some_and(|&at| self.cells[at].started);
                    self.warnings.push((warning, during));
                }
            }
            Entry::CellFinish { cell, results, at: date } => {
                if let Some(at) = self.end(number, &cell, CellState::Finished)? {
                    self.cells[at].dates.ended = date;
                    self.results(number, at, results);
                }
            }
            Entry::CellFailed { cell, message, .. } => {
                self.end(number, &cell, CellState::Failed(message))?;
            }
            Entry::CellSkipped { cell, reason, .. } => {
                // Skipped while it ran: its intervals are no result.
                if let Some(at) = self.end(number, &cell, CellState::Skipped(reason))? {
                    let drives = self.cells[at].record.drives.iter_mut();
                    drives.for_each(|part| part.result = None);
                }
            }
            Entry::Steady(steady) => {
                let mut known = self.run.steady.iter_mut();
                match known.find(|s| s.group == steady.group) {
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
            Entry::Finish { at, outcome } => {
                self.run.outcome = Some(outcome);
                if let Some(attempt) = self.run.attempts.last_mut() {
                    attempt.ended = Some(at);
                }
            }
        }
        Ok(())
    }

    fn end(
        &mut self,
        number: u64,
        id: &str,
        state: CellState,
    ) -> Result<Option<usize>, StoreError> {
        let Some(at) = self.cell(number, id) else {
            return Ok(None);
        };
        self.close(at)?;
        self.cells[at].record.state = state;
        Ok(Some(at))
    }

    fn interval(&mut self, number: u64, offset: u64, record: IntervalRecord) {
        let Some(at) = self.cell(number, &record.cell) else {
            return;
        };
        let Some(place) = self.place(number, at, record.drive) else {
            return;
        };
        if !self.cells[at].is_open() {
            let reason = "an interval of a cell that had already ended; left out";
            return self.note_line(number, reason);
        }
        let interval = record.interval();
        let open = &mut self.cells[at].open[place];
        match open.budget.with(&interval) {
            Ok(budget) => open.budget = budget,
            Err(reason) => return self.note_line(number, reason),
        }
        open.totals.add(&interval);
        let (index, ramp) = (interval.index, interval.ramp);
        let (start, end) = (interval.start, interval.end);
        let span = open.spans.entry((index, !ramp)).or_insert((start, end));
        *span = (span.0.min(start), span.1.max(end));
        for (op, counts) in &interval.ops {
            match open.points.entry(key(&interval, *op)) {
                btree_map::Entry::Occupied(known) => {
                    let point = known.into_mut();
                    let figures = &mut point.figures;
                    figures.start = figures.start.min(start);
                    figures.end = figures.end.max(end);
                    figures.ios += counts.ios;
                    figures.bytes += counts.bytes;
                    figures.errors += counts.errors;
                    point.more.push(offset);
                }
                btree_map::Entry::Vacant(new) => {
                    let figures = OpSample {
                        ios: counts.ios,
                        bytes: counts.bytes,
                        errors: counts.errors,
                        latency: LatencySummary::new(&counts.latency),
                        ..silent::silent(index, ramp, start, end, *op)
                    };
                    new.insert(Point { figures, first: offset, more: Vec::new() });
                }
            }
        }
        // Intervals without their CellStart (a damaged line) are measured all the same.
        self.cells[at].record.state = CellState::Unfinished;
    }

    /// Checks that each journalled result is the sum of its intervals.
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
                // Another program's figures are not sums of what it logged over time.
                _ if self.run.manifest.imported.is_some() => None,
                CellKind::Inspect | CellKind::Purge | CellKind::Idle => None,
                _ => untraced(&result, cell.drives[place].result.as_ref()),
            };
            if let Some(difference) = difference {
                let text = format!(
                    "result does not trace to its intervals: cell {:?}, drive {}, {difference}",
                    cell.plan.id, result.drive
                );
                self.note_line(number, &text);
            }
            let record = &mut self.cells[at].record;
            let ramp = Nanos(record.plan.workload.ramp_ns);
            let part = &mut record.drives[place];
            let mut budget = SilentBudget::new(0);
            silent::fill_end(&mut part.series, result.elapsed, ramp, &mut budget);
            part.result = Some(result);
        }
    }

    fn finish(mut self) -> Result<Run, StoreError> {
        if self.begun == Some(false) {
            self.note(format!(
                "{JOURNAL_FILE} has lost its first line: whether it belongs to this run, and what \
                 else is missing, is unknown"
            ));
        }
        for at in 0..self.cells.len() {
            if self.cells[at].is_open() {
                self.close(at)?;
            }
        }
        for (event, (number, times)) in std::mem::take(&mut self.unknown) {
            let reason = format!(
                "{times} event(s) of a kind this version does not know ({event:?}), written by a \
                 newer assay; left out"
            );
            self.note_line(number, &reason);
        }
        let mut run = self.run;
        if self.notes_left_out > 0 {
            let note = format!("and {} more such notes", self.notes_left_out);
            run.damaged_lines.push(note);
        }
        run.warnings = self.warnings.into_iter().map(|(w, _)| w).collect();
        let cells = self.cells.into_iter().map(|mut cell| {
            cell.record.host = cell.host.into_iter().collect();
            (cell.record, cell.dates)
        });
        run.cells = match self.segments {
            Some(segments) => {
                let (cells, places) = segments.join(cells.collect(), &run.manifest, self.sink);
                run.segments = places;
                cells
            }
            None => cells.map(|(record, _)| record).collect(),
        };
        Ok(run)
    }
}
