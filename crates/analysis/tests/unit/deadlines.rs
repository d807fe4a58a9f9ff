use assay_stats::{Histogram, OpSummary};
use assay_store::model::CellResult;

use super::*;

/// Reads with these latencies in microseconds, and so many that failed.
fn reads(latencies_us: &[u64], errors: u64) -> CellDrive {
    let mut histogram = Histogram::new();
    for us in latencies_us {
        histogram.record(Nanos::from_micros(*us));
    }
    CellDrive {
        result: Some(CellResult {
            read: OpSummary { ios: latencies_us.len() as u64, errors, ..OpSummary::default() },
            ..CellResult::default()
        }),
        distributions: vec![(Op::Read, histogram.cumulative())],
        ..CellDrive::default()
    }
}

#[test]
fn slower_and_failed_operations_miss_a_deadline() {
    let drive = reads(&[100, 200, 5_000, 20_000], 1);
    let found = misses_of_cell(&drive, Nanos::from_millis(10));
    let [misses] = found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((misses.ios, misses.missed), (5, 2));
    assert!((misses.per_million() - 400_000.0).abs() < 1e-6);
    assert_eq!(misses.shown_below(), None);
    assert_eq!(of_all(&drive, Nanos::from_millis(10)), Some(misses));
}

/// The bucket that the deadline divides counts as missed: never too few.
#[test]
fn a_deadline_within_a_bucket_counts_the_bucket_as_missed() {
    let drive = reads(&[10_000; 10], 0);
    let missed = |deadline| misses_of_cell(&drive, Nanos(deadline))[0].missed;
    assert_eq!(missed(10_000_000), 0, "the longest latency is known exactly");
    assert_eq!(missed(9_999_999), 10);
    let drive = reads(&[10_000, 10_001, 30_000], 0);
    assert_eq!(misses_of_cell(&drive, Nanos(10_000_000))[0].missed, 3);
    assert_eq!(misses_of_cell(&drive, Nanos(10_020_000))[0].missed, 1, "0.2 % above");
}

#[test]
fn no_miss_shows_nothing_below_three_over_the_operations() {
    let drive = reads(&[100; 3_000], 0);
    let misses = misses_of_cell(&drive, Nanos::from_millis(1))[0];
    assert_eq!(misses.per_million(), 0.0);
    assert_eq!(misses.shown_below(), Some(1000.0));
    assert_eq!(of_all(&CellDrive::default(), Nanos(1)), None);
}
