//! Consistency score of a rate, with minimum, modes and outliers: AnandTech's mean over standard
//! deviation does not distinguish one deep dip from general variation, nor from two levels
//! (sources: docs/statistics.md, "Consistency").

use serde::{Deserialize, Serialize};

use crate::change::MAD_TO_SIGMA;
use crate::modes::{Mode, modes};
use crate::moments::moments;

/// Standard deviations from the median (robust ones) or nearest mode at which an outlier begins.
pub const OUTLIER_SCORE: f64 = 3.5;
/// Least robust standard deviation, as a share of the median.
pub const LEAST_SPREAD: f64 = 0.002;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    pub samples: u64,
    pub mean: f64,
    /// Over n - 1.
    pub stddev: f64,
    /// Mean over standard deviation; `None` when all values are equal.
    pub consistency: Option<f64>,
    pub min: f64,
    pub median: f64,
    pub max: f64,
    /// Above the highest mode.
    pub outliers_above_pct: f64,
    /// Below the lowest mode.
    pub outliers_below_pct: f64,
    /// Levels between which the values alternate, ascending; none with too few values to tell.
    pub modes: Vec<Mode>,
}

/// Of the last `last` values; `None` with fewer than two values or one that is not finite.
pub fn score(values: &[f64], last: usize) -> Option<Score> {
    let seen = &values[values.len().saturating_sub(last)..];
    if seen.len() < 2 || !seen.iter().all(|v| v.is_finite()) {
        return None;
    }
    let (mean, variance) = moments(seen)?;
    let (n, stddev) = (seen.len() as f64, variance.sqrt());
    let median = assay_units::median(seen.iter().copied())?;
    let deviation = assay_units::median(seen.iter().map(|v| (v - median).abs()))?;
    let reach = |spread: f64, level: f64| OUTLIER_SCORE * spread.max(LEAST_SPREAD * level.abs());
    let modes = modes(seen).unwrap_or_default();
    // The median of several modes is a value of one of them, and the others are no outliers.
    let (lowest, highest) = match modes[..] {
        [low, .., high] => {
            (low.level - reach(low.stddev, low.level), high.level + reach(high.stddev, high.level))
        }
        _ => {
            let reach = reach(MAD_TO_SIGMA * deviation, median);
            (median - reach, median + reach)
        }
    };
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
        outliers_above_pct: share(&|v| v > highest),
        outliers_below_pct: share(&|v| v < lowest),
        modes,
    })
}

#[cfg(test)]
#[path = "../tests/unit/consistency.rs"]
mod tests;
