//! Fits with known truth: a profile with changed parameters, fitted to measurements of the original
//! one.

#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

use std::sync::atomic::{AtomicBool, Ordering};

use assay_calibrate::measurement::{AccessPattern, Role, Tolerance};
use assay_calibrate::parameter::{FreeParameter, ParameterSpace};
use assay_calibrate::{
    CalibrateError, Effort, FitResult, FitSettings, Measurement, Procedure, ReferenceMetric,
    ReferenceWorkload, fit, simulate,
};
use assay_ssd::Profile;

/// Random reads by block size and threads.
const CELLS: [(u32, u32); 6] =
    [(16, 512), (64, 4_096), (16, 16_384), (64, 32_768), (16, 131_072), (1, 4_096)];

fn truth() -> &'static str {
    Profile::builtin_text("samsung-951").unwrap()
}

/// Measurements of the true drive.
fn measured(profile: &Profile) -> Vec<Measurement> {
    let mut all: Vec<Measurement> = CELLS
        .iter()
        .map(|&(threads, block)| Measurement {
            procedure: Procedure::Steady(ReferenceWorkload {
                // As many as in the fit: a short run of many threads is not yet in steady state.
                ios: (threads * block == 64 * 4096).then_some(30_000),
                ..ReferenceWorkload::read(AccessPattern::Random, threads, block)
            }),
            metric: ReferenceMetric::MibPerS,
            value: 1.0,
            tolerance: Tolerance::Relative(0.05),
            source: "the true drive".to_owned(),
            role: Role::Target,
        })
        .collect();
    let figures = simulate(profile, &all, Effort::Full, 2).unwrap();
    for (measurement, figure) in all.iter_mut().zip(figures) {
        measurement.value = figure.unwrap();
    }
    all
}

const FREE: [&str; 2] = ["firmware.read_command_ns", "nand.read_ns"];

fn free() -> Vec<FreeParameter> {
    FREE.iter().map(|f| FreeParameter::parse(f).unwrap()).collect()
}

/// The true profile with the free parameters changed by these factors, and with bounds that include
/// the truth.
fn pulled_away() -> String {
    let space = ParameterSpace::new(truth(), &free()).unwrap();
    let centre = space.start();
    let away: Vec<f64> = centre.iter().zip([0.2, -0.15]).map(|(u, by)| u + by).collect();
    space.write(&away, "a guess", false).unwrap()
}

fn settings(evaluations: u64, threads: usize) -> FitSettings {
    FitSettings {
        free: free(),
        evaluations,
        seed: 7,
        start: 0,
        threads,
        state_file: None,
        label: "the true drive".to_owned(),
        keep_sources: false,
    }
}

fn run(text: &str, measured: &[Measurement], settings: &FitSettings) -> FitResult {
    let stop = AtomicBool::new(false);
    fit(text, measured, settings, &stop, &mut |_| {}).unwrap()
}

#[test]
fn known_parameters_are_recovered_and_a_held_out_figure_is_predicted() {
    let true_profile = Profile::from_toml(truth()).unwrap();
    let mut measured = measured(&true_profile);
    // A held-out block size and depth.
    measured[2].role = Role::HeldOut;
    let fitted = run(&pulled_away(), &measured, &settings(200, 2));
    assert!(fitted.complete && fitted.at_bounds.is_empty());
    let targets = fitted.residuals.summary(Role::Target);
    assert!(
        targets.median_pct < 1.0 && targets.worst_pct < 3.0,
        "{targets:?}\n{}",
        fitted.residuals.to_csv()
    );
    let held_out = fitted.residuals.summary(Role::HeldOut);
    assert_eq!(held_out.count, 1);
    assert!(held_out.worst_pct < 5.0, "{held_out:?}");
    let found = Profile::from_toml(&fitted.text).unwrap();
    let near = |found: u64, truth: u64| {
        let error = found as f64 / truth as f64 - 1.0;
        assert!(error.abs() < 0.1, "{found} for {truth}");
    };
    near(found.firmware.read_command_ns.value, true_profile.firmware.read_command_ns.value);
    near(found.nand.read_ns.value[0], true_profile.nand.read_ns.value[0]);
    assert_eq!(found.nand.read_ns.source, "the true drive");
}

#[test]
fn a_number_that_changes_no_figure_is_not_fitted() {
    let true_profile = Profile::from_toml(truth()).unwrap();
    let measured = measured(&true_profile);
    let mut with_write = settings(20, 2);
    with_write.free.push(FreeParameter::parse("nand.erase_ns").unwrap());
    let fitted = run(&pulled_away(), &measured, &with_write);
    assert_eq!(fitted.insensitive, ["nand.erase_ns"]);
    assert_eq!(fitted.moved.len(), 2);
    let erase = |text: &str| Profile::from_toml(text).unwrap().nand.erase_ns;
    assert_eq!(erase(&fitted.text), erase(truth()));
}

#[test]
fn a_resumed_fit_equals_an_uninterrupted_one_for_any_thread_count() {
    let true_profile = Profile::from_toml(truth()).unwrap();
    let measured = measured(&true_profile);
    let text = pulled_away();
    let whole = run(&text, &measured, &settings(60, 1));

    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let mut resumable = settings(60, 3);
    resumable.state_file = Some(state.clone());
    let stop = AtomicBool::new(false);
    let mut generations = 0;
    let cut = fit(&text, &measured, &resumable, &stop, &mut |_| {
        generations += 1;
        stop.store(generations == 3, Ordering::Relaxed);
    })
    .unwrap();
    assert!(!cut.complete && cut.evaluations < 60);
    assert!(cut.residuals.0.is_empty());

    let resumed = run(&text, &measured, &resumable);
    assert!(resumed.complete);
    assert_eq!(resumed.text, whole.text);
    assert_eq!(resumed.residuals, whole.residuals);
    assert_eq!(resumed.costs, whole.costs);

    // Another fit must not continue from this state, nor from a damaged one.
    let mut other = resumable.clone();
    other.seed = 8;
    let never = AtomicBool::new(false);
    let error = fit(&text, &measured, &other, &never, &mut |_| {}).unwrap_err();
    assert!(matches!(error, CalibrateError::OtherFit { .. }), "{error}");
    std::fs::write(&state, "{").unwrap();
    let error = fit(&text, &measured, &resumable, &never, &mut |_| {}).unwrap_err();
    assert!(matches!(error, CalibrateError::OtherFit { .. }), "{error}");
}

#[test]
fn a_fit_needs_free_parameters_and_measurements() {
    let true_profile = Profile::from_toml(truth()).unwrap();
    let mut measured = measured(&true_profile);
    let never = AtomicBool::new(false);
    // Temperatures do not affect these figures.
    let mut heat = settings(10, 1);
    heat.free = vec![FreeParameter::parse("thermal.time_constant_s").unwrap()];
    let error = fit(truth(), &measured, &heat, &never, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("--free"), "{error}");
    for one in &mut measured {
        one.role = Role::HeldOut;
    }
    let error = fit(truth(), &measured, &settings(10, 1), &never, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("held out"), "{error}");
}

#[test]
fn figures_are_independent_of_threads_and_other_measurements() {
    let profile = Profile::from_toml(truth()).unwrap();
    let all = measured(&profile);
    let one = simulate(&profile, &all, Effort::Fit, 1).unwrap();
    assert_eq!(simulate(&profile, &all, Effort::Fit, 5).unwrap(), one);
    let last = simulate(&profile, &all[5..], Effort::Fit, 2).unwrap();
    assert_eq!(last, one[5..]);
}
