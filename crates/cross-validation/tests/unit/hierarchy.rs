//! Shrinkage against closed forms.

use super::*;
use assay_units::Rng;

fn estimate(value: f64, variance: f64, class: &str) -> Estimate {
    Estimate {
        value,
        variance,
        class: (!class.is_empty()).then(|| class.to_owned()),
    }
}

#[test]
fn one_level_equals_the_closed_form() {
    // Drives without a class and a flat mean: precision-weighted mean, variance its own plus that
    // of the mean.
    let estimates = [
        estimate(1.0, 0.04, ""),
        estimate(2.0, 0.16, ""),
        estimate(1.4, 0.01, ""),
    ];
    let joint = Joint {
        estimates: &estimates,
        wide: (0.0, 1e3),
        within: 0.3,
        between: 1e-9,
    };
    let (mean, width) = joint.further(&None);
    let weights: Vec<f64> = estimates
        .iter()
        .map(|e| 1.0 / (e.variance + 0.09))
        .collect();
    let total: f64 = weights.iter().sum();
    let by_hand: f64 = weights
        .iter()
        .zip(&estimates)
        .map(|(w, e)| w * e.value / total)
        .sum();
    assert!((mean - by_hand).abs() < 1e-4, "{mean} {by_hand}");
    assert!((width - (0.09_f64 + 1.0 / total).sqrt()).abs() < 1e-4);
}

#[test]
fn a_drive_of_the_same_class_shrinks_to_its_sibling() {
    // One sibling known exactly: the conditional of two normal variables with correlation b^2 + t^2
    // over b^2 + t^2 + w^2.
    let estimates = [estimate(3.0, 1e-12, "a")];
    let joint = Joint {
        estimates: &estimates,
        wide: (1.0, 0.5),
        within: 0.2,
        between: 0.4,
    };
    let (shared, all) = (0.25 + 0.16, 0.25 + 0.16 + 0.04);
    let (mean, width) = joint.further(&Some("a".to_owned()));
    assert!((mean - (1.0 + shared / all * 2.0)).abs() < 1e-9);
    assert!((width.powi(2) - (all - shared * shared / all)).abs() < 1e-9);
    // Of another class, only the mechanism's mean is common.
    let (mean, _) = joint.further(&Some("b".to_owned()));
    assert!((mean - (1.0 + 0.25 / all * 2.0)).abs() < 1e-9);
}

#[test]
fn widths_follow_the_data() {
    let mut rng = Rng::new(7);
    let mut drives = |within: f64| {
        let drive = |n: usize| {
            let x = 8.0 + within * (12.0_f64).sqrt() * (rng.unit_f64() - 0.5);
            estimate(x, 1e-4, if n.is_multiple_of(2) { "even" } else { "odd" })
        };
        (0..12).map(drive).collect::<Vec<_>>()
    };
    let (near, far) = (drives(0.05), drives(0.9));
    let wide = (6.0, 2.0);
    let (mean, width) = shared_prior(&near, &Some("new".to_owned()), wide);
    assert!((mean - 8.0).abs() < 0.1 && width < 0.2, "{mean} {width}");
    let (_, width) = shared_prior(&far, &Some("new".to_owned()), wide);
    assert!((0.5..1.6).contains(&width), "{width}");
    assert_eq!(shared_prior(&[], &None, wide), wide);
}

#[test]
fn the_prior_is_taken_out_of_a_posterior() {
    // Prior N(1, 2^2) and an observation 3 of width 0.5 give the posterior; without the prior, the
    // observation remains.
    let (prior, observed) = (0.25_f64, 4.0_f64);
    let mean = (1.0 * prior + 3.0 * observed) / (prior + observed);
    let width = (prior + observed).powf(-0.5);
    let found = without_prior((mean, width), (1.0, 2.0), None).unwrap();
    assert!((found.value - 3.0).abs() < 1e-9 && (found.variance - 0.25).abs() < 1e-9);
    assert!(without_prior((1.0, 2.0), (1.0, 2.0), None).is_none());
}
