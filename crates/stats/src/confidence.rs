//! Confidence intervals of means of autocorrelated series, by batch means (formulas, sources and tested coverage:
//! docs/statistics.md, "Confidence intervals of means").
//!
//! - Batch length: [`BATCH_FACTOR`] times the automatic block length (Politis and White, Econometric Reviews 23, 2004;
//!   corrected with Patton, 28, 2009).
//! - Batches of finite length understate the error. The first-order part is corrected as in "lugsail" batch means
//!   (Vats and Flegal, Biometrika 109, 2022).
//! - Never below s / sqrt(n): an alternating series would otherwise appear better known than its spread suggests.
//!
//! A series with a trend has no mean: apply [`crate::steady`] first. No intervals of percentiles of merged histograms:
//! they need the latencies in order.

use serde::{Deserialize, Serialize};

use crate::moments::{mean as plain_mean, moments};
use crate::student;

/// Default confidence level.
pub const LEVEL: f64 = 0.95;
/// Series shorter than this have no interval.
pub const FEWEST_VALUES: usize = 10;
/// Fewest batches.
pub const FEWEST_BATCHES: usize = 5;
/// Batch length over the automatic block length: for coverage, bias matters more than variance.
pub const BATCH_FACTOR: f64 = 2.0;

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Mean of the series.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Confidence level, as a share of 1.
    pub level: f64,
    /// Number of independent values with the same error; at most `samples`.
    pub effective_samples: f64,
    /// Values in the series.
    pub samples: u64,
    /// Standard deviation of the values (not of the mean).
    pub stddev: f64,
    /// Standard error of the mean.
    pub standard_error: f64,
    /// Degrees of freedom behind the interval.
    pub degrees: f64,
    /// How the error was estimated.
    pub method: IntervalMethod,
}

/// How the error of a mean was estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// From the spread of the means of batches of consecutive values.
    BatchMeans {
        /// How many.
        batches: u64,
        /// Values in each.
        batch_length: u64,
    },
    /// From the spread of independent values.
    Independent,
    /// All values are the same.
    Constant,
}

impl Estimate {
    /// Half of the interval's width, percent of the mean; `None` when the mean is zero.
    pub fn half_width_pct(&self) -> Option<f64> {
        (self.mean != 0.0).then(|| (self.high - self.low) / 2.0 / self.mean.abs() * 100.0)
    }
}

/// Mean of evenly spaced values; `None` if fewer than [`FEWEST_VALUES`], one not finite, or `level` not in (0, 1).
pub fn mean(values: &[f64], level: f64) -> Option<Estimate> {
    let n = values.len();
    if n < FEWEST_VALUES {
        return None;
    }
    let independent = independent(values, level)?;
    let (count, mean, variance) = (n as f64, independent.mean, moments(values)?.1);
    // Spread within the rounding of the sum.
    if variance.sqrt() <= mean.abs() * 1e-12 {
        return Some(Estimate {
            low: mean,
            high: mean,
            stddev: 0.0,
            standard_error: 0.0,
            method: IntervalMethod::Constant,
            ..independent
        });
    }
    let block = block_length(values, mean) * BATCH_FACTOR;
    let length = (block.ceil() as usize).clamp(1, n / FEWEST_BATCHES);
    let (batches, spread) = batch_variance(values, length)?;
    let unbiased = match length {
        1 => spread,
        _ => 2.0 * spread - batch_variance(values, length / 2)?.1,
    };
    // Variance of an independent value with this error of the mean.
    let long_run = spread.max(unbiased).max(variance);
    let standard_error = (long_run / count).sqrt();
    let degrees = batches as f64 - 1.0;
    let half = student::two_sided(level, degrees)? * standard_error;
    half.is_finite().then(|| Estimate {
        low: mean - half,
        high: mean + half,
        effective_samples: count * variance / long_run,
        standard_error,
        degrees,
        method: IntervalMethod::BatchMeans {
            batches: batches as u64,
            batch_length: length as u64,
        },
        ..independent
    })
}

