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
        gaps: Vec::new(),
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
