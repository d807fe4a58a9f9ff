use assay_units::Rng;
use proptest::prelude::*;

use super::*;

/// A first-order autoregressive series around `mean`, started in its own distribution, with a standard deviation of 1.
pub(crate) fn autoregressive(rng: &mut Rng, phi: f64, n: usize, mean: f64) -> Vec<f64> {
    let step = (1.0 - phi * phi).sqrt();
    let mut x = rng.normal();
    (0..n)
        .map(|_| {
            let value = mean + x;
            x = phi * x + step * rng.normal();
            value
        })
        .collect()
}

/// Coverage over 400 seeded series: of this module, and of the textbook formula.
fn coverage(phi: f64, n: usize) -> (f64, f64) {
    let mut rng = Rng::stream(11, &format!("coverage {phi} {n}"));
    let (mut ours, mut textbook) = (0, 0);
    for _ in 0..400 {
        let series = autoregressive(&mut rng, phi, n, 50.0);
        let estimate = mean(&series, LEVEL).unwrap();
        ours += u32::from(estimate.low <= 50.0 && 50.0 <= estimate.high);
        let half = 1.96 * estimate.stddev / (n as f64).sqrt();
        textbook += u32::from((estimate.mean - 50.0).abs() <= half);
    }
    (f64::from(ours) / 400.0, f64::from(textbook) / 400.0)
}

/// The coverage stated in the module documentation.
#[test]
fn intervals_have_their_coverage() {
    for (phi, n, least) in [
        (0.0, 10, 0.95),
        (0.0, 60, 0.92),
        (0.0, 3600, 0.92),
        (0.5, 60, 0.90),
        (0.5, 180, 0.90),
        (0.5, 3600, 0.90),
        (0.9, 180, 0.85),
        (0.9, 600, 0.90),
        (0.9, 3600, 0.90),
    ] {
        let (ours, _) = coverage(phi, n);
        assert!(ours >= least, "phi {phi}, {n} values: {ours}");
        assert!(ours < 1.0, "phi {phi}, {n} values: far too wide");
    }
}

/// The formula for independent values misses the truth two times in three.
#[test]
fn the_textbook_formula_lacks_coverage() {
    let (ours, textbook) = coverage(0.9, 600);
    assert!(textbook < 0.45, "{textbook}");
    assert!(ours > 0.9, "{ours}");
}

/// The width is adequate: at 3600 values the interval is that of the true long-run variance, (1 + phi) / (1 - phi) for a series of
/// standard deviation 1.
#[test]
fn intervals_are_not_too_wide() {
    for phi in [0.0, 0.5, 0.9] {
        let mut rng = Rng::stream(12, "width");
        let width: f64 = (0..50)
            .map(|_| {
                let e = mean(&autoregressive(&mut rng, phi, 3600, 5.0), LEVEL).unwrap();
                (e.high - e.low) / 2.0
            })
            .sum::<f64>()
            / 50.0;
        let ideal = 1.96 * ((1.0 + phi) / (1.0 - phi) / 3600.0_f64).sqrt();
        assert!(
            (0.95..1.15).contains(&(width / ideal)),
            "{phi}: {}",
            width / ideal
        );
    }
}

#[test]
fn effective_samples_follow_autocorrelation() {
    let mut rng = Rng::new(4);
    let independent = mean(&autoregressive(&mut rng, 0.0, 3600, 5.0), LEVEL).unwrap();
    let tied = mean(&autoregressive(&mut rng, 0.9, 3600, 5.0), LEVEL).unwrap();
    assert!(independent.effective_samples > 2500.0, "{independent:?}");
    // n (1 - phi) / (1 + phi) = 189.
    assert!((100.0..330.0).contains(&tied.effective_samples), "{tied:?}");
    assert!(
        matches!(tied.method, IntervalMethod::BatchMeans { batch_length, .. } if batch_length > 10)
    );
}

