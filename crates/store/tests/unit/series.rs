use super::*;

fn point(index: u32, op: Op, ios: u64, ms: u64, mean: f64) -> OpSample {
    OpSample {
        index,
        ramp: index == 0,
        start: Nanos::from_millis(u64::from(index) * 1000),
        end: Nanos::from_millis(u64::from(index) * 1000 + ms),
        op,
        ios,
        bytes: ios * 4096,
        errors: 1,
        latency: LatencySummary {
            samples: ios,
            mean,
            p99: mean as u64 * 3,
            ..LatencySummary::default()
        },
    }
}

fn drive(series: Vec<OpSample>) -> CellDrive {
    CellDrive {
        drive: 0,
        result: None,
        series,
        telemetry: Vec::new(),
        distributions: Vec::new(),
    }
}

#[test]
fn operations_of_an_interval_add_up_and_the_ramp_is_left_out() {
    let drive = drive(vec![
        point(0, Op::Read, 999, 1000, 1.0),
        point(1, Op::Read, 100, 1000, 10.0),
        point(1, Op::Write, 300, 1000, 30.0),
        point(2, Op::Write, 256, 1000, 5.0),
    ]);
    let all = drive.intervals();
    assert_eq!((all.len(), all[0].ramp, all[0].ios()), (3, true, 999));
    let measured = drive.measured_intervals();
    assert_eq!(measured, all[1..]);
    let (first, second) = (measured[0], measured[1]);
    assert_eq!((first.iops(), first.latency_mean_ns()), (400.0, 25.0));
    assert_eq!((first.write.bytes, first.errors()), (300 * 4096, 2));
    assert_eq!((first.read.p99_ns, first.write.p99_ns), (30, 90));
    assert_eq!((second.start_s(), second.mib_per_s()), (2.0, 1.0));
}

#[test]
fn a_short_last_interval_is_added_to_the_one_before() {
    let mut drive = drive(vec![
        point(1, Op::Write, 100, 1000, 10.0),
        point(2, Op::Write, 256, 1000, 5.0),
        point(3, Op::Write, 64, 499, 9.0),
    ]);
    let measured = drive.measured_intervals();
    assert_eq!(measured.len(), 2);
    let last = measured[1];
    assert_eq!((last.index, last.write.ios), (2, 320));
    assert_eq!((last.elapsed_s(), last.write.p99_ns), (1.499, 15));
    assert_eq!(last.iops(), 320.0 / 1.499);
    assert_eq!(last.latency_mean_ns(), (256.0 * 5.0 + 64.0 * 9.0) / 320.0);
    drive.series[2].end += Nanos::from_millis(1);
    assert_eq!(drive.measured_intervals().len(), 3, "half is not short");
}

#[test]
fn a_short_first_interval_is_added_to_the_one_after() {
    let mut first = point(1, Op::Read, 64, 1000, 9.0);
    first.start += Nanos::from_millis(900);
    let mut series = vec![point(0, Op::Read, 5, 1000, 1.0), first];
    series.extend((2..5).map(|index| point(index, Op::Read, 256, 1000, 5.0)));
    let drive = drive(series);
    let measured = drive.measured_intervals();
    assert_eq!(measured.len(), 3);
    assert_eq!((measured[0].index, measured[0].ios()), (2, 320));
    assert_eq!((measured[0].start_s(), measured[0].elapsed_s()), (1.9, 1.1));
    let ios: u64 = measured.iter().map(IntervalSample::ios).sum();
    assert_eq!(ios, 64 + 3 * 256, "nothing is lost");
}

#[test]
fn a_series_of_one_interval_or_none_stays_as_it_is() {
    assert!(drive(Vec::new()).measured_intervals().is_empty());
    let one = drive(vec![point(1, Op::Read, 5, 10, 1.0)]);
    assert_eq!(one.measured_intervals().len(), 1);
}
