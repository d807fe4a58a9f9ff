//! Page map (L2P): logical to physical unit, 4 bytes per unit, sparse in memory.
//!
//! One flat table in chunks, initially *sequential* (filled drive) or *unmapped* (fresh). A chunk
//! written sequentially from its start becomes a *run* before its old content; any other write
//! converts it to a table. The operating system backs table pages on first write, so other chunks
//! cost address space only; clearing that memory would be half the cost of a fill.

use crate::fastdiv::FastDiv;

/// Address of a unit never written, deallocated, or elided as zero.
pub const UNMAPPED: u32 = u32::MAX;
/// Units per chunk (16 KiB of table, 16 MiB of drive).
const CHUNK_UNITS: usize = 1 << CHUNK_SHIFT;
const CHUNK_SHIFT: u32 = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    Sequential,
    Unmapped,
    Run,
    Table,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    base: u32,
    count: u32,
    /// Address of the unit 0 before the run, valid from `count` on; [`UNMAPPED`] if none.
    rest: u32,
}

impl Run {
    const NOTHING: Run = Run { base: UNMAPPED, count: 0, rest: UNMAPPED };

    #[inline]
    fn get(&self, within: u32) -> u32 {
        if within < self.count {
            self.base + within
        } else if self.rest == UNMAPPED {
            UNMAPPED
        } else {
            self.rest + within
        }
    }
}

#[inline]
fn within_chunk(logical: u32) -> u32 {
    logical & (CHUNK_UNITS as u32 - 1)
}

/// A physical address is `superblock << shift | unit within it`.
#[derive(Debug)]
pub struct PageMap {
    chunks: Vec<Chunk>,
    runs: Vec<Run>,
    pub table: Vec<u32>,
    touched: Vec<bool>,
    tables: usize,
    superblock_units: FastDiv,
    shift: u32,
    pub(crate) units: u32,
}

impl Clone for PageMap {
    /// Copies only tables, so that a clone uses no more memory than its original.
    fn clone(&self) -> PageMap {
        let mut table = vec![0; self.table.len()];
        for (index, chunk) in self.chunks.iter().enumerate() {
            if *chunk == Chunk::Table {
                let range = index * CHUNK_UNITS..(index + 1) * CHUNK_UNITS;
                table[range.clone()].copy_from_slice(&self.table[range]);
            }
        }
        PageMap {
            chunks: self.chunks.clone(),
            runs: self.runs.clone(),
            table,
            touched: self.touched.clone(),
            ..*self
        }
    }
}

impl PageMap {
    pub fn new(units: u32, superblock_units: u32, shift: u32, filled: bool) -> PageMap {
        let chunks = (units as usize).div_ceil(CHUNK_UNITS);
        let chunk = if filled { Chunk::Sequential } else { Chunk::Unmapped };
        PageMap {
            chunks: vec![chunk; chunks],
            runs: vec![Run::NOTHING; chunks],
            table: vec![0; chunks * CHUNK_UNITS],
            touched: vec![false; chunks],
            tables: 0,
            superblock_units: FastDiv::new(superblock_units),
            shift,
            units,
        }
    }

    /// Address of a unit after a sequential fill.
    #[inline]
    pub fn sequential(&self, logical: u32) -> u32 {
        let (superblock, unit) = self.superblock_units.div_rem(logical);
        superblock << self.shift | unit
    }

    /// Inlined, so that the cache misses of a loop over units overlap.
    #[inline(always)]
    pub fn get(&self, logical: u32) -> u32 {
        match self.chunks[(logical >> CHUNK_SHIFT) as usize] {
            Chunk::Table => self.table[logical as usize],
            Chunk::Sequential => self.sequential(logical),
            compact => self.get_compact(compact, logical),
        }
    }

    #[inline(never)]
    fn get_compact(&self, chunk: Chunk, logical: u32) -> u32 {
        match chunk {
            Chunk::Table => self.table[logical as usize],
            Chunk::Sequential => self.sequential(logical),
            Chunk::Run => self.runs[(logical >> CHUNK_SHIFT) as usize].get(within_chunk(logical)),
            Chunk::Unmapped => UNMAPPED,
        }
    }

