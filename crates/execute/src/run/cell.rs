use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_analysis::endurance::Origins;
use assay_device::session::{OpenMode, OpenTarget};
use assay_io::Nanos;
use assay_io::page_cache::ReadSource;
use assay_stats::HostLoad;
use assay_store::model::{CellKind, CellResult, OFFERED_IOPS, POINT_DEPTH, POINT_THREADS};
use assay_workload::plan::{Pacing, Workload};
use assay_workload::run::{
    DriveOutcome, HostProfile, RunObserver, RunOutcome, TargetJobs, run_on_host,
};

use super::drives::Drives;
use super::early_stop::{EarlyStop, StopWhen, Stopped};
use super::io_log::IoLog;
use super::journal::{CellTelemetry, Ignore, Journal};
use super::results::{compare, result_of, with_data_seeds};
use super::start_state::Starts;
use super::written::{Courses, course_before};
use super::{ExecutionState, Executor, depends, simulated_host};
use crate::ExecuteError;
use crate::inspect::{self, COMPRESSIBLE_RATIO};
use crate::live::{CellFlags, Phase};
use crate::warn;
use assay_suite::expand::Cell;

pub(super) const IDLE_INTERVAL: Nanos = Nanos::SECOND;

pub(super) type Finished = BTreeMap<String, Vec<CellResult>>;

#[derive(Default)]
pub(super) struct CellOutcome {
    pub(super) results: Vec<CellResult>,
    /// The workload ended by itself, not by a stop.
    pub(super) complete: bool,
    pub(super) written_bytes: BTreeMap<usize, u64>,
    /// The results lack them when that happened during the ramp.
    pub(super) given_up: BTreeMap<usize, u64>,
    pub(super) unanswered: BTreeMap<usize, u64>,
    /// Drives that a preparation has not brought to steady state.
    pub(super) not_steady: BTreeSet<usize>,
}

impl CellOutcome {
    fn complete(results: Vec<CellResult>) -> CellOutcome {
        CellOutcome { results, complete: true, ..CellOutcome::default() }
    }
}

impl Executor<'_, '_> {
    /// A simulated drive's state ends with the process: a resumed run repeats the writes of
    /// finished cells, unrecorded.
    pub(super) fn replay(
        &mut self,
        cell: &Cell,
        state: &mut ExecutionState,
    ) -> Result<(), ExecuteError> {
        let drives = &cell.plan.drives;
        if !drives.iter().all(|&d| self.drives[d].info().simulated) {
            return Ok(());
        }
        let flags = self.events.live.control.begin(self.stop);
        let repeated = self.repeat(cell, &flags, state);
        self.events.live.control.end(&flags);
        self.events.phase(&cell.plan.drives, Phase::Waiting);
        repeated
    }

