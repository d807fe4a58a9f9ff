//! # Mechanism
//!
//! Readers take a [`LiveSnapshot`] when they want one.
//!
//! # Non-goals
//!
//! Nothing here enters a run folder; results come from the journal.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use assay_device::session::DriveSession;
use assay_io::clock::Clock;
use assay_stats::HostLoad;
use assay_store::model::Warning;
use assay_units::Nanos;

use crate::events::RunEvent;
use assay_suite::expand::{Cell, RunPlan};

mod control;
mod drive;
mod eta;
mod history;
mod watch;

pub(crate) use control::CellFlags;
pub use control::{Control, NotBegun};
use drive::DriveFigures;
pub use drive::{DriveSnapshot, LatencyFigures, OpFigures, Phase, RunningCell};
use eta::Eta;
pub use history::{HistorySecond, KEPT_SECONDS};
pub use watch::{CONDITIONS, DriveCondition};

/// Time between two looks for the cause of a rate.
pub const EVALUATION_PERIOD: Nanos = Nanos::from_secs(2);
/// Warnings that are kept; more are counted.
pub const KEPT_WARNINGS: usize = 200;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CellStatus {
    #[default]
    Left,
    Done,
    Skipped,
    Failed,
}

#[derive(Debug, Default)]
struct RunFigures {
    cells: Vec<CellStatus>,
    eta: Eta,
    host: Option<HostLoad>,
    warnings: Vec<Warning>,
    warning_counts: BTreeMap<String, u64>,
    ended: bool,
}