    #[inline]
    pub fn set(&mut self, logical: u32, physical: u32) -> u32 {
        self.make_table(logical);
        std::mem::replace(&mut self.table[logical as usize], physical)
    }

    /// Map units to consecutive addresses with stores only, which do not wait for memory.
    #[inline]
    pub fn move_to(&mut self, logical: &[u32], physical: u32) {
        if !self.is_all_table() {
            if self.move_run(logical, physical) {
                return;
            }
            for &unit in logical {
                self.make_table(unit);
            }
        }
        for (&unit, physical) in logical.iter().zip(physical..) {
            self.table[unit as usize] = physical;
        }
    }

    #[inline(never)]
    fn move_run(&mut self, logical: &[u32], physical: u32) -> bool {
        let (Some(&first), Some(&last)) = (logical.first(), logical.last()) else {
            return true;
        };
        let is_run = || logical.windows(2).all(|pair| pair[0] + 1 == pair[1]);
        let count = logical.len() as u32;
        first >> CHUNK_SHIFT == last >> CHUNK_SHIFT
            && self.chunks[(first >> CHUNK_SHIFT) as usize] != Chunk::Table
            && last.wrapping_sub(first) == count - 1
            && is_run()
            && self.continue_run(first, count, physical).is_some()
    }

    /// Map a run of units; `gone` receives runs of old addresses (start, count, in one superblock).
    #[inline]
    pub fn set_run(
        &mut self,
        logical: u32,
        count: u32,
        physical: u32,
        mut gone: impl FnMut(u32, u32),
    ) {
        let (mut at, end) = (logical, logical + count);
        while at < end {
            let stop = end.min(((at >> CHUNK_SHIFT) + 1) << CHUNK_SHIFT);
            let physical = physical + (at - logical);
            match self.continue_run(at, stop - at, physical) {
                Some(UNMAPPED) => {}
                Some(old) => self.each_superblock(old, stop - at, &mut gone),
                None => {
                    self.make_table(at);
                    let entries = self.table[at as usize..stop as usize].iter_mut();
                    for (entry, physical) in entries.zip(physical..) {
                        let old = std::mem::replace(entry, physical);
                        if old != UNMAPPED {
                            gone(old, 1);
                        }
                    }
                }
            }
            at = stop;
        }
    }

    /// Map units of one chunk if it remains a run; returns their first old address or [`UNMAPPED`].
    #[inline]
    fn continue_run(&mut self, logical: u32, count: u32, physical: u32) -> Option<u32> {
        let index = (logical >> CHUNK_SHIFT) as usize;
        let within = within_chunk(logical);
        let chunk = self.chunks[index];
        let run = match chunk {
            Chunk::Table => return None,
            Chunk::Run => self.runs[index],
            _ if within > 0 => return None,
            Chunk::Unmapped => Run::NOTHING,
            Chunk::Sequential => Run { rest: self.sequential_chunk(logical)?, ..Run::NOTHING },
        };
        let run = if within == 0 && (run.count == 0 || run.count == CHUNK_UNITS as u32) {
            let rest = if run.count == 0 { run.rest } else { run.base };
            Run { base: physical, count: 0, rest }
        } else {
            run
        };
        if within != run.count || physical != run.base.wrapping_add(within) {
            return None;
        }
        let old = run.get(within);
        self.chunks[index] = Chunk::Run;
        self.runs[index] = Run { count: within + count, ..run };
        Some(old)
    }

    fn sequential_chunk(&self, first: u32) -> Option<u32> {
        let (superblock, within) = self.superblock_units.div_rem(first);
        let fits = within + CHUNK_UNITS as u32 <= self.superblock_units.divisor;
        fits.then_some(superblock << self.shift | within)
    }

    #[inline]
    fn each_superblock(&self, physical: u32, count: u32, gone: &mut impl FnMut(u32, u32)) {
        let (mut at, end) = (physical, physical + count);
        while at < end {
            let stop = end.min(((at >> self.shift) + 1) << self.shift);
            gone(at, stop - at);
            at = stop;
        }
    }

    #[inline]
    pub fn has_table(&self) -> bool {
        self.tables > 0
    }

