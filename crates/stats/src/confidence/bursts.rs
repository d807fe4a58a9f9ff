//! Rare bursts in a series, as stalls of a drive: where they hold the variance, they and not the
//! seconds are the independent values.
//!
//! # Mechanism
//! A burst is a run of consecutive values farther than [`FAR`] robust standard deviations from the
//! median (1.4826 times the median absolute deviation; Iglewicz and Hoaglin, 1993). With a share
//! `s` of the sum of squares in `B` bursts, the relative variance of the estimated variance is
//! about `s^2 / B` of a count of events (Poisson), so that as many values are known as `B / s^2`
//! (Satterthwaite's sum of variances). Bursts of different sizes count less:
//! `(sum x^2)^2 / sum x^4` of their sums `x`.
//!
//! # Non-goals
//! Bursts that did not happen: a series of n seconds says nothing of events rarer than one in n / 3
//! (the rule of three; Hanley and Lippman-Hand, JAMA 249, 1983).

use crate::change::MAD_TO_SIGMA;
use crate::median;
use crate::moments::mean;

/// Robust standard deviations from the median to a burst; one in 1.7 million normal values.
const FAR: f64 = 5.0;
/// Factor on the variance of the variance for random lengths; simulated (docs/statistics.md).
const RANDOM_LENGTHS: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bursts {
    pub count: u64,
    /// Share of the sum of squares within the bursts.
    share: f64,
    /// Number of equal bursts that estimate the variance as well.
    equal: f64,
}

impl Bursts {
    /// Of a series around its mean.
    pub fn new(values: &[f64], centre: f64) -> Bursts {
        let middle = median(values);
        let distance = |v: &f64| (v - middle).abs();
        let distances: Vec<f64> = values.iter().map(distance).collect();
        let far = FAR * MAD_TO_SIGMA * median(&distances);
        let squares: f64 = values.iter().map(|v| (v - centre).powi(2)).sum();
        let (mut count, mut within, mut second, mut fourth) = (0, 0.0, 0.0, 0.0);
        for burst in values.chunk_by(|a, b| (distance(a) > far) == (distance(b) > far)) {
            if distance(&burst[0]) <= far {
                continue;
            }
            let sum = burst.len() as f64 * (mean(burst) - centre);
            count += 1;
            within += burst.iter().map(|v| (v - centre).powi(2)).sum::<f64>();
            second += sum.powi(2);
            fourth += sum.powi(4);
        }
        let equal = if fourth > 0.0 { second * second / fourth } else { 1.0 };
        Bursts { count, share: if squares > 0.0 { within / squares } else { 0.0 }, equal }
    }

    /// Effective values, as far as bursts limit them.
    pub fn effective(&self) -> f64 {
        match self.count {
            0 => f64::INFINITY,
            count => count as f64 / self.share.powi(2),
        }
    }

    /// Relative variance of the variance, from the bursts' number and sizes.
    pub fn relative_variance(&self) -> f64 {
        match self.count {
            0 => 0.0,
            _ => RANDOM_LENGTHS * self.share.powi(2) / self.equal,
        }
    }
}
