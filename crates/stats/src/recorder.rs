//! What a worker records into, and what it hands over every interval.

use assay_units::{Nanos, Op};
use serde::{Deserialize, Serialize};

use crate::{ErrorCauses, Histogram};

/// One operation's counts over one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpInterval {
    /// Completed without error.
    pub ios: u64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// Completed with an error, or short. They have no latency here: a fast error must not look like a fast drive.
    pub errors: u64,
    /// Why, where the target said.
    pub causes: ErrorCauses,
    /// From the intended start (open loop) or the submission (closed loop) to the completion.
    pub latency: Histogram,
    /// Submission to completion, kept apart where it differs: in open-loop jobs.
    pub service: Option<Histogram>,
}

impl OpInterval {
    /// Add another span's counts.
    pub fn merge(&mut self, other: &OpInterval) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.causes.merge(&other.causes);
        self.latency.merge(&other.latency);
        if let Some(service) = &other.service {
            self.service
                .get_or_insert_with(Histogram::new)
                .merge(service);
        }
    }
}

/// Everything one worker (or, merged, all workers of a job) completed in one interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Which interval since the job's start, from 0.
    pub index: u32,
    /// Part of the ramp: shown, never in a result.
    pub ramp: bool,
    /// Where it starts, since the job's start.
    pub start: Nanos,
    /// Where it ends, since the job's start.
    pub end: Nanos,
    /// Counts per operation that occurred.
    pub ops: Vec<(Op, OpInterval)>,
}

impl Interval {
    /// Add another worker's counts of the same interval.
    pub fn merge(&mut self, other: &Interval) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        for (op, counts) in &other.ops {
            match self.ops.iter_mut().find(|(mine, _)| mine == op) {
                Some((_, mine)) => mine.merge(counts),
                None => self.ops.push((*op, counts.clone())),
            }
        }
        self.ops.sort_by_key(|(op, _)| *op);
    }

    /// Nothing happened in it?
    pub fn is_empty(&self) -> bool {
        self.ops.iter().all(|(_, o)| o.ios == 0 && o.errors == 0)
    }
}

const OPS: [Op; 5] = [Op::Read, Op::Write, Op::Flush, Op::Discard, Op::WriteZeroes];

/// The recording side: constant memory, one array increment per I/O, rolled over at interval boundaries.
#[derive(Debug)]
pub struct Recorder {
    start: Nanos,
    interval: Nanos,
    ramp_end: Nanos,
    keep_service: bool,
    index: u32,
    span_start: Nanos,
    boundary: Nanos,
    ops: [Option<Box<OpInterval>>; OPS.len()],
}

impl Recorder {
    /// Record from `start` (an instant of the target's clock) in intervals of this length; everything before
    /// `start + ramp` belongs to the ramp. `keep_service` keeps a second histogram of submission to completion.
    pub fn new(start: Nanos, interval: Nanos, ramp: Nanos, keep_service: bool) -> Recorder {
        assert!(interval > Nanos::ZERO, "an interval has a length");
        let mut recorder = Recorder {
            start,
            interval,
            ramp_end: start + ramp,
            keep_service,
            index: 0,
            span_start: start,
            boundary: start,
            ops: [const { None }; OPS.len()],
        };
        recorder.boundary = recorder.boundary_after(start);
        recorder
    }

    /// The next instant at which the current span must be handed over: the interval's end, or the ramp's.
    fn boundary_after(&self, from: Nanos) -> Nanos {
        let since = from - self.start;
        let next =
            self.start + Nanos((since.0 / self.interval.0 + 1).saturating_mul(self.interval.0));
        if from < self.ramp_end {
            next.min(self.ramp_end)
        } else {
            next
        }
    }

    /// When [`Recorder::roll`] is due next.
    #[inline]
    pub fn boundary(&self) -> Nanos {
        self.boundary
    }

    #[inline]
    fn op(&mut self, op: Op) -> &mut OpInterval {
        let keep_service = self.keep_service;
        self.ops[op as usize].get_or_insert_with(|| {
            Box::new(OpInterval {
                service: keep_service.then(Histogram::new),
                ..OpInterval::default()
            })
        })
    }

    /// Record a completed I/O: `latency` from its intended start, `service` from its submission.
    #[inline]
    pub fn record(&mut self, op: Op, bytes: u32, latency: Nanos, service: Nanos) {
        let counts = self.op(op);
        counts.ios += 1;
        counts.bytes += u64::from(bytes);
        counts.latency.record(latency);
        if let Some(histogram) = &mut counts.service {
            histogram.record(service);
        }
    }

    /// Record an I/O that failed or came back short: `result` is a negated error number, or the bytes that it moved.
    #[cold]
    pub fn record_error(&mut self, op: Op, result: i32) {
        let counts = self.op(op);
        counts.errors += 1;
        counts.causes.count(result);
    }

    /// Hand over the span that ended at [`Recorder::boundary`] (or at `now`, when `now` is earlier: the job's end).
    ///
    /// Completions are stamped when they are reaped, so a worker that was held up for several intervals hands over one
    /// span that ends at the last boundary passed; nothing is spread over seconds in which nothing was seen.
    pub fn roll(&mut self, now: Nanos) -> Interval {
        let end = if now < self.boundary {
            now
        } else {
            self.boundary
        };
        let interval = Interval {
            index: self.index,
            ramp: self.span_start < self.ramp_end,
            start: self.span_start - self.start,
            end: end - self.start,
            ops: OPS
                .into_iter()
                .filter_map(|op| self.ops[op as usize].take().map(|counts| (op, *counts)))
                .collect(),
        };
        // Continue in the interval that holds `now`, not in the next one: a gap stays a gap.
        let mut from = end;
        while self.boundary_after(from) <= now {
            from = self.boundary_after(from);
        }
        self.span_start = from;
        self.boundary = self.boundary_after(from);
        self.index = u32::try_from((from - self.start).0 / self.interval.0).unwrap_or(u32::MAX);
        interval
    }
}

#[cfg(test)]
#[path = "../tests/unit/recorder.rs"]
mod tests;
