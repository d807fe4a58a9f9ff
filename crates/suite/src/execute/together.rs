//! Cells that run at the same time: unlike workloads on one drive, or on several.
//!
//! Each is a cell of its own, with its own intervals, telemetry and result; the journal holds their events side by side. The workloads of a
//! simulated drive share its virtual time; those of real drives start together.

use std::cell::RefCell;
use std::ops::Range;
use std::path::{Path, PathBuf};

use assay_device::session::{OpenMode, OpenTarget};
use assay_io::{Nanos, Telemetry};
use assay_stats::{HostLoad, Interval};
use assay_store::model::{CellPlan, CellResult, Entry, RunEnd, Warning};
use assay_store::{EncodedEntry, StoreError};
use assay_workload::plan::{Engine, Workload};
use assay_workload::run::{RunObserver, RunOutcome, TargetJobs, run_together};

use super::drives::Drives;
use super::journal::{CriticalWarnings, Journal};
use super::{CellExit, Executor, IntervalWork, Progress, RunLog, RunState};
use crate::SuiteError;
use crate::expand::Cell;
use crate::live::CellFlags;

/// A run log that several journals write to.
struct SharedLog<'a, 'b, 'c> {
    log: &'a RefCell<&'b mut (dyn RunLog + 'c)>,
    run_id: String,
    folder: PathBuf,
}

impl RunLog for SharedLog<'_, '_, '_> {
    fn run_id(&self) -> &str {
        &self.run_id
    }

    fn folder(&self) -> &Path {
        &self.folder
    }

    fn append(&mut self, entry: &Entry) -> Result<(), StoreError> {
        self.log.borrow_mut().append(entry)
    }

    fn append_encoded(&mut self, entry: EncodedEntry) -> Result<(), StoreError> {
        self.log.borrow_mut().append_encoded(entry)
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.log.borrow_mut().sync()
    }

    fn wait_for_room(&mut self) {
        self.log.borrow_mut().wait_for_room();
    }

    fn not_steady_reasons(&mut self, cell: &str) -> Result<Vec<(usize, String)>, StoreError> {
        self.log.borrow_mut().not_steady_reasons(cell)
    }
}

/// A progress that several journals report to.
struct SharedProgress<'a, 'b, 'c>(&'a RefCell<&'b mut (dyn Progress + 'c)>);

impl Progress for SharedProgress<'_, '_, '_> {
    fn cell_started(&mut self, index: usize, total: usize, cell: &Cell) {
        self.0.borrow_mut().cell_started(index, total, cell);
    }

    fn interval(&mut self, drive: usize, work: IntervalWork) {
        self.0.borrow_mut().interval(drive, work);
    }

    fn cell_finished(&mut self, plan: &CellPlan, results: &[CellResult]) {
        self.0.borrow_mut().cell_finished(plan, results);
    }

    fn cell_failed(&mut self, plan: &CellPlan, message: &str) {
        self.0.borrow_mut().cell_failed(plan, message);
    }

    fn cell_passed(&mut self, index: usize) {
        self.0.borrow_mut().cell_passed(index);
    }

    fn warned(&mut self, warning: &Warning) {
        self.0.borrow_mut().warned(warning);
    }

    fn problem(&mut self, message: &str) {
        self.0.borrow_mut().problem(message);
    }
}

/// Gives each cell's journal what its workload measured, under the number of its drive.
struct Journals<'a> {
    /// By number of the cell in the group.
    journals: Vec<(usize, Journal<'a>)>,
}