    #[inline]
    fn is_all_table(&self) -> bool {
        self.tables == self.chunks.len()
    }

    /// Load the table entries of these units into the CPU cache, all at once.
    #[inline]
    pub fn touch(&self, logical: &[u32]) {
        let table = |unit: u32| self.table.get(unit as usize).copied().unwrap_or(0);
        let sparse = |unit: u32| match self.chunks.get((unit >> CHUNK_SHIFT) as usize) {
            Some(Chunk::Table) => table(unit),
            _ => 0,
        };
        // The result keeps the loads alive.
        std::hint::black_box(if self.is_all_table() {
            logical.iter().fold(0, |sum, &unit| sum ^ table(unit))
        } else {
            logical.iter().fold(0, |sum, &unit| sum ^ sparse(unit))
        });
    }

    /// Unmap a range; `gone` receives runs of old addresses (start, count, in one superblock).
    pub fn unmap(&mut self, first: u32, end: u32, mut gone: impl FnMut(u32, u32)) {
        let mut at = first;
        while at < end.min(self.units) {
            let index = (at >> CHUNK_SHIFT) as usize;
            let chunk_end = ((index as u32 + 1) << CHUNK_SHIFT).min(self.units);
            let stop = end.min(chunk_end);
            let whole = at as usize == index * CHUNK_UNITS && stop == chunk_end;
            match self.chunks[index] {
                Chunk::Unmapped => {}
                Chunk::Sequential if whole => {
                    self.chunks[index] = Chunk::Unmapped;
                    let mut unit = at;
                    while unit < stop {
                        let (_, within) = self.superblock_units.div_rem(unit);
                        let run = (stop - unit).min(self.superblock_units.divisor - within);
                        gone(self.sequential(unit), run);
                        unit += run;
                    }
                }
                Chunk::Run if whole => {
                    let Run { base, count, rest } = self.runs[index];
                    let first = (index << CHUNK_SHIFT) as u32;
                    self.chunks[index] = Chunk::Unmapped;
                    let count = count.min(stop - first);
                    self.each_superblock(base, count, &mut gone);
                    if rest != UNMAPPED {
                        self.each_superblock(rest + count, stop - first - count, &mut gone);
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
                        self.tables -= 1;
                        self.chunks[index] = Chunk::Unmapped;
                    }
                }
            }
            at = stop;
        }
    }

    pub fn clear(&mut self) {
        self.chunks.fill(Chunk::Unmapped);
        self.tables = 0;
    }

    pub fn resident_bytes(&self) -> u64 {
        let touched = self.touched.iter().filter(|&&touched| touched).count();
        touched as u64 * CHUNK_UNITS as u64 * 4
    }

    #[inline]
    fn make_table(&mut self, logical: u32) {
        let index = (logical >> CHUNK_SHIFT) as usize;
        if self.chunks[index] != Chunk::Table {
            self.fill_chunk(index);
        }
    }

    #[cold]
    #[inline(never)]
    fn fill_chunk(&mut self, index: usize) {
        let first = (index << CHUNK_SHIFT) as u32;
        let range = index * CHUNK_UNITS..(index + 1) * CHUNK_UNITS;
        match self.chunks[index] {
            Chunk::Table => {}
            Chunk::Unmapped => self.table[range].fill(UNMAPPED),
            Chunk::Run => {
                let run = self.runs[index];
                for (entry, within) in self.table[range].iter_mut().zip(0..) {
                    *entry = run.get(within);
                }
            }
            Chunk::Sequential => {
                let (superblock, mut within) = self.superblock_units.div_rem(first);
                let mut base = superblock << self.shift;
                for entry in &mut self.table[range] {
                    if within == self.superblock_units.divisor {
                        within = 0;
                        // The last chunk's tail may lie beyond the last superblock.
                        base = base.wrapping_add(1 << self.shift);
                    }
                    *entry = base | within;
                    within += 1;
                }
            }
        }
        self.tables += usize::from(self.chunks[index] != Chunk::Table);
        self.chunks[index] = Chunk::Table;
        self.touched[index] = true;
    }
}

#[cfg(test)]
#[path = "../tests/unit/map.rs"]
mod tests;
