//! Intervals in which nothing completed: points of a series like any other, of no I/Os.
//!
//! A drive loop that wakes up in every interval hands over empty ones; one that waits out a long stall (a real drive's blocking call) skips
//! them, and the journal has a gap. Either way the drive did nothing then, and whoever takes a mean, a minimum or a picture must see it.

use std::collections::BTreeMap;

use assay_stats::LatencySummary;
use assay_units::{Nanos, Op};

use crate::read::SeriesPoint;

/// More silent intervals in a row are no stall but a damaged index: they stay a gap.
const MAX_SILENT: u64 = 100_000;

/// Where each interval of a drive lies, by index and "measured"; the ramp's part of an interval comes first.
pub(super) type Spans = BTreeMap<(u32, bool), (Nanos, Nanos)>;

/// The series with the silent intervals between its points. They are of the operations that came last, or first where none had come.
pub(super) fn told(series: Vec<SeriesPoint>, spans: &Spans, ramp: Nanos) -> Vec<SeriesPoint> {
    let mut out: Vec<SeriesPoint> = Vec::with_capacity(series.len());
    let ops_at = |points: &[SeriesPoint]| -> Vec<Op> { points.iter().map(|p| p.op).collect() };
    let same = |a: &SeriesPoint, b: &SeriesPoint| (a.index, a.ramp) == (b.index, b.ramp);
    let mut intervals = series.chunk_by(same).peekable();
    let mut ops = intervals.peek().map_or(Vec::new(), |first| ops_at(first));
    let mut before: Option<(u32, Nanos)> = None;
    for (&(index, measured), &(start, end)) in spans {
        if let Some((last, ended)) = before {
            let missing = u64::from(index).saturating_sub(u64::from(last) + 1);
            let gap = (last, ended, start);
            push_gap(&mut out, &ops, gap, missing, ramp);
        }
        before = Some((index, end));
        match intervals.next_if(|points| (points[0].index, !points[0].ramp) == (index, measured)) {
            Some(points) => {
                ops = ops_at(points);
                out.extend_from_slice(points);
            }
            None if end > start => {
                out.extend(
                    ops.iter()
                        .map(|&op| nothing(index, !measured, start, end, op)),
                );
            }
            None => (),
        }
    }
    out
}

/// The silent intervals between the end of a series and the end of what a result says was measured.
pub(super) fn tell_end(series: &mut Vec<SeriesPoint>, elapsed: Nanos, ramp: Nanos) {
    let measured = || series.iter().filter(|p| !p.ramp);
    let longest = measured()
        .map(SeriesPoint::elapsed)
        .max()
        .unwrap_or_default();
    let (Some(first), Some(last)) = (measured().map(|p| p.start).min(), series.last().cloned())
    else {
        return;
    };
    let end = first + elapsed;
    if longest == Nanos::ZERO || end <= last.end {
        return;
    }
    let rest = end - last.end;
    let missing = (rest.0 + longest.0 / 2) / longest.0;
    let at = |p: &&SeriesPoint| (p.index, p.ramp) == (last.index, last.ramp);
    let ops: Vec<Op> = series.iter().rev().take_while(at).map(|p| p.op).collect();
    push_gap(series, &ops, (last.index, last.end, end), missing, ramp);
}

/// So many silent intervals between an end and a start.
fn push_gap(
    out: &mut Vec<SeriesPoint>,
    ops: &[Op],
    (last, from, to): (u32, Nanos, Nanos),
    missing: u64,
    ramp: Nanos,
) {
    if missing == 0 || missing > MAX_SILENT || to <= from {
        return;
    }
    let span = to - from;
    let at =
        |n: u64| from + Nanos((u128::from(span.0) * u128::from(n) / u128::from(missing)) as u64);
    for n in 0..missing {
        let index = last.saturating_add(n as u32 + 1);
        let (start, end) = (at(n), at(n + 1));
        out.extend(
            ops.iter()
                .map(|&op| nothing(index, start < ramp, start, end, op)),
        );
    }
}

fn nothing(index: u32, ramp: bool, start: Nanos, end: Nanos, op: Op) -> SeriesPoint {
    SeriesPoint {
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
#[path = "../../tests/unit/fold/silence.rs"]
mod tests;
