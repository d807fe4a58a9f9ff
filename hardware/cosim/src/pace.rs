//! Pauses of a handshake: when a `valid` or `ready` is held back at random.

/// Depends on seed and cycle only, so a cycle that is not evaluated changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Cycles of 256 in which to pause; 0: full rate.
    pub pauses: u8,
    pub seed: u64,
}

impl Pace {
    pub const FULL: Pace = Pace { pauses: 0, seed: 0 };

    /// The same pauses in another pattern.
    #[must_use]
    pub fn with_lane(self, lane: u64) -> Pace {
        Pace { seed: mix(self.seed, lane), ..self }
    }

    #[inline]
    pub fn pauses_at(self, cycle: u64) -> bool {
        self.pauses != 0 && (mix(self.seed, cycle) & 0xff) < u64::from(self.pauses)
    }
}

/// The output function of SplitMix64.
pub(crate) fn mix(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
#[path = "../tests/unit/pace.rs"]
mod tests;
