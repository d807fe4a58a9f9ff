//! Distribution of sense times.
//!
//! Sense times vary by page and die about normally around the page type's time. Drawn as the sum of four uniform
//! numbers (Irwin and Hall, 1927): exact in integers, one random word, limited to 3.46 standard deviations; rarer
//! events belong to [`crate::retry`].

use assay_units::Rng;

/// Standard deviation of the sum of four uniform numbers of 16 bits: `sqrt(4 * (2^32 - 1) / 12)`.
const SUM_SIGMA: i64 = 37_837;
/// Twice the mean of that sum: `4 * 65535`.
const SUM_LIMIT: i64 = 4 * 65_535;

#[derive(Clone, Debug)]
pub struct ReadTimeSpread {
    sigma_ns: i64,
    draws: Rng,
}

impl ReadTimeSpread {
    /// Times with this standard deviation (at most 1000 seconds).
    pub fn new(sigma_ns: u64, seed: u64) -> ReadTimeSpread {
        ReadTimeSpread {
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
        // Truncated at half of the mean, so saturation at 0 has no effect.
        mean_ns.saturating_add_signed(off_ns).max(mean_ns / 2)
    }
}

#[cfg(test)]
#[path = "../tests/unit/spread.rs"]
mod tests;
