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
mod tests {
    use super::*;

    const SECOND: Nanos = Nanos::SECOND;

    fn point(index: u32, op: Op) -> SeriesPoint {
        let start = Nanos(u64::from(index) * SECOND.0);
        SeriesPoint {
            ios: 5,
            ..nothing(index, index == 0, start, start + SECOND, op)
        }
    }

    fn spans(indices: &[u32]) -> Spans {
        let span = |&n: &u32| {
            let start = Nanos(u64::from(n) * SECOND.0);
            ((n, n > 0), (start, start + SECOND))
        };
        indices.iter().map(span).collect()
    }

    /// Index, start in seconds, I/Os, operation.
    fn seen(series: &[SeriesPoint]) -> Vec<(u32, u64, u64, Op)> {
        let of = |p: &SeriesPoint| (p.index, p.start.0 / SECOND.0, p.ios, p.op);
        series.iter().map(of).collect()
    }

    #[test]
    fn empty_intervals_and_gaps_are_points_of_nothing() {
        let series = vec![point(0, Op::Read), point(1, Op::Read), point(5, Op::Write)];
        // 2 was handed over empty, 3 and 4 were not handed over, nor was anything after 6.
        let mut told = told(series, &spans(&[0, 1, 2, 5, 6]), SECOND);
        tell_end(&mut told, Nanos(7 * SECOND.0), SECOND);
        let expected = [
            (0, 0, 5, Op::Read),
            (1, 1, 5, Op::Read),
            (2, 2, 0, Op::Read),
            (3, 3, 0, Op::Read),
            (4, 4, 0, Op::Read),
            (5, 5, 5, Op::Write),
            (6, 6, 0, Op::Write),
            (7, 7, 0, Op::Write),
        ];
        assert_eq!(seen(&told), expected);
        assert!(
            told.iter()
                .all(|p| p.ramp == (p.index == 0) && p.elapsed() == SECOND)
        );
    }

    #[test]
    fn a_series_without_silence_stays_as_it_is() {
        let series: Vec<_> = (0..4)
            .flat_map(|n| [point(n, Op::Read), point(n, Op::Write)])
            .collect();
        let mut told = told(series.clone(), &spans(&[0, 1, 2, 3]), SECOND);
        // Half a second more is the end of an interval, not one.
        tell_end(&mut told, Nanos(3 * SECOND.0 + SECOND.0 / 3), SECOND);
        assert_eq!(seen(&told), seen(&series));
    }

    #[test]
    fn a_drive_that_did_nothing_first_or_at_all_has_what_there_is_to_tell() {
        let first = told(vec![point(2, Op::Write)], &spans(&[0, 1, 2]), Nanos::ZERO);
        assert_eq!(first.len(), 3);
        assert_eq!((first[0].ios, first[0].op), (0, Op::Write));
        assert!(told(Vec::new(), &spans(&[0, 1]), Nanos::ZERO).is_empty());
        let mut none = Vec::new();
        tell_end(&mut none, SECOND, Nanos::ZERO);
        assert!(none.is_empty());
    }

    #[test]
    fn a_damaged_index_makes_no_silence() {
        let far = vec![point(1, Op::Read), point(4_000_000_000, Op::Read)];
        assert_eq!(told(far, &spans(&[1, 4_000_000_000]), Nanos::ZERO).len(), 2);
    }
}