#[test]
fn by_hand_for_independent_batches() {
    // Twenty values that alternate 9, 11: batch means have no variance at any length, so the lower bound s / sqrt(n) applies.
    let values: Vec<f64> = (0..20)
        .map(|i| if i % 2 == 0 { 9.0 } else { 11.0 })
        .collect();
    let e = mean(&values, LEVEL).unwrap();
    let s = (20.0_f64 / 19.0).sqrt();
    assert_eq!(e.mean, 10.0);
    assert!((e.stddev - s).abs() < 1e-12);
    assert!((e.standard_error - s / 20.0_f64.sqrt()).abs() < 1e-12);
    assert_eq!(e.effective_samples, 20.0);
    assert!(
        e.high - 10.0 >= 2.093 * e.standard_error - 1e-9,
        "t of 19 degrees at least"
    );
}

#[test]
fn short_or_broken_series_have_no_interval() {
    assert_eq!(mean(&[1.0; 9], LEVEL), None);
    let mut values = vec![1.0; 50];
    values[7] = f64::NAN;
    assert_eq!(mean(&values, LEVEL), None);
    values[7] = f64::MAX;
    values[8] = f64::MAX;
    assert_eq!(mean(&values, LEVEL), None);
    for level in [0.0, 1.0, f64::NAN, -1.0] {
        assert_eq!(
            mean(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0], level),
            None
        );
    }
    let same = mean(&[7.25; 100], LEVEL).unwrap();
    assert_eq!(
        (same.low, same.mean, same.high, same.method),
        (7.25, 7.25, 7.25, IntervalMethod::Constant)
    );
    assert_eq!(mean(&[0.0; 100], LEVEL).unwrap().half_width_pct(), None);
}

/// A ratio of sums, with intervals of different weights.
#[test]
fn ratios_are_those_of_the_sums() {
    let parts: Vec<(f64, f64)> = (0..30)
        .map(|i| (f64::from(100 + i % 3), if i == 29 { 0.5 } else { 1.0 }))
        .collect();
    let e = ratio(&parts, LEVEL).unwrap();
    let sum: f64 = parts.iter().map(|p| p.0).sum();
    assert!((e.mean - sum / 29.5).abs() < 1e-9);
    assert!(e.low < e.mean && e.mean < e.high);
    assert_eq!(ratio(&[(1.0, 0.0); 20], LEVEL), None);
    assert_eq!(ratio(&[(1.0, -1.0); 20], LEVEL), None);
}

proptest! {
    #[test]
    fn estimates_are_finite_and_ordered(values in prop::collection::vec(prop_oneof![9 => -1e6_f64..1e6, 1 => any::<f64>()], 0..80)) {
        if let Some(e) = mean(&values, LEVEL) {
            prop_assert!(e.low <= e.mean && e.mean <= e.high, "{:?}", e);
            prop_assert!([e.low, e.high, e.effective_samples, e.standard_error, e.degrees].iter().all(|v| v.is_finite()));
            prop_assert!(e.effective_samples > 0.0 && e.effective_samples <= values.len() as f64 + 1e-9);
            let independent = e.stddev / (values.len() as f64).sqrt();
            prop_assert!(e.standard_error >= independent * (1.0 - 1e-9));
        } else {
            prop_assert!(values.len() < FEWEST_VALUES || values.iter().any(|v| !v.is_finite() || v.abs() > 1e100));
        }
    }

    /// A change of unit scales the interval, an offset shifts it.
    #[test]
    fn estimates_scale_with_the_unit(values in prop::collection::vec(10.0_f64..20.0, 10..60), unit in 0.01_f64..100.0) {
        let a = mean(&values, LEVEL).unwrap();
        let b = mean(&values.iter().map(|v| v * unit).collect::<Vec<_>>(), LEVEL).unwrap();
        prop_assert!((a.low * unit - b.low).abs() < 1e-6 * b.mean);
        prop_assert!((a.high * unit - b.high).abs() < 1e-6 * b.mean);
    }
}
