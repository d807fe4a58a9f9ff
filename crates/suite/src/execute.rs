//! Carrying out a plan, cell by cell, into a run folder.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use assay_device::host::wall_clock;
use assay_device::session::DriveSession;
use assay_io::Nanos;
use assay_stats::Interval;
use assay_store::RunWriter;
use assay_store::model::{Audit, CellPlan, CellResult, Entry, Outcome, Warning};
use assay_store::read::Run;
use assay_workload::audit::HostAudit;

use crate::SuiteError;
use crate::drive_state_cache::DriveStateCache;
use crate::expand::{Cell, RunPlan};
use crate::verdict;
use crate::warn::RunWarning;

mod cell;
mod drive_state;
mod early_stop;
mod journal;
mod lost_drives;
mod preconditions;
mod results;
mod resume;
mod rounds;
mod warnings;

use journal::CriticalWarnings;
use lost_drives::LostDrives;
use preconditions::Preconditions;
pub use resume::Resume;
use rounds::RoundTracker;

/// Who is told how it goes.
pub trait Progress {
    /// A cell begins: number `index` of `total`.
    fn cell_started(&mut self, index: usize, total: usize, cell: &Cell);
    /// An interval of the cell: how far its clock and bytes are.
    fn interval(&mut self, drive: usize, at: Nanos, bytes: u64, interval: &Interval);
    /// A cell is done.
    fn cell_finished(&mut self, plan: &CellPlan, results: &[CellResult]);
    /// A cell could not be done.
    fn cell_failed(&mut self, plan: &CellPlan, message: &str);
    /// A warning was recorded.
    fn warned(&mut self, warning: &Warning);
    /// Something went wrong that belongs to no cell.
    fn problem(&mut self, message: &str);
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Complete or interrupted.
    pub outcome: Outcome,
    /// Cells that failed.
    pub failed_cells: usize,
    /// I/Os that failed.
    pub io_errors: u64,
    /// Blocks that verification found wrong.
    pub bad_blocks: u64,
    /// Drives that went away. Their cells are left for a resumption, and the run counts as interrupted.
    pub lost_drives: BTreeSet<usize>,
}

/// How it went on after a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CellExit {
    /// It is over, well or not.
    Over,
    /// A drive of it is gone.
    DriveLost,
    /// The user stopped it.
    Stopped,
}

/// Everything a run works with.
pub struct Runner<'a> {
    /// What to do.
    pub plan: &'a RunPlan,
    /// On what.
    pub drives: &'a mut [DriveSession],
    /// Where to.
    pub writer: RunWriter,
    /// The host's ceiling.
    pub audit: HostAudit,
    /// Set to end early.
    pub stop: &'a AtomicBool,
    /// Who is told.
    pub progress: &'a mut dyn Progress,
    /// What is remembered of drives from run to run.
    pub memory: DriveStateCache,
}

/// What is known while a run goes on.
struct Course {
    ending: RunSummary,
    results: BTreeMap<String, Vec<CellResult>>,
    preconditions: Preconditions,
    rounds: RoundTracker,
    critical_warnings: CriticalWarnings,
}

