//! Recording of completed I/Os per interval, without allocation once warm.

use assay_units::{Nanos, Op};
use serde::{Deserialize, Serialize};

use crate::{ErrorCauses, Histogram};

/// One operation's counts over one interval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpInterval {
    /// Completed without error.
    pub ios: u64,
    pub bytes: u64,
    /// Failed or short. They have no latency here: a fast error must not count as low latency.
    pub errors: u64,
    /// If the target reported causes.
    #[serde(skip_serializing_if = "ErrorCauses::is_empty", default)]
    pub causes: ErrorCauses,
    /// From the intended start (open loop) or the submission (closed loop) to the completion.
    pub latency: Histogram,
    /// Submission to completion, kept apart where it differs: in open-loop jobs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub service: Option<Histogram>,
}

impl OpInterval {
    fn new(keep_service: bool) -> OpInterval {
        OpInterval { service: keep_service.then(Histogram::new), ..OpInterval::default() }
    }

    fn clear(&mut self) {
        (self.ios, self.bytes, self.errors) = (0, 0, 0);
        self.causes = ErrorCauses::default();
        self.latency.clear();
        if let Some(service) = &mut self.service {
            service.clear();
        }
    }

    pub fn merge(&mut self, other: &OpInterval) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.errors += other.errors;
        self.causes.merge(&other.causes);
        self.latency.merge(&other.latency);
        if let Some(service) = &other.service {
            self.service.get_or_insert_default().merge(service);
        }
    }
}

/// An I/O as it was submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubmittedIo {
    /// Since the job's start.
    pub at: Nanos,
    pub op: Op,
    pub offset_bytes: u64,
    pub len_bytes: u32,
}

/// Completions of one worker (or, merged, of all workers of a job) in one interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interval {
    /// Since the job's start, from 0.
    pub index: u32,
    /// Part of the ramp: shown, never in a result.
    pub ramp: bool,
    /// Since the job's start.
    pub start: Nanos,
    /// Since the job's start.
    pub end: Nanos,
    /// Counts per operation that occurred.
    pub ops: Vec<(Op, OpInterval)>,
    /// What was submitted, where that is asked for.
    pub submitted: Vec<SubmittedIo>,
}

impl Interval {
    pub fn merge(&mut self, other: &Interval) {
        self.start = self.start.min(other.start);
        self.end = self.end.max(other.end);
        merge_ops(&mut self.ops, &other.ops);
        self.submitted.extend_from_slice(&other.submitted);
    }

    /// Keeps the storage for [`Recorder::recycle`]. Costs only the buckets in use.
    pub fn clear(&mut self) {
        self.ops.iter_mut().for_each(|(_, counts)| counts.clear());
        self.submitted.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.submitted.is_empty() && self.ops.iter().all(|(_, o)| o.ios == 0 && o.errors == 0)
    }

    /// It no longer measures anything, and what was submitted is for a log.
    pub fn keep_submitted(&mut self) {
        self.ops.clear();
        (self.ramp, self.start) = (true, Nanos::MAX);
    }

    pub fn is_measured(&self) -> bool {
        self.start <= self.end
    }
}

pub(crate) fn merge_ops(mine: &mut Vec<(Op, OpInterval)>, others: &[(Op, OpInterval)]) {
    for (op, counts) in others {
        match mine.iter_mut().find(|(known, _)| known == op) {
            Some((_, known)) => known.merge(counts),
            None => mine.push((*op, counts.clone())),
        }
    }
    mine.sort_by_key(|(op, _)| *op);
}

const OPS: [Op; 5] = [Op::Read, Op::Write, Op::Flush, Op::Discard, Op::WriteZeroes];

/// Recording side of one I/O loop. Storage circulates ([`Recorder::recycle`]).
#[derive(Debug)]
pub struct Recorder {
    start: Nanos,
    interval: Nanos,
    ramp_end: Nanos,
    keep_service: bool,
    index: u32,
    span_start: Nanos,
    boundary: Nanos,
    ops: [Option<OpInterval>; OPS.len()],
    spare_ops: Vec<OpInterval>,
    spare_lists: Vec<Vec<(Op, OpInterval)>>,
    submitted: Vec<SubmittedIo>,
    spare_submitted: Vec<SubmittedIo>,
}

