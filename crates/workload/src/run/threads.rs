use std::collections::VecDeque;
mod collect;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, Scope, ScopedJoinHandle};

use assay_device::load::{self};
use assay_device::telemetry_monitor::TelemetryMonitor;
use assay_integrity::finding::VerifyReport;
use assay_io::clock::Clock;
use assay_io::cpus::CpuList;
use assay_io::drive_handle::DriveHandle;
use assay_io::null::NullTarget;
use assay_io::page_cache::ReadSource;
use assay_io::passthru::PassthruTarget;
use assay_io::sync::{BlockingCalls, SyncTarget};
use assay_io::threads::ThreadsTarget;
use assay_io::uring::{UringOptions, UringTarget};
use assay_io::{Target, TargetError, Telemetry};
use assay_stats::Interval;
use assay_units::Nanos;

use super::{DriveOutcome, RunError, RunObserver, recorder, trace_feed, zones};
use crate::access::fio::ZoneTable;
use crate::coverage::CoverageMap;
use crate::exit::ExitGroups;
use crate::flow::FlowGroups;
use crate::io_loop::{IntervalSink, IoLoopConfig, LoopEnd, run_io_loop};
use crate::plan::{Engine, Workload};
use crate::worker::{Searchers, TraceOutcome, Worker};
use collect::{Channels, collect};

pub(super) struct ThreadedJob<'a> {
    pub(super) workload: &'a Workload,
    pub(super) handle: Option<(DriveHandle, &'a TelemetryMonitor)>,
    pub(super) outcome: &'a mut DriveOutcome,
}

#[derive(Clone, Copy, Debug)]
struct WorkerId {
    thread: usize,
    job: usize,
    index: u32,
}

enum Message {
    /// The thread's target is set up, or could not be.
    Ready,
    Interval(WorkerId, Interval),
    Done(WorkerId, ThreadEnd),
}

#[derive(Default)]
struct ThreadEnd {
    end: LoopEnd,
    verify: Option<VerifyReport>,
    trace: Option<Box<TraceOutcome>>,
    found_depth: Option<u32>,
    busy_pct: f64,
}

/// Messages per thread that the channel holds without an allocation in the I/O loop.
const QUEUED_PER_THREAD: usize = 4;
/// Intervals whose storage waits to be used again by its thread.
const RECYCLED: usize = 4;

/// Its drop reports a thread that panicked.
struct ThreadSink<'a> {
    id: WorkerId,
    shared: &'a Shared<'a>,
    sender: SyncSender<Message>,
    /// Messages that found the channel full: the I/O loop must not wait for the collector.
    backlog: VecDeque<Message>,
    recycled: Receiver<Interval>,
    coverage: Option<Arc<CoverageMap>>,
    zones: Option<Arc<ZoneTable>>,
    searchers: Option<Searchers>,
    is_ready: bool,
}

impl ThreadSink<'_> {
    fn ready(&mut self) {
        if !std::mem::replace(&mut self.is_ready, true) {
            let _ = self.sender.send(Message::Ready);
        }
    }

    fn done(&mut self, end: ThreadEnd) {
        self.backlog.push_back(Message::Done(self.id, end));
        for message in self.backlog.drain(..) {
            let _ = self.sender.send(message);
        }
    }
}

impl Drop for ThreadSink<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let index = self.id.thread;
            self.shared.fail(RunError::Panicked { index });
        }
        self.ready();
    }
}

impl IntervalSink for ThreadSink<'_> {
    fn interval(
        &mut self,
        _job: usize,
        interval: Interval,
        _telemetry: Option<Telemetry>,
    ) -> Option<Interval> {
        if interval.end <= interval.start && interval.is_empty() {
            return Some(interval);
        }
        self.backlog.push_back(Message::Interval(self.id, interval));
        while let Some(message) = self.backlog.pop_front() {
            if let Err(TrySendError::Full(message)) = self.sender.try_send(message) {
                self.backlog.push_front(message);
                break;
            }
        }
        self.recycled.try_recv().ok()
    }
}

