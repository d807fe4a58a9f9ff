//! The loop that runs workers on a target: one worker on a real target, all of a job's workers on a simulated one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_io::{Completion, Io, Target, TargetError, Telemetry};
use assay_stats::{Interval, Recorder};
use assay_units::Nanos;

use crate::plan::{Engine, Workload};
use crate::worker::{NextIssue, Worker};

/// How long I/Os in flight may take to come back after a stop was asked for, before they are given up as unanswered.
pub const STOP_GRACE: Nanos = Nanos::from_secs(10);

/// With I/Os in flight, a real drive may be silent for so long before they are given up as unanswered. Linux aborts an NVMe command after 30 s, resets
/// the controller after 30 s more, which may take 127.5 s (CAP.TO), and gives a SCSI command five retries of 30 s each: whatever the kernel has not ended
/// after all of that it never will, and the loop must not wait for ever.
pub const IO_TIMEOUT: Nanos = Nanos::from_secs(240);

/// A loop gives up when so many I/Os have failed one after the other with none that succeeded: a drive that is gone answers in
/// microseconds, and nothing is learned from the next million of answers.
pub const GIVE_UP_ERRORS: u64 = 100_000;
/// Or when I/Os have only failed for so long,
pub const GIVE_UP_AFTER: Nanos = Nanos::from_secs(10);
/// and at least this many did: a drive that needs half a minute for one timeout gets a few tries.
pub const GIVE_UP_LEAST: u64 = 8;

/// What the loop reports as it goes.
pub trait IntervalSink {
    /// An interval (or the rest of one) is over. `telemetry` is what the drive says of itself, if it can without disturbance.
    fn interval(&mut self, interval: Interval, telemetry: Option<Telemetry>);
}

/// How many I/Os a loop handles, and how long it waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoLoopConfig {
    /// In flight per worker.
    pub depth: u32,
    /// Completions waited for at a time.
    pub batch_complete_min: u32,
    /// The longest silence with I/Os in flight.
    pub io_timeout: Nanos,
}

impl IoLoopConfig {
    /// Of a workload.
    pub fn of(workload: &Workload) -> IoLoopConfig {
        IoLoopConfig {
            depth: workload.iodepth,
            batch_complete_min: workload.batch_complete_min,
            // A simulated drive answers everything, after as long a spike as it was given.
            io_timeout: match workload.engine {
                Engine::Sim => Nanos::MAX,
                _ => IO_TIMEOUT,
            },
        }
    }
}

/// How a loop ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopEnd {
    /// Ended by the stop flag before the workload was done.
    pub stopped: bool,
    /// I/Os that never came back: not within [`STOP_GRACE`] of the stop, or not within [`IoLoopConfig::io_timeout`] of the drive's last answer.
    pub unanswered: u64,
    /// Ended before its time because every I/O failed.
    pub gave_up: Option<GaveUp>,
}

impl LoopEnd {
    /// Add how another loop of the same workload ended.
    pub fn merge(&mut self, other: &LoopEnd) {
        self.stopped |= other.stopped;
        self.unanswered += other.unanswered;
        self.gave_up = match (self.gave_up, other.gave_up) {
            (Some(mine), Some(theirs)) => Some(GaveUp {
                errors: mine.errors + theirs.errors,
                span: mine.span.max(theirs.span),
            }),
            (mine, theirs) => mine.or(theirs),
        };
    }
}

/// Why a loop gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaveUp {
    /// I/Os that failed in a row, with none that succeeded between them.
    pub errors: u64,
    /// From the first of them to the last.
    pub span: Nanos,
}

/// I/Os that failed since the last one that succeeded.
#[derive(Clone, Copy, Debug, Default)]
struct Failing {
    errors: u64,
    since: Nanos,
}

impl Failing {
    #[inline]
    fn note(&mut self, moved: bool, now: Nanos) {
        if moved {
            self.errors = 0;
        } else {
            self.failed(now);
        }
    }

