//! Filter for units with deferred map updates, queried for every unit collected.

/// Size of a [`UnitFilter`]: 8 KiB, of which at most three thousandths are set.
const FILTER_BITS: u32 = 1 << 16;

/// Bloom filter with one hash (B. H. Bloom, "Space/time trade-offs in hash coding with allowable
/// errors", 1970). Removal may clear other units of the same hash, so all are removed before the
/// next query.
#[derive(Clone, Debug)]
pub(super) struct UnitFilter {
    words: Box<[u64; (FILTER_BITS / 64) as usize]>,
}

impl UnitFilter {
    pub(super) fn new() -> UnitFilter {
        UnitFilter { words: Box::new([0; (FILTER_BITS / 64) as usize]) }
    }

    /// Fibonacci hashing (D. E. Knuth, The Art of Computer Programming, volume 3, section 6.4).
    #[inline]
    fn place(unit: u32) -> (usize, u32) {
        let hash = unit.wrapping_mul(0x9e37_79b9) >> (32 - FILTER_BITS.trailing_zeros());
        ((hash >> 6) as usize, hash & 63)
    }

    #[inline]
    pub(super) fn insert(&mut self, unit: u32) {
        let (word, bit) = UnitFilter::place(unit);
        self.words[word] |= 1 << bit;
    }

    #[inline]
    pub(super) fn remove(&mut self, unit: u32) {
        self.words[UnitFilter::place(unit).0] = 0;
    }

    /// May be falsely true.
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
#[path = "../../tests/unit/ftl/pending_updates.rs"]
mod tests;