struct Shared<'a> {
    stop: &'a AtomicBool,
    /// A thread could not be set up, or failed: none starts, and those that run stop.
    failed: AtomicBool,
    first_error: Mutex<Option<RunError>>,
    barrier: StartBarrier,
    flows: FlowGroups,
    exits: ExitGroups,
}

impl Shared<'_> {
    fn fail(&self, error: RunError) {
        self.failed.store(true, Ordering::SeqCst);
        let first = self.first_error.lock();
        first.unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }
}

/// Threads wait here until all are set up, and start with one start time.
#[derive(Default)]
struct StartBarrier {
    /// Set once: the start time, or `None` where the run is abandoned.
    opened: Mutex<Option<Option<Nanos>>>,
    changed: Condvar,
}

impl StartBarrier {
    fn open(&self, start: Option<Nanos>) {
        *self.opened.lock().unwrap_or_else(PoisonError::into_inner) = Some(start);
        self.changed.notify_all();
    }

    fn wait(&self) -> Option<Nanos> {
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let opened = self.changed.wait_while(opened, |opened| opened.is_none());
        opened.unwrap_or_else(PoisonError::into_inner).expect("waited until it is set")
    }
}

pub(super) fn run_threads(
    jobs: &mut [ThreadedJob<'_>],
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<(), RunError> {
    run_with(jobs, stop, observer, &run_worker)
}

type WorkerBody = dyn Fn(&Workload, Option<DriveHandle>, &mut ThreadSink<'_>) -> ThreadEnd + Sync;

fn run_with(
    jobs: &mut [ThreadedJob<'_>],
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
    body: &WorkerBody,
) -> Result<(), RunError> {
    let threads: usize = jobs.iter().map(|job| job.workload.numjobs as usize).sum();
    let stop_all = AtomicBool::new(false);
    let shared = Shared {
        stop: &stop_all,
        failed: AtomicBool::new(false),
        first_error: Mutex::new(None),
        barrier: StartBarrier::default(),
        flows: FlowGroups::new(jobs.iter().map(|job| job.workload)),
        exits: ExitGroups::new(jobs.iter().map(|job| job.workload)),
    };
    let of_drives = jobs.iter().map(|job| {
        let open = job.handle.as_ref().map(|(open, _)| open);
        (job.outcome.drive, job.workload, open)
    });
    let coverage =
        jobs.iter().map(|job| CoverageMap::for_workload(job.workload, job.workload.numjobs > 1));
    let shares: Vec<_> = coverage.zip(zones::tables(of_drives)?).collect();
    let (sender, messages) = mpsc::sync_channel(threads * QUEUED_PER_THREAD);
    thread::scope(|scope| {
        let (handles, recyclers) = spawn_workers(scope, jobs, &shared, &shares, &sender, body);
        drop(sender);
        // A thread that panics sends `Ready` as well, when its sink is dropped.
        for _ in 0..handles.len() {
            let is_ready = matches!(messages.recv(), Ok(Message::Ready));
            debug_assert!(is_ready, "none runs before all are ready");
        }
        // Counters before the first I/O, so that those of the cell are complete.
        let first = readings_at_rest(jobs);
        let start = Clock::monotonic().now();
        for (drive, telemetry) in first {
            observer.telemetry(drive, Nanos::ZERO, telemetry);
        }
        let abandoned = shared.failed.load(Ordering::SeqCst);
        shared.barrier.open((!abandoned).then_some(start));
        let channels = Channels { messages: &messages, recyclers: &recyclers };
        collect(jobs, start, &channels, stop, &shared, &stop_all, observer);
        for handle in handles {
            // A panic is in `first_error`.
            let _ = handle.join();
        }
        let at = Clock::monotonic().now() - start;
        for (drive, telemetry) in readings_at_rest(jobs) {
            observer.telemetry(drive, at, telemetry);
        }
    });
    for (job, (coverage, _)) in jobs.iter_mut().zip(shares) {
        job.outcome.area_written_pct = coverage.map(|map| map.written_pct());
    }
    let error = shared.first_error.into_inner();
    error.unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// What the workers of a job share: blocks that are written, zones of its drive.
type Shares = (Option<Arc<CoverageMap>>, Option<Arc<ZoneTable>>);

type Spawned<'scope> = (Vec<ScopedJoinHandle<'scope, ()>>, Vec<SyncSender<Interval>>);

/// All workers of all jobs, up to the first that cannot be started.
fn spawn_workers<'scope>(
    scope: &'scope Scope<'scope, '_>,
    jobs: &[ThreadedJob<'scope>],
    shared: &'scope Shared<'scope>,
    shares: &[Shares],
    sender: &SyncSender<Message>,
    body: &'scope WorkerBody,
) -> Spawned<'scope> {
    let mut handles = Vec::new();
    let mut recyclers = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let searchers = Searchers::new(job.workload);
        for index in 0..job.workload.numjobs {
            let (recycler, recycled) = mpsc::sync_channel(RECYCLED);
            let mut sink = ThreadSink {
                id: WorkerId { thread: handles.len(), job: number, index },
                shared,
                sender: sender.clone(),
                backlog: VecDeque::with_capacity(QUEUED_PER_THREAD),
                recycled,
                coverage: shares[number].0.clone(),
                zones: shares[number].1.clone(),
                searchers: searchers.clone(),
                is_ready: false,
            };
            let workload = job.workload;
            let open = job.handle.as_ref().map(|(open, _)| open.clone());
            let builder =
                thread::Builder::new().name(format!("worker-{index}")).stack_size(512 << 10);
            let spawned = builder.spawn_scoped(scope, move || {
                let end = body(workload, open, &mut sink);
                sink.done(end);
            });
            match spawned {
                Ok(handle) => handles.push(handle),
                Err(source) => {
                    shared.fail(RunError::Thread {
                        index: handles.len(),
                        wanted: jobs.iter().map(|job| job.workload.numjobs as usize).sum(),
                        source,
                    });
                    return (handles, recyclers);
                }
            }
            recyclers.push(recycler);
        }
    }
    (handles, recyclers)
}

/// Telemetry of the drives that are written and of block caches, before or after their I/Os.
fn readings_at_rest(jobs: &[ThreadedJob<'_>]) -> Vec<(usize, Telemetry)> {
    let reading = |job: &ThreadedJob<'_>| {
        let (_, monitor) = job.handle.as_ref()?;
        let telemetry = monitor.telemetry_at_rest()?;
        let counts = job.workload.writes() || telemetry.cache_reads.is_some();
        counts.then_some((job.outcome.drive, telemetry))
    };
    jobs.iter().filter_map(reading).collect()
}

fn run_worker(
    workload: &Workload,
    open: Option<DriveHandle>,
    sink: &mut ThreadSink<'_>,
) -> ThreadEnd {
    let one = |cpus: &CpuList| match workload.cpus_split {
        Some(first) => cpus.one(first.wrapping_add(sink.id.index)),
        None => cpus.clone(),
    };
    if let Some(cpus) = workload.cpus_allowed.as_ref().map(one) {
        // Before the target is opened: io_uring's kernel workers inherit it.
        if let Err(error) = cpus.set_thread_affinity() {
            sink.shared.fail(error.into());
        }
    }
    if let Some(priority) = workload.features.io_priority
        && let Err(error) = priority.set()
    {
        sink.shared.fail(error.into());
    }
    let slots = workload.iodepth;
    let slot_bytes = workload.access.max_bytes();
    // A flush at the end is an fsync(2), as fio's.
    let metadata = workload.flush_every.is_none_or(|flush| flush.metadata);
    let fua_metadata = (workload.synchronous_writes).is_some_and(|writes| writes.metadata);
    let calls =
        BlockingCalls::new(metadata, fua_metadata).with_atomic_writes(workload.features.atomic);
    let options = UringOptions {
        iopoll: workload.iopoll,
        sqpoll: workload.sqpoll,
        sqpoll_cpu: workload.sqpoll_cpu,
        flush_metadata: metadata,
        fua_metadata,
        atomic_writes: workload.features.atomic,
        placement: workload.placement_ids(sink.id.index),
        append_zone_bytes: workload.features.zone_append,
    };
    match (workload.engine, open) {
        (Engine::Sync, Some(open)) => {
            let target = SyncTarget::new(open, slots, slot_bytes);
            run_worker_on(target.map(|target| target.with_calls(calls)), workload, sink)
        }
        (Engine::Threads, Some(open)) => {
            let target = ThreadsTarget::new(open, slots, slot_bytes, calls);
            run_worker_on(target, workload, sink)
        }
        (Engine::Passthru, Some(open)) => {
            let target = PassthruTarget::new(&open, slots, slot_bytes, options);
            run_worker_on(target, workload, sink)
        }
        (_, Some(open)) => {
            let target = UringTarget::new(open, slots, slot_bytes, options);
            run_worker_on(target, workload, sink)
        }
        (_, None) => run_worker_on(Ok(NullTarget::new(slots)), workload, sink),
    }
}

/// Where the reads of a verifying workload itself come from. Before one that only reads, its region
/// is dropped from the page cache, and what the cache then holds was read from the drive.
fn read_source<T: Target>(target: &mut T, workload: &Workload, index: u32) -> ReadSource {
    if workload.verify_bytes.is_none() {
        return ReadSource::Drive;
    }
    if workload.writes() {
        return match workload.direct || workload.engine == Engine::Passthru {
            true => ReadSource::Drive,
            false => ReadSource::HostMemory,
        };
    }
    let region = workload.region(index);
    target.drop_cached(region.offset_bytes, region.size_bytes)
}

fn run_worker_on<T: Target>(
    target: Result<T, TargetError>,
    workload: &Workload,
    sink: &mut ThreadSink<'_>,
) -> ThreadEnd {
    let shared = sink.shared;
    let target = target.map_err(|error| shared.fail(error.into()));
    let trace = trace_feed(workload).map_err(|error| shared.fail(error.into()));
    let mut target = target;
    let source = match &mut target {
        Ok(target) => read_source(target, workload, sink.id.index),
        Err(_) => ReadSource::Drive,
    };
    sink.ready();
    let (Some(start), Ok(mut target), Ok(trace)) = (shared.barrier.wait(), target, trace) else {
        return ThreadEnd::default();
    };
    let mut worker = match Worker::new(workload, sink.id.index, 0, start) {
        Ok(worker) => {
            let worker = worker.with_flow(shared.flows.share(workload));
            let worker = worker.with_coverage(sink.coverage.clone());
            let worker = worker.with_zones(sink.zones.clone());
            let worker = worker.with_searchers(sink.searchers.clone());
            let worker = worker.with_trace(trace, workload.start_delay);
            let worker = worker.with_read_source(source);
            [worker.with_exit(shared.exits.share(workload))]
        }
        Err(error) => {
            shared.fail(error.into());
            return ThreadEnd::default();
        }
    };
    let mut recorder = [recorder(workload, start)];
    let cpu_before = load::thread_cpu_time();
    let end = run_io_loop(
        &mut target,
        &mut worker,
        IoLoopConfig::new(workload),
        &mut recorder,
        shared.stop,
        sink,
    );
    let busy = load::thread_cpu_time() - cpu_before;
    if let Some(failure) = worker[0].take_failure() {
        shared.fail(failure.into());
    }
    let elapsed = (target.now() - start).as_secs_f64().max(1e-9);
    ThreadEnd {
        end: end.unwrap_or_else(|error| {
            shared.fail(error.into());
            LoopEnd::default()
        }),
        verify: worker[0].verify_report(),
        found_depth: worker[0].found_depth(),
        trace: match worker[0].trace_outcome() {
            Ok(outcome) => outcome.map(Box::new),
            Err(error) => {
                shared.fail(error.into());
                None
            }
        },
        busy_pct: busy.as_secs_f64() / elapsed * 100.0,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/threads.rs"]
mod tests;
