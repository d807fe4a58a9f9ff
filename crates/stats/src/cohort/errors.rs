//! Rare errors against a limit: counts are Poisson distributed.

use crate::student::ln_gamma;

use super::FALSE_ALARM;

/// Most terms of a series or continued fraction; about the square root of the mean is needed.
const MOST_TERMS: usize = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgainstLimit {
    /// More errors than a drive at the limit would have.
    Exceeded,
    /// Fewer errors than a drive at the limit would have.
    Within,
    /// Too little was transferred to tell.
    CannotTell,
}

/// `expected`: mean errors of a drive at the limit. Each conclusion is false for at most 5 % of
/// cohorts of `drives` drives at the limit (Bonferroni).
pub fn against_limit(errors: u64, expected: f64, drives: usize) -> AgainstLimit {
    let level = FALSE_ALARM / drives.max(1) as f64;
    let at_least = at_least(errors, expected);
    let at_most = 1.0 - self::at_least(errors.saturating_add(1), expected);
    if at_least <= level {
        AgainstLimit::Exceeded
    } else if at_most <= level {
        AgainstLimit::Within
    } else {
        AgainstLimit::CannotTell
    }
}

/// Probability of at least `count` events where `mean` are expected: the regularised incomplete
/// gamma function P(count, mean) (DLMF 8.4.10, by 8.7.1 and 8.9.2); 0 where `mean` is not positive.
pub fn at_least(count: u64, mean: f64) -> f64 {
    if count == 0 {
        return 1.0;
    }
    if mean.is_nan() || mean <= 0.0 {
        return 0.0;
    }
    let a = count as f64;
    let front = (a * mean.ln() - mean - ln_gamma(a + 1.0)).exp();
    if mean < a + 1.0 {
        let (mut term, mut sum) = (1.0, 1.0);
        for n in 1..MOST_TERMS {
            term *= mean / (a + n as f64);
            sum += term;
            if term < sum * 1e-15 {
                break;
            }
        }
        return (front * sum).min(1.0);
    }
    // Continued fraction of the complement, from the front (modified Lentz).
    let mut b = mean + 1.0 - a;
    let (mut c, mut d) = (f64::MAX, 1.0 / b);
    let mut value = d;
    for n in 1..MOST_TERMS {
        let numerator = -(n as f64) * (n as f64 - a);
        b += 2.0;
        d = 1.0 / nonzero(numerator * d + b);
        c = nonzero(b + numerator / c);
        value *= d * c;
        if (d * c - 1.0).abs() < 1e-15 {
            break;
        }
    }
    (1.0 - front * a * value).clamp(0.0, 1.0)
}

fn nonzero(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/errors.rs"]
mod tests;
