//! Real and null drives: a thread per worker, all started at one instant, and the collector of what they count.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use assay_device::load::{self, HostSampler};
use assay_device::watch::Watch;
use assay_io::clock::Clock;
use assay_io::drive_handle::DriveHandle;
use assay_io::null::NullTarget;
use assay_io::passthru::PassthruTarget;
use assay_io::sync::SyncTarget;
use assay_io::uring::{UringOptions, UringTarget};
use assay_io::{Target, TargetError, Telemetry};
use assay_stats::Interval;
use assay_units::Nanos;

use super::{DriveOutcome, RunError, RunObserver, recorder};
use crate::io_loop::{IntervalSink, IoLoopConfig, LoopEnd, run_io_loop};
use crate::plan::{Engine, Workload};
use crate::worker::Worker;
use assay_integrity::checker::{LearnedSeed, VerifyReport};

/// What a worker thread sends to the collector.
enum Message {
    /// Its target is set up, or could not be.
    Ready,
    Interval {
        position: usize,
        interval: Interval,
    },
    Done {
        position: usize,
        end: ThreadEnd,
    },
}

#[derive(Default)]
struct ThreadEnd {
    end: LoopEnd,
    verify: Option<VerifyReport>,
    busy_pct: f64,
}

struct ThreadSink {
    position: usize,
    sender: mpsc::Sender<Message>,
}

impl IntervalSink for ThreadSink {
    fn interval(&mut self, interval: Interval, _telemetry: Option<Telemetry>) {
        if interval.end > interval.start || !interval.is_empty() {
            // The collector outlives the threads; if it ever does not, there is nobody to tell.
            let _ = self.sender.send(Message::Interval {
                position: self.position,
                interval,
            });
        }
    }
}

pub(super) type RealPart<'a> = (usize, usize, &'a Workload, Option<(DriveHandle, &'a Watch)>);

/// What all threads of a run share.
struct Shared<'a> {
    stop: &'a AtomicBool,
    /// Some thread could not be set up, or failed: nobody starts, or everybody ends.
    failed: AtomicBool,
    first_error: Mutex<Option<RunError>>,
    gate: Mutex<Gate>,
    gate_moved: Condvar,
}

/// Threads wait here until all are set up, and leave together with one start time.
#[derive(Clone, Copy)]
enum Gate {
    Shut,
    Open(Nanos),
    Abandoned,
}