impl Runner<'_> {
    /// Run every cell that is not finished, draw conclusions, close the folder.
    ///
    /// A cell that fails is recorded as failed and the run goes on; one whose drive is gone is left unfinished, and the run goes on with the other
    /// drives. The run itself fails only when its folder cannot be written.
    ///
    /// # Errors
    /// When the run folder cannot be written.
    pub fn run(mut self, resume: &Resume) -> Result<RunSummary, SuiteError> {
        let resumed = self.writer.resumed();
        self.writer.append(&Entry::Start {
            at: wall_clock(),
            resumed,
        })?;
        self.writer
            .append(&Entry::Audit(audit_record(&self.audit)))?;
        if resumed == 0 {
            self.warn_about_run()?;
        }
        let mut course = Course {
            ending: RunSummary {
                outcome: Outcome::Complete,
                failed_cells: 0,
                io_errors: 0,
                bad_blocks: 0,
                lost_drives: BTreeSet::new(),
            },
            results: resume.finished.clone(),
            preconditions: Preconditions::new(self.drives.len()),
            rounds: RoundTracker::default(),
            critical_warnings: self.initial_critical_warnings(),
        };
        let went = self.run_cells(resume, &mut course);
        // Whatever happened, a drive is not left in a power state that a cell asked for.
        for drive in self.drives.iter_mut() {
            if let Err(error) = drive.set_power_state(None) {
                self.progress.problem(&error.to_string());
            }
        }
        went?;
        if !course.ending.lost_drives.is_empty() {
            course.ending.outcome = Outcome::Interrupted;
        }
        if course.ending.outcome == Outcome::Complete {
            self.warn_nothing_measured(&course.results, course.ending.failed_cells)?;
        }
        if course.ending.outcome == Outcome::Complete
            && let Some(rules) = &self.plan.suite.verdict
        {
            self.writer.sync()?;
            let run = Run::open(self.writer.path())?;
            for drive in 0..self.drives.len() {
                let verdict = verdict::evaluate(rules, &verdict::VerdictSubject::of(&run, drive));
                self.writer.append(&Entry::Verdict { drive, verdict })?;
            }
        }
        self.writer.finish(course.ending.outcome, &wall_clock())?;
        Ok(course.ending)
    }

    fn run_cells(&mut self, resume: &Resume, course: &mut Course) -> Result<(), SuiteError> {
        let plan = self.plan;
        self.claim(resume);
        self.recall(&mut course.preconditions);
        for (index, cell) in plan.cells.iter().enumerate() {
            if cell.plan.skipped.is_some() {
                continue;
            }
            let lost = &course.ending.lost_drives;
            if cell.plan.drives.iter().any(|drive| lost.contains(drive)) {
                continue;
            }
            let finished = resume.finished.contains_key(&cell.plan.id);
            if (finished || resume.was_spared(cell))
                && (resume.is_superseded(&plan.cells, index) || self.still_holds(cell)?)
            {
                if finished {
                    self.replay(cell, course)?;
                }
                course.preconditions.begins(cell);
                course.preconditions.ends(cell, true);
            } else {
                let objection = course.rounds.not_needed(cell);
                if let Some(reason) = objection.or_else(|| course.preconditions.objection(cell)) {
                    self.writer.append(&Entry::CellSkipped {
                        cell: cell.plan.id.clone(),
                        at: wall_clock(),
                        reason,
                    })?;
                    continue;
                }
                if self.stop.load(Ordering::Relaxed) {
                    course.ending.outcome = Outcome::Interrupted;
                    return Ok(());
                }
                match self.do_cell(index, cell, course)? {
                    CellExit::Over => {}
                    CellExit::DriveLost => continue,
                    CellExit::Stopped => {
                        course.ending.outcome = Outcome::Interrupted;
                        return Ok(());
                    }
                }
            }
            self.evaluate_rounds(index, course)?;
            self.writer.sync()?;
        }
        Ok(())
    }

    /// Run one cell and record it.
    fn do_cell(
        &mut self,
        index: usize,
        cell: &Cell,
        course: &mut Course,
    ) -> Result<CellExit, SuiteError> {
        self.progress
            .cell_started(index, self.plan.cells.len(), cell);
        self.writer.append(&Entry::CellStart {
            cell: cell.plan.id.clone(),
            at: wall_clock(),
        })?;
        course.preconditions.begins(cell);
        self.note_begin(cell);
        match self.run_cell(cell, &course.results, &mut course.critical_warnings) {
            Ok(done) if self.stop.load(Ordering::Relaxed) && !done.whole => {
                // Its intervals are kept; the cell itself is left unfinished, to be done again by --resume.
                self.remember_part(cell, &done, &LostDrives::new());
                return Ok(CellExit::Stopped);
            }
            Ok(done) => {
                let errors = Self::count_failures(&done, course);
                let lost = self.lost_in(&done);
                if !lost.is_empty() {
                    self.remember_part(cell, &done, &lost);
                    self.give_up_drives(cell, lost, course)?;
                    return Ok(CellExit::DriveLost);
                }
                // Before the cell counts as finished: a finished preparation that nobody remembers would be done again.
                let made = course.preconditions.ends(cell, errors == 0);
                self.remember(cell, &done, made);
                self.writer.append(&Entry::CellFinish {
                    cell: cell.plan.id.clone(),
                    at: wall_clock(),
                    results: done.results.clone(),
                })?;
                self.progress.cell_finished(&cell.plan, &done.results);
                course.results.insert(cell.plan.id.clone(), done.results);
            }
            Err(SuiteError::Store(error)) => return Err(error.into()),
            Err(error) => {
                let lost = self.lost_by(cell, &error);
                if !lost.is_empty() {
                    self.give_up_drives(cell, lost, course)?;
                    return Ok(CellExit::DriveLost);
                }
                let message = error.to_string();
                self.writer.append(&Entry::CellFailed {
                    cell: cell.plan.id.clone(),
                    at: wall_clock(),
                    message: message.clone(),
                })?;
                self.progress.cell_failed(&cell.plan, &message);
                course.preconditions.ends(cell, false);
                course.ending.failed_cells += 1;
            }
        }
        Ok(CellExit::Over)
    }

    /// At the end of a round: have its figures come to rest?
    fn evaluate_rounds(&mut self, index: usize, course: &mut Course) -> Result<(), SuiteError> {
        let cell = &self.plan.cells[index];
        let judged = course.rounds.over(self.plan, index, &course.results);
        let last = cell.plan.round.as_ref().is_some_and(|r| r.number == r.most);
        for steady in judged {
            if last && let Some(why) = &steady.why {
                let warning = RunWarning::RoundsNotSteady {
                    rounds: steady.values.len(),
                    tracked: steady.group.clone(),
                    why: why.clone(),
                };
                self.warn(&warning, None, Some(steady.drive))?;
            }
            self.writer.append(&Entry::Steady(steady))?;
        }
        Ok(())
    }
}

fn audit_record(audit: &HostAudit) -> Audit {
    Audit {
        null_iops_per_thread: audit.null_iops_per_thread,
        engine_ns_per_io: audit.engine_ns_per_io,
        clock_ns: audit.clock_ns,
        clock_step_ns: audit.clock_step_ns,
        clock_drift_ppm: audit.clock_drift_ppm,
    }
}
