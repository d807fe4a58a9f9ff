//! Identifiability: which numbers the figures determine, and which figure to measure next.
//!
//! The Fisher information is scaled by the prior's widths: an eigenvalue above 1 is a direction of
//! which the figures say more than the prior (T. Cui and others, "Likelihood-informed dimension
//! reduction for nonlinear inverse problems", Inverse Problems 30, 2014). The next measurement is
//! the candidate that leaves the least predictive variance (A-optimal design; K. Chaloner, I.
//! Verdinelli, "Bayesian Experimental Design", Statistical Science 10, 1995), given those before
//! it.

use super::linear::{Matrix, dot, eigen, inverse, times};
use super::posterior::{Mode, Prior};

/// A parameter with a posterior width above this share of its prior width is undetermined.
pub const UNDETERMINED: f64 = 0.5;
/// Standard deviations to the end of a 90 % interval of a normal distribution.
pub const SIGMAS_90: f64 = 1.645;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knowledge {
    /// A logarithm.
    pub mode: f64,
    pub width: f64,
    pub prior_width: f64,
}

impl Knowledge {
    pub fn is_undetermined(&self) -> bool {
        self.width > UNDETERMINED * self.prior_width
    }

    pub fn interval(&self) -> (f64, f64) {
        let half = SIGMAS_90 * self.width;
        ((self.mode - half).exp(), (self.mode + half).exp())
    }
}

/// Empty when the precision of the mode is not positive definite.
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
            row.map(|j| mode.fisher[i][j] * prior.width[i] * prior.width[j]).collect()
        })
        .collect();
    let (mut values, _) = eigen(&scaled);
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// The `count` candidates (rows of the Jacobian, scales of their errors) to measure next, in order,
/// each with the share of the predictive variance that it and those before remove, 0 to 1.
pub fn next_figures(
    mode: &Mode,
    candidates: &[(Vec<f64>, f64)],
    count: usize,
) -> Vec<(usize, f64)> {
    let Some(mut covariance) = inverse(&mode.precision) else {
        return Vec::new();
    };
    let total = |covariance: &Matrix| -> f64 {
        let variances = candidates.iter().map(|(row, _)| dot(row, &times(covariance, row)));
        variances.sum()
    };
    let before = total(&covariance);
    if before <= 0.0 {
        return Vec::new();
    }
    let mut chosen: Vec<(usize, f64)> = Vec::new();
    while chosen.len() < count.min(candidates.len()) {
        let left = |c: usize| total(&with_figure(&covariance, &candidates[c]));
        let free = (0..candidates.len()).filter(|c| chosen.iter().all(|(other, _)| other != c));
        let ranked = free.map(|c| (c, left(c))).min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((best, left)) = ranked else {
            break;
        };
        covariance = with_figure(&covariance, &candidates[best]);
        chosen.push((best, 1.0 - left / before));
    }
    chosen
}

/// Covariance once a figure is measured (J. Sherman, W. Morrison, Annals of Mathematical Statistics
/// 21, 1950).
fn with_figure(covariance: &Matrix, (row, scale): &(Vec<f64>, f64)) -> Matrix {
    let spread = times(covariance, row);
    let variance = scale * scale + dot(row, &spread);
    let rows = covariance.iter().zip(&spread);
    rows.map(|(old, a)| {
        let pairs = old.iter().zip(&spread);
        pairs.map(|(c, b)| c - a * b / variance).collect()
    })
    .collect()
}

#[cfg(test)]
#[path = "../../tests/unit/inference/identify.rs"]
mod tests;
