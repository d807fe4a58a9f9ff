//! The workloads of a simulated drive share its virtual time; those of real drives start together.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use assay_device::session::OpenMode;
use assay_io::{Nanos, Telemetry};
use assay_stats::{HostLoad, Interval};
use assay_workload::plan::{Engine, Workload};
use assay_workload::run::{RunObserver, RunOutcome, TargetJobs, run_together};

use super::cell::with_targets;
use super::drives::Drives;
use super::early_stop::Stopped;
use super::io_log::IoLog;
use super::journal::{CellTelemetry, CriticalWarnings, Ignore, Journal};
use super::{CellExit, ExecutionState, Executor, Resume};
use crate::ExecuteError;
use crate::events::RunEvent;
use crate::live::{CellFlags, Phase};
use assay_suite::expand::Cell;

struct Journals<'a, 'e> {
    journals: Vec<(usize, Journal<'a, 'e>)>,
}

impl RunObserver for Journals<'_, '_> {
    fn interval(&mut self, number: usize, interval: &Interval) {
        let (drive, journal) = &mut self.journals[number];
        journal.interval(*drive, interval);
    }

    fn read_back(&mut self, number: usize, interval: &Interval) {
        let (drive, journal) = &mut self.journals[number];
        journal.read_back(*drive, interval);
    }

    fn telemetry(&mut self, number: usize, at: Nanos, telemetry: Telemetry) {
        let (drive, journal) = &mut self.journals[number];
        journal.telemetry(*drive, at, telemetry);
    }

    fn host(&mut self, index: u32, load: HostLoad) {
        for (_, journal) in &mut self.journals {
            journal.host(index, load);
        }
    }
}

/// Results of a cell: its telemetry and host load, as its journal returns them.
type Recorded = (CellTelemetry, Option<HostLoad>);

impl Executor<'_, '_> {
    /// They are skipped, repeated and resumed as one: a figure is that of a load beside these
    /// others.
    pub(super) fn run_together(
        &mut self,
        range: Range<usize>,
        resume: &Resume,
        state: &mut ExecutionState,
    ) -> Result<CellExit, ExecuteError> {
        let plan = self.plan;
        let cells = &plan.cells[range.clone()];
        let lost = &state.summary.lost_drives;
        let is_lost = |cell: &Cell| cell.plan.drives.iter().any(|d| lost.contains(d));
        if cells.iter().any(|cell| cell.plan.skipped.is_some() || is_lost(cell)) {
            return Ok(CellExit::Ended);
        }
        if cells.iter().any(|cell| resume.was_skipped_by_user(cell)) {
            for index in range {
                self.events.emit(&RunEvent::CellSkipped { index });
            }
            return Ok(CellExit::Ended);
        }
        let is_finished = |cell: &Cell| resume.finished.contains_key(&cell.plan.id);
        if cells.iter().all(is_finished) {
            self.replay_together(cells, state)?;
            return Ok(CellExit::Ended);
        }
        let mut unmet = cells.iter().filter_map(|cell| state.preconditions.skip_reason(cell));
        if let Some(reason) = unmet.next() {
            for (index, cell) in range.zip(cells) {
                self.skip(index, cell, reason.clone())?;
            }
            return Ok(CellExit::Ended);
        }
        self.pause_if_asked(&cells[0])?;
        if !self.may_begin(cells, state) {
            return Ok(CellExit::Interrupted);
        }
        let exit = self.execute_together(range, state)?;
        self.log.sync()?;
        Ok(exit)
    }

    fn replay_together(
        &mut self,
        cells: &[Cell],
        state: &ExecutionState,
    ) -> Result<(), ExecuteError> {
        let mut drives = cells.iter().flat_map(|cell| &cell.plan.drives);
        let simulated = drives.all(|&d| self.drives[d].info().simulated);
        if !simulated || !cells.iter().any(Cell::writes) {
            return Ok(());
        }
        let flags = self.events.live.control.begin(self.stop);
        let mut workloads = Vec::with_capacity(cells.len());
        let mut prepared = Ok(());
        for cell in cells {
            prepared = prepared.and_then(|()| self.prepare_drives(cell, &flags).map(drop));
            self.events.phase(&cell.plan.drives, Phase::Repeating);
            workloads.push(self.workloads(cell, &state.results)?);
        }
        let mut ignore = Ignore { stop: self.stop, flags: &flags };
        let repeated = prepared
            .and_then(|()| measure(&mut self.drives, cells, &workloads, &flags.ended, &mut ignore));
        self.events.live.control.end(&flags);
        for cell in cells {
            self.events.phase(&cell.plan.drives, Phase::Waiting);
        }
        repeated.map(drop)
    }

