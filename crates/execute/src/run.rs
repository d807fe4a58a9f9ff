use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_device::host::wall_clock;
use assay_device::session::DriveSession;
use assay_stats::HostAudit;
use assay_store::RunWriter;
use assay_store::model::{CellKind, Entry, RunEnd};
use assay_store::read::Run;

use crate::ExecuteError;
use crate::drive_state_cache::DriveStateCache;
use crate::events::{Events, RunEvent, RunListener};
use crate::live::{CellFlags, Live, NotBegun};
use crate::warn;
use assay_suite::expand::{Cell, RunPlan};
use assay_suite::verdict::{self, VerdictSubject};

mod cell;
mod depends;
mod drive_state;
mod drive_threads;
mod drives;
mod early_stop;
mod io_log;
mod journal;
mod lost_drives;
mod minutes;
mod preconditions;
mod requests;
mod results;
mod resume;
mod rounds;
mod run_log;
mod simulated_host;
mod start_state;
mod together;
mod warnings;
mod written;

use cell::{CellOutcome, Finished};
use drives::Drives;
pub use io_log::check_io_logs;
use journal::CriticalWarnings;
use lost_drives::LostDrives;
use preconditions::Preconditions;
use requests::SKIPPED_BY_USER;
pub use resume::Resume;
use rounds::RoundTracker;
use run_log::{FolderLog, RunLog};
use written::Courses;

#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    pub outcome: RunEnd,
    pub failed_cells: usize,
    pub io_errors: u64,
    /// Blocks that failed verification.
    pub bad_blocks: u64,
    /// Workloads that were to verify blocks, of which none could be judged.
    pub unverified: usize,
    /// Their cells are left for `--resume`, and the run counts as interrupted.
    pub lost_drives: BTreeSet<usize>,
    /// The cell that was not begun any more, and why, where that is what interrupted the run.
    pub not_begun: Option<(String, NotBegun)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellExit {
    Ended,
    /// One of its drives disappeared.
    DriveLost,
    /// The user interrupted it.
    Interrupted,
}

pub struct Runner<'a> {
    pub plan: &'a RunPlan,
    pub drives: &'a mut [DriveSession],
    pub writer: RunWriter,
    pub audit: HostAudit,
    /// Set to end early.
    pub stop: &'a AtomicBool,
    pub listener: &'a mut dyn RunListener,
    /// Live figures, and requests to the run.
    pub live: &'a Live,
    pub drive_states: DriveStateCache,
}

#[derive(Clone)]
struct ExecutionState {
    summary: RunSummary,
    results: Finished,
    preconditions: Preconditions,
    rounds: RoundTracker,
    critical_warnings: CriticalWarnings,
    courses: Courses,
}

impl ExecutionState {
    /// For the cells of one drive in a thread of its own.
    fn for_drive(&self) -> ExecutionState {
        let mut state = self.clone();
        state.summary.failed_cells = 0;
        state.summary.io_errors = 0;
        state.summary.bad_blocks = 0;
        state.summary.unverified = 0;
        state
    }

    /// Add what the cells of one drive changed in [`ExecutionState::for_drive`].
    fn merge(&mut self, drive: usize, of_drive: ExecutionState) {
        let summary = of_drive.summary;
        if summary.outcome != RunEnd::Complete {
            self.summary.outcome = summary.outcome;
        }
        self.summary.failed_cells += summary.failed_cells;
        self.summary.io_errors += summary.io_errors;
        self.summary.bad_blocks += summary.bad_blocks;
        self.summary.unverified += summary.unverified;
        self.summary.lost_drives.extend(summary.lost_drives);
        self.summary.not_begun = self.summary.not_begun.take().or(summary.not_begun);
        self.results.extend(of_drive.results);
        self.courses.extend(of_drive.courses);
        self.preconditions.merge(drive, of_drive.preconditions);
        self.rounds.merge(of_drive.rounds);
        let warnings = of_drive.critical_warnings;
        self.critical_warnings.merge(drive, warnings);
    }
}