    fn repeat(
        &mut self,
        cell: &Cell,
        flags: &CellFlags,
        state: &mut ExecutionState,
    ) -> Result<(), ExecuteError> {
        self.prepare_drives(cell, flags)?;
        self.events.phase(&cell.plan.drives, Phase::Repeating);
        let stop = self.stop;
        let mut ignore = Ignore { stop, flags };
        match cell.plan.kind {
            CellKind::Purge => {
                self.purge(cell)?;
            }
            CellKind::Idle => {
                let span = cell.planned_span().unwrap_or_default();
                idle(&mut self.drives, cell, span, &flags.ended, &mut ignore);
            }
            _ if cell.writes() => {
                let workloads = self.workloads(cell, &state.results)?;
                execute(
                    &mut self.drives,
                    cell,
                    &workloads,
                    &mut state.courses,
                    &flags.ended,
                    &mut ignore,
                )?;
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn prepare_drives(
        &mut self,
        cell: &Cell,
        flags: &CellFlags,
    ) -> Result<Starts, ExecuteError> {
        for &drive in &cell.plan.drives {
            self.drives[drive].set_power_state(cell.plan.workload.power_state)?;
        }
        if cell.drop_cache {
            self.drop_caches(cell)?;
        }
        let span = Nanos(cell.plan.idle_ns);
        if span > Nanos::ZERO {
            self.events.phase(&cell.plan.drives, Phase::Resting);
            let stop = self.stop;
            let mut ignore = Ignore { stop, flags };
            idle(&mut self.drives, cell, span, &flags.ended, &mut ignore);
            self.events.phase(&cell.plan.drives, Phase::Starting);
        }
        Ok(self.reach_start(cell, flags))
    }

    fn purge(&mut self, cell: &Cell) -> Result<CellOutcome, ExecuteError> {
        let mut results = Vec::new();
        for &drive in &cell.plan.drives {
            self.record_purge_start(drive);
            let purged = self.drives[drive].purge()?;
            if !purged.complete {
                self.warn_cell(cell, drive, warn::purge_incomplete(purged.how))?;
            }
            results.push(empty_result(drive));
        }
        Ok(CellOutcome::complete(results))
    }

    pub(super) fn workloads(
        &self,
        cell: &Cell,
        earlier: &Finished,
    ) -> Result<Vec<Workload>, ExecuteError> {
        let mut workloads = Vec::new();
        for (workload, &drive) in cell.workloads.iter().zip(&cell.plan.drives) {
            let mut workload = with_data_seeds(cell, drive, workload);
            if let Some(load) = &cell.plan.load {
                let cells = self.plan.cells.iter();
                let best = cells
                    .filter(|c| c.plan.step == load.of && c.plan.drives == [drive])
                    .filter_map(|c| earlier.get(&c.plan.id)?.iter().find(|r| r.drive == drive))
                    .map(CellResult::iops)
                    .fold(0.0, f64::max);
                let offered = (best * load.percent / 100.0).round() as u64;
                let offered = NonZeroU64::new(offered).ok_or_else(|| ExecuteError::NoLoad {
                    cell: cell.plan.id.clone(),
                    step: load.of.clone(),
                })?;
                if let Pacing::Open { iops, .. } = &mut workload.pacing {
                    *iops = offered;
                }
            }
            if let Some((before, left)) = depends::bytes_left(cell, drive, earlier) {
                workload.io_bytes = Some(left.div_ceil(u64::from(workload.numjobs)).max(1));
                workload.writes_before = before / u64::from(workload.access.min_bytes());
            }
            if let (Some(plan), Some(rule)) = (&cell.plan.point, &cell.point) {
                let point = depends::point(self.plan, cell, plan, rule, drive, earlier)?;
                let planned = depends::at_point(cell, rule, point, &self.drives[drive])?;
                workload = with_data_seeds(cell, drive, &planned);
            }
            workloads.push(workload);
        }
        Ok(workloads)
    }

    pub(super) fn run_cell(
        &mut self,
        cell: &Cell,
        flags: &CellFlags,
        state: &mut ExecutionState,
    ) -> Result<CellOutcome, ExecuteError> {
        let ExecutionState { results: earlier, critical_warnings, courses, .. } = state;
        match cell.plan.kind {
            CellKind::Inspect => {
                self.events.phase(&cell.plan.drives, Phase::Inspecting);
                return self.inspect_cell(cell);
            }
            CellKind::Purge => {
                self.events.phase(&cell.plan.drives, Phase::Purging);
                return self.purge(cell);
            }
            _ => {}
        }
        let workloads = self.workloads(cell, earlier)?;
        let starts = self.prepare_drives(cell, flags)?;
        let (log, events) = (self.log, self.events);
        let io_log = IoLog::open(cell, self.drives[cell.plan.drives[0]].info())?;
        let mut journal =
            Journal::new(cell, log, events, self.stop, flags, critical_warnings, io_log);
        let is_idle = cell.plan.kind == CellKind::Idle;
        let outcome = if is_idle {
            let span = cell.planned_span().unwrap_or_default();
            events.phase(&cell.plan.drives, Phase::Idle);
            idle(&mut self.drives, cell, span, &flags.ended, &mut journal);
            Ok((RunOutcome::default(), Stopped::default()))
        } else {
            execute(&mut self.drives, cell, &workloads, courses, &flags.ended, &mut journal)
        };
        let (telemetry, host) = journal.end()?;
        let (outcome, stopped) = outcome?;
        if is_idle {
            return Ok(self.idled(cell, flags, &telemetry));
        }
        let mut done =
            self.measured(cell, &workloads, earlier, &outcome, (telemetry, host), &stopped)?;
        self.record_starts(cell, starts, &mut done)?;
        Ok(done)
    }

    fn idled(&self, cell: &Cell, flags: &CellFlags, telemetry: &CellTelemetry) -> CellOutcome {
        let mut done = CellOutcome {
            complete: !flags.ended.load(Ordering::Relaxed),
            written_bytes: telemetry.written_bytes.clone(),
            ..CellOutcome::default()
        };
        for &drive in &cell.plan.drives {
            let mut result = empty_result(drive);
            let origins = self.counter_origins(drive);
            telemetry.add_to(drive, origins, &mut result);
            done.results.push(result);
        }
        done
    }

    pub(super) fn record_starts(
        &mut self,
        cell: &Cell,
        starts: Starts,
        done: &mut CellOutcome,
    ) -> Result<(), ExecuteError> {
        for result in &mut done.results {
            result.values.extend(starts.values(result.drive));
        }
        for (drive, warning) in starts.warnings.into_iter().filter(|_| done.complete) {
            self.warn_cell(cell, drive, warning)?;
        }
        Ok(())
    }

    pub(super) fn measured(
        &mut self,
        cell: &Cell,
        workloads: &[Workload],
        earlier: &Finished,
        outcome: &RunOutcome,
        (telemetry, host): (CellTelemetry, Option<HostLoad>),
        stopped: &Stopped,
    ) -> Result<CellOutcome, ExecuteError> {
        let mut done = CellOutcome {
            complete: stopped.reason.is_some() || outcome.drives.iter().all(|job| !job.end.stopped),
            written_bytes: telemetry.written_bytes.clone(),
            ..CellOutcome::default()
        };
        for job in &outcome.drives {
            let workload = workloads.get(done.results.len());
            let simulated = self.drives[job.drive].info().simulated;
            let mut result = result_of(job, outcome, host, simulated);
            if simulated {
                let threads = workloads.iter().map(|w| w.numjobs).sum();
                let session = &self.drives[job.drive];
                let own = workload.or(workloads.first());
                result.busiest_thread_pct = own.and_then(|own| {
                    simulated_host::busiest_thread_pct(session, threads, own, &result)
                });
            }
            let origins = self.counter_origins(job.drive);
            telemetry.add_to(job.drive, origins, &mut result);
            let values = &mut result.values;
            if let Some(workload) = workload
                && cell.plan.load.is_some()
                && let Pacing::Open { iops, .. } = workload.pacing
            {
                values.insert(OFFERED_IOPS.to_owned(), iops.get() as f64);
            }
            if let Some(workload) = workload
                && cell.plan.point.is_some()
            {
                values.insert(POINT_THREADS.to_owned(), workload.numjobs.into());
                values.insert(POINT_DEPTH.to_owned(), workload.iodepth.into());
            }
            values.extend(stopped.values(job));
            compare(cell, job.drive, earlier, &mut result);
            self.record_end(cell, job, &mut done);
            if let Some((last, end)) = telemetry.power_ended(job.drive) {
                self.warn_cell(cell, job.drive, warn::power_ended(last, end))?;
            }
            self.warn_about(cell, (outcome, job), &result, host)?;
            self.warn_about_depth(cell, job, workload)?;
            self.warn_about_steady_rate(cell, job.drive, stopped)?;
            if stopped.is_not_steady(job.drive) {
                done.not_steady.insert(job.drive);
            }
            if !simulated {
                self.warn_about_real(cell, (outcome, job), workload, host)?;
            }
            done.results.push(result);
        }
        if done.complete {
            self.warn_unless_steady(cell)?;
        }
        Ok(done)
    }

    /// How the I/Os of a drive ended before their time.
    fn record_end(&self, cell: &Cell, job: &DriveOutcome, done: &mut CellOutcome) {
        let drive = &self.drives[job.drive].info().spec;
        if let Some(gave_up) = job.end.gave_up {
            let (errors, span) = (gave_up.errors, gave_up.span);
            tracing::info!(cell = cell.plan.id, drive, errors, ?span, "only failed I/Os");
            done.given_up.insert(job.drive, gave_up.errors);
        }
        if job.end.unanswered > 0 {
            let ios = job.end.unanswered;
            tracing::info!(cell = cell.plan.id, drive, ios, "I/Os timed out");
            done.unanswered.insert(job.drive, job.end.unanswered);
        }
    }

    fn counter_origins(&self, drive: usize) -> Option<Origins> {
        let counters = self.drives[drive].endurance()?;
        counters.media.map(|media| Origins { media, host: counters.host })
    }

    fn inspect_cell(&mut self, cell: &Cell) -> Result<CellOutcome, ExecuteError> {
        let mut results = Vec::new();
        for &drive in &cell.plan.drives {
            let span_bytes = cell.plan.workload.span_bytes;
            let result = inspect::inspect(&self.drives[drive], drive, span_bytes, self.plan.seed)?;
            let value = |name: &str| result.values.get(name).copied();
            let ratio = value("zstd_ratio").unwrap_or(1.0);
            let zero_share_pct = value("zero_share_pct").unwrap_or(0.0);
            // Data overwritten by a later cell need no warning.
            let overwrites =
                |c: &Cell| c.plan.skipped.is_none() && c.plan.drives == [drive] && c.writes();
            let retained = !self.plan.cells.iter().any(overwrites);
            if retained && (ratio > COMPRESSIBLE_RATIO || zero_share_pct > 0.0) {
                let warning = warn::data_compressible(ratio, zero_share_pct);
                self.warn_cell(cell, drive, warning)?;
            }
            results.push(result);
        }
        Ok(CellOutcome::complete(results))
    }

    fn drop_caches(&mut self, cell: &Cell) -> Result<(), ExecuteError> {
        for &drive in &cell.plan.drives {
            let capacity_bytes = self.drives[drive].info().capacity_bytes;
            let target = self.drives[drive].acquire(OpenMode::default())?;
            let OpenTarget::Real { open, .. } = target else {
                self.drives[drive].release(target);
                continue;
            };
            if open.drop_cached(0, capacity_bytes) != ReadSource::Drive {
                self.warn_cell(cell, drive, warn::cache_not_dropped())?;
            }
        }
        Ok(())
    }
}

fn empty_result(drive: usize) -> CellResult {
    CellResult { drive, ..CellResult::default() }
}

fn idle(
    drives: &mut Drives<'_>,
    cell: &Cell,
    span: Nanos,
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) {
    for &drive in &cell.plan.drives {
        drives[drive].idle_for(span, IDLE_INTERVAL, stop, &mut |at, telemetry| {
            observer.telemetry(drive, at, telemetry);
        });
    }
}

pub(super) fn with_targets<T>(
    drives: &mut Drives<'_>,
    modes: impl IntoIterator<Item = (usize, OpenMode)>,
    work: impl FnOnce(&mut [(usize, OpenTarget)]) -> Result<T, ExecuteError>,
) -> Result<T, ExecuteError> {
    let mut targets: Vec<(usize, OpenTarget)> = Vec::new();
    let acquired = modes.into_iter().try_for_each(|(drive, mode)| {
        targets.push((drive, drives[drive].acquire(mode)?));
        Ok(())
    });
    let done = acquired.and_then(|()| work(&mut targets));
    for (drive, target) in targets {
        drives[drive].release(target);
    }
    done
}

fn execute(
    drives: &mut Drives<'_>,
    cell: &Cell,
    workloads: &[Workload],
    courses: &mut Courses,
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<(RunOutcome, Stopped), ExecuteError> {
    for &drive in &cell.plan.drives {
        // Real ones are read by the run itself, before and after the I/Os.
        if let Some(counters) = drives[drive].block_cache() {
            observer.telemetry(drive, Nanos::ZERO, counters);
        }
    }
    let modes = workloads.iter().map(Workload::open_mode);
    let modes = cell.plan.drives.iter().copied().zip(modes);
    with_targets(drives, modes, |targets| {
        let jobs = targets.iter_mut().zip(workloads);
        let mut jobs: Vec<TargetJobs<'_>> = jobs
            .map(|((drive, target), workload)| TargetJobs {
                parts: vec![(*drive, workload)],
                target,
            })
            .collect();
        let host = cell.plan.simulated_host.as_ref().map(|host| HostProfile {
            processors: host.processors,
            uplink_bytes_per_second: host.uplink_bytes_per_second,
        });
        let Some(when) = StopWhen::new(cell, workloads) else {
            return Ok((run_on_host(&mut jobs, host, stop, observer)?, Stopped::default()));
        };
        let ended = AtomicBool::new(false);
        let mut early_stop = EarlyStop::new(when, observer, stop, &ended);
        let drive = cell.plan.drives[0];
        if let Some(course) = course_before(cell, courses) {
            early_stop.continue_course(drive, course.clone());
        }
        let outcome = run_on_host(&mut jobs, host, &ended, &mut early_stop)?;
        let stopped = early_stop.stopped();
        if let (Some((_, written)), Some(_)) = (&stopped.written, &cell.plan.segment)
            && let Some(course) = written.get(&drive)
        {
            courses.insert(cell.plan.id.clone(), course.clone());
        }
        Ok((outcome, stopped))
    })
}
