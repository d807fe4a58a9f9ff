//! The one path from raw intervals to a job's result: addition.

use assay_units::{Nanos, Op};

use crate::{Interval, OpInterval, OpSummary};

/// The sum of a job's measured intervals (the ramp left out).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobTotals {
    ops: Vec<(Op, OpInterval)>,
    start: Option<Nanos>,
    end: Nanos,
}

impl JobTotals {
    /// Nothing yet.
    pub fn new() -> JobTotals {
        JobTotals::default()
    }

    /// Add an interval; one of the ramp is ignored.
    pub fn add(&mut self, interval: &Interval) {
        if interval.ramp {
            return;
        }
        self.start = Some(self.start.map_or(interval.start, |s| s.min(interval.start)));
        self.end = self.end.max(interval.end);
        for (op, counts) in &interval.ops {
            match self.ops.iter_mut().find(|(mine, _)| mine == op) {
                Some((_, mine)) => mine.merge(counts),
                None => self.ops.push((*op, counts.clone())),
            }
        }
        self.ops.sort_by_key(|(op, _)| *op);
    }

    /// The measured span: from the first measured interval's start to the last one's end.
    pub fn elapsed(&self) -> Nanos {
        self.start.map_or(Nanos::ZERO, |start| self.end - start)
    }

    /// Raw counts of an operation; `None` when it never occurred.
    pub fn counts(&self, op: Op) -> Option<&OpInterval> {
        self.ops.iter().find(|(o, _)| *o == op).map(|(_, c)| c)
    }

    /// The result of an operation; all zero when it never occurred.
    pub fn summary(&self, op: Op) -> OpSummary {
        self.counts(op).map_or_else(OpSummary::default, |counts| {
            OpSummary::of(counts, self.elapsed())
        })
    }

    /// Failed or short I/Os of all operations.
    pub fn errors(&self) -> u64 {
        self.ops.iter().map(|(_, counts)| counts.errors).sum()
    }

    /// Bytes moved by all operations.
    pub fn bytes(&self) -> u64 {
        self.ops.iter().map(|(_, counts)| counts.bytes).sum()
    }

    /// Operations that occurred.
    pub fn ops(&self) -> impl Iterator<Item = Op> + '_ {
        self.ops.iter().map(|(op, _)| *op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Recorder;

    #[test]
    fn totals_leave_the_ramp_out_and_span_the_rest() {
        let mut recorder = Recorder::new(Nanos(0), Nanos::SECOND, Nanos::SECOND, false);
        let mut totals = JobTotals::new();
        for second in 1..=3 {
            for _ in 0..second {
                recorder.record(Op::Read, 1 << 20, Nanos(77), Nanos(77));
            }
            totals.add(&recorder.roll(recorder.boundary()));
        }
        assert_eq!(totals.elapsed(), Nanos::from_secs(2));
        assert_eq!(totals.summary(Op::Read).ios, 5);
        assert_eq!(totals.summary(Op::Read).iops, 2.5);
        assert_eq!(totals.summary(Op::Write), OpSummary::default());
        assert_eq!((totals.errors(), totals.bytes()), (0, 5 << 20));
    }
}
