use assay_units::Rng;
use proptest::prelude::*;

use super::*;

/// A first-order autoregressive series around `mean`, started in its own distribution, with a
/// standard deviation of 1.
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

/// The width is adequate as a rule: at 3600 values the interval is that of the true long-run
/// variance, (1 + phi) / (1 - phi) for a series of standard deviation 1.
#[test]
fn intervals_are_not_too_wide() {
    for phi in [0.0, 0.5, 0.9] {
        let mut rng = Rng::stream(12, "width");
        let series = (0..50).map(|_| autoregressive(&mut rng, phi, 3600, 5.0));
        let estimates: Vec<Estimate> = series.filter_map(|s| mean(&s, LEVEL).ok()).collect();
        assert!(estimates.len() >= 45, "{phi}: {} of 50", estimates.len());
        let widths: Vec<f64> = estimates.iter().map(|e| (e.high - e.low) / 2.0).collect();
        let width = crate::median(&widths);
        let ideal = 1.96 * ((1.0 + phi) / (1.0 - phi) / 3600.0_f64).sqrt();
        assert!((0.95..1.15).contains(&(width / ideal)), "{phi}: {}", width / ideal);
    }
}

#[test]
fn effective_samples_follow_autocorrelation() {
    let mut rng = Rng::new(7);
    let independent = mean(&autoregressive(&mut rng, 0.0, 3600, 5.0), LEVEL).unwrap();
    let tied = mean(&autoregressive(&mut rng, 0.9, 3600, 5.0), LEVEL).unwrap();
    assert!(independent.effective_samples > 2500.0, "{independent:?}");
    // n (1 - phi) / (1 + phi) = 189.
    assert!((100.0..330.0).contains(&tied.effective_samples), "{tied:?}");
    assert!(matches!(tied.method, IntervalMethod::Autoregression { .. }));
}

#[test]
fn by_hand_for_independent_batches() {
    // Forty values that alternate 9, 11: means of blocks have no variance, so the lower bound s /
    // sqrt(n) applies.
    let values: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 9.0 } else { 11.0 }).collect();
    let e = mean(&values, LEVEL).unwrap();
    let s = (40.0_f64 / 39.0).sqrt();
    assert_eq!(e.mean, 10.0);
    assert!((e.stddev - s).abs() < 1e-12);
    assert!((e.standard_error - s / 40.0_f64.sqrt()).abs() < 1e-12);
    assert!((e.effective_samples - 40.0).abs() < 1e-9);
    assert!(e.high - 10.0 >= 2.024 * e.standard_error, "t of at most 38 degrees");
}

#[test]
fn short_or_broken_series_have_no_interval() {
    let short = mean(&[1.0; 29], LEVEL);
    assert_eq!(short, Err(NoInterval::TooShort { samples: 29 }));
    let mut values = vec![1.0; 50];
    values[7] = f64::NAN;
    assert_eq!(mean(&values, LEVEL), Err(NoInterval::NoValues));
    values[7] = f64::MAX;
    values[8] = f64::MAX;
    assert_eq!(mean(&values, LEVEL), Err(NoInterval::NoValues));
    let values: Vec<f64> = (0..100).map(|n| f64::from(n % 7)).collect();
    for level in [0.0, 1.0, f64::NAN, -1.0] {
        assert_eq!(mean(&values, level), Err(NoInterval::NoValues));
    }
    assert_eq!(mean(&[], LEVEL), Err(NoInterval::NoValues));
    let same = mean(&[7.25; 100], LEVEL).unwrap();
    assert_eq!(
        (same.low, same.mean, same.high, same.method),
        (7.25, 7.25, 7.25, IntervalMethod::Constant)
    );
    assert_eq!(mean(&[0.0; 100], LEVEL).unwrap().half_width_pct(), None);
}

