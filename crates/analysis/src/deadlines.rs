//! I/Os that missed a deadline: those with a longer latency, and those that failed. In an open loop
//! latency counts from the time at which the I/O was due, so that one that waited for others misses
//! its deadline too. Misses per million are misses over all I/Os of the operation, times 10^6.
//! Counts come from the raw histogram at the deadline
//! ([`assay_store::read::CellDrive::distributions`] keeps the buckets on both sides of every
//! planned deadline). An I/O in the bucket that the deadline divides counts as missed: at most 0.1
//! % of the deadline early, never late. Misses come in groups (one stall of a drive delays
//! everything behind it), so counts of one run have no confidence interval that holds. Of no miss
//! in `n` I/Os follows, even if they were independent, no rate below `3 / n` (95 %; the rule of
//! three: Hanley and Lippman-Hand, JAMA 249, 1983).

use assay_store::read::CellDrive;
use assay_units::{Nanos, Op};

/// Without a miss, nothing follows below this over the number of I/Os (95 %).
const RULE_OF_THREE: f64 = 3.0;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Misses {
    pub op: Op,
    pub deadline: Nanos,
    /// Failed ones included.
    pub ios: u64,
    pub missed: u64,
}

impl Misses {
    pub fn per_million(&self) -> f64 {
        self.missed as f64 * 1e6 / self.ios as f64
    }

    /// Without a miss: misses per million below which nothing was shown.
    pub fn shown_below(&self) -> Option<f64> {
        (self.missed == 0).then(|| RULE_OF_THREE * 1e6 / self.ios as f64)
    }
}

/// Misses by operation, without operations without any I/O.
pub fn misses_of_cell(drive: &CellDrive, deadline: Nanos) -> Vec<Misses> {
    let errors = |op: Op| {
        let result = drive.result.as_ref();
        let summaries = result.map(assay_store::model::CellResult::operations);
        let mut summaries = summaries.into_iter().flatten();
        let summary = summaries.find(|(name, _)| *name == op.name());
        summary.map_or(0, |(_, summary)| summary.errors)
    };
    let of_op = |(op, cumulative): &(Op, Vec<(Nanos, u64)>)| {
        let completed = cumulative.last().map_or(0, |last| last.1);
        let in_time = cumulative.iter().rev().find(|(latency, _)| *latency <= deadline);
        let failed = errors(*op);
        let ios = completed + failed;
        (ios > 0).then(|| Misses {
            op: *op,
            deadline,
            ios,
            missed: completed - in_time.map_or(0, |point| point.1) + failed,
        })
    };
    drive.distributions.iter().filter_map(of_op).collect()
}

/// All operations but flushes together.
pub fn of_all(drive: &CellDrive, deadline: Nanos) -> Option<Misses> {
    let each = misses_of_cell(drive, deadline).into_iter().filter(|m| m.op != Op::Flush);
    each.reduce(|sum, next| Misses {
        ios: sum.ios + next.ios,
        missed: sum.missed + next.missed,
        ..sum
    })
}

#[cfg(test)]
#[path = "../tests/unit/deadlines.rs"]
mod tests;
