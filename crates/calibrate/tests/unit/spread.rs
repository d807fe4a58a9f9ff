//! Spreads of a fit, and their section in a profile.

use super::*;
use crate::measurement::{AccessPattern, Measurement, ReferenceWorkload};
use assay_ssd::Profile;

fn residuals(errors: &[f64]) -> Residuals {
    let cells = errors.iter().map(|_| Measurement {
        value: 100.0,
        role: Role::Target,
        ..Measurement::to_simulate(ReferenceWorkload::read(AccessPattern::Random, 4, 4 << 10), "")
    });
    let cells: Vec<Measurement> = cells.collect();
    let figures = errors.iter().map(|e| Some(100.0 * e.exp())).collect();
    Residuals::new(&cells, figures)
}

#[test]
fn parameters_take_degrees_of_freedom() {
    let all = residuals(&[0.03, -0.03, 0.03, -0.03]);
    let of = |parameters| spreads(&all, parameters).get(&FigureKind::RandomRead).copied();
    assert!((of(0).unwrap() - 0.03).abs() < 1e-9);
    assert!((of(3).unwrap() - 0.06).abs() < 1e-9);
    assert_eq!(of(4), None);
    // A perfect fit is still no better than a measurement.
    let exact = spreads(&residuals(&[0.0; 4]), 0);
    assert_eq!(exact.get(&FigureKind::RandomRead), Some(&LEAST));
    assert_eq!(exact.get(&FigureKind::SequentialRead), None);
}

#[test]
fn a_profile_keeps_the_spreads_of_its_last_fit() {
    let text = Profile::builtin_text("samsung-951").unwrap();
    let once = with_spreads(text, &spreads(&residuals(&[0.05, -0.05]), 0), "a run").unwrap();
    let twice = with_spreads(&once, &spreads(&residuals(&[0.02, -0.02]), 0), "a run").unwrap();
    let fit = Profile::from_toml(&twice).unwrap().fit;
    assert_eq!(fit.random_read_spread.unwrap().value, 0.02);
    assert_eq!(fit.sequential_read_spread, None);
    assert_eq!(twice.matches("[fit]").count(), 1);
}
