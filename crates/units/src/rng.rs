//! xoshiro256++ with named streams. Source: D. Blackman, S. Vigna, "Scrambled linear pseudorandom
//! number generators" (2018), the xoshiro256++ 1.0 generator, seeded by splitmix64 as its authors
//! recommend. Not for secrets.

/// A deterministic pseudo-random number generator: 256 bits of state, period 2^256 - 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

/// One step of splitmix64, a good 64-bit mixing function on its own.
#[inline]
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Hashes two words into one (for keying per-block or per-worker streams).
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    let mut state = a ^ b.rotate_left(32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    splitmix64(&mut state)
}

impl Rng {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Rng {
        let mut s = seed;
        Rng { state: std::array::from_fn(|_| splitmix64(&mut s)) }
    }

    /// The generator of a *named* stream, so that a new consumer does not change the numbers of an
    /// existing one. The name is hashed with 64-bit FNV-1a.
    pub fn stream(seed: u64, name: &str) -> Rng {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Rng::new(mix(seed, hash))
    }

    /// The next 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in `0..bound` (0 for a bound of 0), exactly, by Lemire's multiplication with
    /// rejection.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        let mut wide = u128::from(self.next_u64()) * u128::from(bound);
        if (wide as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (wide as u64) < threshold {
                wide = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (wide >> 64) as u64
    }

    /// Uniform in `(0, 1]`: never zero, so its logarithm is finite.
    #[inline]
    pub fn unit_f64(&mut self) -> f64 {
        ((self.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// Exponentially distributed with this mean (the gaps of a Poisson process).
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -self.unit_f64().ln() * mean
    }

    /// Normal with mean 0 and standard deviation 1: one of the pair of G. Box and M. Muller, "A
    /// Note on the Generation of Random Normal Deviates", Annals of Mathematical Statistics 29
    /// (1958). Finite: [`Rng::unit_f64`] is never zero.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit_f64().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit_f64()).cos()
    }

    /// Fill a buffer with random bytes.
    pub fn fill(&mut self, buffer: &mut [u8]) {
        let mut chunks = buffer.chunks_exact_mut(8);
        for chunk in &mut chunks {
            chunk.copy_from_slice(&self.next_u64().to_le_bytes());
        }
        let rest = chunks.into_remainder();
        if !rest.is_empty() {
            let bytes = self.next_u64().to_le_bytes();
            rest.copy_from_slice(&bytes[..rest.len()]);
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/rng.rs"]
mod tests;