    #[cold]
    fn failed(&mut self, now: Nanos) {
        if self.errors == 0 {
            self.since = now;
        }
        self.errors += 1;
    }

    /// Is it time to give up?
    #[inline]
    fn verdict(&self, now: Nanos) -> Option<GaveUp> {
        if self.errors < GIVE_UP_LEAST {
            return None;
        }
        let span = now - self.since;
        (self.errors >= GIVE_UP_ERRORS || span >= GIVE_UP_AFTER).then_some(GaveUp {
            errors: self.errors,
            span,
        })
    }
}

/// How long a drive has been silent with I/Os in flight.
#[derive(Clone, Copy, Debug)]
struct Silence {
    since: Nanos,
    longest: Nanos,
    /// It was too long when the loop last looked.
    too_long: bool,
}

impl Silence {
    fn new(now: Nanos, longest: Nanos) -> Silence {
        Silence {
            since: now,
            longest,
            too_long: false,
        }
    }

    /// A completion, or the first I/O in flight.
    #[inline]
    fn breaks(&mut self, now: Nanos) {
        self.since = now;
        self.too_long = false;
    }

    /// Is it time to give up? Not at the first look: a machine that was asleep finds its clock far ahead and its completions still on their way.
    #[inline]
    fn is_final(&mut self, now: Nanos) -> bool {
        let before = self.too_long;
        self.too_long = now - self.since >= self.longest;
        before && self.too_long
    }
}

/// The workers of one loop and which of them can do something.
struct Crew<'a> {
    workers: &'a mut [Worker],
    depth: u32,
    /// Workers with free slots that have not been asked since.
    ready: Vec<u32>,
    queued: Vec<bool>,
    /// Paced workers waiting for an instant.
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    fills_buffers: bool,
    failing: Failing,
}

