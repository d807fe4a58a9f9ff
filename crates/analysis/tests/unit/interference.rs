use assay_stats::{LatencySummary, OpSummary};

use super::*;

fn reads(ios: u64, iops: f64, [p50, p99, p99_99]: [u64; 3]) -> CellResult {
    CellResult {
        read: OpSummary {
            ios,
            iops,
            latency_ns: LatencySummary {
                samples: ios,
                p50,
                p99,
                p99_99,
                ..LatencySummary::default()
            },
            ..OpSummary::default()
        },
        ..CellResult::default()
    }
}

#[test]
fn slowdowns_are_ratios_of_percentiles_and_the_rate_a_share() {
    let alone = reads(20_000, 10_000.0, [80_000, 100_000, 200_000]);
    let beside = reads(10_000, 5_000.0, [80_000, 400_000, 5_000_000]);
    let found = between(&alone, &beside);
    assert_eq!(
        found,
        Interference {
            p50: Some(1.0),
            p99: Some(4.0),
            p99_99: Some(25.0),
            kept_iops_pct: Some(50.0),
        }
    );
}

/// One sample fewer, and the percentile is the maximum.
#[test]
fn a_percentile_without_samples_beyond_it_gives_no_slowdown() {
    let alone = reads(20_000, 10_000.0, [80_000, 100_000, 200_000]);
    let with = |ios| between(&alone, &reads(ios, 1.0, [80_000, 400_000, 5_000_000]));
    assert_eq!(with(P99_99_SAMPLES - 1).p99_99, None);
    assert_eq!(with(P99_SAMPLES - 1).p99, None);
    assert!(with(P99_SAMPLES).p99.is_some());
    assert_eq!(between(&reads(0, 0.0, [0; 3]), &alone).kept_iops_pct, None);
}
