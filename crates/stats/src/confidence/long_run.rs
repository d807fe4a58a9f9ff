//! Variance of the mean of an autocorrelated series, times its length.
//!
//! # Mechanism
//! The means of blocks of `b` values are prewhitened by a first-order autoregression and
//! recoloured: `b s^2 / (1 - phi)^2`, with `s^2` the variance of its residuals (Andrews and
//! Monahan, Econometrica 60, 1992; prewhitening for batch means). The estimate of `phi` is
//! corrected for its bias, `-(1 + 3 phi) / n` (Marriott and Pope, Biometrika 41, 1954).
//!
//! `b` = 1 is right for first-order series and most efficient, but a weak slow component under
//! strong fast noise, a second level or a longer memory appear only at longer blocks. So `b`
//! doubles, and longer blocks are taken where their estimate is larger than chance allows (ratio of
//! variances, F distribution). A memory of which eight blocks hold little looks like a level.

use crate::moments::{mean, moments};
use crate::student::f_probability;

const FEWEST_BLOCKS: usize = 8;
/// Probability that chance makes any longer estimate larger, shared equally (Bonferroni).
const CHANCE: f64 = 0.1;
/// Largest coefficient of the autoregression.
const MOST_PHI: f64 = 0.995;

#[derive(Clone, Copy, Debug)]
pub struct LongRun {
    /// Never below the variance of single values.
    pub variance: f64,
    pub degrees: f64,
    pub block_length: usize,
}

impl LongRun {
    /// `variance`: of single values. `None` of fewer than [`FEWEST_BLOCKS`], or if not finite.
    pub fn new(values: &[f64], variance: f64) -> Option<LongRun> {
        let mut found = LongRun::in_blocks(values, 1)?;
        found.variance = found.variance.max(variance);
        let doublings = (values.len() / FEWEST_BLOCKS).checked_ilog2()?;
        for doubling in 1..=doublings {
            let length = 1 << doubling;
            let longer = LongRun::in_blocks(values, length)?;
            let times = longer.variance / found.variance;
            if f_probability(times, longer.degrees, found.degrees) < CHANCE / f64::from(doublings) {
                found = longer;
            }
        }
        found.variance.is_finite().then_some(found)
    }

    /// From blocks of one length. The relative variance of the estimate is that of the residuals'
    /// variance, 2 / (n - 2), and that of 1 / (1 - phi)^2, 4 (1 + phi) / (n (1 - phi)); degrees of
    /// freedom are 2 over their sum.
    fn in_blocks(values: &[f64], length: usize) -> Option<LongRun> {
        let blocks = values.len() / length;
        if blocks < FEWEST_BLOCKS {
            return None;
        }
        let used = &values[values.len() - blocks * length..];
        let means: Vec<f64> = used.chunks_exact(length).map(mean).collect();
        let (count, centre) = (blocks as f64, mean(&means));
        let deviations: Vec<f64> = means.iter().map(|m| m - centre).collect();
        let products = deviations.windows(2).map(|pair| pair[0] * pair[1]);
        let squares: f64 = deviations.iter().map(|d| d * d).sum();
        // Blocks without variation have no correlation.
        let raw = products.sum::<f64>() / squares;
        let raw = if raw.is_finite() { raw } else { 0.0 };
        let phi = (raw + (1.0 + 3.0 * raw) / count).clamp(0.0, MOST_PHI);
        let residuals = deviations.windows(2).map(|pair| pair[1] - phi * pair[0]);
        let (_, of_residuals) = moments(&residuals.collect::<Vec<f64>>())?;
        let of_phi = match phi > 0.0 {
            true => 4.0 * (1.0 + phi) / (count * (1.0 - phi)),
            false => 0.0,
        };
        Some(LongRun {
            variance: length as f64 * of_residuals / (1.0 - phi).powi(2),
            degrees: (2.0 / (of_phi + 2.0 / (count - 2.0))).max(1.0),
            block_length: length,
        })
    }
}
