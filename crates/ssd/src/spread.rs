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
#[path = "../tests/unit/spread.rs"]
mod tests;
