mod errors;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_io::stall::StallTimer;
use assay_io::{Completion, IO_TIMEOUT, Io, Target, TargetError, Telemetry};
use assay_stats::{Interval, Recorder};
use assay_units::Nanos;

use crate::exit::EXIT_POLL;
use crate::plan::{Engine, Workload};
use crate::worker::{NextIssue, Worker};
use errors::ErrorStreak;
pub use errors::{GIVE_UP_AFTER, GIVE_UP_ERRORS, GIVE_UP_LEAST, GaveUp};

/// After a stop; I/Os that take longer are counted as unanswered.
pub const STOP_GRACE: Nanos = Nanos::from_secs(10);

pub trait IntervalSink {
    /// Returns storage for [`Recorder::recycle`], where there is any, cleared outside the loop.
    fn interval(
        &mut self,
        job: usize,
        interval: Interval,
        telemetry: Option<Telemetry>,
    ) -> Option<Interval>;
}

/// How many I/Os a loop handles, and how long it waits for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoLoopConfig {
    /// Slots of a worker: the most that any has in flight.
    pub depth: u32,
    pub batch_complete_min: u32,
    /// The longest time without a completion while I/Os are in flight.
    pub io_timeout: Nanos,
}

impl IoLoopConfig {
    pub fn new(workload: &Workload) -> IoLoopConfig {
        IoLoopConfig {
            depth: workload.iodepth,
            batch_complete_min: workload.batch_complete_min,
            // A simulated drive completes everything, after a latency spike of any length.
            io_timeout: match workload.engine {
                Engine::Sim => Nanos::MAX,
                _ => IO_TIMEOUT,
            },
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoopEnd {
    pub stopped: bool,
    /// Not within [`STOP_GRACE`] of the stop or [`IoLoopConfig::io_timeout`] of a completion.
    pub unanswered: u64,
    /// Ended before its time because every I/O failed.
    pub gave_up: Option<GaveUp>,
}

impl LoopEnd {
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

struct WorkerSet<'a> {
    workers: &'a mut [Worker],
    depth: u32,
    /// Workers with free slots that were not yet offered to issue.
    ready: Vec<u32>,
    is_ready: Vec<bool>,
    /// Paced workers and when their next I/O is due. Only the latest time of each counts: one that
    /// waits for others ([`crate::flow`]) is asked at each of its completions too, and would
    /// otherwise be asked more and more often.
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    due_at: Vec<Nanos>,
    fills_buffers: bool,
    logs_ios: bool,
    errors: ErrorStreak,
    /// A worker has ended since this was looked at.
    ended: bool,
    /// Workers end others: how many had ended when this was looked at.
    exits: Option<u32>,
}

impl<'a> WorkerSet<'a> {
    fn new<T: Target>(workers: &'a mut [Worker], depth: u32, target: &mut T) -> WorkerSet<'a> {
        let count = workers.len() as u32;
        let needs_buffers = workers.iter().any(Worker::fills_buffers);
        let verifies = workers.iter().any(Worker::verifies);
        WorkerSet {
            // A simulated drive that keeps no data has none.
            fills_buffers: needs_buffers && (verifies || target.buffer(0).is_some()),
            logs_ios: workers.iter().any(Worker::logs_ios),
            errors: ErrorStreak::default(),
            ended: false,
            exits: workers.iter_mut().any(|worker| worker.exit().is_some()).then_some(0),
            depth,
            ready: (0..count).rev().collect(),
            is_ready: vec![true; count as usize],
            due: BinaryHeap::with_capacity(workers.len()),
            due_at: vec![Nanos::MAX; count as usize],
            workers,
        }
    }

    #[inline]
    fn issue<T: Target>(&mut self, now: Nanos, target: &mut T, batch: &mut Vec<Io>) {
        while self.next_due() <= now
            && let Some(Reverse((_, index))) = self.due.pop()
        {
            self.due_at[index as usize] = Nanos::MAX;
            self.mark_ready(index);
        }
        while let Some(index) = self.ready.pop() {
            self.is_ready[index as usize] = false;
            let worker = &mut self.workers[index as usize];
            match worker.issue(now, target, batch) {
                NextIssue::Due(at) => {
                    self.due_at[index as usize] = at;
                    self.due.push(Reverse((at, index)));
                }
                NextIssue::Completion if worker.has_ended() => {
                    self.ended = true;
                    if let Some(exit) = worker.exit() {
                        exit.leave();
                    }
                }
                NextIssue::Completion => {}
            }
        }
    }

    /// Issues until no end of a worker ends further ones.
    #[inline]
    fn issue_all<T: Target>(&mut self, now: Nanos, target: &mut T, batch: &mut Vec<Io>) {
        self.issue(now, target, batch);
        while self.end_with_group() {
            self.issue(now, target, batch);
        }
    }

    fn end_with_group(&mut self) -> bool {
        let Some(seen) = &mut self.exits else {
            return false;
        };
        let mut exits = self.workers.iter_mut().filter_map(Worker::exit);
        let ends = exits.next().map_or(0, |exit| exit.ends());
        if std::mem::replace(seen, ends) == ends {
            return false;
        }
        let mut any = false;
        for index in 0..self.workers.len() {
            if self.workers[index].end_if_group_ended() {
                any = true;
                self.mark_ready(index as u32);
            }
        }
        if any {
            let workers = &self.workers;
            self.due.retain(|&Reverse((_, index))| workers[index as usize].is_issuing());
        }
        any
    }

    #[inline]
    fn mark_ready(&mut self, index: u32) {
        if !std::mem::replace(&mut self.is_ready[index as usize], true) {
            self.ready.push(index);
        }
    }

    /// With one worker, as on every real target, there is nothing to divide.
    #[inline]
    fn index_of(&self, slot: u32) -> u32 {
        match self.workers.len() {
            1 => 0,
            _ => slot / self.depth,
        }
    }

    #[inline]
    fn submit<T: Target>(
        &mut self,
        now: Nanos,
        target: &mut T,
        batch: &mut Vec<Io>,
        recorders: &mut [Recorder],
    ) -> Result<(), TargetError> {
        if self.logs_ios {
            self.log(now, batch, recorders);
        }
        if self.fills_buffers {
            let filled_at = target.now();
            // Virtual time does not pass meanwhile.
            if filled_at != now {
                self.restamp(batch, filled_at);
            }
        }
        target.submit(batch)?;
        batch.clear();
        Ok(())
    }

    #[cold]
    fn log(&self, now: Nanos, batch: &[Io], recorders: &mut [Recorder]) {
        for io in batch {
            let worker = &self.workers[self.index_of(io.slot) as usize];
            if worker.logs_ios() {
                let recorder = &mut recorders[worker.job()];
                recorder.record_submission(now, io.op, io.offset_bytes, io.len_bytes);
            }
        }
    }

    fn restamp(&mut self, batch: &[Io], at: Nanos) {
        for io in batch {
            let index = self.index_of(io.slot);
            self.workers[index as usize].restamp(io.slot, at);
        }
    }

    #[cold]
    fn have_ended(&self, job: usize) -> bool {
        let mut of_job = self.workers.iter().filter(|worker| worker.job() == job);
        of_job.all(Worker::has_ended)
    }

    fn only_reads_back(&self, job: usize) -> bool {
        let mut of_job = self.workers.iter().filter(|worker| worker.job() == job);
        of_job.all(Worker::reads_back)
    }

    #[inline]
    fn next_due(&mut self) -> Nanos {
        while let Some(&Reverse((at, index))) = self.due.peek() {
            if self.due_at[index as usize] == at {
                return at;
            }
            self.due.pop();
        }
        Nanos::MAX
    }

    #[inline]
    fn complete<T: Target>(
        &mut self,
        done: &mut Vec<Completion>,
        now: Nanos,
        target: &mut T,
        recorders: &mut [Recorder],
    ) {
        for &completion in done.iter() {
            let index = self.index_of(completion.slot);
            let worker = &mut self.workers[index as usize];
            let recorder = &mut recorders[worker.job()];
            let moved = worker.complete(completion, now, target, recorder);
            self.errors.note(moved, now);
            self.mark_ready(index);
        }
        done.clear();
    }

    fn stop(&mut self) {
        self.due.clear();
        self.workers.iter_mut().for_each(Worker::stop);
    }
}

/// How the loop ends before its workers have done everything.
struct EarlyEnd {
    end: LoopEnd,
    give_up_at: Nanos,
}

impl EarlyEnd {
    /// Stops the workers when every I/O fails, or on request.
    #[inline]
    fn check(&mut self, stop: &AtomicBool, workers: &mut WorkerSet<'_>, now: Nanos) {
        if self.end.gave_up.is_none()
            && let Some(gave_up) = workers.errors.gave_up(now)
        {
            self.end.gave_up = Some(gave_up);
            self.give_up_at = self.give_up_at.min(now + STOP_GRACE);
            workers.stop();
        }
        if stop.load(Ordering::Relaxed) && !self.end.stopped {
            self.end.stopped = true;
            self.give_up_at = now + STOP_GRACE;
            workers.stop();
        }
    }
}

/// The intervals of the jobs that are measured.
struct Intervals<'a> {
    recorders: &'a mut [Recorder],
    measuring: Vec<bool>,
    sink: &'a mut dyn IntervalSink,
}

impl<'a> Intervals<'a> {
    fn new(recorders: &'a mut [Recorder], sink: &'a mut dyn IntervalSink) -> Intervals<'a> {
        Intervals { measuring: vec![true; recorders.len()], recorders, sink }
    }

    #[inline]
    fn boundary(&self) -> Nanos {
        let boundaries = self.recorders.iter().map(Recorder::boundary);
        boundaries.min().unwrap_or(Nanos::MAX)
    }

    #[cold]
    fn hand_over<T: Target>(&mut self, job: usize, target: &mut T, now: Nanos) {
        let interval = self.recorders[job].roll(now);
        if let Some(storage) = self.sink.interval(job, interval, target.telemetry()) {
            self.recorders[job].recycle(storage);
        }
    }

    /// Of a job that only reads back.
    fn hand_over_submitted(&mut self, job: usize, now: Nanos) {
        let mut interval = self.recorders[job].roll(now);
        let storage = match interval.submitted.is_empty() {
            true => Some(interval),
            false => {
                interval.keep_submitted();
                self.sink.interval(job, interval, None)
            }
        };
        if let Some(storage) = storage {
            self.recorders[job].recycle(storage);
        }
    }

    /// Hands over the intervals that end by now.
    fn roll<T: Target>(&mut self, target: &mut T, now: Nanos) {
        for job in 0..self.measuring.len() {
            if now < self.recorders[job].boundary() {
                continue;
            }
            if self.measuring[job] {
                self.hand_over(job, target, now);
            } else {
                self.hand_over_submitted(job, now);
            }
        }
    }

    /// Measures the jobs no longer of which `is_over` holds.
    fn end<T: Target>(&mut self, target: &mut T, now: Nanos, is_over: impl Fn(usize) -> bool) {
        for job in 0..self.measuring.len() {
            if self.measuring[job] && is_over(job) {
                self.measuring[job] = false;
                self.hand_over(job, target, now);
            }
        }
    }

    /// The time of reading back must not dilute the rate of the writes, nor the time of the jobs
    /// that go on be that of one that has ended.
    #[inline]
    fn end_early<T: Target>(&mut self, workers: &mut WorkerSet<'_>, target: &mut T, now: Nanos) {
        if workers.fills_buffers {
            self.end(target, now, |job| workers.only_reads_back(job));
        }
        if workers.ended && self.measuring.len() > 1 {
            workers.ended = false;
            self.end(target, now, |job| workers.have_ended(job));
        }
    }
}

/// Worker `i` owns slots `i * depth ..`, and records into the recorder of its job. Closed-loop I/Os
/// count from the submission of their batch; where no buffers are filled, from the completions seen
/// before it, which saves a clock reading and adds the engine's few nanoseconds to the latency.
pub fn run_io_loop<T: Target>(
    target: &mut T,
    workers: &mut [Worker],
    config: IoLoopConfig,
    recorders: &mut [Recorder],
    stop: &AtomicBool,
    sink: &mut dyn IntervalSink,
) -> Result<LoopEnd, TargetError> {
    let batch_min = config.batch_complete_min as usize;
    let mut workers = WorkerSet::new(workers, config.depth, target);
    let slots = workers.workers.len() * config.depth as usize;
    let mut batch: Vec<Io> = Vec::with_capacity(slots);
    let mut done: Vec<Completion> = Vec::with_capacity(slots);
    let mut in_flight = 0_usize;
    let mut early = EarlyEnd { end: LoopEnd::default(), give_up_at: Nanos::MAX };
    let mut now = target.now();
    let mut intervals = Intervals::new(recorders, sink);
    let mut stall = StallTimer::new(now, config.io_timeout);
    let outcome = loop {
        early.check(stop, &mut workers, now);
        workers.issue_all(now, target, &mut batch);
        intervals.end_early(&mut workers, target, now);
        if !batch.is_empty() {
            if in_flight == 0 {
                stall.restart(now);
            }
            in_flight += batch.len();
            if let Err(error) = workers.submit(now, target, &mut batch, intervals.recorders) {
                break Err(error);
            }
        }
        let next_due = workers.next_due();
        if in_flight == 0 && next_due == Nanos::MAX {
            break Ok(());
        }
        if now >= early.give_up_at || in_flight > 0 && stall.has_expired(now) {
            early.end.unanswered = in_flight as u64;
            break Ok(());
        }
        let mut until = intervals.boundary().min(next_due);
        if in_flight == 0 && workers.exits.is_some() {
            // Another thread may end this one while it waits.
            until = until.min(now + EXIT_POLL);
        }
        if let Err(error) = target.reap(batch_min.min(in_flight).max(1), until, &mut done) {
            break Err(error);
        }
        now = target.now();
        let seen = now;
        // An I/O seen at or after the boundary belongs to the interval it was seen in.
        if now >= intervals.boundary() {
            intervals.roll(target, now);
            // The hand-over took time, which is not the latency of the I/Os issued after it.
            now = target.now();
        }
        if !done.is_empty() {
            stall.restart(now);
        }
        in_flight -= done.len();
        workers.complete(&mut done, seen, target, intervals.recorders);
    };
    intervals.end(target, now, |_| true);
    for job in 0..intervals.measuring.len() {
        intervals.hand_over_submitted(job, now);
    }
    outcome.map(|()| early.end)
}
