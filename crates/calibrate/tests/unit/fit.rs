use super::*;
use crate::measurement::{AccessPattern, Procedure, ReferenceMetric, ReferenceWorkload};

fn rate(value: f64) -> Measurement {
    Measurement {
        procedure: Procedure::Steady(ReferenceWorkload::read(AccessPattern::Random, 1, 4096)),
        metric: ReferenceMetric::MibPerS,
        value,
        tolerance: Tolerance::Relative(0.1),
        source: "test".to_owned(),
        role: Role::Target,
    }
}

#[test]
fn the_loss_is_linear_and_steep_before_the_tolerance() {
    let m = rate(100.0);
    assert_eq!(loss(&m, Some(100.0)), 0.0);
    let at = |share: f64| loss(&m, Some(100.0 * (share * 0.1).exp()));
    assert!((at(0.5) - 0.5).abs() < 1e-9);
    assert!((at(1.2) - (1.2 + 6.0 * 0.36)).abs() < 1e-9);
    assert!((at(3.2) - at(2.2) - 1.0).abs() < 1e-9);
    assert!((at(-0.5) - at(0.5)).abs() < 1e-9, "half and twice weigh the same");
    assert_eq!(loss(&m, None), MISSING_LOSS);
    assert_eq!(loss(&m, Some(0.0)), MISSING_LOSS);
    assert!((cost(&[m.clone(), m], &vec![Some(100.0), None]) - MISSING_LOSS / 2.0).abs() < 1e-9);
}

#[test]
fn a_number_known_of_the_drive_is_not_fitted() {
    let text = Profile::builtin_text("samsung-951").expect("a built-in profile");
    let settings = |path| FitSettings {
        free: vec![FreeParameter::parse(path).expect("a path")],
        evaluations: 1,
        seed: 1,
        start: 0,
        threads: 1,
        state_file: None,
        label: String::new(),
        keep_sources: true,
    };
    let error = stages(text, &[rate(100.0)], &settings("nand.dies")).err();
    let message = error.expect("known").to_string();
    assert!(message.contains("nand.dies") && message.contains("hardware.toml"), "{message}");
    assert!(stages(text, &[rate(100.0)], &settings("nand.read_ns")).is_ok());
    let other = crate::profile_text::renamed(text, "another", "Another").expect("a profile");
    assert!(stages(&other, &[rate(100.0)], &settings("nand.dies")).is_ok());
}
