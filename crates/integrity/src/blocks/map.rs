//! Expected generation of every verify block, in four bytes each.

use super::VerifyError;
use crate::finding::Expected;

/// Bits 0..24: the generation, 0 for never written.
pub(super) const GENERATION_BITS: u32 = 24;
const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;
/// Bits 24..30: reads in flight.
const READER: u32 = 1 << 24;
const READERS_MASK: u32 = 63 << 24;
/// Bit 30: a write failed since the last successful one.
const UNCERTAIN: u32 = 1 << 30;
/// Bit 31: a write is in flight.
const WRITING: u32 = 1 << 31;

/// Generations run from 1 to this and wrap to 1, compared as serial numbers (RFC 1982): ages above eight million
/// writes are misread.
pub const MAX_GENERATION: u64 = GENERATION_MASK as u64;
/// Maximum number of reads of one block in flight.
pub const MAX_READERS: u32 = 63;

/// The generation after this one.
#[inline]
pub(super) fn next_generation(generation: u32) -> u32 {
    if generation >= GENERATION_MASK {
        1
    } else {
        generation + 1
    }
}

/// The generation `steps` before this one; `None` below 1, since the count before a wrap is unknown.
pub(super) fn earlier_generation(generation: u64, steps: u64) -> Option<u64> {
    generation.checked_sub(steps).filter(|&earlier| earlier > 0)
}

/// Serial-number order.
pub(super) fn is_older(generation: u64, than: u64) -> bool {
    if generation == 0 || generation > MAX_GENERATION {
        return false;
    }
    let behind = (than + MAX_GENERATION - generation) % MAX_GENERATION;
    behind > 0 && behind <= MAX_GENERATION / 2
}

/// Generation and I/Os in flight of every verify block of an area.
///
/// It also arbitrates overlapping I/Os: the result of a read is defined only without a concurrent write of the block,
/// so [`GenerationMap::begin_write`] and [`GenerationMap::begin_read`] refuse overlaps (many reads, or one write).
///
/// Memory: 4 bytes per block, 1 GiB per TiB at 4 KiB blocks; untouched pages of the map cost nothing.
#[derive(Clone, Debug)]
pub struct GenerationMap {
    offset_bytes: u64,
    shift: u32,
    blocks: Vec<u32>,
}

impl GenerationMap {
    /// A map of the `size_bytes` from `offset_bytes` on, nothing written yet. Bytes after the last whole block have no
    /// entry.
    ///
    /// # Errors
    /// When the interval is bad (see [`super::Verifier::new`]) or the memory cannot be allocated.
    pub fn new(
        offset_bytes: u64,
        size_bytes: u64,
        interval_bytes: u32,
    ) -> Result<GenerationMap, VerifyError> {
        super::check_interval(interval_bytes)?;
        let shift = interval_bytes.trailing_zeros();
        let count = size_bytes >> shift;
        let no_memory = VerifyError::MapTooLarge {
            size_bytes,
            interval_bytes,
        };
        let count = usize::try_from(count).map_err(|_| no_memory.clone())?;
        // Reserve first, because `vec!` aborts on failure. `vec!` in turn gets zeroed pages that cost nothing until
        // touched.
        Vec::<u32>::new()
            .try_reserve_exact(count)
            .map_err(|_| no_memory)?;
        Ok(GenerationMap {
            offset_bytes,
            shift,
            blocks: vec![0; count],
        })
    }

    /// Length of a verify block, in bytes.
    pub fn interval_bytes(&self) -> u32 {
        1 << self.shift
    }