impl RunObserver for Journals<'_> {
    fn interval(&mut self, number: usize, interval: &Interval) {
        let (drive, journal) = &mut self.journals[number];
        journal.interval(*drive, interval);
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

impl Executor<'_> {
    /// Run these cells of the plan at the same time. They belong to job files: nothing is resumed, tracked or preconditioned.
    pub(super) fn run_together(
        &mut self,
        range: Range<usize>,
        state: &mut RunState,
    ) -> Result<(), SuiteError> {
        let plan = self.plan;
        if !self.may_begin(&plan.cells[range.clone()], state) {
            state.summary.outcome = RunEnd::Interrupted;
            return Ok(());
        }
        let flags = self.live.control.begin(self.stop);
        let cells = &plan.cells[range.clone()];
        for (number, (index, cell)) in range.clone().zip(cells).enumerate() {
            let drives = &cell.plan.drives;
            match cells[..number].iter().any(|c| c.plan.drives == *drives) {
                true => self.live.cell_started_beside(cell),
                false => self.live.cell_started(index, cell),
            }
            self.record_start(index, cell, state)?;
        }
        let mut workloads = Vec::with_capacity(cells.len());
        for cell in cells {
            self.prepare_drives(cell, &flags)?;
            workloads.push(self.workloads(cell, &state.results)?);
        }
        let mut warned: Vec<CriticalWarnings> = vec![state.critical_warnings.clone(); cells.len()];
        let measured = self.measure(cells, &flags, &workloads, &mut warned);
        self.live.control.end(&flags);
        if let Some(first) = warned.into_iter().next() {
            state.critical_warnings = first;
        }
        match measured {
            Ok((outcome, journals)) => {
                let parts = outcome.drives.iter().zip(journals);
                let numbered = range.clone().zip(cells).zip(&workloads);
                for (((index, cell), workloads), (part, journal)) in numbered.zip(parts) {
                    let mut part = part.clone();
                    part.drive = cell.plan.drives[0];
                    let own = RunOutcome {
                        drives: vec![part],
                        ..outcome.clone()
                    };
                    let done =
                        self.measured(cell, workloads, &state.results, &own, journal, None)?;
                    if self.cell_done(index, cell, &flags, done, state)? == CellExit::Interrupted {
                        state.summary.outcome = RunEnd::Interrupted;
                    }
                }
            }
            Err(SuiteError::Store(error)) => return Err(error.into()),
            Err(error) => {
                let message = error.to_string();
                for (index, cell) in range.clone().zip(cells) {
                    let error = SuiteError::Together(message.clone());
                    self.cell_failed(index, cell, error, state)?;
                }
            }
        }
        for index in range {
            self.live.cell_ended(&plan.cells[index], false);
            self.live.cell_passed(index);
            self.progress.cell_passed(index);
        }
        self.log.sync()?;
        Ok(())
    }

    /// Acquire the drives of the cells, run all workloads, release the drives. The outcome's parts are in the order of the cells.
    #[expect(
        clippy::type_complexity,
        reason = "a cell's telemetry and host load, as its journal returns them"
    )]
    fn measure(
        &mut self,
        cells: &[Cell],
        flags: &CellFlags,
        workloads: &[Vec<Workload>],
        warned: &mut [CriticalWarnings],
    ) -> Result<
        (
            RunOutcome,
            Vec<(super::journal::CellTelemetry, Vec<HostLoad>)>,
        ),
        SuiteError,
    > {
        let (run_id, folder) = (self.log.run_id().to_owned(), self.log.folder().to_owned());
        let (log, progress) = (
            RefCell::new(&mut *self.log),
            RefCell::new(&mut *self.progress),
        );
        let live = self.live;
        let log_of = |_: &Cell| SharedLog {
            log: &log,
            run_id: run_id.clone(),
            folder: folder.clone(),
        };
        let mut logs: Vec<_> = cells.iter().map(log_of).collect();
        let mut shown: Vec<_> = cells.iter().map(|_| SharedProgress(&progress)).collect();
        let each = cells.iter().zip(&mut logs).zip(&mut shown).zip(warned);
        let mut journals = Journals {
            journals: each
                .map(|(((cell, log), progress), warned)| {
                    (
                        cell.plan.drives[0],
                        Journal::new(cell, log, progress, self.stop, flags, live, warned),
                    )
                })
                .collect(),
        };
        let groups = by_target(cells, workloads);
        let mut targets: Vec<(usize, OpenTarget)> = Vec::new();
        let mut refused = Ok(());
        for group in &groups {
            match self.drives[group.drive].acquire(group.mode) {
                Ok(target) => targets.push((group.drive, target)),
                Err(error) => {
                    refused = Err(SuiteError::from(error));
                    break;
                }
            }
        }
        let outcome = refused.and_then(|()| {
            let jobs = groups.iter().zip(&mut targets);
            let mut jobs: Vec<TargetJobs<'_>> = jobs
                .map(|(group, (_, target))| TargetJobs {
                    parts: group.cells.iter().map(|&n| (n, &workloads[n][0])).collect(),
                    target,
                })
                .collect();
            Ok(run_together(&mut jobs, &flags.ended, &mut journals)?)
        });
        release(&mut self.drives, targets);
        let ended = journals
            .journals
            .into_iter()
            .map(|(_, journal)| journal.end());
        let ended = ended.collect::<Result<Vec<_>, _>>()?;
        let mut outcome = outcome?;
        outcome.drives.sort_by_key(|part| part.drive);
        Ok((outcome, ended))
    }
}

fn release(drives: &mut Drives<'_>, targets: Vec<(usize, OpenTarget)>) {
    for (drive, target) in targets {
        drives[drive].release(target);
    }
}

/// Cells that share an open drive.
struct Group {
    drive: usize,
    mode: OpenMode,
    /// Numbers of the cells.
    cells: Vec<usize>,
}

/// The drives to open: a simulated one once, a real one once for each way of opening it.
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
            None => groups.push(Group {
                drive,
                mode,
                cells: vec![number],
            }),
        }
    }
    groups
}
