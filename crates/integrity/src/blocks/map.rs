//! What every verify block of a worker's region must hold, in four bytes each.

use super::VerifyError;
use crate::finding::Expected;

/// Bits 0..24: the generation, 0 for never written.
pub(super) const GENERATION_BITS: u32 = 24;
const GENERATION_MASK: u32 = (1 << GENERATION_BITS) - 1;
/// Bits 24..30: reads in flight.
const READER: u32 = 1 << 24;
const READERS_MASK: u32 = 63 << 24;
/// Bit 30: a write failed since the last one that succeeded.
const UNCERTAIN: u32 = 1 << 30;
/// Bit 31: a write is in flight.
const WRITING: u32 = 1 << 31;

/// Generations run from 1 to this and start again at 1, compared as serial numbers (RFC 1982): a block must be more than eight
/// million writes behind before its age is misread.
pub const MAX_GENERATION: u64 = GENERATION_MASK as u64;
/// The most reads of one block in flight at a time.
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

/// The generation `steps` before this one, if the block had one then. After a wrap the count is unknown, so going back over 1
/// gives none.
pub(super) fn earlier_generation(generation: u64, steps: u64) -> Option<u64> {
    generation.checked_sub(steps).filter(|&earlier| earlier > 0)
}

/// Is `generation` older than `than`, in serial-number order?
pub(super) fn is_older(generation: u64, than: u64) -> bool {
    if generation == 0 || generation > MAX_GENERATION {
        return false;
    }
    let behind = (than + MAX_GENERATION - generation) % MAX_GENERATION;
    behind > 0 && behind <= MAX_GENERATION / 2
}

/// Generation and traffic of every verify block of a region.
///
/// It is also the referee between overlapping I/Os: what a read must return is only defined when no write of the same block
/// is in flight, so [`GenerationMap::begin_write`] and [`GenerationMap::begin_read`] refuse overlaps (many reads, or one
/// write), and the caller takes another address or waits.
///
/// Memory: 4 bytes per verify block, 1 GiB per TiB of region at 4 KiB blocks; pages of the map that are never touched cost nothing.
#[derive(Clone, Debug)]
pub struct GenerationMap {
    offset_bytes: u64,
    shift: u32,
    blocks: Vec<u32>,
}

impl GenerationMap {
    /// A map of the `size_bytes` from `offset_bytes` on in blocks of `interval_bytes`, nothing written yet. Bytes after the last whole block have no entry.
    ///
    /// # Errors
    /// When the interval is bad (see [`super::Verifier::new`]) or the memory cannot be had.
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
        // Ask first: a size that cannot be had must be an error, and `vec!` below would abort. It in turn gets zeroed pages
        // from the system that cost nothing until touched, which growing a reserved vector would not.
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

    /// Memory of the map when all of it has been touched, in bytes.
    pub fn memory_bytes(&self) -> u64 {
        self.blocks.len() as u64 * 4
    }

    /// The entries of an I/O; `None` when it is not wholly made of blocks of the map.
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

    /// Start a write: its blocks go on to their next generation, which [`super::Verifier::stamp_write`] puts into the data.
    /// False, and nothing changed, when a block has an I/O in flight, or the write does not consist of whole blocks of this
    /// region.
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

    /// A write begun with [`GenerationMap::begin_write`] has ended. After `ok` its blocks must hold its generation; after a
    /// failure they may hold it, an older one or parts of both, until a later write succeeds.
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

    /// Start a read. False, and nothing changed, when a block is being written, is being read [`MAX_READERS`] times already,
    /// or the read does not consist of whole blocks of this region.
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

    /// A read begun with [`GenerationMap::begin_read`] has ended, well or not. Check its data before or after, but before the next
    /// `begin_write`.
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

    /// A discard or write-zeroes went over these blocks, or anything else that makes their content unknown: from now on they may
    /// hold what they held or anything, until a later write succeeds. The generation is kept so that none is used twice.
    #[inline]
    pub fn forget(&mut self, offset_bytes: u64, len_bytes: u32) {
        let Some(range) = self.range(offset_bytes, len_bytes) else {
            return;
        };
        for block in &mut self.blocks[range] {
            if *block & GENERATION_MASK != 0 {
                *block |= UNCERTAIN;
            }
        }
    }

    /// What the block at this offset must hold; [`Expected::Unwritten`] outside the region.
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

    /// The generation last begun for the block at this offset; 0 when there was none.
    #[inline]
    pub fn generation(&self, offset_bytes: u64) -> u64 {
        match self.expected(offset_bytes) {
            Expected::Generation(generation) | Expected::Uncertain { newest: generation } => {
                generation
            }
            Expected::Unwritten | Expected::AnyOfSeed => 0,
        }
    }

    /// How many blocks were ever written (with success or not).
    pub fn written_blocks(&self) -> u64 {
        self.blocks
            .iter()
            .filter(|&&b| b & GENERATION_MASK != 0)
            .count() as u64
    }

    /// Offsets and lengths in bytes of the contiguous runs of blocks that were ever written, each cut to at most `max_len_bytes`:
    /// what a verifying pass at the end of a job must read.
    pub fn written_runs(&self, max_len_bytes: u32) -> impl Iterator<Item = (u64, u32)> + '_ {
        let max_blocks = (max_len_bytes >> self.shift).max(1) as usize;
        let mut at = 0;
        std::iter::from_fn(move || {
            let written = |b: &u32| b & GENERATION_MASK != 0;
            let start = at + self.blocks.get(at..)?.iter().position(written)?;
            let run = self.blocks[start..]
                .iter()
                .take(max_blocks)
                .take_while(|b| written(b))
                .count();
            at = start + run;
            let offset_bytes = self.offset_bytes + ((start as u64) << self.shift);
            Some((offset_bytes, (run as u32) << self.shift))
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/blocks/map.rs"]
mod tests;
