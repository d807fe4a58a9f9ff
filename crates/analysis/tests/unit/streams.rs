use assay_units::Nanos;

use super::*;
use crate::fixtures;

/// The published sweep of MLE NVMe Streamer, operation by operation: (chunks, nanoseconds).
fn published(op: &str) -> Vec<(u64, u64)> {
    let text = include_str!("../../../../reference/streamer_chunk_sweep.csv");
    let rows = text.lines().skip(1).map(|l| l.split(',').collect::<Vec<_>>());
    rows.filter(|r| r[1] == op && r[2].len() < 6)
        .map(|r| (r[2].parse().unwrap_or(0), r[4].parse().unwrap_or(0)))
        .collect()
}

fn cells(op: Op, times: &[(u64, u64)]) -> Vec<(CellPlan, CellResult)> {
    let rw = if op == Op::Read { "read" } else { "write" };
    let cells = times.iter().map(|&(chunks, ns)| {
        let mut workload = fixtures::reads(131_072, 1, 32);
        workload.rw = rw.to_owned();
        workload.span_bytes = chunks * 131_072;
        let mut result = CellResult { elapsed: Nanos(ns), ..CellResult::default() };
        let part = if op == Op::Read { &mut result.read } else { &mut result.write };
        part.bytes = workload.span_bytes;
        (fixtures::plan("streams", workload), result)
    });
    cells.collect()
}

fn streams_of(cells: &[(CellPlan, CellResult)]) -> Vec<Stream> {
    streams(cells.iter().map(|(p, r)| (p, r)))
}

#[test]
fn the_published_sweep_has_the_reported_cliffs() {
    let mut all = cells(Op::Read, &published("read"));
    all.extend(cells(Op::Write, &published("write")));
    let streams = streams_of(&all);
    assert_eq!(streams.len(), 32);
    let first = &streams[0];
    assert_eq!((first.op, first.length_bytes), (Op::Write, 131_072));
    assert!((first.mib_per_s - 21.87).abs() < 0.01);
    assert_eq!(first.interval_mib_per_s, None, "one repetition");
    let peak = peak(&streams, Op::Write).unwrap();
    assert_eq!(peak.length_bytes, 8 << 20);
    // A cache of up to 8 MiB, and one smaller than 4 GiB.
    let cliffs = super::cliffs(&streams, Op::Write);
    let at: Vec<(u64, u64)> =
        cliffs.iter().map(|c| (c.before_bytes >> 20, c.after_bytes >> 20)).collect();
    assert_eq!(at, [(8, 16), (2048, 4096)]);
    assert!((cliffs[0].from_mib_per_s - 2552.0).abs() < 1.0);
    assert!((cliffs[1].to_mib_per_s - 678.0).abs() < 1.0);
    assert_eq!(super::cliffs(&streams, Op::Read), []);
    assert!(!holds(2552.0, 441.0) && holds(1494.0, 1702.0));
}

#[test]
fn one_cliff_for_a_slow_mean_and_none_for_a_recovered_one() {
    // A cache of 4 chunks with 8 times the rate of the flash.
    let time = |n: u64| n.min(4) * 100 + n.saturating_sub(4) * 800;
    let slow: Vec<(u64, u64)> = (0..8).map(|n| (1 << n, time(1 << n))).collect();
    let streams = streams_of(&cells(Op::Write, &slow));
    let found = super::cliffs(&streams, Op::Write);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].before_bytes, 4 * 131_072);
    assert!(found[0].to_mib_per_s < 0.2 * found[0].from_mib_per_s);
    // One slow length among fast ones is not a cliff.
    let dip = [(1, 100), (2, 200), (4, 900), (8, 800), (16, 1600)];
    assert_eq!(super::cliffs(&streams_of(&cells(Op::Write, &dip)), Op::Write), []);
    assert_eq!(super::cliffs(&[], Op::Write), []);
}

#[test]
fn repetitions_are_averaged_by_time_with_an_interval() {
    let streams = streams_of(&cells(Op::Read, &[(8, 900), (8, 1000), (8, 1100), (4, 0)]));
    let [one] = streams.as_slice() else {
        panic!("{streams:?}");
    };
    assert_eq!((one.repeats, one.mean_ns.round()), (3, 1000.0));
    // Half a width of 4.303 standard errors (two degrees of freedom) of 100 / sqrt(3) ns.
    let (low, high) = one.interval_mib_per_s.unwrap();
    let ns = |rate: f64| one.mib_per_s / rate * 1000.0;
    assert!((ns(low) - 1248.4).abs() < 0.1 && (ns(high) - 751.6).abs() < 0.1);
}
