//! Comparison of two groups of drives: one value per drive.

use serde::{Deserialize, Serialize};

use crate::moments::moments;
use crate::student;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupDifference {
    /// Mean of the second group less that of the first.
    pub difference: f64,
    pub low: f64,
    pub high: f64,
    /// Probability of a difference at least as large, in either direction, if there is none.
    pub probability: f64,
    pub degrees: f64,
    /// Whether the groups are the same drives.
    pub paired: bool,
    /// Of the first and of the second group; pairs in both where paired.
    pub drives: (usize, usize),
}

/// Welch's t (B. L. Welch, "The Generalization of 'Student's' Problem when Several Different
/// Population Variances are Involved", Biometrika 34, 1947): groups may differ in spread and size.
/// `None` with fewer than two drives in a group, without variation in both, or unless
/// `0 < level < 1`.
pub fn welch(first: &[f64], second: &[f64], level: f64) -> Option<GroupDifference> {
    if first.len() < 2 || second.len() < 2 {
        return None;
    }
    let of = |values: &[f64]| {
        let (mean, variance) = moments(values)?;
        let n = values.len() as f64;
        Some((mean, variance / n, n - 1.0))
    };
    let ((mean_a, a, degrees_a), (mean_b, b, degrees_b)) = (of(first)?, of(second)?);
    let degrees = (a + b).powi(2) / (a * a / degrees_a + b * b / degrees_b);
    let drives = (first.len(), second.len());
    described(mean_b - mean_a, a + b, degrees, level, drives, false)
}

/// Student's t of `after - before` of the same drives. `None` as [`welch`].
pub fn paired(before: &[f64], after: &[f64], level: f64) -> Option<GroupDifference> {
    if before.len() != after.len() || before.len() < 2 {
        return None;
    }
    let differences: Vec<f64> = before.iter().zip(after).map(|(b, a)| a - b).collect();
    let (mean, variance) = moments(&differences)?;
    let pairs = differences.len();
    let (error, degrees) = (variance / pairs as f64, pairs as f64 - 1.0);
    described(mean, error, degrees, level, (pairs, pairs), true)
}

fn described(
    difference: f64,
    variance: f64,
    degrees: f64,
    level: f64,
    drives: (usize, usize),
    paired: bool,
) -> Option<GroupDifference> {
    let error = variance.sqrt();
    // Spread within the rounding of logarithms: simulated drives may be identical.
    if !(error > 1e-12 && degrees > 0.0) {
        return None;
    }
    let half = student::two_sided(level, degrees)? * error;
    Some(GroupDifference {
        difference,
        low: difference - half,
        high: difference + half,
        probability: student::two_sided_probability(difference / error, degrees),
        degrees,
        paired,
        drives,
    })
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/groups.rs"]
mod tests;