    fn execute_together(
        &mut self,
        range: Range<usize>,
        state: &mut ExecutionState,
    ) -> Result<CellExit, ExecuteError> {
        let plan = self.plan;
        let flags = self.events.live.control.begin(self.stop);
        let cells = &plan.cells[range.clone()];
        for (number, (index, cell)) in range.clone().zip(cells).enumerate() {
            let drives = &cell.plan.drives;
            let beside = cells[..number].iter().any(|c| c.plan.drives == *drives);
            self.start_cell(index, beside, cell, state)?;
        }
        let mut workloads = Vec::with_capacity(cells.len());
        let mut starts = Vec::with_capacity(cells.len());
        for cell in cells {
            starts.push(self.prepare_drives(cell, &flags)?);
            workloads.push(self.workloads(cell, &state.results)?);
        }
        let mut warned: Vec<CriticalWarnings> = vec![state.critical_warnings.clone(); cells.len()];
        let measured = self.journal_together(cells, &flags, &workloads, &mut warned);
        self.events.live.control.end(&flags);
        if let Some(first) = warned.into_iter().next() {
            state.critical_warnings = first;
        }
        let mut exit = CellExit::Ended;
        match measured {
            Ok((outcome, journals)) => {
                let parts = outcome.drives.iter().zip(journals).zip(starts);
                let numbered = range.clone().zip(cells).zip(&workloads);
                for (((index, cell), workloads), ((part, journal), starts)) in numbered.zip(parts) {
                    let mut part = part.clone();
                    part.drive = cell.plan.drives[0];
                    let own = RunOutcome { drives: vec![part], ..outcome.clone() };
                    let mut done = self.measured(
                        cell,
                        workloads,
                        &state.results,
                        &own,
                        journal,
                        &Stopped::default(),
                    )?;
                    self.record_starts(cell, starts, &mut done)?;
                    exit = match (exit, self.cell_done(index, cell, &flags, done, state)?) {
                        (CellExit::Interrupted, _) | (_, CellExit::Ended) => exit,
                        (_, other) => other,
                    };
                }
            }
            Err(ExecuteError::Store(error)) => return Err(error.into()),
            Err(error) => {
                let message = error.to_string();
                for (index, cell) in range.clone().zip(cells) {
                    let error = ExecuteError::Together(message.clone());
                    self.cell_failed(index, cell, error, state)?;
                }
            }
        }
        for index in range {
            self.events.emit(&RunEvent::CellEnded { index, purged: false });
        }
        Ok(exit)
    }

    /// The outcome's parts are in the order of the cells.
    fn journal_together(
        &mut self,
        cells: &[Cell],
        flags: &CellFlags,
        workloads: &[Vec<Workload>],
        warned: &mut [CriticalWarnings],
    ) -> Result<(RunOutcome, Vec<Recorded>), ExecuteError> {
        let (log, events) = (self.log, self.events);
        let mut journals = Vec::with_capacity(cells.len());
        for (cell, warned) in cells.iter().zip(warned) {
            let drive = cell.plan.drives[0];
            let io_log = IoLog::open(cell, self.drives[drive].info())?;
            let journal = Journal::new(cell, log, events, self.stop, flags, warned, io_log);
            journals.push((drive, journal));
        }
        let mut journals = Journals { journals };
        let outcome = measure(&mut self.drives, cells, workloads, &flags.ended, &mut journals);
        let ended = journals.journals.into_iter().map(|(_, journal)| journal.end());
        let ended = ended.collect::<Result<Vec<_>, _>>()?;
        let mut outcome = outcome?;
        outcome.drives.sort_by_key(|part| part.drive);
        Ok((outcome, ended))
    }
}

fn measure(
    drives: &mut Drives<'_>,
    cells: &[Cell],
    workloads: &[Vec<Workload>],
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<RunOutcome, ExecuteError> {
    let groups = by_target(cells, workloads);
    let modes = groups.iter().map(|group| (group.drive, group.mode));
    with_targets(drives, modes, |targets| {
        let jobs = groups.iter().zip(targets);
        let mut jobs: Vec<TargetJobs<'_>> = jobs
            .map(|(group, (_, target))| TargetJobs {
                parts: group.cells.iter().map(|&n| (n, &workloads[n][0])).collect(),
                target,
            })
            .collect();
        Ok(run_together(&mut jobs, stop, observer)?)
    })
}

struct Group {
    drive: usize,
    mode: OpenMode,
    cells: Vec<usize>,
}

/// A simulated drive once, a real one once for each way of opening it.
fn by_target(cells: &[Cell], workloads: &[Vec<Workload>]) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (number, (cell, workloads)) in cells.iter().zip(workloads).enumerate() {
        let (drive, workload) = (cell.plan.drives[0], &workloads[0]);
        let mode = workload.open_mode();
        let modelled = matches!(workload.engine, Engine::Sim | Engine::Null);
        let same = |group: &&mut Group| {
            let (mine, theirs) = (group.mode, mode);
            group.drive == drive
                && (modelled || (mine.direct, mine.passthru) == (theirs.direct, theirs.passthru))
        };
        match groups.iter_mut().find(same) {
            Some(group) => {
                group.mode.writes |= mode.writes;
                group.cells.push(number);
            }
            None => groups.push(Group { drive, mode, cells: vec![number] }),
        }
    }
    groups
}