    /// Memory of the map when fully touched, bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.blocks.len() as u64 * 4
    }

    /// Entries of an I/O; `None` unless it consists of whole blocks of the map.
    #[inline]
    fn range(&self, offset_bytes: u64, len_bytes: u32) -> Option<std::ops::Range<usize>> {
        let relative = offset_bytes.checked_sub(self.offset_bytes)?;
        let mask = (1 << self.shift) - 1;
        if (relative | u64::from(len_bytes)) & mask != 0 {
            return None;
        }
        let start = relative >> self.shift;
        let end = start + (u64::from(len_bytes) >> self.shift);
        (end <= self.blocks.len() as u64).then_some(start as usize..end as usize)
    }

    /// Start a write: its blocks advance to the next generation, for [`super::Verifier::stamp_write`]. False, without
    /// effect, when a block has an I/O in flight or the write is not of whole blocks of this area.
    #[inline]
    #[must_use]
    pub fn begin_write(&mut self, offset_bytes: u64, len_bytes: u32) -> bool {
        let Some(range) = self.range(offset_bytes, len_bytes) else {
            return false;
        };
        let blocks = &mut self.blocks[range];
        if blocks.iter().any(|&b| b & (WRITING | READERS_MASK) != 0) {
            return false;
        }
        for block in blocks {
            let generation = next_generation(*block & GENERATION_MASK);
            *block = WRITING | (*block & UNCERTAIN) | generation;
        }
        true
    }

    /// A write completed. After a failure its blocks may hold its generation, an older one or a mixture, until a later
    /// write succeeds.
    #[inline]
    pub fn finish_write(&mut self, offset_bytes: u64, len_bytes: u32, ok: bool) {
        let Some(range) = self.range(offset_bytes, len_bytes) else {
            return;
        };
        for block in &mut self.blocks[range] {
            *block = if ok {
                *block & !(WRITING | UNCERTAIN)
            } else {
                (*block & !WRITING) | UNCERTAIN
            };
        }
    }

    /// Start a read. False, without effect, when a block is being written or has [`MAX_READERS`] reads in flight, or
    /// the read is not of whole blocks of this area.
    #[inline]
    #[must_use]
    pub fn begin_read(&mut self, offset_bytes: u64, len_bytes: u32) -> bool {
        let Some(range) = self.range(offset_bytes, len_bytes) else {
            return false;
        };
        let blocks = &mut self.blocks[range];
        let busy = |&b: &u32| b & WRITING != 0 || b & READERS_MASK == READERS_MASK;
        if blocks.iter().any(busy) {
            return false;
        }
        for block in blocks {
            *block += READER;
        }
        true
    }

    /// A read completed; its data must be checked before the next `begin_write`.
    #[inline]
    pub fn finish_read(&mut self, offset_bytes: u64, len_bytes: u32) {
        let Some(range) = self.range(offset_bytes, len_bytes) else {
            return;
        };
        for block in &mut self.blocks[range] {
            if *block & READERS_MASK != 0 {
                *block -= READER;
            }
        }
    }

    /// The content became unknown (discard, write-zeroes): anything is accepted until a later write succeeds.
    /// Generations are kept, so that none repeats.
    #[inline]
    pub fn mark_uncertain(&mut self, offset_bytes: u64, len_bytes: u32) {
        let Some(range) = self.range(offset_bytes, len_bytes) else {
            return;
        };
        for block in &mut self.blocks[range] {
            if *block & GENERATION_MASK != 0 {
                *block |= UNCERTAIN;
            }
        }
    }

    /// Expected content of the block at this offset; [`Expected::Unwritten`] outside the area.
    #[inline]
    pub fn expected(&self, offset_bytes: u64) -> Expected {
        let index = offset_bytes
            .checked_sub(self.offset_bytes)
            .and_then(|relative| usize::try_from(relative >> self.shift).ok());
        let block = index.and_then(|index| self.blocks.get(index)).copied();
        match block.unwrap_or(0) {
            b if b & GENERATION_MASK == 0 => Expected::Unwritten,
            b if b & (UNCERTAIN | WRITING) != 0 => Expected::Uncertain {
                newest: u64::from(b & GENERATION_MASK),
            },
            b => Expected::Generation(u64::from(b & GENERATION_MASK)),
        }
    }

    /// Generation last begun for the block at this offset; 0 for none.
    #[inline]
    pub fn generation(&self, offset_bytes: u64) -> u64 {
        match self.expected(offset_bytes) {
            Expected::Generation(generation) | Expected::Uncertain { newest: generation } => {
                generation
            }
            Expected::Unwritten | Expected::AnyOfSeed => 0,
        }
    }

    /// Number of blocks ever written, successfully or not.
    pub fn written_blocks(&self) -> u64 {
        self.blocks
            .iter()
            .filter(|&&b| b & GENERATION_MASK != 0)
            .count() as u64
    }

    /// The first contiguous run of written blocks at or after `from`, as offset and length in bytes, at most `max_len_bytes`: an extent to
    /// read back.
    pub fn next_written(&self, from: u64, max_len_bytes: u32) -> Option<(u64, u32)> {
        let written = |b: &u32| b & GENERATION_MASK != 0;
        let at = ((from - self.offset_bytes) >> self.shift) as usize;
        let start = at + self.blocks.get(at..)?.iter().position(written)?;
        let blocks = self.blocks[start..].iter();
        let max_blocks = (max_len_bytes >> self.shift).max(1) as usize;
        let run = blocks.take(max_blocks).take_while(|b| written(b)).count();
        let offset_bytes = self.offset_bytes + ((start as u64) << self.shift);
        Some((offset_bytes, (run as u32) << self.shift))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/blocks/map.rs"]
mod tests;
