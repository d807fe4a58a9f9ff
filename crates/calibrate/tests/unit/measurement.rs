//! Keys, tolerances, words.

use super::*;

fn measured(metric: Metric, value: f64) -> Measurement {
    Measurement {
        procedure: Procedure::Steady(Workload::read(Access::Random, 16, 4096)),
        metric,
        value,
        tolerance: Tolerance::of(metric),
        source: "test".to_owned(),
        role: Role::Target,
    }
}

#[test]
fn words_of_metrics_are_read_back() {
    for metric in Metric::ALL {
        assert_eq!(Metric::parse(metric.name()), Some(metric));
    }
    assert_eq!(Metric::parse("MiB/s"), None);
}

#[test]
fn a_tolerance_is_relative_or_in_kelvin() {
    let rate = measured(Metric::MibPerS, 200.0);
    assert!(rate.is_met(220.0) && rate.is_met(180.0) && !rate.is_met(221.0));
    assert!((rate.error(190.0) + 5.0).abs() < 1e-9);
    let heat = measured(Metric::Celsius, 80.0);
    assert!(heat.is_met(82.0) && !heat.is_met(82.1));
    assert!((heat.error(77.0) + 3.0).abs() < 1e-9);
    assert!(measured(Metric::Seconds, 10.0).is_met(12.5));
}

#[test]
fn keys_tell_workloads_apart() {
    let base = Workload::read(Access::Random, 16, 4096);
    let mut keys = std::collections::BTreeSet::new();
    let variants = [
        base,
        Workload {
            threads: 64,
            ..base
        },
        Workload {
            block_bytes: 512,
            ..base
        },
        Workload {
            queue_depth: 4,
            ..base
        },
        Workload {
            op: Op::Write,
            ..base
        },
        Workload {
            access: Access::Sequential,
            ..base
        },
        Workload {
            data: DataClass::Zero,
            ..base
        },
        Workload {
            state: State::Fresh,
            ..base
        },
        Workload {
            area_bytes: 1 << 20,
            ..base
        },
        Workload {
            ios: Some(7),
            ..base
        },
    ];
    for workload in variants {
        assert!(keys.insert(Procedure::Steady(workload).key()));
    }
    assert_eq!(
        measured(Metric::MibPerS, 1.0).key(),
        "randread bs=4k threads=16 depth=1, mib_per_s"
    );
}
