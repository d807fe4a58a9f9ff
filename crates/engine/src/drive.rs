//! The loop that runs workers on a target: one worker on a real target, all of a job's workers on a simulated one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_measure::{Interval, Recorder};
use assay_target::{Completion, Io, Target, TargetError, Telemetry};
use assay_units::Nanos;

use crate::plan::Workload;
use crate::worker::{Next, Worker};

/// How long I/Os in flight may take to come back after a stop was asked for, before they are given up as unanswered.
pub const STOP_GRACE: Nanos = Nanos::from_secs(10);

/// What the loop reports as it goes.
pub trait Sink {
    /// An interval (or the rest of one) is over. `telemetry` is what the drive says of itself, if it can without disturbance.
    fn interval(&mut self, interval: Interval, telemetry: Option<Telemetry>);
}

/// How many I/Os a loop handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// In flight per worker.
    pub depth: u32,
    /// Completions waited for at a time.
    pub batch_complete_min: u32,
}

impl Shape {
    /// Of a workload.
    pub fn of(workload: &Workload) -> Shape {
        Shape {
            depth: workload.iodepth,
            batch_complete_min: workload.batch_complete_min,
        }
    }
}

/// How a loop ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopEnd {
    /// Ended by the stop flag before the workload was done.
    pub stopped: bool,
    /// I/Os that never came back within [`STOP_GRACE`] of the stop.
    pub unanswered: u64,
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
}

impl<'a> Crew<'a> {
    fn new(workers: &'a mut [Worker], depth: u32) -> Crew<'a> {
        let count = workers.len() as u32;
        Crew {
            fills_buffers: workers.iter().any(Worker::fills_buffers),
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
                Next::Completion => {}
                Next::Due(at) => self.due.push(Reverse((at, index))),
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
            self.workers[index as usize].complete(completion, now, target, recorder);
            self.mark(index);
        }
        done.clear();
    }
}

/// Run workers until each is done, or `stop` is set.
///
/// Worker `i` owns slots `i * depth ..`. Closed-loop I/Os count from the moment the batch they are in is handed to the target;
/// where nothing has to be written into buffers, that is the moment the completions before it were seen, which saves a clock
/// reading and counts the engine's own few nanoseconds against the drive, never for it.
///
/// # Errors
/// When the target as a whole cannot go on; what was recorded has been handed to the sink.
pub fn drive<T: Target>(
    target: &mut T,
    workers: &mut [Worker],
    shape: Shape,
    recorder: &mut Recorder,
    stop: &AtomicBool,
    sink: &mut dyn Sink,
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
        if now >= give_up_at {
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
        in_flight -= done.len();
        crew.complete(&mut done, now, target, recorder);
    };
    if measuring {
        let telemetry = target.telemetry();
        sink.interval(recorder.roll(now), telemetry);
    }
    outcome.map(|()| end)
}