impl<'a> Crew<'a> {
    fn new(workers: &'a mut [Worker], depth: u32) -> Crew<'a> {
        let count = workers.len() as u32;
        Crew {
            fills_buffers: workers.iter().any(Worker::fills_buffers),
            failing: Failing::default(),
            depth,
            ready: (0..count).rev().collect(),
            queued: vec![true; count as usize],
            due: BinaryHeap::with_capacity(workers.len()),
            workers,
        }
    }

    #[inline]
    fn issue<T: Target>(&mut self, now: Nanos, target: &mut T, batch: &mut Vec<Io>) {
        while let Some(&Reverse((at, index))) = self.due.peek() {
            if at > now {
                break;
            }
            self.due.pop();
            self.mark(index);
        }
        while let Some(index) = self.ready.pop() {
            self.queued[index as usize] = false;
            match self.workers[index as usize].issue(now, target, batch) {
                NextIssue::Completion => {}
                NextIssue::Due(at) => self.due.push(Reverse((at, index))),
            }
        }
    }

    #[inline]
    fn mark(&mut self, index: u32) {
        if !std::mem::replace(&mut self.queued[index as usize], true) {
            self.ready.push(index);
        }
    }

    /// Is all that is measured over, with nothing left but to read back what was written?
    #[inline]
    fn only_reads_back(&self) -> bool {
        self.fills_buffers && self.workers.iter().all(Worker::reads_back)
    }

    #[inline]
    fn next_due(&self) -> Nanos {
        self.due.peek().map_or(Nanos::MAX, |&Reverse((at, _))| at)
    }

    #[inline]
    fn complete<T: Target>(
        &mut self,
        done: &mut Vec<Completion>,
        now: Nanos,
        target: &mut T,
        recorder: &mut Recorder,
    ) {
        for &completion in done.iter() {
            // With one worker, as on every real target, there is nothing to divide.
            let index = if self.workers.len() == 1 {
                0
            } else {
                completion.slot / self.depth
            };
            let moved = self.workers[index as usize].complete(completion, now, target, recorder);
            self.failing.note(moved, now);
            self.mark(index);
        }
        done.clear();
    }
}

/// Run workers until each is done, or `stop` is set, or nothing but errors has come back for long enough
/// ([`GIVE_UP_ERRORS`], [`GIVE_UP_AFTER`]), or nothing at all ([`IoLoopConfig::io_timeout`]).
///
/// Worker `i` owns slots `i * depth ..`. Closed-loop I/Os count from the moment the batch they are in is handed to the target;
/// where nothing has to be written into buffers, that is the moment the completions before it were seen, which saves a clock
/// reading and counts the engine's own few nanoseconds against the drive, never for it.
///
/// # Errors
/// When the target as a whole cannot go on; what was recorded has been handed to the sink.
pub fn run_io_loop<T: Target>(
    target: &mut T,
    workers: &mut [Worker],
    shape: IoLoopConfig,
    recorder: &mut Recorder,
    stop: &AtomicBool,
    sink: &mut dyn IntervalSink,
) -> Result<LoopEnd, TargetError> {
    let (depth, batch_min) = (shape.depth, shape.batch_complete_min as usize);
    let mut crew = Crew::new(workers, depth);
    let slots = crew.workers.len() * depth as usize;
    let mut batch: Vec<Io> = Vec::with_capacity(slots);
    let mut done: Vec<Completion> = Vec::with_capacity(slots);
    let mut in_flight = 0_usize;
    let mut end = LoopEnd::default();
    let mut give_up_at = Nanos::MAX;
    let mut now = target.now();
    let mut measuring = true;
    let mut silence = Silence::new(now, shape.io_timeout);
    let outcome = loop {
        if stop.load(Ordering::Relaxed) && !end.stopped {
            end.stopped = true;
            give_up_at = now + STOP_GRACE;
            crew.due.clear();
            crew.workers.iter_mut().for_each(Worker::stop);
        }
        crew.issue(now, target, &mut batch);
        if measuring && crew.only_reads_back() {
            // The last write has ended: reading back takes time too, which must not dilute the rate of the writes.
            measuring = false;
            let telemetry = target.telemetry();
            sink.interval(recorder.roll(now), telemetry);
        }
        if !batch.is_empty() {
            if in_flight == 0 {
                silence.breaks(now);
            }
            in_flight += batch.len();
            if crew.fills_buffers {
                let at = target.now();
                for io in &batch {
                    crew.workers[(io.slot / depth) as usize % crew.workers.len()]
                        .restamp(io.slot, at);
                }
            }
            if let Err(error) = target.submit(&batch) {
                break Err(error);
            }
            batch.clear();
        }
        let next_due = crew.next_due();
        if in_flight == 0 && next_due == Nanos::MAX {
            break Ok(());
        }
        if now >= give_up_at || in_flight > 0 && silence.is_final(now) {
            end.unanswered = in_flight as u64;
            break Ok(());
        }
        let until = recorder.boundary().min(next_due);
        if let Err(error) = target.reap(batch_min.min(in_flight).max(1), until, &mut done) {
            break Err(error);
        }
        now = target.now();
        // An I/O seen at or after the boundary belongs to the interval it was seen in.
        if now >= recorder.boundary() {
            let interval = recorder.roll(now);
            if measuring {
                let telemetry = target.telemetry();
                sink.interval(interval, telemetry);
            }
        }
        if !done.is_empty() {
            silence.breaks(now);
        }
        in_flight -= done.len();
        crew.complete(&mut done, now, target, recorder);
        if end.gave_up.is_none()
            && let Some(gave_up) = crew.failing.verdict(now)
        {
            end.gave_up = Some(gave_up);
            give_up_at = give_up_at.min(now + STOP_GRACE);
            crew.due.clear();
            crew.workers.iter_mut().for_each(Worker::stop);
        }
    };
    if measuring {
        let telemetry = target.telemetry();
        sink.interval(recorder.roll(now), telemetry);
    }
    outcome.map(|()| end)
}
