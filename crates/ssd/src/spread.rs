//! Distribution of sense and program times.
//!
//! Times are about normal around those of the page type: between word lines, which differ by layer
//! and block in 3D flash (Y. Shim et al., "Exploiting process similarity of 3D flash memory for
//! high performance SSDs", MICRO 2019), and a little between reads of the same page. A word line
//! keeps its deviation, a hash of its address and the seed.
//!
//! Normal numbers are sums of four uniform ones (Irwin and Hall, 1927): exact in integers, one
//! random word, at most 3.46 standard deviations; rarer events belong to [`crate::retry`].

use assay_units::Rng;
use assay_units::rng::mix;

/// Standard deviation of the sum of four uniform numbers of 16 bits: `sqrt(4 * (2^32 - 1) / 12)`.
const SUM_SIGMA: i64 = 37_837;
const SUM_LIMIT: i64 = 4 * 65_535;
/// Standard deviation of program times, and of sense times between word lines without
/// `nand.read_sigma_ns` (`nand.read_jitter_ns` included), per mille; assumed: "a few per cent".
/// Profiles that give it were fitted to a published p99 (P3700: 6 %) or assume a tenth.
const WORD_LINE_PERMILLE: u64 = 40;
/// Standard deviation between reads of the same page; assumed: a quarter of that of word lines.
const REPEAT_PERMILLE: u64 = 10;
/// Longest deviation computed, so that products do not overflow.
const LONGEST_SIGMA_NS: u64 = 1_000_000_000_000;

/// Twice a number that is about normal with [`SUM_SIGMA`].
#[inline]
fn deviation(word: u64) -> i64 {
    // Two sums of two in the halves of a word, then their sum.
    const LOW: u64 = 0x0000_ffff_0000_ffff;
    let pairs = (word & LOW) + (word >> 16 & LOW);
    let sum = ((pairs >> 32) + (pairs & 0xffff_ffff)) as i64;
    2 * sum - SUM_LIMIT
}

/// A time this deviation away, never less than half of its mean.
#[inline]
fn moved_ns(mean_ns: u64, sigma_ns: u64, deviation: i64) -> u64 {
    let off_ns = deviation * sigma_ns.min(LONGEST_SIGMA_NS) as i64 / (2 * SUM_SIGMA);
    mean_ns.saturating_add_signed(off_ns).max(mean_ns / 2)
}

/// Each read draws anew, wherever its page lies.
#[derive(Clone, Debug)]
pub struct ReadTimeSpread {
    sigma_ns: u64,
    draws: Rng,
}

impl ReadTimeSpread {
    /// `sigma_ns` is at most 1000 seconds.
    pub fn new(sigma_ns: u64, seed: u64) -> ReadTimeSpread {
        ReadTimeSpread { sigma_ns, draws: Rng::stream(seed, "read spread") }
    }

    #[inline]
    pub fn around_ns(&mut self, mean_ns: u64) -> u64 {
        moved_ns(mean_ns, self.sigma_ns, deviation(self.draws.next_u64()))
    }
}

const RELATIVE_BITS: u32 = 24;
const FACTOR_BITS: u32 = 40;
/// Standard deviation of the sum of two uniform numbers of 18 bits: `2^18 / sqrt(6)`.
const REPEAT_SIGMA: u64 = 107_021;
/// Longer times vary as this one (over a minute), so that products do not overflow.
const LONGEST_VARYING_NS: u64 = 1 << 36;
/// Odd multipliers of the hash (those of splitmix64).
const MULTIPLIERS: [u64; 2] = [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb];

#[derive(Clone, Debug)]
pub struct WordLineSpread {
    seed: u64,
    varies: bool,
    relative_to_ns: u64,
    /// Relative deviation per unit of [`deviation`], and of a repeat.
    factor: i64,
    repeat_factor: i64,
    program_factor: i64,
    /// Uniform addition from 0 to less than this, by word line.
    jitters_ns: u64,
    draws: Rng,
}