/// Executes cells: those of a run, or those of one of its simulated drives.
struct Executor<'a, 'e> {
    plan: &'a RunPlan,
    drives: Drives<'a>,
    log: &'a dyn RunLog,
    events: &'a Events<'e>,
    audit: HostAudit,
    stop: &'a AtomicBool,
    drive_states: &'a DriveStateCache,
    /// Temperature of the drives at the start of the run, degrees Celsius.
    start_celsius: &'a BTreeMap<usize, f64>,
}

impl Runner<'_> {
    /// A cell that fails is recorded as failed and the run continues. A cell whose drive disappears
    /// is left unfinished, and the run continues with the other drives. Simulated drives run in a
    /// thread each.
    pub fn run(mut self, resume: &Resume) -> Result<RunSummary, ExecuteError> {
        let resumed = self.writer.resumed;
        let at = wall_clock();
        self.writer.append(&Entry::Start { at, resumed })?;
        self.writer.append(&Entry::Audit(self.audit))?;
        let log = FolderLog::new(&mut self.writer);
        let events = Events::new(self.plan, self.live, self.listener);
        let start_celsius =
            start_state::temperatures_at_start(self.plan, self.drives, resume, self.stop);
        let mut executor = Executor {
            plan: self.plan,
            drives: Drives::all(self.drives),
            log: &log,
            events: &events,
            audit: self.audit,
            stop: self.stop,
            drive_states: &self.drive_states,
            start_celsius: &start_celsius,
        };
        if resumed == 0 {
            executor.warn_about_run()?;
        }
        let mut state = ExecutionState {
            summary: RunSummary {
                outcome: RunEnd::Complete,
                failed_cells: 0,
                io_errors: 0,
                bad_blocks: 0,
                unverified: 0,
                lost_drives: BTreeSet::new(),
                not_begun: None,
            },
            results: resume.finished.clone(),
            preconditions: Preconditions::new(executor.drives.len()),
            rounds: RoundTracker::default(),
            critical_warnings: executor.initial_critical_warnings(),
            courses: resume.courses.clone(),
        };
        let result = executor.run_cells(resume, &mut state);
        events.emit(&RunEvent::Ended);
        // Also after an error: no drive stays in a power state that a cell selected.
        for drive in executor.drives.iter_mut() {
            if let Err(error) = drive.set_power_state(None) {
                events.problem(&error.to_string());
            }
        }
        result?;
        if !state.summary.lost_drives.is_empty() {
            state.summary.outcome = RunEnd::Interrupted;
        }
        if state.summary.outcome == RunEnd::Complete {
            executor.warn_nothing_measured(&state.results, state.summary.failed_cells)?;
            if let Some(rules) = &self.plan.suite.verdict {
                self.writer.sync()?;
                let run = Run::open(&self.writer.path)?;
                for drive in 0..self.drives.len() {
                    let verdict = verdict::evaluate(rules, &VerdictSubject::new(&run, drive));
                    self.writer.append(&Entry::Verdict { drive, verdict })?;
                }
            }
        }
        self.writer.finish(state.summary.outcome, &wall_clock())?;
        Ok(state.summary)
    }
}

impl Executor<'_, '_> {
    fn run_cells(
        &mut self,
        resume: &Resume,
        state: &mut ExecutionState,
    ) -> Result<(), ExecuteError> {
        self.claim_interrupted_writes(resume);
        self.restore_preconditions(&mut state.preconditions);
        let cells = &self.plan.cells;
        let groups_of_several_drives = self.groups_of_several_drives();
        let mut next = 0;
        // A cell of several drives is a barrier, and so are cells of several drives that run at the
        // same time.
        while next < cells.len() && state.summary.outcome == RunEnd::Complete {
            let is_shared = |cell: &Cell| {
                let group = cell.together;
                cell.plan.drives.len() != 1
                    || group.is_some_and(|group| groups_of_several_drives.contains(&group))
            };
            if is_shared(&cells[next]) {
                let end = self.group(next).end;
                self.run_in_turn(next..end, None, resume, state)?;
                next = end;
                continue;
            }
            let apart = cells[next..].iter().position(is_shared);
            let end = next + apart.unwrap_or(cells.len() - next);
            let drives = self.drives_of(next..end);
            let simulated = drives.iter().all(|&d| self.drives[d].info().simulated);
            if drives.len() > 1 && simulated {
                self.run_in_threads(next..end, &drives, resume, state)?;
            } else {
                self.run_in_turn(next..end, None, resume, state)?;
            }
            next = end;
        }
        Ok(())
    }