/// A trend and two long levels: the memory is of the order of the series, and the reason says so.
#[test]
fn the_memory_of_a_series_is_the_reason() {
    let mut rng = Rng::new(5);
    let trend: Vec<f64> = (0..60).map(|n| f64::from(n) + rng.normal()).collect();
    let levels: Vec<f64> =
        (0..60).map(|n| if n < 30 { 10.0 } else { 20.0 } + 0.1 * rng.normal()).collect();
    for values in [trend, levels] {
        let Err(reason) = mean(&values, LEVEL) else {
            panic!("an interval of {values:?}");
        };
        let NoInterval::Dependent { samples: 60, memory } = reason else {
            panic!("{reason:?}");
        };
        assert!(memory > 5.0, "{memory}");
        let text = reason.text(1.0);
        assert!(text.starts_with("successive intervals depend on each other over "), "{text}");
    }
    let reason = NoInterval::Dependent { samples: 60, memory: 20.0 };
    let text = "successive intervals depend on each other over 20 s: 60 s hold about 3 \
                independent values, and 30 are needed";
    assert_eq!(reason.text(1.0), text);
    assert!(
        reason
            .text(10.0)
            .starts_with("successive intervals depend on each other over 200 s: 600 s hold")
    );
    let text = "successive intervals depend on each other over 250 ms: 3 s hold about 12 \
                independent values, and 30 are needed";
    let brief = NoInterval::Dependent { samples: 60, memory: 5.0 };
    assert_eq!(brief.text(0.05), text);
    let short = NoInterval::TooShort { samples: 12 };
    assert_eq!(short.text(1.0), "too short: 12 seconds, at least 30 are needed");
    assert_eq!(short.text(10.0), "too short: 12 values of 10 s, at least 30 are needed");
}

/// Two stalls in five minutes say little of the rate of stalls.
#[test]
fn few_bursts_have_no_interval() {
    let mut rng = Rng::new(6);
    let stalls = |at: u32| (70..72).contains(&at) || at == 200;
    let mut value = |at| 100.0 + rng.normal() - if stalls(at) { 60.0 } else { 0.0 };
    let values: Vec<f64> = (0..300).map(&mut value).collect();
    assert_eq!(mean(&values, LEVEL), Err(NoInterval::Bursts { bursts: 2 }));
    let one = NoInterval::Bursts { bursts: 1 }.text(1.0);
    assert_eq!(one, "the variation lies in 1 burst, and about 30 are needed");
}

/// A ratio of sums, with intervals of different weights.
#[test]
fn ratios_are_those_of_the_sums() {
    let parts: Vec<(f64, f64)> = (0..40)
        .map(|i| if i == 39 { (50.0, 0.5) } else { (f64::from(100 + i % 3), 1.0) })
        .collect();
    let e = ratio(&parts, LEVEL).unwrap();
    let sum: f64 = parts.iter().map(|p| p.0).sum();
    assert!((e.mean - sum / 39.5).abs() < 1e-9);
    assert!(e.low < e.mean && e.mean < e.high);
    assert_eq!(ratio(&[(1.0, 0.0); 40], LEVEL), Err(NoInterval::NoValues));
    assert_eq!(ratio(&[(1.0, -1.0); 40], LEVEL), Err(NoInterval::NoValues));
}

proptest! {
    #[test]
    fn estimates_are_finite_and_ordered(values in prop::collection::vec(prop_oneof![9 => -1e6_f64..1e6, 1 => any::<f64>()], 0..80)) {
        match mean(&values, LEVEL) {
            Ok(e) => {
                prop_assert!(e.low <= e.mean && e.mean <= e.high, "{:?}", e);
                prop_assert!([e.low, e.high, e.effective_samples, e.standard_error, e.degrees].iter().all(|v| v.is_finite()));
                prop_assert!(e.effective_samples >= FEWEST_EFFECTIVE && e.effective_samples <= values.len() as f64 + 1e-9);
                let independent = e.stddev / (values.len() as f64).sqrt();
                prop_assert!(e.standard_error >= independent * (1.0 - 1e-9));
            }
            Err(NoInterval::NoValues) => {
                prop_assert!(values.len() < 2 || values.iter().any(|v| !v.is_finite() || v.abs() > 1e100));
            }
            Err(NoInterval::TooShort { samples }) => prop_assert!(samples < 30),
            Err(NoInterval::Dependent { samples, memory }) => prop_assert!(samples as f64 / memory < FEWEST_EFFECTIVE),
            Err(NoInterval::Bursts { bursts }) => prop_assert!(bursts > 0),
        }
    }

    /// A change of unit scales the interval, an offset shifts it.
    #[test]
    fn estimates_scale_with_the_unit(values in prop::collection::vec(10.0_f64..20.0, 30..80), unit in 0.01_f64..100.0) {
        let scaled: Vec<f64> = values.iter().map(|v| v * unit).collect();
        let Ok(a) = mean(&values, LEVEL) else {
            return Ok(());
        };
        let Ok(b) = mean(&scaled, LEVEL) else {
            // At the limit, by rounding.
            prop_assert!(a.effective_samples < FEWEST_EFFECTIVE + 1e-6);
            return Ok(());
        };
        prop_assert!((a.low * unit - b.low).abs() < 1e-6 * b.mean);
        prop_assert!((a.high * unit - b.high).abs() < 1e-6 * b.mean);
    }
}
