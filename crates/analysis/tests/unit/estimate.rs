use assay_stats::LatencySummary;
use assay_store::model::CellResult;
use assay_store::series::OpSample;
use assay_store::series::{short, silent};
use assay_units::{Nanos, Op};

use super::*;

fn point(index: u32, op: Op, ios: u64, mean: f64) -> OpSample {
    OpSample {
        index,
        ramp: index == 0,
        start: Nanos::from_secs(u64::from(index)),
        end: Nanos::from_secs(u64::from(index) + 1),
        op,
        ios,
        bytes: ios * 4096,
        errors: 0,
        latency: LatencySummary {
            samples: ios,
            mean,
            p99: (mean * 3.0) as u64,
            ..LatencySummary::default()
        },
    }
}

fn drive(series: Vec<OpSample>, elapsed_s: u64) -> CellDrive {
    CellDrive {
        drive: 0,
        result: Some(CellResult { elapsed: Nanos::from_secs(elapsed_s), ..CellResult::default() }),
        series,
        telemetry: Vec::new(),
        distributions: Vec::new(),
        gaps: Vec::new(),
    }
}

#[test]
fn means_are_those_of_the_result() {
    let series = (0..41)
        .flat_map(|i| {
            let odd = u64::from(i % 2);
            [
                point(i, Op::Read, 1000 + 200 * odd, 1e5 + 1e4 * odd as f64),
                point(i, Op::Write, 256, 7.0),
            ]
        })
        .collect();
    let e = estimate_cell(&drive(series, 40));
    // The ramp second is left out: twenty of each kind are left.
    let iops = e.iops.unwrap();
    assert!((iops.mean - 1356.0).abs() < 1e-9);
    assert!(iops.low < iops.mean && iops.samples == 40);
    assert!((e.mib_per_s.unwrap().mean - 1356.0 / 256.0).abs() < 1e-9);
    // Weighted by I/Os, as the merged histogram's mean: (1000 * 1e5 + 1200 * 1.1e5) / 2200.
    assert!((e.latency_mean_ns.unwrap().mean - 232e6 / 2200.0).abs() < 1e-6);
}

#[test]
fn silent_seconds_count_as_zero() {
    let series = (1..161).filter(|i| i % 4 > 0).map(|i| point(i, Op::Write, 600, 1e5)).collect();
    // Every fourth second without completions, and two at the end: filled in when a run is read.
    let series: Vec<OpSample> = series;
    let spans = series.iter().map(|p| ((p.index, !p.ramp), (p.start, p.end)));
    let mut budget = silent::SilentBudget::new(series.len());
    let spans = spans.collect();
    let mut series = silent::fill_gaps(series.clone(), &spans, Nanos::ZERO, &mut budget);
    silent::fill_end(&mut series, Nanos::from_secs(163), Nanos::ZERO, &mut budget);
    let iops = estimate_cell(&drive(series, 163)).iops.unwrap();
    assert_eq!(iops.samples, 163);
    assert!((iops.mean - 120.0 * 600.0 / 163.0).abs() < 1e-9);
}

#[test]
fn a_short_last_interval_counts_but_is_no_sample() {
    let mut series: Vec<OpSample> =
        (1..41).map(|i| point(i, Op::Read, 590 + 10 * u64::from(i % 2), 1e5)).collect();
    let mut stump = point(41, Op::Read, 149, 1e5);
    stump.end = stump.start + Nanos::from_millis(250);
    let latency = stump.latency;
    series.push(stump);
    // Merged with the one before when a run is read.
    let series = short::merge_short(series, |_, _| Ok::<_, std::convert::Infallible>(latency));
    let mut d = drive(series.unwrap(), 40);
    d.result.as_mut().unwrap().elapsed = Nanos::from_millis(40_250);
    let iops = estimate_cell(&d).iops.unwrap();
    assert_eq!(iops.samples, 40);
    assert!((iops.mean - (595.0 * 40.0 + 149.0) / 40.25).abs() < 1e-9);
}

#[test]
fn short_series_have_no_interval() {
    let short = (1..9).map(|i| point(i, Op::Read, 500, 1e5)).collect();
    let e = estimate_cell(&drive(short, 8));
    let too_short = "too short: 8 seconds, at least 30 are needed";
    for figure in [e.iops, e.mib_per_s, e.latency_mean_ns] {
        assert_eq!(figure.unwrap_err().to_string(), too_short);
    }
    let sparse = (1..41).map(|i| point(i, Op::Read, 99, 1e5)).collect();
    let e = estimate_cell(&drive(sparse, 40));
    assert!(e.iops.is_ok());
    assert_eq!(estimate_cell(&drive(Vec::new(), 0)), Estimates::default());
}

/// Two levels of a round each: the memory is the reason, in seconds.
#[test]
fn rounds_are_concatenated() {
    let round = |from: u64, seconds: u32| {
        let series = (1..=seconds).map(|i| point(i, Op::Read, from + u64::from(i % 3), 1e5));
        drive(series.collect(), seconds.into())
    };
    let (a, b) = (round(1000, 30), round(1100, 30));
    let e = of_several([&a, &b]).iops.unwrap_err();
    assert!(matches!(e.reason, NoInterval::Dependent { samples: 60, .. }));
    assert!(e.to_string().starts_with("successive intervals depend on each other over"));
    let e = of_several([&round(1000, 18), &round(1000, 18)]).iops.unwrap();
    assert_eq!((e.mean, e.samples), (1001.0, 36));
}