impl WordLineSpread {
    /// `sigma_ns` of sense times (0: every page has its mean), and a uniform addition. Without the
    /// former both together deviate by [`WORD_LINE_PERMILLE`] of `mean_ns`, or more by the addition
    /// alone.
    pub fn new(sigma_ns: Option<u64>, jitter_ns: u64, mean_ns: u64, seed: u64) -> WordLineSpread {
        let jitter_permille = jitter_ns.saturating_mul(1000) / (mean_ns + jitter_ns / 2).max(1);
        let left = (12 * WORD_LINE_PERMILLE * WORD_LINE_PERMILLE)
            .saturating_sub(jitter_permille.saturating_mul(jitter_permille));
        let mean_ns = mean_ns.max(1);
        let factor = |part: u64, whole: u64, sigma: u64| {
            ((u128::from(part) << FACTOR_BITS) / (u128::from(whole) * u128::from(sigma))) as i64
        };
        let word_lines = |part, whole| factor(part, whole, 2 * SUM_SIGMA as u64);
        WordLineSpread {
            seed: mix(seed, 0x776f_7264_6c69_6e65),
            varies: sigma_ns != Some(0),
            relative_to_ns: sigma_ns.map_or(0, |_| mean_ns),
            factor: match sigma_ns {
                // At most as long as the mean, so that products do not overflow.
                Some(sigma_ns) => word_lines(sigma_ns.min(mean_ns), mean_ns),
                None => word_lines((left / 12).isqrt(), 1000),
            },
            repeat_factor: factor(REPEAT_PERMILLE, 1000, REPEAT_SIGMA),
            program_factor: word_lines(WORD_LINE_PERMILLE, 1000),
            jitters_ns: jitter_ns + 1,
            draws: Rng::stream(seed, "read spread"),
        }
    }

    #[inline]
    fn hash(&self, word_line: u64) -> u64 {
        let hash = (self.seed ^ word_line).wrapping_mul(MULTIPLIERS[0]);
        (hash ^ (hash >> 29)).wrapping_mul(MULTIPLIERS[1])
    }

    #[inline]
    pub fn sense_ns(&mut self, word_line: u32, mean_ns: u64) -> u64 {
        let hash = self.hash(word_line.into());
        // The upper half of another product is independent of the deviation.
        let share = hash.wrapping_mul(MULTIPLIERS[0]) >> 32;
        let mean_ns = mean_ns + ((share * self.jitters_ns) >> 32);
        if !self.varies {
            return mean_ns;
        }
        let word = self.draws.next_u64();
        let repeat = ((word >> 32) + (word & 0xffff_ffff)) as i64 - (1 << 32);
        let relative = deviation(hash) * self.factor + (repeat >> 14) * self.repeat_factor;
        let of_ns = if self.relative_to_ns > 0 { self.relative_to_ns } else { mean_ns };
        relatively(mean_ns, of_ns, relative)
    }

    #[inline]
    pub fn program_ns(&self, word_line: u32, mean_ns: u64) -> u64 {
        if !self.varies {
            return mean_ns;
        }
        let hash = self.hash(!u64::from(word_line));
        relatively(mean_ns, mean_ns, deviation(hash) * self.program_factor)
    }
}

/// A mean plus a part (of [`FACTOR_BITS`]) of a time, never less than half of the mean.
#[inline]
fn relatively(mean_ns: u64, of_ns: u64, part: i64) -> u64 {
    let of_ns = of_ns.min(LONGEST_VARYING_NS) as i64;
    let off_ns = (of_ns * (part >> (FACTOR_BITS - RELATIVE_BITS))) >> RELATIVE_BITS;
    mean_ns.saturating_add_signed(off_ns).max(mean_ns / 2)
}

#[cfg(test)]
#[path = "../tests/unit/spread.rs"]
mod tests;
