//! The page map: logical unit to physical unit, 4 bytes per unit, allocated only where something changed.
//!
//! A chunk of the map starts as *sequential* (a filled drive: unit `n` is the `n`-th unit in physical order) or *unmapped*
//! (a fresh one) and becomes a table when a unit of it is written.

use crate::fastdiv::FastDiv;

/// "Nothing here": a unit never written, deallocated, or known to be zero.
pub const UNMAPPED: u32 = u32::MAX;
/// Units per chunk of the map (128 KiB of table, 128 MiB of drive).
const CHUNK_UNITS: usize = 1 << CHUNK_SHIFT;
const CHUNK_SHIFT: u32 = 15;

#[derive(Clone, Debug)]
enum Chunk {
    Sequential,
    Unmapped,
    Table(Box<[u32]>),
}

/// Logical to physical, both in mapping units.
///
/// A physical address is `superblock << shift | unit within it`.
#[derive(Clone, Debug)]
pub struct PageMap {
    chunks: Vec<Chunk>,
    superblock_units: FastDiv,
    shift: u32,
    units: u32,
}

impl PageMap {
    /// A map of `units` logical units, sequential when `filled`.
    pub fn new(units: u32, superblock_units: u32, shift: u32, filled: bool) -> PageMap {
        let chunks = (units as usize).div_ceil(CHUNK_UNITS);
        let chunk = if filled {
            Chunk::Sequential
        } else {
            Chunk::Unmapped
        };
        PageMap {
            chunks: vec![chunk; chunks],
            superblock_units: FastDiv::new(superblock_units),
            shift,
            units,
        }
    }

    /// Where the `n`-th unit of a sequential fill lies.
    #[inline]
    pub fn sequential(&self, logical: u32) -> u32 {
        let (superblock, unit) = self.superblock_units.div_rem(logical);
        superblock << self.shift | unit
    }

    /// Where a unit lies, or [`UNMAPPED`].
    #[inline]
    pub fn get(&self, logical: u32) -> u32 {
        match &self.chunks[(logical >> CHUNK_SHIFT) as usize] {
            Chunk::Sequential => self.sequential(logical),
            Chunk::Unmapped => UNMAPPED,
            Chunk::Table(table) => table[logical as usize & (CHUNK_UNITS - 1)],
        }
    }

    /// Map a unit; returns where it was.
    #[inline]
    pub fn set(&mut self, logical: u32, physical: u32) -> u32 {
        let index = (logical >> CHUNK_SHIFT) as usize;
        if !matches!(self.chunks[index], Chunk::Table(_)) {
            self.make_table(index);
        }
        match &mut self.chunks[index] {
            Chunk::Table(table) => {
                std::mem::replace(&mut table[logical as usize & (CHUNK_UNITS - 1)], physical)
            }
            _ => UNMAPPED,
        }
    }

    /// Unmap a range; `gone` is told each run of physical units that lost its owner (start and count, within a superblock).
    pub fn unmap(&mut self, first: u32, end: u32, mut gone: impl FnMut(u32, u32)) {
        let mut at = first;
        while at < end.min(self.units) {
            let index = (at >> CHUNK_SHIFT) as usize;
            let chunk_end = ((index as u32 + 1) << CHUNK_SHIFT).min(self.units);
            let stop = end.min(chunk_end);
            let whole = at as usize == index * CHUNK_UNITS && stop == chunk_end;
            match &mut self.chunks[index] {
                Chunk::Unmapped => {}
                Chunk::Sequential if whole => {
                    self.chunks[index] = Chunk::Unmapped;
                    let mut unit = at;
                    while unit < stop {
                        let (_, within) = self.superblock_units.div_rem(unit);
                        let run = (stop - unit).min(self.superblock_units.divisor() - within);
                        gone(self.sequential(unit), run);
                        unit += run;
                    }
                }
                _ => {
                    for unit in at..stop {
                        let old = self.set(unit, UNMAPPED);
                        if old != UNMAPPED {
                            gone(old, 1);
                        }
                    }
                    if whole {
                        self.chunks[index] = Chunk::Unmapped;
                    }
                }
            }
            at = stop;
        }
    }

    /// Bytes of memory in tables.
    pub fn resident_bytes(&self) -> u64 {
        let tables = self
            .chunks
            .iter()
            .filter(|chunk| matches!(chunk, Chunk::Table(_)));
        tables.count() as u64 * CHUNK_UNITS as u64 * 4
    }

    #[cold]
    fn make_table(&mut self, index: usize) {
        let first = (index << CHUNK_SHIFT) as u32;
        let table = match self.chunks[index] {
            Chunk::Sequential => (first..first + CHUNK_UNITS as u32)
                .map(|logical| self.sequential(logical))
                .collect(),
            _ => vec![UNMAPPED; CHUNK_UNITS].into_boxed_slice(),
        };
        self.chunks[index] = Chunk::Table(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Against a plain map, including the runs reported by `unmap`.
        #[test]
        fn agrees_with_a_plain_map(
            filled: bool,
            steps in prop::collection::vec((0_u32..100_000, 0_u32..70_000, any::<bool>()), 1..12),
        ) {
            let units = 100_000;
            let mut map = PageMap::new(units, 7_000, 13, filled);
            let mut model: BTreeMap<u32, u32> = BTreeMap::new();
            if filled {
                model.extend((0..units).map(|n| (n, (n / 7_000) << 13 | (n % 7_000))));
            }
            for (step, (at, len, write)) in steps.into_iter().enumerate() {
                if write {
                    let physical = 1 << 24 | step as u32;
                    let old = map.set(at, physical);
                    prop_assert_eq!(old, model.insert(at, physical).unwrap_or(UNMAPPED));
                } else {
                    let mut gone = Vec::new();
                    map.unmap(at, at + len, |start, count| gone.extend(start..start + count));
                    let mut expected: Vec<u32> = (at..(at + len).min(units)).filter_map(|n| model.remove(&n)).collect();
                    gone.sort_unstable();
                    expected.sort_unstable();
                    prop_assert_eq!(gone, expected);
                }
            }
            for unit in (0..units).step_by(97) {
                prop_assert_eq!(map.get(unit), model.get(&unit).copied().unwrap_or(UNMAPPED));
            }
        }
    }
}
