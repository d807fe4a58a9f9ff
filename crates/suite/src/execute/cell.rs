//! Running one cell: lending the drives, measuring, resting, purging, looking.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_device::open::open_drive;
use assay_device::session::OpenTarget;
use assay_device::session::{DriveSession, SessionError};
use assay_io::Nanos;
use assay_stats::HostLoad;
use assay_store::model::{CellKind, CellResult, OFFERED_IOPS};
use assay_workload::plan::{Pacing, Workload};
use assay_workload::run::{DriveJob, RunObserver, RunOutcome, run_jobs};
use std::num::NonZeroU64;

use super::early_stop::{EarlyStop, StopReason};
use super::journal::{CriticalWarnings, Ignore, Journal};
use super::results::{LIMIT_REACHED, SETTLED_S, bad_blocks, compare, result_of, with_verify_seed};
use super::{Course, Runner};
use crate::SuiteError;
use crate::expand::{Cell, StopRule};
use crate::inspect::{self, COMPRESSIBLE_RATIO};
use crate::warn::RunWarning;

/// A rest is watched this often.
const REST_INTERVAL: Nanos = Nanos::SECOND;

/// What a cell came to.
#[derive(Default)]
pub(super) struct Done {
    pub(super) results: Vec<CellResult>,
    /// It was not cut off.
    pub(super) whole: bool,
    pub(super) bad_blocks: u64,
    /// Everything written to each drive, ramp included.
    pub(super) written_bytes: BTreeMap<usize, u64>,
    /// Errors of drives on which work was given up: their results hold none when that was before measuring began.
    pub(super) given_up: BTreeMap<usize, u64>,
    /// I/Os that drives never answered.
    pub(super) unanswered: BTreeMap<usize, u64>,
}

