//! Running workloads on drives: threads for real ones, virtual time for simulated ones, one observer for all.

mod threads;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use assay_io::clock::Clock;
use assay_stats::{HostLoad, Interval, JobTotals, Recorder};

use assay_device::load;
use assay_device::session::OpenTarget;
use assay_io::{Target, TargetError, Telemetry};
use assay_sim_host::SimTarget;
use assay_units::Nanos;

use crate::io_loop::{IntervalSink, IoLoopConfig, LoopEnd, run_io_loop};
use crate::plan::{Pacing, Workload};
use crate::worker::{Worker, WorkerError};
use assay_integrity::checker::{LearnedSeed, VerifyReport};
use threads::run_real;

/// One drive's share of a run.
pub struct DriveJob<'a> {
    /// The caller's number for the drive, given back with everything about it.
    pub drive: usize,
    /// What to do.
    pub workload: &'a Workload,
    /// On what.
    pub target: &'a mut OpenTarget,
}

/// Who wants to know, as it happens. Called from the thread that called [`run_jobs`].
pub trait RunObserver {
    /// What a drive's workers completed in an interval; several calls for one interval add up.
    fn interval(&mut self, drive: usize, interval: &Interval);
    /// What a drive says of itself, `at` its time since the start.
    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry);
    /// What the host did in an interval (real drives only).
    fn host(&mut self, index: u32, load: HostLoad);
}

/// What one drive's workload came to.
#[derive(Clone, Debug, Default)]
pub struct DriveOutcome {
    /// The caller's number.
    pub drive: usize,
    /// Sum of the measured intervals.
    pub totals: JobTotals,
    /// Stopped, unanswered I/Os.
    pub end: LoopEnd,
    /// What verification found.
    pub verify: Option<VerifyReport>,
    /// The busiest worker thread's share of one processor, percent; 0 for simulated drives.
    pub busiest_thread_pct: f64,
}

/// The host's share in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProcessCpu {
    /// User time of this process, percent of one processor.
    pub cpu_user_pct: f64,
    /// System time of this process, percent of one processor.
    pub cpu_system_pct: f64,
}

/// Everything a run came to.
#[derive(Clone, Debug, Default)]
pub struct RunOutcome {
    /// In the order of the parts.
    pub drives: Vec<DriveOutcome>,
    /// Processor time of this process over the run.
    pub host: ProcessCpu,
}

/// Why a run could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A target failed as a whole.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A worker could not be made.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// No thread could be started.
    #[error("cannot start thread {index} of {wanted}: {source}; lower --numjobs")]
    Thread {
        /// Which.
        index: usize,
        /// How many were wanted.
        wanted: usize,
        /// The system's answer.
        source: std::io::Error,
    },
}

/// Run one workload per part, all at once (simulated drives one after the other, each in its own virtual time).
///
/// Ends when every workload has, or soon after `stop` is set; what was measured until then is in the outcome either way.
///
/// # Errors
/// When a target as a whole cannot go on. Intervals seen before that have been handed to the observer.
pub fn run_jobs(
    parts: &mut [DriveJob<'_>],
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<RunOutcome, RunError> {
    let clock = Clock::monotonic();
    let cpu_before = load::process_cpu_time();
    let started = clock.now();
    let mut outcomes: BTreeMap<usize, DriveOutcome> = BTreeMap::new();
    let mut real = Vec::new();
    let mut simulated = Vec::new();
    for (position, part) in parts.iter_mut().enumerate() {
        match &mut part.target {
            OpenTarget::Sim(target, _) => {
                simulated.push((position, part.drive, part.workload, target));
            }
            OpenTarget::Null => real.push((position, part.drive, part.workload, None)),
            OpenTarget::Real { open, watch } => {
                real.push((
                    position,
                    part.drive,
                    part.workload,
                    Some((open.clone(), &**watch)),
                ));
            }
        }
    }
    if !real.is_empty() {
        outcomes.extend(run_real(&real, stop, observer)?);
    }
    for (position, drive, workload, target) in simulated {
        outcomes.insert(
            position,
            run_simulated(drive, workload, target, stop, observer)?,
        );
    }
    let elapsed = (clock.now() - started).as_secs_f64().max(1e-9);
    let cpu = load::process_cpu_time();
    let share = |after: Nanos, before: Nanos| (after - before).as_secs_f64() / elapsed * 100.0;
    Ok(RunOutcome {
        drives: outcomes.into_values().collect(),
        host: ProcessCpu {
            cpu_user_pct: share(cpu.user, cpu_before.user),
            cpu_system_pct: share(cpu.system, cpu_before.system),
        },
    })
}

fn recorder(workload: &Workload, start: Nanos) -> Recorder {
    let open = matches!(workload.pacing, Pacing::Open { .. });
    Recorder::new(start, workload.interval, workload.ramp, open)
}

fn merged_report(reports: impl Iterator<Item = VerifyReport>) -> Option<VerifyReport> {
    reports.reduce(|mut all, report| {
        all.merge(&report);
        all
    })
}

struct SimSink<'a> {
    drive: usize,
    totals: JobTotals,
    observer: &'a mut dyn RunObserver,
}

impl IntervalSink for SimSink<'_> {
    fn interval(&mut self, interval: Interval, telemetry: Option<Telemetry>) {
        self.totals.add(&interval);
        if interval.end > interval.start || !interval.is_empty() {
            self.observer.interval(self.drive, &interval);
            if let Some(telemetry) = telemetry {
                self.observer.telemetry(self.drive, interval.end, telemetry);
            }
        }
    }
}

fn run_simulated(
    drive_number: usize,
    workload: &Workload,
    target: &mut SimTarget,
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<DriveOutcome, RunError> {
    target.begin_job(
        workload.numjobs,
        workload.iodepth,
        workload.access.block_sizes.max_bytes(),
    )?;
    let start = target.now();
    let learned = LearnedSeed::default();
    let mut workers = (0..workload.numjobs)
        .map(|i| Worker::new(workload, i, i * workload.iodepth, start, &learned))
        .collect::<Result<Vec<_>, _>>()?;
    let mut recorder = recorder(workload, start);
    let mut sink = SimSink {
        drive: drive_number,
        totals: JobTotals::new(),
        observer,
    };
    let end = run_io_loop(
        target,
        &mut workers,
        IoLoopConfig::of(workload),
        &mut recorder,
        stop,
        &mut sink,
    )?;
    Ok(DriveOutcome {
        drive: drive_number,
        totals: sink.totals,
        end,
        verify: merged_report(workers.iter().filter_map(Worker::verify_report)),
        busiest_thread_pct: 0.0,
    })
}
