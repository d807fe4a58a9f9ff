//! Keys, tolerances, names.

use super::*;

fn measured(metric: ReferenceMetric, value: f64) -> Measurement {
    Measurement {
        procedure: Procedure::Steady(ReferenceWorkload::read(AccessPattern::Random, 16, 4096)),
        metric,
        value,
        tolerance: Tolerance::for_metric(metric),
        source: "test".to_owned(),
        role: Role::Target,
    }
}

#[test]
fn names_of_metrics_are_parsed_back() {
    assert!(ReferenceMetric::all().enumerate().all(|(n, metric)| metric as usize == n));
    for metric in ReferenceMetric::all() {
        assert_eq!(ReferenceMetric::parse(metric.name()), Some(metric));
    }
    assert_eq!(ReferenceMetric::parse("MiB/s"), None);
}

#[test]
fn a_tolerance_is_relative_or_in_kelvin() {
    let rate = measured(ReferenceMetric::MibPerS, 200.0);
    assert!(rate.is_met(220.0) && rate.is_met(180.0) && !rate.is_met(221.0));
    assert!((rate.error(190.0) + 5.0).abs() < 1e-9);
    let heat = measured(ReferenceMetric::Celsius, 80.0);
    assert!(heat.is_met(82.0) && !heat.is_met(82.1));
    assert!((heat.error(77.0) + 3.0).abs() < 1e-9);
    assert!(measured(ReferenceMetric::Seconds, 10.0).is_met(12.5));
}

#[test]
fn keys_distinguish_workloads() {
    let base = ReferenceWorkload::read(AccessPattern::Random, 16, 4096);
    let mut keys = std::collections::BTreeSet::new();
    let variants = [
        base,
        ReferenceWorkload { threads: 64, ..base },
        ReferenceWorkload { block_bytes: 512, ..base },
        ReferenceWorkload { queue_depth: 4, ..base },
        ReferenceWorkload { op: Op::Write, ..base },
        ReferenceWorkload { access: AccessPattern::Sequential, ..base },
        ReferenceWorkload { data: DataClass::Zero, ..base },
        ReferenceWorkload { state: PriorState::Fresh, ..base },
        ReferenceWorkload { area_bytes: 1 << 20, ..base },
        ReferenceWorkload { ios: Some(7), ..base },
    ];
    for workload in variants {
        assert!(keys.insert(Procedure::Steady(workload).key()));
    }
    assert_eq!(
        measured(ReferenceMetric::MibPerS, 1.0).key(),
        "randread bs=4k threads=16 depth=1, mib_per_s"
    );
}
