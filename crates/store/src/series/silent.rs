//! Intervals in which nothing completed are samples with zero I/Os. An I/O loop that blocks through
//! a long stall (a real drive's blocking call) records none, and the journal has a gap. Means,
//! minima and charts must count both alike, so gaps are filled when a run is read.

use std::collections::BTreeMap;

use assay_stats::LatencySummary;
use assay_units::{Nanos, Op};

use super::OpSample;

/// An hour by the second, beside [`SILENT_PER_RECORDED`]. A real drive that completes nothing for
/// minutes is abandoned (`assay_io::IO_TIMEOUT`), so more are a damaged index: they stay a gap.
const MAX_SILENT: u64 = 3_600;
/// For each recorded one: bounds the memory for a series by the size of its journal.
const SILENT_PER_RECORDED: u64 = 10;

/// How many silent intervals a series may still get.
#[derive(Debug)]
pub struct SilentBudget {
    left: u64,
    /// Intervals that were not recorded and are not filled.
    pub refused: u64,
}

impl SilentBudget {
    /// Of a series with this number of recorded intervals.
    pub fn new(recorded: usize) -> SilentBudget {
        SilentBudget {
            left: MAX_SILENT.saturating_add(SILENT_PER_RECORDED.saturating_mul(recorded as u64)),
            refused: 0,
        }
    }

    fn grants(&mut self, missing: u64) -> bool {
        let left = self.left.checked_sub(missing);
        match left {
            Some(left) => self.left = left,
            None => self.refused = self.refused.saturating_add(missing),
        }
        left.is_some()
    }
}

/// Start and end of recorded intervals by index and "measured"; the ramp's part comes first.
pub type Spans = BTreeMap<(u32, bool), (Nanos, Nanos)>;

/// Fills the gaps, for the operations of the interval before (before the first one: of the first).
pub fn fill_gaps(
    series: Vec<OpSample>,
    spans: &Spans,
    ramp: Nanos,
    budget: &mut SilentBudget,
) -> Vec<OpSample> {
    let mut out: Vec<OpSample> = Vec::with_capacity(series.len());
    let ops_of = |samples: &[OpSample]| -> Vec<Op> { samples.iter().map(|p| p.op).collect() };
    let same = |a: &OpSample, b: &OpSample| (a.index, a.ramp) == (b.index, b.ramp);
    let mut intervals = series.chunk_by(same).peekable();
    let mut ops = intervals.peek().map_or(Vec::new(), |first| ops_of(first));
    let mut before: Option<(u32, Nanos)> = None;
    for (&(index, measured), &(start, end)) in spans {
        if let Some((last, ended)) = before {
            // The measured part of the interval in which the ramp ends has the index of the ramp's
            // part: nothing is missing.
            let missing = u64::from(index).saturating_sub(u64::from(last) + 1);
            if budget.grants(missing) {
                push_gap(&mut out, &ops, (last, ended, start), missing, ramp);
            }
        }
        before = Some((index, end));
        match intervals.next_if(|ops| (ops[0].index, !ops[0].ramp) == (index, measured)) {
            Some(samples) => {
                ops = ops_of(samples);
                out.extend_from_slice(samples);
            }
            None if end > start => {
                out.extend(ops.iter().map(|&op| silent(index, !measured, start, end, op)));
            }
            None => (),
        }
    }
    out
}

/// Appends silent intervals up to the end of the measured span `elapsed`.
pub fn fill_end(
    series: &mut Vec<OpSample>,
    elapsed: Nanos,
    ramp: Nanos,
    budget: &mut SilentBudget,
) {
    let measured = || series.iter().filter(|p| !p.ramp);
    let longest = measured().map(OpSample::elapsed).max().unwrap_or_default();
    let (Some(first), Some(last)) = (measured().map(|p| p.start).min(), series.last().cloned())
    else {
        return;
    };
    let end = first + elapsed;
    if longest == Nanos::ZERO || end <= last.end {
        return;
    }
    let missing = ((end - last.end).0 + longest.0 / 2) / longest.0;
    let in_last = |p: &&OpSample| (p.index, p.ramp) == (last.index, last.ramp);
    let recent = series.iter().rev().take_while(in_last);
    let ops: Vec<Op> = recent.map(|p| p.op).collect();
    if budget.grants(missing) {
        push_gap(series, &ops, (last.index, last.end, end), missing, ramp);
    }
}

/// `missing` intervals of equal length.
fn push_gap(
    out: &mut Vec<OpSample>,
    ops: &[Op],
    (last, from, to): (u32, Nanos, Nanos),
    missing: u64,
    ramp: Nanos,
) {
    if missing == 0 || to <= from {
        return;
    }
    let span = to - from;
    let at =
        |n: u64| from + Nanos((u128::from(span.0) * u128::from(n) / u128::from(missing)) as u64);
    for n in 0..missing {
        // Saturates only after an index near u32::MAX, which a damaged journal can hold.
        let index = last.saturating_add(n as u32 + 1);
        let (start, end) = (at(n), at(n + 1));
        out.extend(ops.iter().map(|&op| silent(index, start < ramp, start, end, op)));
    }
}

pub(crate) fn silent(index: u32, ramp: bool, start: Nanos, end: Nanos, op: Op) -> OpSample {
    OpSample {
        index,
        ramp,
        start,
        end,
        op,
        ios: 0,
        bytes: 0,
        errors: 0,
        latency: LatencySummary::default(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/series/silent.rs"]
mod tests;
