mod simulated;
mod threads;
mod zones;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use assay_device::host::ProcessUsage;
use assay_device::identity::SystemRoot;
use assay_device::load::{OthersIo, OthersWatch, ProgramTimes};
use assay_device::session::OpenTarget;
use assay_integrity::finding::VerifyReport;
use assay_io::clock::{Clock, StopWatch};
use assay_io::{TargetError, Telemetry};
pub use assay_sim_host::HostProfile;
use assay_stats::{HostLoad, Interval, JobTotals, ProcessLoad, Recorder};
use assay_trace::TraceError;
use assay_trace::replay::{ReplayFeed, ReplayPlan};
use assay_units::{Classified, ErrorClass, Nanos, Op};

use crate::io_loop::LoopEnd;
use crate::plan::{Engine, Workload};
use crate::worker::{TraceOutcome, WorkerError};
use simulated::{SimulatedJob, run_simulated};
use threads::{ThreadedJob, run_threads};

pub struct DriveJob<'a> {
    /// The caller's number for the drive, used in everything reported about it.
    pub drive: usize,
    pub workload: &'a Workload,
    pub target: &'a mut OpenTarget,
}

pub struct TargetJobs<'a> {
    /// Each with the caller's number for it, used in everything reported about it.
    pub parts: Vec<(usize, &'a Workload)>,
    pub target: &'a mut OpenTarget,
}

pub trait RunObserver {
    /// What a drive's workers completed in an interval; several calls for one interval add up.
    fn interval(&mut self, drive: usize, interval: &Interval);
    /// What a read-back has submitted: it is no part of the measurement.
    fn read_back(&mut self, _drive: usize, _interval: &Interval) {}
    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry);
    fn host(&mut self, index: u32, load: HostLoad);
}

#[derive(Clone, Debug, Default)]
pub struct DriveOutcome {
    pub drive: usize,
    pub totals: JobTotals,
    pub end: LoopEnd,
    pub verify: Option<VerifyReport>,
    pub trace: Option<TraceOutcome>,
    pub area_written_pct: Option<f64>,
    /// I/Os in flight that its latency target allows, of all threads together.
    pub found_depth: Option<u32>,
    pub host_busy_pct: Option<f64>,
    /// The busiest worker thread's share of one processor, percent; 0 for simulated drives.
    pub busiest_thread_pct: f64,
}

/// What went on beside a measurement of real drives.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// Time for which this process did not run, in which nothing was measured.
    pub stopped: Nanos,
    /// What other programs moved on the real drives meanwhile, where that is known.
    pub others: Option<OthersIo>,
    /// Programs that used the processors beside a real drive's measurement: mean use, percent of
    /// one processor, the busiest first.
    pub other_programs: Vec<(String, f64)>,
}

#[derive(Clone, Debug, Default)]
pub struct RunOutcome {
    pub drives: Vec<DriveOutcome>,
    pub host: ProcessLoad,
    /// Of real drives.
    pub beside: Beside,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error(transparent)]
    Worker(#[from] WorkerError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("cannot start thread {index} of {wanted}: {source}; lower --numjobs")]
    Thread { index: usize, wanted: usize, source: std::io::Error },
    #[error(
        "worker thread {index} panicked: this is a defect of assay, please report it with the \
         message above"
    )]
    Panicked { index: usize },
}

