//! A keyed permutation of `0..count` in constant memory.

use assay_units::Rng;

/// Rounds of the network. Four rounds of good round functions already make a permutation that no efficient test tells
/// from a random one (M. Luby, C. Rackoff, 1988); two more cover for the round function being a mere multiply.
const ROUNDS: usize = 6;
/// Keeps the factor of the round function from being that of another round (2^64 divided by the golden ratio).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// A pseudo-random permutation of `0..count`: an alternating, unbalanced Feistel network on the smallest power of two
/// that holds `count`, with cycle walking (J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains", 2002) for
/// the values that fall outside. The domain is less than twice `count`, so a walk takes less than two steps on
/// average.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    count: u64,
    /// Width in bits of the low and the high half.
    low_bits: u32,
    high_bits: u32,
    keys: [u64; ROUNDS],
    /// Added to the result, modulo `count`: makes every place exactly equally likely for every index, which a network over
    /// only a few bits alone does not.
    rotation: u64,
}

impl Permutation {
    /// A permutation of `0..count` drawn by `rng`. A `count` of 0 is taken as 1.
    pub fn new(count: u64, rng: &mut Rng) -> Permutation {
        let count = count.max(1);
        // At least one bit in each half, so that every shift below is by less than 64.
        let bits = (64 - (count - 1).leading_zeros()).max(2);
        let mut permutation = Permutation {
            count,
            low_bits: bits / 2,
            high_bits: bits - bits / 2,
            keys: [0; ROUNDS],
            rotation: 0,
        };
        permutation.reshuffle(rng);
        permutation
    }

    /// Draw new keys: another permutation of the same range.
    pub fn reshuffle(&mut self, rng: &mut Rng) {
        for key in &mut self.keys {
            *key = rng.next_u64();
        }
        self.rotation = rng.below(self.count);
    }

    /// How many values are permuted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Where `index` goes. `index` must be below [`Permutation::count`]; a larger one is wrapped into it.
    #[inline]
    pub fn apply(&self, index: u64) -> u64 {
        let mut value = if index < self.count {
            index
        } else {
            index % self.count
        };
        loop {
            value = self.network(value);
            // A walk that starts inside comes back inside: the cycle it follows contains its start.
            if value < self.count {
                let room = self.count - self.rotation;
                return if value < room {
                    value + self.rotation
                } else {
                    value - room
                };
            }
        }
    }

    #[inline]
    fn network(&self, value: u64) -> u64 {
        let mut low = value & ((1 << self.low_bits) - 1);
        let mut high = value >> self.low_bits;
        let (to_low, to_high) = (64 - self.low_bits, 64 - self.high_bits);
        for pair in self.keys.chunks_exact(2) {
            low ^= round(high, pair[0]) >> to_low;
            high ^= round(low, pair[1]) >> to_high;
        }
        (high << self.low_bits) | low
    }
}

/// The round function: a folded multiplication with a factor that depends on the key too, so that the outputs for two inputs are
/// as good as independent even where a half has two bits only.
#[inline]
fn round(half: u64, key: u64) -> u64 {
    let wide = u128::from(half ^ key) * u128::from(key.rotate_left(29) ^ MULTIPLIER);
    (wide as u64) ^ ((wide >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_units::Rng;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn is_a_bijection(count in 1_u64..5000, seed: u64) {
            let permutation = Permutation::new(count, &mut Rng::new(seed));
            let mut seen = vec![false; count as usize];
            for i in 0..count {
                let value = permutation.apply(i);
                prop_assert!(value < count);
                prop_assert!(!std::mem::replace(&mut seen[value as usize], true), "{value} twice");
            }
        }

        #[test]
        fn stays_inside_for_any_count(count: u64, index: u64, seed: u64) {
            let permutation = Permutation::new(count, &mut Rng::new(seed));
            prop_assert!(permutation.apply(index) < count.max(1));
        }
    }

    /// Over many keys, each of 12 values must go to each place equally often: chi-squared over (12-1)^2 degrees of
    /// freedom of the 12 x 12 table.
    #[test]
    fn every_place_is_equally_likely() {
        const N: usize = 12;
        const KEYS: usize = 24_000;
        let mut table = [[0_u32; N]; N];
        let mut rng = Rng::new(5);
        let mut permutation = Permutation::new(N as u64, &mut rng);
        for _ in 0..KEYS {
            permutation.reshuffle(&mut rng);
            for (i, row) in table.iter_mut().enumerate() {
                row[permutation.apply(i as u64) as usize] += 1;
            }
        }
        let expected = KEYS as f64 / N as f64;
        let chi2: f64 = table
            .as_flattened()
            .iter()
            .map(|&n| (f64::from(n) - expected).powi(2) / expected)
            .sum();
        // 121 degrees of freedom: mean 121, standard deviation 15.6; 0.9999 quantile 185.
        assert!(chi2 < 185.0, "chi-squared {chi2}");
    }

    /// Over many keys, where the second index goes given where the first went: all ordered pairs of a range of 60 about
    /// equally often.
    #[test]
    fn pairs_are_about_equally_likely() {
        const N: u64 = 60;
        const PER_PAIR: u64 = 40;
        let mut counts = vec![0_u32; (N * N) as usize];
        let mut rng = Rng::new(6);
        let mut permutation = Permutation::new(N, &mut rng);
        for _ in 0..N * (N - 1) * PER_PAIR {
            permutation.reshuffle(&mut rng);
            counts[(permutation.apply(7) * N + permutation.apply(8)) as usize] += 1;
        }
        let pairs = counts
            .iter()
            .enumerate()
            .filter(|(i, _)| *i as u64 / N != *i as u64 % N);
        let chi2: f64 = pairs
            .map(|(_, &n)| (f64::from(n) - PER_PAIR as f64).powi(2) / PER_PAIR as f64)
            .sum();
        // 3539 degrees of freedom for a truly random permutation: mean 3539, standard deviation 84. Six rounds over six bits
        // come close to it; a shuffle that keeps neighbours together is off by orders of magnitude.
        assert!(chi2 < 3539.0 * 1.15, "chi-squared {chi2}");
    }

    /// Neighbours must not stay neighbours: the mean distance of consecutive outputs of a random order is a third of
    /// the range.
    #[test]
    fn consecutive_outputs_are_far_apart() {
        let count = 1_000_003_u64;
        let permutation = Permutation::new(count, &mut Rng::new(8));
        let total: f64 = (1..50_000_u64)
            .map(|i| permutation.apply(i).abs_diff(permutation.apply(i - 1)) as f64)
            .sum();
        let mean = total / 49_999.0 / count as f64;
        assert!((mean - 1.0 / 3.0).abs() < 0.006, "mean distance {mean}");
    }
}
