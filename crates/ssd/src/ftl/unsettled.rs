//! Which units of host data the map does not know yet: garbage collection asks this of every unit it finds, so it must cost next to
//! nothing and may err on the side of yes.

/// Bits of a [`UnitFilter`]: 8 KiB, of which a thousandth is set at most.
const FILTER_BITS: u32 = 1 << 16;

/// A set of units that may claim to hold one that it does not hold, never the reverse: a bit for each of [`FILTER_BITS`] hashes
/// (B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", 1970, with one hash). Removing one unit may remove
/// another of the same hash, so all are removed before any is asked for again.
#[derive(Clone, Debug)]
pub(super) struct UnitFilter {
    words: Box<[u64; (FILTER_BITS / 64) as usize]>,
}

impl UnitFilter {
    /// An empty set.
    pub(super) fn new() -> UnitFilter {
        UnitFilter {
            words: Box::new([0; (FILTER_BITS / 64) as usize]),
        }
    }

    /// Word and bit of a unit: Fibonacci hashing (D. E. Knuth, The Art of Computer Programming, volume 3, section 6.4).
    #[inline]
    fn place(unit: u32) -> (usize, u32) {
        let hash = unit.wrapping_mul(0x9e37_79b9) >> (32 - FILTER_BITS.trailing_zeros());
        ((hash >> 6) as usize, hash & 63)
    }

    /// Put a unit in.
    #[inline]
    pub(super) fn insert(&mut self, unit: u32) {
        let (word, bit) = UnitFilter::place(unit);
        self.words[word] |= 1 << bit;
    }

    /// Take a unit out.
    #[inline]
    pub(super) fn remove(&mut self, unit: u32) {
        self.words[UnitFilter::place(unit).0] = 0;
    }

    /// `false` when it holds none of these for certain.
    #[inline]
    pub(super) fn may_hold(&self, units: &[u32]) -> bool {
        let bit = |&unit: &u32| {
            let (word, bit) = UnitFilter::place(unit);
            self.words[word] >> bit & 1
        };
        units.iter().map(bit).fold(0, |any, bit| any | bit) != 0
    }
}

#[cfg(test)]
#[path = "../../tests/unit/ftl/unsettled.rs"]
mod tests;
