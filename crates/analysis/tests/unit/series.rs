use assay_stats::LatencySummary;
use assay_store::read::SeriesPoint;
use assay_units::{Nanos, Op};

use super::*;

fn point(index: u32, op: Op, ios: u64, ms: u64, mean: f64) -> SeriesPoint {
    SeriesPoint {
        index,
        ramp: index == 0,
        start: Nanos::from_millis(u64::from(index) * 1000),
        end: Nanos::from_millis(u64::from(index) * 1000 + ms),
        op,
        ios,
        bytes: ios * 4096,
        errors: 0,
        latency: LatencySummary {
            samples: ios,
            mean,
            ..LatencySummary::default()
        },
    }
}

#[test]
fn reads_and_writes_add_up_and_ramp_and_stump_are_left_out() {
    let drive = CellDrive {
        drive: 0,
        result: None,
        series: vec![
            point(0, Op::Read, 999, 1000, 1.0),
            point(1, Op::Read, 100, 1000, 10.0),
            point(1, Op::Write, 300, 1000, 30.0),
            point(2, Op::Write, 256, 1000, 5.0),
            point(3, Op::Write, 256, 400, 5.0),
        ],
        telemetry: Vec::new(),
        distributions: Vec::new(),
    };
    let seconds = seconds(&drive);
    assert_eq!(seconds.len(), 2);
    assert_eq!((seconds[0].iops, seconds[0].latency_mean_ns), (400.0, 25.0));
    assert_eq!(seconds[0].written_bytes, 300 * 4096);
    assert_eq!((seconds[1].start_s, seconds[1].mib_per_s), (2.0, 1.0));
}
