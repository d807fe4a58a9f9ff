//! xoshiro256++ with named streams.
//!
//! Source: D. Blackman, S. Vigna, "Scrambled linear pseudorandom number generators" (2018), the xoshiro256++ 1.0
//! generator, seeded by splitmix64 as its authors recommend. Not for secrets.

/// A deterministic pseudo-random number generator: 256 bits of state, period 2^256 - 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

/// One step of splitmix64: also a good 64-bit mixing function on its own.
#[inline]
pub fn splitmix64(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Mix two words into one well-spread word (for keying per-block or per-worker streams).
#[inline]
pub fn mix(a: u64, b: u64) -> u64 {
    let mut state = a ^ b.rotate_left(32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    splitmix64(&mut state)
}

impl Rng {
    /// The generator of a seed.
    pub fn new(seed: u64) -> Rng {
        let mut s = seed;
        Rng {
            state: [
                splitmix64(&mut s),
                splitmix64(&mut s),
                splitmix64(&mut s),
                splitmix64(&mut s),
            ],
        }
    }

    /// The generator of a *named* stream of a seed. Two names give unrelated streams, so a new consumer of randomness
    /// never shifts the numbers an old one sees. The name is hashed with 64-bit FNV-1a.
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

    /// Uniform in `0..bound` (0 for a bound of 0), by Lemire's multiplication method with rejection: exactly uniform.
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
mod tests {
    use super::*;

    /// The first outputs of xoshiro256++ from state {1, 2, 3, 4}, as published with the reference implementation's
    /// test vectors (rand_xoshiro carries the same).
    #[test]
    fn matches_the_reference_vector() {
        let mut rng = Rng {
            state: [1, 2, 3, 4],
        };
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
            14_011_001_112_246_962_877,
            12_406_186_145_184_390_807,
            15_849_039_046_786_891_736,
            10_450_023_813_501_588_000,
        ];
        for value in expected {
            assert_eq!(rng.next_u64(), value);
        }
    }

    #[test]
    fn named_streams_differ_and_repeat() {
        let a: Vec<u64> = std::iter::repeat_with({
            let mut rng = Rng::stream(7, "arrivals");
            move || rng.next_u64()
        })
        .take(4)
        .collect();
        let mut again = Rng::stream(7, "arrivals");
        assert!(a.iter().all(|&value| value == again.next_u64()));
        assert_ne!(a[0], Rng::stream(7, "offsets").next_u64());
        assert_ne!(a[0], Rng::stream(8, "arrivals").next_u64());
    }

    /// Chi-squared over 10 bins: a biased `below` fails, a fair one passes with this fixed seed.
    #[test]
    fn below_is_uniform() {
        let mut rng = Rng::new(1);
        let mut bins = [0_u64; 10];
        for _ in 0..100_000 {
            bins[rng.below(10) as usize] += 1;
        }
        let chi2: f64 = bins.iter().map(|&n| (n as f64 - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 21.7, "chi-squared {chi2} over 9 degrees of freedom");
        assert_eq!(rng.below(0), 0);
        assert_eq!(rng.below(1), 0);
    }

    #[test]
    fn exponential_has_its_mean() {
        let mut rng = Rng::new(3);
        let mean: f64 = (0..100_000).map(|_| rng.exponential(250.0)).sum::<f64>() / 1e5;
        assert!((mean - 250.0).abs() < 3.0, "mean {mean}");
    }

    #[test]
    fn fill_reaches_every_byte() {
        let mut buffer = [0_u8; 29];
        let mut seen = [false; 29];
        let mut rng = Rng::new(9);
        for _ in 0..64 {
            rng.fill(&mut buffer);
            for (flag, byte) in seen.iter_mut().zip(buffer) {
                *flag |= byte != 0;
            }
        }
        assert!(seen.iter().all(|&flag| flag));
    }
}
