use super::super::OfferedLoad;
use super::*;

fn factors(figure: &str, in_flight: Option<u32>, low: f64, high: f64) -> PredictiveFactors {
    PredictiveFactors {
        figure: figure.to_owned(),
        in_flight,
        situation: String::new(),
        drives: 9,
        low,
        high,
    }
}

#[test]
fn the_interval_of_a_known_depth_precedes_that_of_any() {
    let drive = DriveRecord {
        predictive: vec![
            factors("random_read", None, 0.5, 2.0),
            factors("random_read", Some(16), 0.8, 1.25),
        ],
        ..DriveRecord::default()
    };
    let low = |figure, in_flight| drive.factors(figure, in_flight).map(|f| f.low);
    assert_eq!(low("random_read", 16), Some(0.8));
    assert_eq!(low("random_read", 17), Some(0.5));
    assert_eq!(low("random_write", 16), None);
}

#[test]
fn only_cells_whose_rate_the_drive_alone_determines_have_intervals() {
    let drive = DriveRecord {
        predictive: vec![
            factors("random_read", None, 0.5, 2.0),
            factors(LATENCY_PERCENTILE, None, 0.4, 3.0),
        ],
        ..DriveRecord::default()
    };
    let plain = CellPlan {
        drives: vec![3],
        workload: WorkloadRecord {
            rw: "randread".to_owned(),
            direct: true,
            options: "--rw randread --runtime 5s".to_owned(),
            ..WorkloadRecord::default()
        },
        ..CellPlan::default()
    };
    let lows = |plan: &CellPlan| drive.predictive(plan).map(|f| f.map(|f| f.low));
    assert_eq!(lows(&plain), [Some(0.5), Some(0.4)]);
    let limited: [fn(&mut CellPlan); 6] = [
        |plan| plan.workload.idle_before_io_ns = Some(1_000),
        |plan| plan.drives.push(4),
        |plan| plan.workload.rate_iops = 100.0,
        |plan| plan.workload.options.push_str(" --rate_bw 1m"),
        |plan| {
            plan.load = Some(OfferedLoad { of: "sweep".to_owned(), percent: 80.0 });
        },
        |plan| plan.workload.rw = "randrw".to_owned(),
    ];
    for change in limited {
        let mut plan = plain.clone();
        change(&mut plan);
        assert_eq!(lows(&plan), [None, None], "{plan:?}");
    }
}

#[test]
fn no_rate_is_expected_above_what_the_link_carries() {
    let drive = DriveRecord {
        predictive: vec![factors("sequential_read", None, 0.5, 4.0)],
        link_bytes_per_second: Some(200 << 20),
        ..DriveRecord::default()
    };
    let plan = CellPlan {
        drives: vec![0],
        workload: WorkloadRecord {
            rw: "read".to_owned(),
            direct: true,
            ..WorkloadRecord::default()
        },
        ..CellPlan::default()
    };
    let mut result = CellResult::default();
    for (mib_per_s, high) in [(20.0, 80.0), (100.0, 200.0), (210.0, 210.0)] {
        result.read.mib_per_s = mib_per_s;
        let [rate, _] = drive.predictive_of(&plan, &result);
        let ends = rate.map(|f| f.of_rate(mib_per_s));
        assert_eq!(ends, Some([mib_per_s / 2.0, high]));
    }
}

#[test]
fn a_rate_that_the_host_set_has_no_interval() {
    let drive = DriveRecord {
        predictive: vec![factors("random_read", None, 0.5, 2.0)],
        ..DriveRecord::default()
    };
    let mut plan = CellPlan::default();
    (plan.drives, plan.workload.direct) = (vec![0], true);
    plan.workload.rw = "randread".to_owned();
    let has_one = |busiest_thread_pct| {
        let result = CellResult { busiest_thread_pct, ..CellResult::default() };
        drive.predictive_of(&plan, &result)[0].is_some()
    };
    assert!(has_one(None) && has_one(Some(60.0)));
    assert!(!has_one(Some(100.0)));
}

/// The interval of a rate that the host set is the host's, and ends at what the link carries.
#[test]
fn a_rate_that_the_host_set_has_the_interval_of_hosts() {
    let drive = DriveRecord {
        link_bytes_per_second: Some(120 << 20),
        host: Some(ModelledHost { spread: 1.6, ..ModelledHost::default() }),
        ..DriveRecord::default()
    };
    let mut plan = CellPlan { drives: vec![0], ..CellPlan::default() };
    let mut result = CellResult::default();
    let factors = |plan: &CellPlan, result: &CellResult| {
        let found = drive.host_interval(plan, result);
        found.map(|(factors, _)| factors)
    };
    result.busiest_thread_pct = Some(60.0);
    assert_eq!(factors(&plan, &result), None);
    result.busiest_thread_pct = Some(100.0);
    for (mib_per_s, high) in [(10.0, 1.6), (100.0, 1.2), (130.0, 1.0)] {
        result.read.mib_per_s = mib_per_s;
        assert_eq!(factors(&plan, &result), Some([0.625, high]));
    }
    plan.workload.rate_iops = 10.0;
    assert_eq!(factors(&plan, &result), None);
}

#[test]
fn a_mean_latency_has_the_inverse_interval() {
    let one = factors("random_read", None, 0.5, 1.25);
    assert_eq!(one.of_rate(100.0), [50.0, 125.0]);
    assert_eq!(one.of_mean_latency(100.0), [80.0, 200.0]);
}

#[test]
fn only_plain_direct_workloads_have_a_kind() {
    let workload = |rw: &str, direct| WorkloadRecord {
        rw: rw.to_owned(),
        direct,
        iodepth: 4,
        numjobs: 8,
        ..WorkloadRecord::default()
    };
    assert_eq!(workload("randread", true).figure_kind(), Some("random_read"));
    assert_eq!(workload("randrw", true).figure_kind(), None);
    assert_eq!(workload("read", false).figure_kind(), None);
    assert_eq!(workload("read", true).in_flight(), 32);
}
