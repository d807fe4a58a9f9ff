//! Identifiability: which numbers the figures determine, and which further figure would determine the predictions best.
//!
//! The Fisher information is scaled by the prior's widths: an eigenvalue above 1 is a direction of which the figures say more than the
//! prior (T. Cui and others, "Likelihood-informed dimension reduction for nonlinear inverse problems", Inverse Problems 30, 2014). A number
//! is undetermined where its posterior width is more than half of its prior width. The next measurement is the candidate that leaves the
//! least predictive variance (A-optimal design; K. Chaloner, I. Verdinelli, "Bayesian Experimental Design", Statistical Science 10, 1995).

use super::linear::{dot, inverse, times};
use super::posterior::{Mode, Prior};
use crate::search::eigen;

/// A posterior width above this share of the prior's: undetermined.
pub const UNDETERMINED: f64 = 0.5;
/// Standard deviations to the end of a 90 % interval of a normal distribution.
pub const SIGMAS_90: f64 = 1.645;

/// What is known of a parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knowledge {
    /// Mode, a logarithm.
    pub mode: f64,
    /// Standard deviation of the posterior.
    pub width: f64,
    /// That of the prior.
    pub prior_width: f64,
}

impl Knowledge {
    /// Whether the figures say little of it.
    pub fn is_undetermined(&self) -> bool {
        self.width > UNDETERMINED * self.prior_width
    }

    /// Its 90 % interval, as numbers.
    pub fn interval(&self) -> (f64, f64) {
        let half = SIGMAS_90 * self.width;
        ((self.mode - half).exp(), (self.mode + half).exp())
    }
}

/// What a mode knows of each parameter; empty when its precision is not positive definite.
pub fn knowledge(mode: &Mode, prior: &Prior) -> Vec<Knowledge> {
    let covariance = inverse(&mode.precision).unwrap_or_default();
    let one = |(j, row): (usize, &Vec<f64>)| Knowledge {
        mode: mode.point[j],
        width: row[j].max(0.0).sqrt(),
        prior_width: prior.width[j],
    };
    covariance.iter().enumerate().map(one).collect()
}

/// Eigenvalues of the Fisher information in units of the prior, largest first.
pub fn spectrum(mode: &Mode, prior: &Prior) -> Vec<f64> {
    let scaled: Vec<Vec<f64>> = (0..prior.width.len())
        .map(|i| {
            let row = 0..prior.width.len();
            row.map(|j| mode.fisher[i][j] * prior.width[i] * prior.width[j])
                .collect()
        })
        .collect();
    let (mut values, _) = eigen(&scaled);
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// Per candidate figure (a row of the Jacobian and the scale of its error): the share of the predictive variance of all candidates that
/// measuring it would remove, 0 to 1.
pub fn gains(mode: &Mode, candidates: &[(Vec<f64>, f64)]) -> Vec<f64> {
    let Some(covariance) = inverse(&mode.precision) else {
        return vec![0.0; candidates.len()];
    };
    let spread: Vec<Vec<f64>> = candidates
        .iter()
        .map(|(row, _)| times(&covariance, row))
        .collect();
    let variance = |c: usize| dot(&candidates[c].0, &spread[c]);
    let before: f64 = (0..candidates.len()).map(variance).sum();
    let gain = |c: usize| {
        let (_, scale) = candidates[c];
        let removed = (0..candidates.len()).map(|t| dot(&candidates[t].0, &spread[c]).powi(2));
        removed.sum::<f64>() / (scale * scale + variance(c))
    };
    let share = |c| if before > 0.0 { gain(c) / before } else { 0.0 };
    (0..candidates.len()).map(share).collect()
}

#[cfg(test)]
#[path = "../../tests/unit/inference/identify.rs"]
mod tests;