/// Ends when every workload has, or soon after `stop` is set; what was measured until then is in
/// the outcome either way.
pub fn run_jobs(
    jobs: &mut [DriveJob<'_>],
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<RunOutcome, RunError> {
    let targets = jobs
        .iter_mut()
        .map(|job| TargetJobs { parts: vec![(job.drive, job.workload)], target: job.target });
    run_together(&mut targets.collect::<Vec<_>>(), stop, observer)
}

/// Otherwise as [`run_jobs`]; the outcomes are in the order of the drives, then of their parts, and
/// have the parts' numbers.
pub fn run_together(
    jobs: &mut [TargetJobs<'_>],
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<RunOutcome, RunError> {
    run_on_host(jobs, None, stop, observer)
}

pub fn run_on_host(
    jobs: &mut [TargetJobs<'_>],
    host: Option<HostProfile>,
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<RunOutcome, RunError> {
    let clock = Clock::monotonic();
    let cpu_before = ProcessUsage::read();
    let started = clock.now();
    let numbers = jobs.iter().flat_map(|job| &job.parts);
    let outcome = |(number, _): &(usize, &Workload)| DriveOutcome {
        drive: *number,
        ..DriveOutcome::default()
    };
    let mut outcomes: Vec<DriveOutcome> = numbers.map(outcome).collect();
    let mut rest = outcomes.as_mut_slice();
    let mut threaded = Vec::new();
    let mut simulated = Vec::new();
    for job in jobs.iter_mut() {
        let (own, others) = rest.split_at_mut(job.parts.len());
        rest = others;
        let workloads = job.parts.iter().map(|(_, workload)| *workload);
        let handle = match &mut job.target {
            OpenTarget::Sim(target, _) => {
                simulated.push(SimulatedJob { parts: workloads.zip(own).collect(), target });
                continue;
            }
            OpenTarget::Null => None,
            OpenTarget::Real { open, telemetry } => Some((open, &**telemetry)),
        };
        threaded.extend(workloads.zip(own).map(|(workload, outcome)| ThreadedJob {
            workload,
            handle: handle.as_ref().map(|(open, telemetry)| ((*open).clone(), *telemetry)),
            outcome,
        }));
    }
    let beside = match threaded.is_empty() {
        true => Beside::default(),
        false => run_beside_others(&mut threaded, stop, observer)?,
    };
    if !simulated.is_empty() {
        run_simulated(simulated, host, stop, observer)?;
    }
    let elapsed = (clock.now() - started).as_secs_f64().max(1e-9);
    let cpu = ProcessUsage::read();
    let share = |after: Nanos, before: Nanos| (after - before).as_secs_f64() / elapsed * 100.0;
    Ok(RunOutcome {
        beside,
        drives: outcomes,
        host: ProcessLoad {
            cpu_user_pct: share(cpu.user, cpu_before.user),
            cpu_system_pct: share(cpu.system, cpu_before.system),
        },
    })
}

fn run_beside_others(
    jobs: &mut [ThreadedJob<'_>],
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<Beside, RunError> {
    let (root, clock) = (SystemRoot::host(), Clock::monotonic());
    let stops = StopWatch::start();
    let others = others_watch(jobs);
    let (programs, began) = (ProgramTimes::read(&root), clock.now());
    run_threads(jobs, stop, observer)?;
    let seconds = (clock.now() - began).as_secs_f64();
    Ok(Beside {
        stopped: stops.stopped(),
        others: others.and_then(|watch| watch.end(&root)),
        other_programs: ProgramTimes::read(&root).others_since(&programs, seconds),
    })
}

/// Only of direct I/O through the block layer, whose bytes the kernel counts as this process's.
fn others_watch(jobs: &[ThreadedJob<'_>]) -> Option<OthersWatch> {
    let is_counted = |job: &ThreadedJob<'_>| {
        job.workload.direct && job.workload.engine != Engine::Passthru && job.handle.is_some()
    };
    if !jobs.iter().all(is_counted) {
        return None;
    }
    let handles = jobs.iter().filter_map(|job| job.handle.as_ref());
    OthersWatch::start(&SystemRoot::host(), handles.map(|(open, _)| open.file()))
}

/// Made before the start of the job, which must not wait for a file.
fn trace_feed(workload: &Workload) -> Result<Option<(Arc<ReplayPlan>, ReplayFeed)>, TraceError> {
    let Some(plan) = &workload.trace else {
        return Ok(None);
    };
    Ok(Some((Arc::clone(plan), ReplayFeed::start(plan)?)))
}

impl DriveOutcome {
    fn add_depth(&mut self, found: Option<u32>) {
        if let Some(depth) = found {
            *self.found_depth.get_or_insert(0) += depth;
        }
    }

    fn add_verify(&mut self, report: Option<VerifyReport>) {
        match (&mut self.verify, report) {
            (Some(all), Some(report)) => all.merge(&report),
            (all @ None, report) => *all = report,
            (Some(_), None) => {}
        }
    }
}

fn recorder(workload: &Workload, start: Nanos) -> Recorder {
    let open = workload.is_open_loop();
    let mut recorder = Recorder::new(start, workload.interval, workload.measures_from(), open);
    let mut ops = match workload.read_percent {
        100 => vec![Op::Read],
        0 => vec![workload.write_op()],
        _ => vec![Op::Read, workload.write_op()],
    };
    let trace_flushes = workload.trace.as_ref().is_some_and(|trace| trace.flushes());
    if workload.flush_every.is_some() || workload.end_flush || trace_flushes {
        ops.push(Op::Flush);
    }
    recorder.preallocate(&ops);
    recorder
}

impl Classified for RunError {
    fn class(&self) -> ErrorClass {
        match self {
            RunError::Target(_)
            | RunError::Worker(_)
            | RunError::Trace(_)
            | RunError::Thread { .. } => ErrorClass::Io,
            RunError::Panicked { .. } => ErrorClass::Internal,
        }
    }
}
