use super::*;
use crate::measurement::{AccessPattern, Procedure, ReferenceMetric, ReferenceWorkload};

fn residual(value: f64, simulated: Option<f64>, metric: ReferenceMetric, role: Role) -> Residual {
    Residual {
        measurement: Measurement {
            procedure: Procedure::Steady(ReferenceWorkload::read(AccessPattern::Random, 1, 4096)),
            metric,
            value,
            tolerance: Tolerance::for_metric(metric),
            source: "test".to_owned(),
            role,
        },
        simulated,
    }
}

#[test]
fn roles_are_summarised_separately_and_kelvin_is_not_a_percentage() {
    let all = Residuals(vec![
        residual(100.0, Some(103.0), ReferenceMetric::MibPerS, Role::Target),
        residual(100.0, Some(88.0), ReferenceMetric::MibPerS, Role::Target),
        residual(80.0, Some(81.0), ReferenceMetric::Celsius, Role::Target),
        residual(100.0, None, ReferenceMetric::MibPerS, Role::Target),
        residual(100.0, Some(150.0), ReferenceMetric::MibPerS, Role::HeldOut),
    ]);
    let targets = all.summary(Role::Target);
    assert_eq!((targets.count, targets.met), (4, 2));
    assert!((targets.median_pct - 7.5).abs() < 1e-9);
    assert!((targets.worst_pct - 12.0).abs() < 1e-9);
    assert!((all.summary(Role::HeldOut).worst_pct - 50.0).abs() < 1e-9);
    let csv = all.to_csv();
    assert_eq!(csv.lines().count(), 6);
    assert!(csv.contains(
        "target,\"randread bs=4k threads=1 depth=1, celsius\",80.000,81.000,C,1.000,C,yes"
    ));
}