    fn drives_of(&self, cells: Range<usize>) -> BTreeSet<usize> {
        let cells = self.plan.cells[cells].iter();
        let executed = cells.filter(|cell| cell.plan.skipped.is_none());
        executed.flat_map(|cell| &cell.plan.drives).copied().collect()
    }

    /// Numbers of the groups of cells that run at the same time on several drives.
    fn groups_of_several_drives(&self) -> BTreeSet<usize> {
        let mut drives: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for cell in &self.plan.cells {
            if let Some(group) = cell.together {
                drives.entry(group).or_default().extend(&cell.plan.drives);
            }
        }
        drives.retain(|_, of_group| of_group.len() > 1);
        drives.into_keys().collect()
    }

    fn group(&self, index: usize) -> Range<usize> {
        let cells = &self.plan.cells[index..];
        let count = match cells[0].together {
            Some(group) => (cells.iter()).take_while(|cell| cell.together == Some(group)).count(),
            None => 1,
        };
        index..index + count
    }

    fn run_in_turn(
        &mut self,
        cells: Range<usize>,
        of_drive: Option<usize>,
        resume: &Resume,
        state: &mut ExecutionState,
    ) -> Result<(), ExecuteError> {
        let plan = self.plan;
        let mut next = cells.start;
        while next < cells.end {
            let group = self.group(next);
            let (index, cell) = (next, &plan.cells[next]);
            next = group.end;
            if of_drive.is_some_and(|drive| cell.plan.drives != [drive]) {
                continue;
            }
            self.log.wait_for_room();
            let exit = match cell.together {
                Some(_) => self.run_together(group.clone(), resume, state)?,
                None => self.run_planned(index, cell, resume, state)?,
            };
            if exit == CellExit::Interrupted {
                state.summary.outcome = RunEnd::Interrupted;
                return Ok(());
            }
            for index in group {
                self.events.emit(&RunEvent::CellPassed { index });
            }
        }
        Ok(())
    }

    fn run_planned(
        &mut self,
        index: usize,
        cell: &Cell,
        resume: &Resume,
        state: &mut ExecutionState,
    ) -> Result<CellExit, ExecuteError> {
        let plan = self.plan;
        let lost = &state.summary.lost_drives;
        if cell.plan.skipped.is_some() || cell.plan.drives.iter().any(|d| lost.contains(d)) {
            return Ok(CellExit::Ended);
        }
        if resume.was_skipped_by_user(cell) {
            self.events.emit(&RunEvent::CellSkipped { index });
            state.preconditions.cell_started(cell);
            state.preconditions.cell_ended(cell, false);
            return Ok(CellExit::Ended);
        }
        let finished = resume.finished.contains_key(&cell.plan.id);
        if (finished || resume.was_not_needed(cell))
            && (resume.is_superseded(&plan.cells, index)
                || self.still_preconditioned(cell, resume)?)
        {
            if finished {
                self.replay(cell, state)?;
            }
            state.preconditions.cell_started(cell);
            state.preconditions.cell_ended(cell, true);
        } else {
            let reason = state.rounds.skip_reason(cell);
            let reason = reason.or_else(|| depends::written_already(cell, &state.results));
            let reason = reason.or_else(|| written::ended_before(cell, &state.courses));
            if let Some(reason) = reason.or_else(|| state.preconditions.skip_reason(cell)) {
                self.skip(index, cell, reason)?;
                return Ok(CellExit::Ended);
            }
            self.pause_if_asked(cell)?;
            let exit = match self.may_begin(std::slice::from_ref(cell), state) {
                false => CellExit::Interrupted,
                true => self.execute_cell(index, cell, state)?,
            };
            if exit != CellExit::Ended {
                return Ok(exit);
            }
        }
        self.evaluate_rounds(index, state)?;
        self.log.sync()?;
        Ok(CellExit::Ended)
    }

    fn start_cell(
        &mut self,
        index: usize,
        beside: bool,
        cell: &Cell,
        state: &mut ExecutionState,
    ) -> Result<(), ExecuteError> {
        self.events.emit(&RunEvent::CellStarted { index, beside });
        self.log.append(&Entry::CellStart { cell: cell.plan.id.clone(), at: wall_clock() })?;
        state.preconditions.cell_started(cell);
        self.record_cell_start(cell);
        Ok(())
    }