impl RunFigures {
    fn warned(&mut self, warning: &Warning) {
        let count = self.warning_counts.entry(warning.code.clone());
        *count.or_default() += 1;
        if self.warnings.len() == KEPT_WARNINGS {
            self.warnings.remove(0);
        }
        self.warnings.push(warning.clone());
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellCounts {
    /// Finished, in this attempt or in an earlier one of a resumed run.
    pub done: usize,
    /// Skipped during the run, with a reason in the run folder.
    pub skipped: usize,
    pub failed: usize,
    /// Running or to come.
    pub left: usize,
}

impl CellCounts {
    pub fn all(&self) -> usize {
        self.done + self.skipped + self.failed + self.left
    }
}

impl LiveSnapshot {
    pub fn warning_count(&self) -> usize {
        self.warning_counts.values().sum::<u64>() as usize
    }
}

#[derive(Clone, Debug, Default)]
pub struct LiveSnapshot {
    pub suite: String,
    /// Since the start of this attempt.
    pub elapsed: Nanos,
    pub left: Nanos,
    /// Share of the planned work that is done, 0 to 1.
    pub done_share: f64,
    pub cells: CellCounts,
    pub paused: bool,
    pub ended: bool,
    /// Load of the host over the last interval; only real drives have it.
    pub host: Option<HostLoad>,
    /// The latest warnings, oldest first, at most [`KEPT_WARNINGS`].
    pub warnings: Vec<Warning>,
    pub warning_counts: BTreeMap<String, u64>,
    pub drives: Vec<DriveSnapshot>,
}

#[derive(Debug)]
pub struct Live {
    suite: String,
    clock: Clock,
    began: Nanos,
    /// Expected duration of each cell, milliseconds; 0 of a cell that the plan skips.
    weights_ms: Vec<u64>,
    simulated: bool,
    /// The durations of its cells are not planned: bytes end them.
    unplanned: bool,
    drives: Vec<Mutex<DriveFigures>>,
    run: Mutex<RunFigures>,
    pub control: Control,
}

fn weight_ms(cell: &Cell) -> u64 {
    if cell.plan.skipped.is_some() {
        return 0;
    }
    (cell.expected_span().0 / 1_000_000).max(1)
}

/// Cells that run at the same time take the time of the longest, which counts as the first one's.
fn weights_ms(cells: &[Cell]) -> Vec<u64> {
    let mut weights: Vec<u64> = cells.iter().map(weight_ms).collect();
    let mut first = 0;
    for (at, cell) in cells.iter().enumerate() {
        match cell.together.is_some() && cells[first].together == cell.together {
            true if at > first => {
                weights[first] = weights[first].max(std::mem::take(&mut weights[at]))
            }
            _ => first = at,
        }
    }
    weights
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    pub fn new(plan: &RunPlan, drives: &[DriveSession]) -> Live {
        let clock = Clock::monotonic();
        let states = drives.iter().zip(&plan.labels).map(|(drive, label)| {
            let state = DriveFigures::new(label, drive.info());
            Mutex::new(state)
        });
        Live {
            suite: plan.suite.name.clone(),
            began: clock.now(),
            clock,
            weights_ms: weights_ms(&plan.cells),
            simulated: drives.iter().any(|drive| drive.info().simulated),
            unplanned: plan.cells.iter().all(|cell| cell.planned_span().is_none()),
            drives: states.collect(),
            run: Mutex::new(RunFigures {
                cells: vec![CellStatus::Left; plan.cells.len()],
                ..RunFigures::default()
            }),
            control: Control::default(),
        }
    }

    fn drive(&self, drive: usize) -> Option<MutexGuard<'_, DriveFigures>> {
        self.drives.get(drive).map(locked)
    }

    fn each(&self, drives: &[usize], mut change: impl FnMut(&mut DriveFigures)) {
        for drive in drives {
            if let Some(mut state) = self.drive(*drive) {
                change(&mut state);
            }
        }
    }

    pub(crate) fn event(&self, cells: &[Cell], event: &RunEvent<'_>) {
        let now = self.clock.now();
        match event {
            &RunEvent::CellStarted { index, beside } => {
                let cell = &cells[index];
                for (place, &drive) in cell.plan.drives.iter().enumerate() {
                    let workload = cell.workloads.get(place);
                    if let Some(mut figures) = self.drive(drive) {
                        match beside {
                            true => figures.cell_started_beside(workload),
                            false => figures.cell_started(index, cell, workload, now),
                        }
                    }
                }
            }
            RunEvent::Phase { drives, phase } => self.each(drives, |drive| drive.phase = *phase),
            RunEvent::Interval { drive, interval, .. } => {
                if let (Some(interval), Some(mut figures)) = (interval, self.drive(*drive)) {
                    figures.interval(interval, now);
                }
            }
            RunEvent::Telemetry { drive, at, telemetry } => {
                if let Some(mut figures) = self.drive(*drive) {
                    figures.telemetry(*at, telemetry, now);
                }
            }
            RunEvent::Host { drives, load } => {
                locked(&self.run).host = Some(*load);
                self.each(drives, |drive| drive.host(*load));
            }
            RunEvent::CellSkipped { index } => self.set_status(*index, CellStatus::Skipped),
            RunEvent::CellFailed { index, .. } => self.set_status(*index, CellStatus::Failed),
            RunEvent::CellEnded { index, purged } => {
                let drives = &cells[*index].plan.drives;
                self.each(drives, |drive| drive.cell_ended(*purged, now));
            }
            RunEvent::CellPassed { index } => {
                let mut run = locked(&self.run);
                if let Some(place @ CellStatus::Left) = run.cells.get_mut(*index) {
                    *place = CellStatus::Done;
                }
            }
            RunEvent::Warned(warning) => locked(&self.run).warned(warning),
            RunEvent::Ended => locked(&self.run).ended = true,
            RunEvent::CellFinished { .. } | RunEvent::DriveLost { .. } | RunEvent::Problem(_) => {}
        }
    }

    fn set_status(&self, index: usize, status: CellStatus) {
        if let Some(place) = locked(&self.run).cells.get_mut(index) {
            *place = status;
        }
    }

    /// Planned work that is done, and all of it, milliseconds of the drives' time.
    pub fn work_ms(&self) -> (u64, u64) {
        let all: u64 = self.weights_ms.iter().sum();
        let cells = locked(&self.run).cells.clone();
        let passed = cells.iter().zip(&self.weights_ms);
        let passed = passed.filter(|(status, _)| **status != CellStatus::Left);
        let mut done: u64 = passed.map(|(_, weight)| weight).sum();
        let mut counted = Vec::new();
        for state in &self.drives {
            let state = locked(state);
            // A cell of several drives counts once.
            if let Some(cell) = &state.cell
                && cells.get(cell.index) == Some(&CellStatus::Left)
                && !counted.contains(&cell.index)
            {
                counted.push(cell.index);
                done += state.done_ms(self.weights_ms[cell.index]);
            }
        }
        (done.min(all), all)
    }

    /// A real drive takes the planned time; of a simulated one, and where bytes end the cells, the
    /// pace so far decides.
    pub fn left(&self) -> Nanos {
        let (done_ms, all_ms) = self.work_ms();
        let planned = Nanos((all_ms - done_ms).saturating_mul(1_000_000));
        let elapsed = self.elapsed();
        let estimate = match self.simulated || self.unplanned {
            true if done_ms > 0 => {
                let pace = elapsed.0 as f64 / (done_ms as f64 * 1e6);
                Nanos((planned.0 as f64 * pace) as u64)
            }
            _ => planned,
        };
        locked(&self.run).eta.update(elapsed, estimate)
    }

    pub fn elapsed(&self) -> Nanos {
        self.clock.now() - self.began
    }

    pub fn is_simulated(&self) -> bool {
        self.simulated
    }

    fn counts(&self) -> CellCounts {
        let mut counts = CellCounts::default();
        let run = locked(&self.run);
        let planned = run.cells.iter().zip(&self.weights_ms);
        for (status, _) in planned.filter(|(_, weight)| **weight > 0) {
            match status {
                CellStatus::Left => counts.left += 1,
                CellStatus::Done => counts.done += 1,
                CellStatus::Skipped => counts.skipped += 1,
                CellStatus::Failed => counts.failed += 1,
            }
        }
        counts
    }

    /// Costs some microseconds per drive, and at most every [`EVALUATION_PERIOD`] some milliseconds
    /// for the cause of a rate in a long cell.
    pub fn snapshot(&self) -> LiveSnapshot {
        let (done_ms, all_ms) = self.work_ms();
        let left = self.left();
        let drives = self.drives.iter().map(|state| {
            let now = self.clock.now();
            let mut held = locked(state);
            let watch = held.watch_to_evaluate(now);
            let snapshot = held.snapshot();
            drop(held);
            let Some(watch) = watch else {
                return snapshot;
            };
            let condition = watch.condition();
            locked(state).evaluated(condition.clone());
            DriveSnapshot { condition, ..snapshot }
        });
        let drives = drives.collect();
        let cells = self.counts();
        let run = locked(&self.run);
        LiveSnapshot {
            suite: self.suite.clone(),
            elapsed: self.elapsed(),
            left,
            done_share: done_ms as f64 / all_ms.max(1) as f64,
            cells,
            paused: self.control.is_paused(),
            ended: run.ended,
            host: run.host,
            warnings: run.warnings.clone(),
            warning_counts: run.warning_counts.clone(),
            drives,
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/live.rs"]
mod tests;
