use assay_units::Rng;

/// Four rounds of good round functions already make a permutation that no efficient test
/// distinguishes from a random one (M. Luby, C. Rackoff, 1988); two more cover for the round
/// function being a mere multiply.
const ROUNDS: usize = 6;
/// Keeps the factor of the round function from being that of another round (2^64 divided by the
/// golden ratio).
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// A pseudo-random permutation of `0..count`: an alternating, unbalanced Feistel network on the
/// smallest power of two that holds `count`, with cycle walking (J. Black, P. Rogaway, "Ciphers
/// with Arbitrary Finite Domains", 2002) for the values that fall outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permutation {
    count: u64,
    low_bits: u32,
    high_bits: u32,
    keys: [u64; ROUNDS],
    /// Makes every place equally likely, which a network over only a few bits does not.
    rotation: u64,
}

impl Permutation {
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

    pub fn reshuffle(&mut self, rng: &mut Rng) {
        for key in &mut self.keys {
            *key = rng.next_u64();
        }
        self.rotation = rng.below(self.count);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// `index` must be below [`Permutation::count`]; a larger one is wrapped into it.
    #[inline]
    pub fn apply(&self, index: u64) -> u64 {
        let mut value = if index < self.count { index } else { index % self.count };
        loop {
            value = self.network(value);
            // A walk that starts inside comes back inside: the cycle it follows contains its start.
            if value < self.count {
                let room = self.count - self.rotation;
                return if value < room { value + self.rotation } else { value - room };
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

/// The factor depends on the key, so that even halves of two bits give independent outputs.
#[inline]
fn round(half: u64, key: u64) -> u64 {
    let wide = u128::from(half ^ key) * u128::from(key.rotate_left(29) ^ MULTIPLIER);
    (wide as u64) ^ ((wide >> 64) as u64)
}

#[cfg(test)]
#[path = "../../tests/unit/access/permutation.rs"]
mod tests;
