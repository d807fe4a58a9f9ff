//! Totals of a job: the sum of its measured intervals, the ramp left out.

use assay_units::{Nanos, Op};

use crate::recorder::merge_ops;
use crate::{Interval, OpInterval, OpSummary};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobTotals {
    ops: Vec<(Op, OpInterval)>,
    start: Option<Nanos>,
    end: Nanos,
}

impl JobTotals {
    pub fn add(&mut self, interval: &Interval) {
        if interval.ramp {
            return;
        }
        self.start = Some(self.start.map_or(interval.start, |s| s.min(interval.start)));
        self.end = self.end.max(interval.end);
        merge_ops(&mut self.ops, &interval.ops);
    }

    /// The later part was measured by itself, so the measured span is the sum of both.
    pub fn append(&mut self, later: &JobTotals) {
        let elapsed = self.elapsed() + later.elapsed();
        if let Some(start) = self.start.or(later.start) {
            self.start = Some(start);
            self.end = start + elapsed;
        }
        merge_ops(&mut self.ops, &later.ops);
    }

    /// Both were measured at the same time; the span is that of the longer one.
    pub fn join(&mut self, other: &JobTotals) {
        let elapsed = self.elapsed().max(other.elapsed());
        if let Some(start) = self.start.or(other.start) {
            self.start = Some(start);
            self.end = start + elapsed;
        }
        merge_ops(&mut self.ops, &other.ops);
    }

    /// From the first measured interval's start to the last one's end.
    pub fn elapsed(&self) -> Nanos {
        self.start.map_or(Nanos::ZERO, |start| self.end - start)
    }

    /// `None` when the operation never occurred.
    pub fn counts(&self, op: Op) -> Option<&OpInterval> {
        self.ops.iter().find(|(o, _)| *o == op).map(|(_, c)| c)
    }

    /// All zero when the operation never occurred.
    pub fn summary(&self, op: Op) -> OpSummary {
        let counts = self.counts(op);
        counts.map_or_else(OpSummary::default, |counts| OpSummary::new(counts, self.elapsed()))
    }

    /// Failed or short I/Os of all operations.
    pub fn errors(&self) -> u64 {
        self.ops.iter().map(|(_, counts)| counts.errors).sum()
    }

    pub fn bytes(&self) -> u64 {
        self.ops.iter().map(|(_, counts)| counts.bytes).sum()
    }

    pub fn ops(&self) -> impl Iterator<Item = Op> + '_ {
        self.ops.iter().map(|(op, _)| *op)
    }
}

#[cfg(test)]
#[path = "../tests/unit/totals.rs"]
mod tests;
