//! How even is a rate? The score of AnandTech's consistency test, and what it hides.
//!
//! # Rules
//! Mean over the last values, and that mean over their standard deviation (AnandTech, "Plextor M8Pe", 15 Dec 2016: the last 400 s of an hour). A high
//! ratio is an even drive; it has no unit, and it does not tell one deep dip from general unrest. So the minimum and the share of
//! outliers stand beside it: values farther from the median than [`OUTLIER_SCORE`] robust standard deviations (B. Iglewicz and D. Hoaglin, "How to
//! detect and handle outliers", 1993: the median absolute deviation times 1.4826, score 3.5), counted above and below apart. Where more than half of
//! the values are alike to [`LEAST_SPREAD`] of the median, that stands for the deviation.
//!
//! # Non-goals
//! No judgement of what is even enough: that is for policies.

use serde::{Deserialize, Serialize};

/// Robust standard deviations from the median at which an outlier begins.
pub const OUTLIER_SCORE: f64 = 3.5;
/// Robust standard deviation at least, as a share of the median.
pub const LEAST_SPREAD: f64 = 0.002;
/// Median absolute deviation to standard deviation, for normal values.
const NORMAL_MAD: f64 = 1.4826;

/// The score of a span.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Values it is of.
    pub samples: u64,
    /// Mean.
    pub mean: f64,
    /// Standard deviation (over n - 1).
    pub stddev: f64,
    /// Mean over standard deviation; `None` when all values are the same, which is perfect and has no number.
    pub consistency: Option<f64>,
    /// Smallest.
    pub min: f64,
    /// Median.
    pub median: f64,
    /// Largest.
    pub max: f64,
    /// Outliers above, percent of the values.
    pub outliers_above_pct: f64,
    /// Outliers below, percent of the values.
    pub outliers_below_pct: f64,
}

/// The score of the last `last` values (of all, when there are fewer). `None` with fewer than two values or one that is no finite number.
pub fn score(values: &[f64], last: usize) -> Option<Score> {
    let seen = &values[values.len().saturating_sub(last)..];
    if seen.len() < 2 || !seen.iter().all(|v| v.is_finite()) {
        return None;
    }
    let n = seen.len() as f64;
    let mean = seen.iter().sum::<f64>() / n;
    let stddev = (seen.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    if !(mean.is_finite() && stddev.is_finite()) {
        return None;
    }
    let median = assay_units::median(seen.iter().copied())?;
    let deviation = assay_units::median(seen.iter().map(|v| (v - median).abs()))?;
    let reach = OUTLIER_SCORE * (NORMAL_MAD * deviation).max(LEAST_SPREAD * median.abs());
    let share = |beyond: &dyn Fn(f64) -> bool| {
        seen.iter().filter(|v| beyond(**v)).count() as f64 / n * 100.0
    };
    Some(Score {
        samples: seen.len() as u64,
        mean,
        stddev,
        consistency: (stddev > mean.abs() * 1e-12).then(|| mean / stddev),
        min: seen.iter().copied().fold(f64::MAX, f64::min),
        median,
        max: seen.iter().copied().fold(f64::MIN, f64::max),
        outliers_above_pct: share(&|v| v > median + reach),
        outliers_below_pct: share(&|v| v < median - reach),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn by_hand() {
        // Deviations from 100: -10, 10, 0, 0, 0: variance 200 / 4 = 50.
        let s = score(&[999.0, 90.0, 110.0, 100.0, 100.0, 100.0], 5).unwrap();
        assert_eq!(
            (s.samples, s.mean, s.median, s.min, s.max),
            (5, 100.0, 100.0, 90.0, 110.0)
        );
        assert!((s.stddev - 50.0_f64.sqrt()).abs() < 1e-12);
        assert!((s.consistency.unwrap() - 100.0 / 50.0_f64.sqrt()).abs() < 1e-12);
        // Median absolute deviation 0: the least spread, 0.2 of 100, reaches 0.7.
        assert_eq!((s.outliers_above_pct, s.outliers_below_pct), (20.0, 20.0));
    }

    /// Report B in small: one drive even with rare outliers above, one that alternates between two levels.
    #[test]
    fn rare_outliers_and_two_levels_are_told_apart() {
        let even: Vec<f64> = (0..400)
            .map(|i| {
                if i % 100 == 50 {
                    110e3
                } else {
                    22e3 + f64::from(i % 7) * 50.0
                }
            })
            .collect();
        let s = score(&even, 400).unwrap();
        assert_eq!((s.outliers_above_pct, s.outliers_below_pct), (1.0, 0.0));
        let throttled: Vec<f64> = (0..400)
            .map(|i| if i % 40 < 28 { 18e3 } else { 2.4e3 })
            .collect();
        let t = score(&throttled, 400).unwrap();
        assert!(t.consistency.unwrap() < 2.0 && t.min == 2.4e3, "{t:?}");
        assert_eq!(t.outliers_below_pct, 30.0);
    }

    #[test]
    fn what_has_no_score() {
        assert_eq!(score(&[], 400), None);
        assert_eq!(score(&[1.0], 400), None);
        assert_eq!(score(&[1.0, 2.0], 1), None);
        assert_eq!(score(&[1.0, f64::NAN], 2), None);
        assert_eq!(score(&[f64::MAX, f64::MAX], 2), None);
        let same = score(&[5.0; 10], 400).unwrap();
        assert_eq!((same.consistency, same.outliers_above_pct), (None, 0.0));
    }

    proptest! {
        #[test]
        fn scores_keep_their_order(values in prop::collection::vec(0.0_f64..1e6, 2..60), last in 2_usize..60) {
            let s = score(&values, last).unwrap();
            prop_assert!(s.min <= s.median && s.median <= s.max);
            prop_assert!(s.min <= s.mean * (1.0 + 1e-9) && s.mean <= s.max * (1.0 + 1e-9));
            prop_assert!(s.outliers_above_pct + s.outliers_below_pct < 50.0 + 1e-9);
        }
    }
}