/// Mean of independent values, such as repetitions separated by idle time: Student's t times s / sqrt(n). `None` as
/// [`mean`], but from two values on.
pub fn independent(values: &[f64], level: f64) -> Option<Estimate> {
    if values.len() < 2 || !values.iter().all(|v| v.is_finite()) || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let count = values.len() as f64;
    let (mean, variance) = moments(values)?;
    let standard_error = (variance / count).sqrt();
    let half = student::two_sided(level, count - 1.0)? * standard_error;
    Some(Estimate {
        mean,
        low: mean - half,
        high: mean + half,
        level,
        effective_samples: count,
        samples: values.len() as u64,
        stddev: variance.sqrt(),
        standard_error,
        degrees: count - 1.0,
        method: if variance == 0.0 {
            IntervalMethod::Constant
        } else {
            IntervalMethod::Independent
        },
    })
}

/// Ratio of two sums (I/Os over seconds, latency over I/Os), from each interval's contributions to both. By
/// linearisation (W. Cochran, "Sampling Techniques", 1977, 6.3): the mean of `ratio + (numerator - ratio * denominator)
/// / mean denominator`. `None` where [`mean`] is, where a denominator is negative, or where all are zero.
pub fn ratio(parts: &[(f64, f64)], level: f64) -> Option<Estimate> {
    let numerators: f64 = parts.iter().map(|p| p.0).sum();
    let denominators: f64 = parts.iter().map(|p| p.1).sum();
    if denominators.is_nan() || denominators <= 0.0 || parts.iter().any(|p| p.1 < 0.0) {
        return None;
    }
    let ratio = numerators / denominators;
    let each = denominators / parts.len() as f64;
    let linear =
        |(numerator, denominator): &(f64, f64)| ratio + (numerator - ratio * denominator) / each;
    mean(&parts.iter().map(linear).collect::<Vec<f64>>(), level)
}

/// Number of batches, taken from the end of the series, and `length` times the variance of their means.
fn batch_variance(values: &[f64], length: usize) -> Option<(usize, f64)> {
    let batches = values.len() / length;
    let used = &values[values.len() - batches * length..];
    let means: Vec<f64> = used.chunks_exact(length).map(plain_mean).collect();
    let (_, variance) = moments(&means)?;
    Some((batches, variance * length as f64))
}

/// Automatic block length (module header) for the moving-block bootstrap; at least 1.
fn block_length(values: &[f64], mean: f64) -> f64 {
    let n = values.len();
    let count = n as f64;
    let run = 5_usize.max(count.log10().sqrt().ceil() as usize);
    let lags = (count.sqrt().ceil() as usize + run).min(n - 1);
    let covariance: Vec<f64> = (0..=lags)
        .map(|lag| {
            let pairs = values[..n - lag].iter().zip(&values[lag..]);
            pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / count
        })
        .collect();
    // Largest correlation of an independent series by chance.
    let noise = 2.0 * (count.log10() / count).sqrt();
    let is_correlated = |lag: usize| (covariance[lag] / covariance[0]).abs() >= noise;
    // The lag after which `run` lags are uncorrelated; without one, the last correlated lag.
    let end = (0..=lags.saturating_sub(run)).find(|lag| !(lag + 1..=lag + run).any(is_correlated));
    let last = || (1..=lags).rev().find(|lag| is_correlated(*lag));
    let reach = end.or_else(last).unwrap_or(1);
    let window = (2 * reach.max(1)).min(lags);
    let (mut spectrum, mut curvature) = (covariance[0], 0.0);
    for (lag, covariance) in covariance.iter().enumerate().take(window + 1).skip(1) {
        let at = lag as f64 / window as f64;
        let weight = (2.0 * (1.0 - at)).min(1.0);
        spectrum += 2.0 * weight * covariance;
        curvature += 2.0 * weight * lag as f64 * covariance;
    }
    let length = (1.5 * (curvature / spectrum).powi(2) * count).cbrt();
    let is_usable = spectrum > 0.0 && length.is_finite();
    if is_usable { length.max(1.0) } else { 1.0 }
}

#[cfg(test)]
#[path = "../tests/unit/confidence.rs"]
pub(crate) mod tests;
