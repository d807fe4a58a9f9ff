use assay_units::Rng;

use super::AccessError;

/// The largest exponent accepted; beyond it the first rank takes practically everything.
pub const MAX_THETA: f64 = 10.0;

/// Rejection-inversion: W. Hörmann, G. Derflinger, "Rejection-inversion to generate variates from
/// monotone discrete distributions", ACM TOMACS 6(3), 1996. The continuous density `x^-theta` is
/// inverted over `(1/2, count + 1/2]`, rounded, and rejected where the hat exceeds the histogram.
/// At least 3 of 4 draws are accepted, whatever the count and theta, and nothing has to be summed
/// beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct Zipf {
    theta: f64,
    count: u64,
    /// Shifted so that rank 1 is always accepted.
    integral_first: f64,
    integral_last: f64,
    /// Within this distance left of a rank, acceptance needs no evaluation (the paper's `s`).
    squeeze: f64,
}

impl Zipf {
    pub fn new(count: u64, theta: f64) -> Result<Zipf, AccessError> {
        if !(theta > 0.0 && theta <= MAX_THETA) {
            return Err(AccessError::BadTheta(theta));
        }
        let count = count.max(1);
        Ok(Zipf {
            theta,
            count,
            integral_first: integral(1.5, theta) - 1.0,
            integral_last: integral(count as f64 + 0.5, theta),
            squeeze: 2.0 - integral_inverse(integral(2.5, theta) - density(2.0, theta), theta),
        })
    }

    #[inline]
    pub fn sample(&self, rng: &mut Rng) -> u64 {
        loop {
            let share = rng.unit_f64();
            let area = self.integral_last + share * (self.integral_first - self.integral_last);
            let x = integral_inverse(area, self.theta);
            // `as` saturates, so a rounding error at either end cannot leave the range.
            let rank = ((x + 0.5) as u64).clamp(1, self.count);
            let k = rank as f64;
            if k - x <= self.squeeze
                || area >= integral(k + 0.5, self.theta) - density(k, self.theta)
            {
                return rank;
            }
        }
    }
}

#[inline]
fn density(x: f64, theta: f64) -> f64 {
    (-theta * x.ln()).exp()
}

/// In a form without cancellation near theta = 1, where it becomes `ln x`.
#[inline]
fn integral(x: f64, theta: f64) -> f64 {
    let log = x.ln();
    log * exp_m1_over((1.0 - theta) * log)
}

#[inline]
fn integral_inverse(area: f64, theta: f64) -> f64 {
    // The argument of the logarithm is x^(1-theta) - 1 and cannot be below -1 but for rounding.
    let t = (area * (1.0 - theta)).max(-1.0);
    (area * ln_1p_over(t)).exp()
}

/// `(e^t - 1) / t`, continuous at 0.
#[inline]
fn exp_m1_over(t: f64) -> f64 {
    if t.abs() > 1e-8 { t.exp_m1() / t } else { 1.0 + t * 0.5 }
}

/// `ln(1 + t) / t`, continuous at 0.
#[inline]
fn ln_1p_over(t: f64) -> f64 {
    if t.abs() > 1e-8 { t.ln_1p() / t } else { 1.0 - t * 0.5 }
}

#[cfg(test)]
#[path = "../../tests/unit/access/zipf.rs"]
mod tests;
