use std::collections::BTreeMap;

use super::*;
use crate::series::silent::silent;

/// An interval that starts at its index times a second.
fn point(index: u32, op: Op, ios: u64, ms: u64) -> OpSample {
    let start = Nanos::from_millis(u64::from(index) * 1000);
    let silent = silent(index, index == 0, start, start + Nanos::from_millis(ms), op);
    OpSample { ios, bytes: ios * 4096, errors: 1, ..silent }
}

/// Merges; each merged sample's `samples` is the number of its source intervals, of others it stays
/// 0.
fn merge(series: Vec<OpSample>) -> Vec<OpSample> {
    let latency_of = |_, sources: Sources<'_>| {
        Ok::<_, ()>(LatencySummary {
            samples: sources.indices.len() as u64,
            ..LatencySummary::default()
        })
    };
    merge_short(series, latency_of).expect("never fails")
}

#[test]
fn a_short_last_interval_is_added_to_the_one_before() {
    let mut series = vec![
        point(1, Op::Write, 100, 1000),
        point(2, Op::Write, 256, 1000),
        point(3, Op::Write, 64, 499),
    ];
    let merged = merge(series.clone());
    assert_eq!(merged.len(), 2);
    assert_eq!(merged[0], series[0]);
    let last = &merged[1];
    assert_eq!((last.index, last.ios, last.errors), (2, 320, 2));
    assert_eq!(last.elapsed(), Nanos::from_millis(1499));
    assert_eq!(last.latency.samples, 2);
    series[2].end += Nanos::from_millis(1);
    assert_eq!(merge(series.clone()), series, "half is not short");
}

#[test]
fn a_short_first_interval_is_added_to_the_one_after() {
    let mut first = point(1, Op::Read, 64, 1000);
    first.start += Nanos::from_millis(900);
    let mut series = vec![point(0, Op::Read, 5, 1000), first];
    series.extend((2..5).map(|index| point(index, Op::Read, 256, 1000)));
    let merged = merge(series);
    assert_eq!(merged.len(), 4);
    assert_eq!((merged[0].ramp, merged[0].ios), (true, 5), "of the ramp");
    let second = &merged[1];
    assert_eq!((second.index, second.ios), (2, 320));
    assert_eq!(second.elapsed(), Nanos::from_millis(1100));
    let ios: u64 = merged.iter().map(|sample| sample.ios).sum();
    assert_eq!(ios, 5 + 64 + 3 * 256, "nothing is lost");
}

#[test]
fn all_operations_of_an_interval_share_its_time() {
    let merged = merge(vec![
        point(1, Op::Read, 10, 1000),
        point(1, Op::Write, 20, 1000),
        point(2, Op::Write, 1, 3),
        point(2, Op::Flush, 7, 3),
    ]);
    let ios: BTreeMap<Op, u64> = merged.iter().map(|s| (s.op, s.ios)).collect();
    assert_eq!(ios, BTreeMap::from([(Op::Read, 10), (Op::Write, 21), (Op::Flush, 7)]));
    for sample in merged {
        assert_eq!(sample.index, 1);
        assert_eq!(sample.elapsed(), Nanos::from_millis(1003));
    }
}

#[test]
fn short_intervals_only_and_none_stay_as_they_are() {
    assert!(merge(Vec::new()).is_empty());
    let one = vec![point(1, Op::Read, 5, 10)];
    assert_eq!(merge(one.clone()), one);
    let equal = vec![point(1, Op::Read, 5, 10), point(2, Op::Read, 5, 10)];
    assert_eq!(merge(equal.clone()), equal);
}

/// As [`merge`], by the minute.
fn minutes(series: Vec<OpSample>) -> Vec<OpSample> {
    let latency_of = |_, sources: Sources<'_>| {
        Ok::<_, ()>(LatencySummary {
            samples: sources.indices.len() as u64,
            ..LatencySummary::default()
        })
    };
    merge_minutes(series, latency_of).expect("never fails")
}

#[test]
fn minutes_have_the_sums_of_their_seconds() {
    // A second of the ramp, 140 s, and the completions in flight at the end.
    let mut series: Vec<OpSample> = (0..141).map(|at| point(at, Op::Read, 10, 1000)).collect();
    series.push(point(141, Op::Read, 7, 2));
    series.push(point(70, Op::Write, 1, 1000));
    series.sort_by_key(|sample| (sample.index, !sample.ramp, sample.op));
    let merged = minutes(series);
    let rows = merged.iter();
    let rows = rows.map(|m| (m.index, m.ramp, m.op, m.ios, m.latency.samples));
    let wanted = [
        (0, true, Op::Read, 10, 0),
        (0, false, Op::Read, 590, 59),
        // The third minute is 21 s: short, and so part of the second.
        (1, false, Op::Read, 817, 82),
        (1, false, Op::Write, 1, 82),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), wanted);
    let ios: u64 = merged.iter().map(|m| m.ios).sum();
    assert_eq!(ios, 10 + 1400 + 7 + 1);
    assert_eq!(merged[2].start, Nanos::from_secs(60));
}

#[test]
fn a_series_by_the_minute_stays_as_it_is() {
    let series: Vec<OpSample> = (0..3)
        .map(|minute| {
            let start = Nanos::from_secs(60 * u64::from(minute));
            let end = start + Nanos::from_secs(60);
            let silent = silent(minute, false, start, end, Op::Write);
            OpSample { ios: 5, ..silent }
        })
        .collect();
    assert_eq!(minutes(series.clone()), series);
}
