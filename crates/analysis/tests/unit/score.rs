use assay_stats::LatencySummary;
use assay_store::series::OpSample;
use assay_units::{Nanos, Op};

use super::*;

fn hour(seconds: u32, iops: impl Fn(u32) -> u64) -> CellDrive {
    let series = (0..seconds)
        .map(|index| OpSample {
            index,
            ramp: false,
            start: Nanos::from_secs(index.into()),
            end: Nanos::from_secs(u64::from(index) + 1),
            op: Op::Write,
            ios: iops(index),
            bytes: iops(index) * 4096,
            errors: 0,
            latency: LatencySummary::default(),
        })
        .collect();
    CellDrive {
        drive: 0,
        result: None,
        series,
        telemetry: Vec::new(),
        distributions: Vec::new(),
        gaps: Vec::new(),
    }
}

#[test]
fn the_last_400_seconds_of_an_hour() {
    let s =
        score_of_cell(&hour(3600, |i| if i < 3200 { 90_000 } else { 22_000 + u64::from(i % 2) }))
            .unwrap();
    assert_eq!((s.score.samples, s.from_s, s.to_s, s.shortened), (400, 3200.0, 3600.0, false));
    assert_eq!((s.score.mean, s.score.min), (22_000.5, 22_000.0));
}

#[test]
fn the_last_ninth_of_less() {
    let s = score_of_cell(&hour(90, |i| if i < 80 { 90_000 } else { 22_000 })).unwrap();
    assert_eq!((s.score.samples, s.from_s, s.shortened), (10, 80.0, true));
    assert_eq!(s.score.mean, 22_000.0);
    assert_eq!(score_of_cell(&hour(1, |_| 5)), None);
    assert_eq!(score_of_cell(&hour(0, |_| 5)), None);
}