    fn execute_cell(
        &mut self,
        index: usize,
        cell: &Cell,
        state: &mut ExecutionState,
    ) -> Result<CellExit, ExecuteError> {
        self.start_cell(index, false, cell, state)?;
        let flags = self.events.live.control.begin(self.stop);
        let ran = self.run_cell(cell, &flags, state);
        self.events.live.control.end(&flags);
        let exit = match ran {
            Ok(done) => self.cell_done(index, cell, &flags, done, state),
            Err(error) => self.cell_failed(index, cell, error, state),
        };
        let purged = cell.plan.kind == CellKind::Purge && state.results.contains_key(&cell.plan.id);
        self.events.emit(&RunEvent::CellEnded { index, purged });
        exit
    }

    fn cell_done(
        &mut self,
        index: usize,
        cell: &Cell,
        flags: &CellFlags,
        done: CellOutcome,
        state: &mut ExecutionState,
    ) -> Result<CellExit, ExecuteError> {
        if self.stop.load(Ordering::Relaxed) && !done.complete {
            // Its intervals are kept; the cell stays unfinished for --resume.
            self.record_partial_writes(&done, &LostDrives::new());
            return Ok(CellExit::Interrupted);
        }
        if flags.is_skipped() && !done.complete {
            Self::count_failures(&done, state);
            self.record_partial_writes(&done, &LostDrives::new());
            state.preconditions.cell_ended(cell, false);
            self.skip(index, cell, SKIPPED_BY_USER.to_owned())?;
            return Ok(CellExit::Ended);
        }
        let errors = Self::count_failures(&done, state);
        let lost = self.drives_lost_during(&done);
        if !lost.is_empty() {
            self.record_partial_writes(&done, &lost);
            self.give_up_drives(index, cell, lost, state)?;
            return Ok(CellExit::DriveLost);
        }
        // Before CellFinish: a finished preparation missing from the drive state cache would be
        // repeated.
        let preconditioned = state.preconditions.cell_ended(cell, errors == 0);
        self.record_drive_state(cell, &done, preconditioned);
        self.log.append(&Entry::CellFinish {
            cell: cell.plan.id.clone(),
            at: wall_clock(),
            results: done.results.clone(),
        })?;
        self.events.emit(&RunEvent::CellFinished { index, results: Cow::Borrowed(&done.results) });
        state.results.insert(cell.plan.id.clone(), done.results);
        Ok(CellExit::Ended)
    }

    fn cell_failed(
        &mut self,
        index: usize,
        cell: &Cell,
        error: ExecuteError,
        state: &mut ExecutionState,
    ) -> Result<CellExit, ExecuteError> {
        if let ExecuteError::Store(error) = error {
            return Err(error.into());
        }
        let lost = self.drives_lost_by_error(cell, &error);
        if !lost.is_empty() {
            self.give_up_drives(index, cell, lost, state)?;
            return Ok(CellExit::DriveLost);
        }
        let message = error.to_string();
        self.events.emit(&RunEvent::CellFailed { index, message: Cow::Borrowed(&message) });
        self.log.append(&Entry::CellFailed {
            cell: cell.plan.id.clone(),
            at: wall_clock(),
            message,
        })?;
        state.preconditions.cell_ended(cell, false);
        state.summary.failed_cells += 1;
        Ok(CellExit::Ended)
    }

    /// At the end of a round: evaluate the steady-state criterion of its tracking variables.
    fn evaluate_rounds(
        &mut self,
        index: usize,
        state: &mut ExecutionState,
    ) -> Result<(), ExecuteError> {
        let cell = &self.plan.cells[index];
        let evaluated = state.rounds.round_ended(self.plan, index, &state.results);
        let last = cell.plan.round.as_ref().is_some_and(|r| r.number == r.most);
        for steady in evaluated {
            if last && let Some(why) = &steady.why {
                let rounds = steady.values.len();
                let warning = warn::rounds_not_steady(rounds, &steady.group, why);
                self.warn(warning, Some(steady.drive))?;
            }
            self.log.append(&Entry::Steady(steady))?;
        }
        Ok(())
    }
}
