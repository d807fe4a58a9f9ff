//! Drives needed for a comparison: power of the two-sided t test by the noncentral t distribution
//! (J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, chapter 2).

use crate::student;

/// Most drives per group that [`drives_needed`] answers.
pub const MOST_DRIVES: usize = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Two groups of different drives, of equal size.
    Independent,
    /// The same drives before and after.
    Paired,
}

/// Probability that a true difference of `effect` becomes significant at `level`. `spread` is the
/// standard deviation of a drive's value: between drives for independent groups, between runs of a
/// drive for paired ones. `None` of fewer than two drives, or where a number is not positive and
/// finite, or `level` not in (0, 1).
pub fn power(design: Design, drives: usize, effect: f64, spread: f64, level: f64) -> Option<f64> {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    if drives < 2 || !positive(effect) || !positive(spread) {
        return None;
    }
    let n = drives as f64;
    // Both have an error of the difference of spread times sqrt(2 / n).
    let shift = effect / (spread * (2.0 / n).sqrt());
    let degrees = match design {
        Design::Independent => 2.0 * n - 2.0,
        Design::Paired => n - 1.0,
    };
    let critical = student::two_sided(level, degrees)?;
    Some(beyond(critical, shift, degrees))
}

/// Drives per group, or pairs, for the power `wanted`; `None` also above [`MOST_DRIVES`].
pub fn drives_needed(
    design: Design,
    effect: f64,
    spread: f64,
    level: f64,
    wanted: f64,
) -> Option<usize> {
    let enough = |drives: usize| power(design, drives, effect, spread, level).map(|p| p >= wanted);
    let mut high = 2;
    while !enough(high)? {
        high *= 2;
        if high > MOST_DRIVES {
            return None;
        }
    }
    let mut low = (high / 2).max(1);
    // `low` is not enough (or is one drive), `high` is.
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle)? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// Points of the integration, even.
const STEPS: usize = 400;

/// Probability that a noncentral t variable is beyond the critical value on either side: the normal
/// probability, integrated (Simpson) over the distribution of the estimated spread relative to the
/// true one, a chi variable over the root of its degrees of freedom.
fn beyond(critical: f64, shift: f64, degrees: f64) -> f64 {
    let width = 8.0 / (2.0 * degrees).sqrt();
    let (low, high) = ((1.0 - width).max(1e-9), 1.0 + width);
    let step = (high - low) / STEPS as f64;
    let (mut weights, mut sum) = (0.0, 0.0);
    for at in 0..=STEPS {
        let s = low + at as f64 * step;
        // Density up to a factor, 1 at s = 1.
        let density = ((degrees - 1.0) * s.ln() - degrees * (s * s - 1.0) / 2.0).exp();
        let simpson = match at {
            0 | STEPS => 1.0,
            odd if odd % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let outside = student::normal_above(critical * s - shift)
            + student::normal_above(critical * s + shift);
        weights += simpson * density;
        sum += simpson * density * outside;
    }
    sum / weights
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/power.rs"]
mod tests;
