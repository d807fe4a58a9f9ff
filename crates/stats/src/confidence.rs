//! Confidence intervals of means of autocorrelated series, or the reason why there is none
//! (formulas, sources and simulated coverage: docs/statistics.md, "Confidence intervals of means").
//!
//! - Error of the mean: [`long_run`], an autoregression at the time scale beyond which the variance
//!   grows no further.
//! - An interval needs [`FEWEST_EFFECTIVE`] effective values: independent values with the same
//!   error. Of a series whose variance lies in rare bursts, the bursts are the values ([`bursts`]).
//! - Never below s / sqrt(n): an alternating series would otherwise appear too well known.
//!
//! A series with a trend has no mean: apply [`crate::steady`] first. No intervals of percentiles of
//! merged histograms: they need the latencies in order.

use serde::{Deserialize, Serialize};

use crate::moments::moments;
use crate::student;

mod bursts;
mod long_run;

use bursts::Bursts;
use long_run::LongRun;

pub const LEVEL: f64 = 0.95;
/// Below, the correlation of a series cannot be told from its variation, and intervals cover less
/// than they state (a rule of thumb of the same size for batches: Schmeiser, Operations Research
/// 30, 1982).
pub const FEWEST_EFFECTIVE: f64 = 30.0;
/// Widening of an interval of exactly [`FEWEST_EFFECTIVE`] values, because the series that have one
/// are those whose correlation appears too weak. By simulation (docs/statistics.md).
const WIDENING: f64 = 0.2;
/// The widening falls with this power of the effective values.
const WIDENING_POWER: i32 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub mean: f64,
    pub low: f64,
    pub high: f64,
    /// Confidence level, as a share of 1.
    pub level: f64,
    /// Number of independent values with the same error; at most `samples`.
    pub effective_samples: f64,
    pub samples: u64,
    /// Of the values, not of the mean.
    pub stddev: f64,
    pub standard_error: f64,
    /// Degrees of freedom behind the interval.
    pub degrees: f64,
    pub method: IntervalMethod,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntervalMethod {
    /// From a first-order autoregression of the means of blocks of consecutive values.
    Autoregression {
        blocks: u64,
        /// Values in each block.
        block_length: u64,
    },
    /// From the spread of independent values.
    Independent,
    /// All values are the same.
    Constant,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum NoInterval {
    /// Nothing was measured, or a value is not finite.
    NoValues,
    /// Fewer values than effective ones are needed.
    TooShort {
        /// Values in the series.
        samples: u64,
    },
    /// Values depend on those before, so that the series holds too few effective values.
    Dependent {
        samples: u64,
        /// Values over which they depend on each other: long-run variance over variance (Sokal's
        /// integrated autocorrelation time, twice).
        memory: f64,
    },
    /// The variance lies in bursts, of which the series has too few.
    Bursts {
        /// Bursts in the series.
        bursts: u64,
    },
}

impl NoInterval {
    /// For values that last `step_s` seconds each.
    pub fn text(&self, step_s: f64) -> String {
        let least = FEWEST_EFFECTIVE;
        let time = |values: f64| match values * step_s {
            short if short < 1.0 => format!("{:.0} ms", (short * 1e3).max(1.0)),
            seconds => format!("{seconds:.0} s"),
        };
        match *self {
            NoInterval::NoValues => "there is no course over time".to_owned(),
            NoInterval::TooShort { samples } => {
                let of = match (step_s == 1.0, samples) {
                    (true, 1) => "second".to_owned(),
                    (true, _) => "seconds".to_owned(),
                    (false, 1) => format!("value of {step_s} s"),
                    (false, _) => format!("values of {step_s} s"),
                };
                format!("too short: {samples} {of}, at least {least} are needed")
            }
            NoInterval::Dependent { samples, memory } => format!(
                "successive intervals depend on each other over {}: {} hold about {:.0} \
                 independent values, and {least} are needed",
                time(memory),
                time(samples as f64),
                samples as f64 / memory
            ),
            NoInterval::Bursts { bursts } => format!(
                "the variation lies in {bursts} {}, and about {least} are needed",
                if bursts == 1 { "burst" } else { "bursts" }
            ),
        }
    }
}

impl Estimate {
    /// Percent of the mean; `None` when the mean is zero.
    pub fn half_width_pct(&self) -> Option<f64> {
        (self.mean != 0.0).then(|| (self.high - self.low) / 2.0 / self.mean.abs() * 100.0)
    }
}

/// Mean of evenly spaced values; [`NoInterval::NoValues`] also where `level` is not in (0, 1).
pub fn mean(values: &[f64], level: f64) -> Result<Estimate, NoInterval> {
    let independent = independent(values, level).ok_or(NoInterval::NoValues)?;
    let (samples, count) = (independent.samples, values.len() as f64);
    if count < FEWEST_EFFECTIVE {
        return Err(NoInterval::TooShort { samples });
    }
    let (mean, variance) = (independent.mean, independent.stddev.powi(2));
    // Spread within the rounding of the sum.
    if independent.stddev <= mean.abs() * 1e-12 {
        return Ok(Estimate {
            low: mean,
            high: mean,
            stddev: 0.0,
            standard_error: 0.0,
            method: IntervalMethod::Constant,
            ..independent
        });
    }
    let long_run = LongRun::new(values, variance).ok_or(NoInterval::NoValues)?;
    let memory = long_run.variance / variance;
    if count / memory < FEWEST_EFFECTIVE {
        return Err(NoInterval::Dependent { samples, memory });
    }
    let bursts = Bursts::new(values, mean);
    let effective = (count / memory).min(bursts.effective());
    if effective < FEWEST_EFFECTIVE {
        let bursts = bursts.count;
        return Err(NoInterval::Bursts { bursts });
    }
    let standard_error = (long_run.variance / count).sqrt();
    let degrees = (2.0 / (2.0 / long_run.degrees + bursts.relative_variance())).max(1.0);
    let widening =
        WIDENING * (FEWEST_EFFECTIVE / effective).powi(WIDENING_POWER) * (1.0 - effective / count);
    let t = student::two_sided(level, degrees).ok_or(NoInterval::NoValues)?;
    let half = t * standard_error * (1.0 + widening);
    Ok(Estimate {
        low: mean - half,
        high: mean + half,
        effective_samples: effective,
        standard_error: standard_error * (1.0 + widening),
        degrees,
        method: IntervalMethod::Autoregression {
            blocks: (values.len() / long_run.block_length) as u64,
            block_length: long_run.block_length as u64,
        },
        ..independent
    })
}

/// Mean of independent values, such as repetitions separated by idle time: Student's t times s /
/// sqrt(n). `None` of fewer than two values, of values that are not finite, and where `level` is
/// not in (0, 1).
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

/// Ratio of two sums (I/Os over seconds, latency over I/Os), from each interval's contributions to
/// both. By linearisation (W. Cochran, "Sampling Techniques", 1977, 6.3): the mean of
/// `ratio + (numerator - ratio * denominator) / mean denominator`. [`NoInterval::NoValues`] also
/// where a denominator is negative, or where all are zero.
pub fn ratio(parts: &[(f64, f64)], level: f64) -> Result<Estimate, NoInterval> {
    let numerators: f64 = parts.iter().map(|p| p.0).sum();
    let denominators: f64 = parts.iter().map(|p| p.1).sum();
    if denominators.is_nan() || denominators <= 0.0 || parts.iter().any(|p| p.1 < 0.0) {
        return Err(NoInterval::NoValues);
    }
    let ratio = numerators / denominators;
    let each = denominators / parts.len() as f64;
    let linear =
        |(numerator, denominator): &(f64, f64)| ratio + (numerator - ratio * denominator) / each;
    mean(&parts.iter().map(linear).collect::<Vec<f64>>(), level)
}

#[cfg(test)]
#[path = "../tests/unit/confidence.rs"]
pub(crate) mod tests;
