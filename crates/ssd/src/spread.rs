//! Read times that are not all alike.
//!
//! A sense takes as long as its threshold comparisons need, which differs from page to page and from die to die by a sum of small
//! independent causes: about a normal distribution around each page type's time. It is drawn as the sum of four uniform
//! numbers (Irwin and Hall, 1927), which is exact in integers, needs one random word, and ends at 3.46 standard deviations:
//! what is rarer than one read in some thousands belongs to [`crate::retry`].

use assay_units::Rng;

/// Standard deviation of the sum of four uniform numbers of 16 bits: `sqrt(4 * (2^32 - 1) / 12)`.
const SUM_SIGMA: i64 = 37_837;
/// Twice the mean of that sum, less one: `4 * 65535`.
const SUM_LIMIT: i64 = 4 * 65_535;

/// Draws of one drive.
#[derive(Clone, Debug)]
pub struct Spread {
    sigma_ns: i64,
    draws: Rng,
}

impl Spread {
    /// Times with this standard deviation (at most 1000 seconds).
    pub fn new(sigma_ns: u64, seed: u64) -> Spread {
        Spread {
            sigma_ns: sigma_ns.min(1_000_000_000_000) as i64,
            draws: Rng::stream(seed, "read spread"),
        }
    }

    /// A time around this mean, never less than half of it.
    #[inline]
    pub fn around_ns(&mut self, mean_ns: u64) -> u64 {
        let word = self.draws.next_u64();
        let sum: i64 = (0..4)
            .map(|part| (word >> (16 * part) & 0xffff) as i64)
            .sum();
        let off_ns = (2 * sum - SUM_LIMIT) * self.sigma_ns / (2 * SUM_SIGMA);
        mean_ns.saturating_add_signed(off_ns).max(mean_ns / 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_deviation_and_range_are_those_of_the_distribution() {
        let mut spread = Spread::new(5_000, 1);
        let draws: Vec<f64> = (0..200_000)
            .map(|_| spread.around_ns(60_000) as f64)
            .collect();
        let n = draws.len() as f64;
        let mean = draws.iter().sum::<f64>() / n;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
        assert!((mean - 60_000.0).abs() < 50.0, "{mean}");
        assert!((variance.sqrt() - 5_000.0).abs() < 50.0, "{variance}");
        let beyond = draws.iter().filter(|&&x| x > 60_000.0 + 2.0 * 5_000.0);
        // A normal distribution has 2.28 % beyond two deviations, the sum of four uniform numbers 2.2 %.
        let share = beyond.count() as f64 / n;
        assert!((0.019..0.025).contains(&share), "{share}");
        assert!(draws.iter().all(|&x| (x - 60_000.0).abs() <= 17_321.0));
    }

    #[test]
    fn a_spread_of_nothing_changes_nothing_and_times_stay_positive() {
        assert_eq!(Spread::new(0, 1).around_ns(777), 777);
        let mut wide = Spread::new(u64::MAX, 1);
        assert!((0..1000).all(|_| wide.around_ns(1000) >= 500));
    }
}
