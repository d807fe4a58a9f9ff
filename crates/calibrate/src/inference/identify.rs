//! Identifiability: which numbers the figures determine, and which further figure would determine
//! the predictions best.
//!
//! The Fisher information is scaled by the prior's widths: an eigenvalue above 1 is a direction of
//! which the figures say more than the prior (T. Cui and others, "Likelihood-informed dimension
//! reduction for nonlinear inverse problems", Inverse Problems 30, 2014). A number is undetermined
//! where its posterior width is more than half of its prior width. The next measurement is the
//! candidate that leaves the least predictive variance (A-optimal design; K. Chaloner, I.
//! Verdinelli, "Bayesian Experimental Design", Statistical Science 10, 1995); several are chosen
//! one after the other, so that none repeats what another says.

use super::linear::{Matrix, dot, eigen, inverse, times};
use super::posterior::{Mode, Prior};

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

/// The `count` candidate figures (rows of the Jacobian and the scales of their errors) to measure
/// next, in their order: each leaves the least predictive variance of all candidates after those
/// before it. With the share of that variance, 0 to 1, which it and those before remove.
pub fn next_figures(
    mode: &Mode,
    candidates: &[(Vec<f64>, f64)],
    count: usize,
) -> Vec<(usize, f64)> {
    let Some(mut covariance) = inverse(&mode.precision) else {
        return Vec::new();
    };
    let total = |covariance: &Matrix| -> f64 {
        let variances = candidates
            .iter()
            .map(|(row, _)| dot(row, &times(covariance, row)));
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
        let ranked = free
            .map(|c| (c, left(c)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((best, left)) = ranked else {
            break;
        };
        covariance = with_figure(&covariance, &candidates[best]);
        chosen.push((best, 1.0 - left / before));
    }
    chosen
}

/// The covariance once a figure is measured (J. Sherman, W. Morrison, Annals of Mathematical
/// Statistics 21, 1950).
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