impl Shared<'_> {
    fn fail(&self, error: RunError) {
        self.failed.store(true, Ordering::SeqCst);
        self.first_error
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert(error);
    }

    fn set_gate(&self, gate: Gate) {
        *self.gate.lock().unwrap_or_else(PoisonError::into_inner) = gate;
        self.gate_moved.notify_all();
    }

    fn wait_at_gate(&self) -> Option<Nanos> {
        let mut gate = self.gate.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match *gate {
                Gate::Open(start) => return Some(start),
                Gate::Abandoned => return None,
                Gate::Shut => {
                    gate = self
                        .gate_moved
                        .wait(gate)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

pub(super) fn run_real(
    parts: &[RealPart<'_>],
    stop: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<BTreeMap<usize, DriveOutcome>, RunError> {
    let threads: usize = parts.iter().map(|(_, _, w, _)| w.numjobs as usize).sum();
    let stop_all = AtomicBool::new(false);
    let shared = Shared {
        stop: &stop_all,
        failed: AtomicBool::new(false),
        first_error: Mutex::new(None),
        gate: Mutex::new(Gate::Shut),
        gate_moved: Condvar::new(),
    };
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        let mut spawned = 0;
        for (position, _, workload, handle) in parts {
            let learned = LearnedSeed::default();
            for index in 0..workload.numjobs {
                let sink = ThreadSink {
                    position: *position,
                    sender: sender.clone(),
                };
                let open = handle.as_ref().map(|(open, _)| open.clone());
                let shared = &shared;
                let learned = learned.clone();
                let work = move || {
                    let position = sink.position;
                    let sender = sink.sender.clone();
                    let end = thread_main(workload, (index, learned), open, shared, sink);
                    let _ = sender.send(Message::Done { position, end });
                };
                let builder = thread::Builder::new()
                    .name(format!("worker-{index}"))
                    .stack_size(512 << 10);
                match builder.spawn_scoped(scope, work) {
                    Ok(_) => spawned += 1,
                    Err(source) => {
                        shared.fail(RunError::Thread {
                            index: spawned,
                            wanted: threads,
                            source,
                        });
                        break;
                    }
                }
            }
        }
        drop(sender);
        let mut ready = 0;
        while ready < spawned && matches!(receiver.recv(), Ok(Message::Ready)) {
            ready += 1;
        }
        let start = Clock::monotonic().now();
        shared.set_gate(if shared.failed.load(Ordering::SeqCst) {
            Gate::Abandoned
        } else {
            Gate::Open(start)
        });
        collect(parts, start, &receiver, stop, &shared, &stop_all, observer)
    })
}

/// A worker's number in its job, and what the job learns.
type Seat = (u32, LearnedSeed);

fn thread_main(
    workload: &Workload,
    seat: Seat,
    open: Option<DriveHandle>,
    shared: &Shared<'_>,
    sink: ThreadSink,
) -> ThreadEnd {
    if let Some(cpus) = &workload.cpus_allowed {
        // Before the target: io_uring's kernel workers inherit it. A failure keeps the gate shut for all.
        if let Err(error) = cpus.keep_this_thread() {
            shared.fail(error.into());
        }
    }
    let slots = workload.iodepth;
    let slot_bytes = workload.access.block_sizes.max_bytes();
    let options = UringOptions {
        iopoll: workload.iopoll,
        sqpoll: workload.sqpoll,
    };
    match (workload.engine, open) {
        (Engine::Sync, Some(open)) => with_target(
            SyncTarget::new(open, slots, slot_bytes),
            workload,
            seat,
            shared,
            sink,
        ),
        (Engine::Passthru, Some(open)) => {
            let target = PassthruTarget::new(&open, slots, slot_bytes, options);
            with_target(target, workload, seat, shared, sink)
        }
        (_, Some(open)) => {
            let target = UringTarget::new(open, slots, slot_bytes, options);
            with_target(target, workload, seat, shared, sink)
        }
        (_, None) => with_target(Ok(NullTarget::new(slots)), workload, seat, shared, sink),
    }
}

fn with_target<T: Target>(
    target: Result<T, TargetError>,
    workload: &Workload,
    (index, learned): Seat,
    shared: &Shared<'_>,
    mut sink: ThreadSink,
) -> ThreadEnd {
    let mut target = match target {
        Ok(target) => Some(target),
        Err(error) => {
            shared.fail(error.into());
            None
        }
    };
    let _ = sink.sender.send(Message::Ready);
    let (Some(start), Some(target)) = (shared.wait_at_gate(), target.as_mut()) else {
        return ThreadEnd::default();
    };
    let mut worker = match Worker::new(workload, index, 0, start, &learned) {
        Ok(worker) => [worker],
        Err(error) => {
            shared.fail(error.into());
            return ThreadEnd::default();
        }
    };
    let mut recorder = recorder(workload, start);
    let cpu_before = load::thread_cpu_time();
    let end = run_io_loop(
        target,
        &mut worker,
        IoLoopConfig::of(workload),
        &mut recorder,
        shared.stop,
        &mut sink,
    );
    let busy = load::thread_cpu_time() - cpu_before;
    let elapsed = (target.now() - start).as_secs_f64().max(1e-9);
    ThreadEnd {
        end: end.unwrap_or_else(|error| {
            shared.fail(error.into());
            LoopEnd::default()
        }),
        verify: worker[0].verify_report(),
        busy_pct: busy.as_secs_f64() / elapsed * 100.0,
    }
}

/// How long after an interval's end the collector waits for the workers' counts of it.
const SETTLE: Nanos = Nanos::from_millis(20);

/// How often the collector looks around when nothing arrives.
const LOOK: Duration = Duration::from_millis(50);

fn collect(
    parts: &[RealPart<'_>],
    start: Nanos,
    receiver: &mpsc::Receiver<Message>,
    stop: &AtomicBool,
    shared: &Shared<'_>,
    stop_all: &AtomicBool,
    observer: &mut dyn RunObserver,
) -> Result<BTreeMap<usize, DriveOutcome>, RunError> {
    let clock = Clock::monotonic();
    let interval = parts
        .iter()
        .map(|(_, _, w, _)| w.interval)
        .min()
        .unwrap_or(Nanos::SECOND);
    let mut outcomes: BTreeMap<usize, DriveOutcome> = parts
        .iter()
        .map(|(position, drive, _, _)| {
            (
                *position,
                DriveOutcome {
                    drive: *drive,
                    ..DriveOutcome::default()
                },
            )
        })
        .collect();
    // Intervals of workers, merged until they are handed over: (position, index, ramp).
    let mut gathered: BTreeMap<(usize, u32, bool), Interval> = BTreeMap::new();
    let mut sampler = HostSampler::start();
    let settle = SETTLE.min(Nanos(interval.0 / 4));
    let mut boundary = start + interval + settle;
    let mut index = 0;
    loop {
        if stop.load(Ordering::Relaxed) || shared.failed.load(Ordering::SeqCst) {
            stop_all.store(true, Ordering::Relaxed);
        }
        let left = boundary - clock.now();
        let wait = Duration::from_nanos(left.0).min(LOOK);
        match receiver.recv_timeout(wait) {
            Ok(Message::Interval { position, interval }) => {
                if let Some(outcome) = outcomes.get_mut(&position) {
                    outcome.totals.add(&interval);
                }
                gathered
                    .entry((position, interval.index, interval.ramp))
                    .and_modify(|mine| mine.merge(&interval))
                    .or_insert(interval);
            }
            Ok(Message::Ready) => {}
            Ok(Message::Done { position, end }) => {
                if let Some(outcome) = outcomes.get_mut(&position) {
                    outcome.end.merge(&end.end);
                    outcome.busiest_thread_pct = outcome.busiest_thread_pct.max(end.busy_pct);
                    if let Some(report) = end.verify {
                        match &mut outcome.verify {
                            Some(all) => all.merge(&report),
                            None => outcome.verify = Some(report),
                        }
                    }
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if clock.now() < boundary {
            continue;
        }
        // What comes later than this (from a thread stuck in a slow I/O) is handed over later and adds to it.
        hand_over(&mut gathered, parts, Some(index + 1), observer);
        for (_, drive, _, handle) in parts {
            if let Some((_, watch)) = handle
                && let Some(telemetry) = watch.telemetry()
            {
                observer.telemetry(*drive, boundary - settle - start, telemetry);
            }
        }
        if let Some(load) = sampler.sample() {
            observer.host(index, load);
        }
        index = u32::try_from((clock.now() - start).0 / interval.0).unwrap_or(u32::MAX - 1);
        boundary = start + Nanos(interval.0.saturating_mul(u64::from(index) + 1)) + settle;
    }
    hand_over(&mut gathered, parts, None, observer);
    let error = shared
        .first_error
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    match error {
        Some(error) => Err(error),
        None => Ok(outcomes),
    }
}

/// Give the observer every gathered interval, or those before index `before`.
fn hand_over(
    gathered: &mut BTreeMap<(usize, u32, bool), Interval>,
    parts: &[RealPart<'_>],
    before: Option<u32>,
    observer: &mut dyn RunObserver,
) {
    let ready = |index: u32| before.is_none_or(|before| index < before);
    let keys: Vec<_> = gathered
        .keys()
        .filter(|(_, index, _)| ready(*index))
        .copied()
        .collect();
    for key in keys {
        if let Some(interval) = gathered.remove(&key)
            && let Some((_, drive, _, _)) = parts.iter().find(|(position, ..)| *position == key.0)
        {
            observer.interval(*drive, &interval);
        }
    }
}
