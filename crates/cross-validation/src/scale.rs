//! Scales of errors per fold and kind of figure, learned from other drives with partial pooling.
//!
//! The error of a prediction is normal with variance `(ratio spread)^2 + rest^2`: the members'
//! spread, and what no member knows. Both numbers have the highest posterior density given the
//! errors of other drives in the same fold. The cells of a drive err together, so each drive counts
//! as one observation. With at most six drives a kind of figure says little of its own scale:
//! `rest` has a log-normal prior around that of all kinds in the same [`Pool`] (A. Gelman and
//! others, "Bayesian Data Analysis", third edition, section 5.3, partial pooling), and the prior
//! of `ratio` has the centre 1. The interval is that of a Student-t distribution with a degree of
//! freedom per drive and one for the prior.

use crate::learn::{FIGURE_SCALE, KELVIN_SCALE};

/// Widths of both priors, logarithms.
const PRIOR_WIDTH: f64 = 1.0;
/// Candidates of both numbers: factors from the prior's centre.
const CANDIDATES: i32 = 24;
const CANDIDATE_STEP: f64 = 0.125;
/// 95th percentiles of Student's distribution with 1 to 10 degrees of freedom.
const T_95: [f64; 10] = [
    6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860, 1.833, 1.812,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pool {
    /// Rates and latencies of reads of a drive that its temperature does not slow down.
    Read,
    /// Rates of writes: caches and buffers limit them, of which reads say nothing.
    Write,
    /// Percentiles of latency: rare delays, of which means say nothing.
    Percentile,
    /// In kelvin.
    Temperature,
    /// Rates and durations: whether the drive throttles at all multiplies their errors.
    Throttling,
}

impl Pool {
    fn usual(self) -> f64 {
        match self {
            Pool::Temperature => KELVIN_SCALE,
            Pool::Read | Pool::Write | Pool::Percentile | Pool::Throttling => FIGURE_SCALE,
        }
    }
}

pub(super) type ErrorAndSpread = (f64, f64);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ErrorScale {
    ratio: f64,
    rest: f64,
    drives: usize,
}

fn total(ratio: f64, rest: f64, spread: f64) -> f64 {
    (ratio * spread).hypot(rest)
}

/// A drive is one observation, whatever the number of its errors.
fn log_likelihood(drives: &[Vec<ErrorAndSpread>], ratio: f64, rest: f64) -> f64 {
    let drive = |errors: &Vec<ErrorAndSpread>| {
        let terms = errors.iter().map(|&(error, spread)| {
            let total = total(ratio, rest, spread);
            -total.ln() - (error / total).powi(2) / 2.0
        });
        terms.sum::<f64>() / errors.len().max(1) as f64
    };
    drives.iter().map(drive).sum()
}

fn candidates(centre: f64) -> impl Iterator<Item = (f64, f64)> {
    (-CANDIDATES..=CANDIDATES).map(move |n| {
        let away = f64::from(n) * CANDIDATE_STEP;
        (centre * away.exp(), -(away / PRIOR_WIDTH).powi(2) / 2.0)
    })
}

/// The value of `rest` that all kinds of a pool share.
pub(super) fn pooled(drives: &[Vec<ErrorAndSpread>], pool: Pool) -> f64 {
    let usual = pool.usual();
    let scored =
        candidates(usual).map(|(rest, prior)| (prior + log_likelihood(drives, 1.0, rest), rest));
    scored
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or(usual, |best| best.1)
}

impl ErrorScale {
    /// From the errors of other drives, a list each, around the scale of all kinds.
    pub fn learned(drives: &[Vec<ErrorAndSpread>], pooled: f64) -> ErrorScale {
        let mut best = (f64::NEG_INFINITY, 1.0, pooled);
        for (ratio, ratio_prior) in candidates(1.0) {
            for (rest, rest_prior) in candidates(pooled) {
                let score = ratio_prior + rest_prior + log_likelihood(drives, ratio, rest);
                if score > best.0 {
                    best = (score, ratio, rest);
                }
            }
        }
        ErrorScale {
            ratio: best.1,
            rest: best.2,
            drives: drives.len(),
        }
    }

    /// Standard deviation of the error of a prediction whose members have this spread.
    pub fn deviation(&self, spread: f64) -> f64 {
        total(self.ratio, self.rest, spread)
    }

    /// Half of the 90 % interval of a prediction whose members have this spread.
    pub fn half_width(&self, spread: f64) -> f64 {
        T_95[self.drives.min(T_95.len() - 1)] * self.deviation(spread)
    }
}

#[cfg(test)]
#[path = "../tests/unit/scale.rs"]
mod tests;