impl Runner<'_> {
    /// A simulated drive forgets everything when the program ends: what finished cells did to it is done again, unrecorded.
    pub(super) fn replay(&mut self, cell: &Cell, course: &Course) -> Result<(), SuiteError> {
        let drives = &cell.plan.drives;
        if !drives.iter().all(|&d| self.drives[d].info().simulated) {
            return Ok(());
        }
        self.set_power_states(cell)?;
        self.rest_before(cell);
        match cell.plan.kind {
            CellKind::Purge => {
                self.purge(cell)?;
            }
            CellKind::Idle => rest(self.drives, cell, self.stop, &mut Ignore),
            _ if cell.workloads.iter().any(Workload::writes) => {
                let workloads = self.workloads(cell, &course.results)?;
                let until = cell.until;
                execute(self.drives, cell, &workloads, self.stop, &mut Ignore, until)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn set_power_states(&mut self, cell: &Cell) -> Result<(), SuiteError> {
        for &drive in &cell.plan.drives {
            self.drives[drive].set_power_state(cell.plan.workload.power_state)?;
        }
        Ok(())
    }

    /// Nothing is recorded of it: it is no part of the cell.
    fn rest_before(&mut self, cell: &Cell) {
        let span = Nanos(cell.plan.rest_ns);
        if span > Nanos::ZERO {
            leave_alone(self.drives, cell, span, self.stop, &mut Ignore);
        }
    }

    fn purge(&mut self, cell: &Cell) -> Result<Done, SuiteError> {
        let mut results = Vec::new();
        for &drive in &cell.plan.drives {
            self.note_purge(drive);
            let purged = self.drives[drive].purge()?;
            if !purged.complete {
                let warning = RunWarning::PurgeIncomplete {
                    how: purged.how.to_string(),
                };
                self.warn(&warning, Some(&cell.plan.id), Some(drive))?;
            }
            results.push(CellResult {
                drive,
                ..CellResult::default()
            });
        }
        Ok(Done {
            results,
            whole: true,
            ..Done::default()
        })
    }

    /// The cell's workloads, with the rates that depend on earlier cells.
    fn workloads(
        &self,
        cell: &Cell,
        earlier: &BTreeMap<String, Vec<CellResult>>,
    ) -> Result<Vec<Workload>, SuiteError> {
        let mut workloads: Vec<Workload> = cell
            .workloads
            .iter()
            .map(|workload| with_verify_seed(cell, workload))
            .collect();
        if let Some(load) = &cell.plan.load {
            for (&drive, workload) in cell.plan.drives.iter().zip(&mut workloads) {
                let best = self
                    .plan
                    .cells
                    .iter()
                    .filter(|c| c.plan.step == load.of && c.plan.drives == [drive])
                    .filter_map(|c| earlier.get(&c.plan.id)?.iter().find(|r| r.drive == drive))
                    .map(CellResult::iops)
                    .fold(0.0, f64::max);
                let offered = (best * load.percent / 100.0).round() as u64;
                let iops = NonZeroU64::new(offered).ok_or_else(|| SuiteError::NoLoad {
                    cell: cell.plan.id.clone(),
                    step: load.of.clone(),
                })?;
                if let Pacing::Open { iops: rate, .. } = &mut workload.pacing {
                    *rate = iops;
                }
            }
        }
        Ok(workloads)
    }

    /// Run it.
    pub(super) fn run_cell(
        &mut self,
        cell: &Cell,
        earlier: &BTreeMap<String, Vec<CellResult>>,
        critical_warnings: &mut CriticalWarnings,
    ) -> Result<Done, SuiteError> {
        match cell.plan.kind {
            CellKind::Inspect => return self.inspect_cell(cell),
            CellKind::Purge => return self.purge(cell),
            _ => {}
        }
        self.set_power_states(cell)?;
        let workloads = self.workloads(cell, earlier)?;
        if cell.drop_cache {
            self.drop_caches(cell)?;
        }
        self.rest_before(cell);
        let progress = &mut *self.progress;
        let mut journal = Journal::new(
            cell,
            &mut self.writer,
            progress,
            self.stop,
            critical_warnings,
        );
        let idle = cell.plan.kind == CellKind::Idle;
        let outcome = if idle {
            rest(self.drives, cell, self.stop, &mut journal);
            Ok((RunOutcome::default(), None))
        } else {
            execute(
                self.drives,
                cell,
                &workloads,
                self.stop,
                &mut journal,
                cell.until,
            )
        };
        let (watched, host) = journal.end()?;
        let (outcome, stop_reason) = outcome?;
        let mut done = Done {
            results: Vec::new(),
            // A cell that was stopped is whole only if its workload was done anyway.
            whole: stop_reason.is_some() || outcome.drives.iter().all(|part| !part.end.stopped),
            bad_blocks: 0,
            written_bytes: watched.written_bytes.clone(),
            given_up: BTreeMap::new(),
            unanswered: BTreeMap::new(),
        };
        if idle {
            done.whole = !self.stop.load(Ordering::Relaxed);
            for &drive in &cell.plan.drives {
                let mut result = CellResult {
                    drive,
                    ..CellResult::default()
                };
                watched.values(drive, &mut result);
                done.results.push(result);
            }
            return Ok(done);
        }
        let host = HostLoad::mean(&host);
        for part in &outcome.drives {
            let simulated = self.drives[part.drive].info().simulated;
            let mut result = result_of(part, &outcome, host, simulated);
            watched.values(part.drive, &mut result);
            let values = &mut result.values;
            if let Some(workload) = workloads.get(done.results.len())
                && cell.plan.load.is_some()
                && let Pacing::Open { iops, .. } = workload.pacing
            {
                values.insert(OFFERED_IOPS.to_owned(), iops.get() as f64);
            }
            match stop_reason {
                Some(StopReason::Steady) => {
                    values.insert(SETTLED_S.to_owned(), part.totals.elapsed().as_secs_f64());
                }
                Some(StopReason::TemperatureLimit) => {
                    values.insert(LIMIT_REACHED.to_owned(), 1.0);
                }
                None => {}
            }
            compare(cell, part.drive, earlier, &mut result);
            done.bad_blocks += bad_blocks(part);
            if let Some(gave_up) = part.end.gave_up {
                done.given_up.insert(part.drive, gave_up.errors);
            }
            if part.end.unanswered > 0 {
                done.unanswered.insert(part.drive, part.end.unanswered);
            }
            if let Some((last, end)) = watched.power_ended(part.drive) {
                let warning = RunWarning::PowerEnded { last, end };
                self.warn(&warning, Some(&cell.plan.id), Some(part.drive))?;
            }
            self.warn_about(cell, part, &result, host)?;
            done.results.push(result);
        }
        if done.whole {
            self.warn_unless_steady(cell)?;
        }
        Ok(done)
    }

    fn inspect_cell(&mut self, cell: &Cell) -> Result<Done, SuiteError> {
        let mut results = Vec::new();
        for &drive in &cell.plan.drives {
            let span_bytes = cell.plan.workload.span_bytes;
            let result = inspect::inspect(&self.drives[drive], drive, span_bytes, self.plan.seed)?;
            let ratio = result.values.get("zstd_ratio").copied().unwrap_or(1.0);
            let zero_share_pct = result.values.get("zero_share_pct").copied().unwrap_or(0.0);
            // What will be overwritten before it is measured needs no warning.
            let kept = !self.plan.cells.iter().any(|c| {
                c.plan.skipped.is_none()
                    && c.plan.drives == [drive]
                    && c.workloads.iter().any(Workload::writes)
            });
            if kept && (ratio > COMPRESSIBLE_RATIO || zero_share_pct > 0.0) {
                let warning = RunWarning::DataCompressible {
                    ratio,
                    zero_share_pct,
                };
                self.warn(&warning, Some(&cell.plan.id), Some(drive))?;
            }
            results.push(result);
        }
        Ok(Done {
            results,
            whole: true,
            ..Done::default()
        })
    }

    fn drop_caches(&mut self, cell: &Cell) -> Result<(), SuiteError> {
        for &drive in &cell.plan.drives {
            let open =
                open_drive(self.drives[drive].info(), false, None).map_err(SessionError::from)?;
            if !open.drop_cached() {
                self.warn(
                    &RunWarning::CacheNotDropped,
                    Some(&cell.plan.id),
                    Some(drive),
                )?;
            }
        }
        Ok(())
    }
}

/// Leave the drives of a cell alone for its span.
fn rest(
    drives: &mut [DriveSession],
    cell: &Cell,
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) {
    let span = cell.planned_span().unwrap_or_default();
    leave_alone(drives, cell, span, stop, observer);
}

fn leave_alone(
    drives: &mut [DriveSession],
    cell: &Cell,
    span: Nanos,
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) {
    for &drive in &cell.plan.drives {
        drives[drive].idle_for(span, REST_INTERVAL, stop, &mut |at, telemetry| {
            observer.telemetry(drive, at, telemetry);
        });
    }
}

/// Lend the drives of a cell, run its workloads, take the drives back.
fn execute(
    drives: &mut [DriveSession],
    cell: &Cell,
    workloads: &[Workload],
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
    until: Option<StopRule>,
) -> Result<(RunOutcome, Option<StopReason>), SuiteError> {
    let mut targets: Vec<(usize, OpenTarget)> = Vec::new();
    let mut refused = None;
    for (&drive, workload) in cell.plan.drives.iter().zip(workloads) {
        match drives[drive].acquire(workload.writes(), workload.direct) {
            Ok(target) => targets.push((drive, target)),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let outcome = match refused {
        Some(error) => Err(error.into()),
        None => {
            let mut parts: Vec<DriveJob<'_>> = targets
                .iter_mut()
                .zip(workloads)
                .map(|((drive, target), workload)| DriveJob {
                    drive: *drive,
                    workload,
                    target,
                })
                .collect();
            match until {
                Some(_) => {
                    let ended = AtomicBool::new(false);
                    let mut settling = EarlyStop::new(until, observer, stop, &ended);
                    let outcome = run_jobs(&mut parts, &ended, &mut settling);
                    outcome.map(|outcome| (outcome, settling.stop_reason()))
                }
                None => run_jobs(&mut parts, stop, observer).map(|outcome| (outcome, None)),
            }
            .map_err(SuiteError::from)
        }
    };
    for (drive, target) in targets {
        drives[drive].release(target);
    }
    outcome
}