impl Recorder {
    /// `ramp` begins at `start`. `keep_service` keeps a histogram of submission to completion.
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
            spare_ops: Vec::new(),
            spare_lists: Vec::new(),
            submitted: Vec::new(),
            spare_submitted: Vec::new(),
        };
        recorder.boundary = recorder.boundary_after(start);
        recorder
    }

    /// Allocate storage for two intervals of these operations: one being recorded, one handed over.
    pub fn preallocate(&mut self, ops: &[Op]) {
        self.spare_ops.reserve(4 * OPS.len());
        self.spare_lists.reserve(4);
        for _ in 0..2 {
            self.spare_lists.push(Vec::with_capacity(OPS.len()));
            for _ in ops {
                self.spare_ops.push(OpInterval::new(self.keep_service));
            }
        }
    }

    /// The interval's end, or the ramp's, where that comes first. Saturates after 584 years.
    fn boundary_after(&self, from: Nanos) -> Nanos {
        let next = ((from - self.start).0 / self.interval.0 + 1).saturating_mul(self.interval.0);
        let next = self.start + Nanos(next);
        let is_ramp = from < self.ramp_end;
        next.min(if is_ramp { self.ramp_end } else { next })
    }

    /// What is recorded from now on is measured; the current interval ends here.
    pub fn end_ramp(&mut self, now: Nanos) {
        if now < self.ramp_end {
            self.ramp_end = now;
            self.boundary = self.boundary.min(now);
        }
    }

    /// When [`Recorder::roll`] is due next.
    #[inline]
    pub fn boundary(&self) -> Nanos {
        self.boundary
    }

    #[inline]
    fn op(&mut self, op: Op) -> &mut OpInterval {
        let (spare, keep_service) = (&mut self.spare_ops, self.keep_service);
        self.ops[op as usize]
            .get_or_insert_with(|| spare.pop().unwrap_or_else(|| OpInterval::new(keep_service)))
    }

    /// `latency` counts from the intended start, `service` from the submission.
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

    pub fn record_submission(&mut self, at: Nanos, op: Op, offset_bytes: u64, len_bytes: u32) {
        self.submitted.push(SubmittedIo { at: at - self.start, op, offset_bytes, len_bytes });
    }

    /// `result` is a negated error number, or the bytes that a short I/O moved.
    #[cold]
    pub fn record_error(&mut self, op: Op, result: i32) {
        let counts = self.op(op);
        counts.errors += 1;
        counts.causes.count(result);
    }

    /// Hand over the current span, which ends at [`Recorder::boundary`], or at `now` if earlier.
    /// Recording goes on in the interval that holds `now`; empty ones before it are left out.
    pub fn roll(&mut self, now: Nanos) -> Interval {
        let end = now.min(self.boundary);
        let spare = self.spare_lists.pop();
        let mut ops = spare.unwrap_or_else(|| Vec::with_capacity(OPS.len()));
        ops.extend(OPS.into_iter().filter_map(|op| Some((op, self.ops[op as usize].take()?))));
        let interval = Interval {
            index: self.index,
            ramp: self.span_start < self.ramp_end,
            start: self.span_start - self.start,
            end: end - self.start,
            ops,
            submitted: std::mem::replace(
                &mut self.submitted,
                std::mem::take(&mut self.spare_submitted),
            ),
        };
        self.span_start = if now < self.boundary {
            now
        } else {
            let whole = Nanos((now - self.start).0 / self.interval.0 * self.interval.0);
            let began = self.start + whole;
            match self.ramp_end <= now {
                true => began.max(self.ramp_end),
                false => began,
            }
        };
        self.boundary = self.boundary_after(self.span_start);
        // Saturates after 49 days of 1 ms: what comes later adds to the last interval.
        self.index =
            u32::try_from((self.span_start - self.start).0 / self.interval.0).unwrap_or(u32::MAX);
        interval
    }

    /// Take back the storage of an interval that was handed over.
    pub fn recycle(&mut self, mut interval: Interval) {
        interval.clear();
        let counts = interval.ops.drain(..).map(|(_, counts)| counts);
        self.spare_ops.extend(counts);
        self.spare_lists.push(interval.ops);
        self.spare_submitted = interval.submitted;
    }
}

#[cfg(test)]
#[path = "../tests/unit/recorder.rs"]
mod tests;
