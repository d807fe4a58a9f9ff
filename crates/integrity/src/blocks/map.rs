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

/// They wrap to 1, compared as serial numbers (RFC 1982): ages above 8 million are misread.
pub const MAX_GENERATION: u64 = GENERATION_MASK as u64;
/// Maximum number of reads of one block in flight.
pub const MAX_READERS: u32 = READERS_MASK / READER;

#[inline]
pub(super) fn next_generation(generation: u32) -> u32 {
    if generation >= GENERATION_MASK { 1 } else { generation + 1 }
}

/// `None` below 1, since the count before a wrap is unknown.
pub(super) fn earlier_generation(generation: u64, steps: u64) -> Option<u64> {
    generation.checked_sub(steps).filter(|&earlier| earlier > 0)
}

pub(super) fn is_older(generation: u64, than: u64) -> bool {
    if generation == 0 || generation > MAX_GENERATION {
        return false;
    }
    let behind = (than + MAX_GENERATION - generation) % MAX_GENERATION;
    behind > 0 && behind <= MAX_GENERATION / 2
}

/// Whether an I/O may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    Begun,
    /// One in flight has to complete first.
    Busy,
    /// It is not made of whole blocks of the area.
    Outside,
}

/// It arbitrates overlapping I/Os, because the result of a read is defined only without a
/// concurrent write of the block. 4 bytes per block: 1 GiB per TiB at 4 KiB blocks.
#[derive(Clone, Debug)]
pub struct GenerationMap {
    offset_bytes: u64,
    shift: u32,
    blocks: Vec<u32>,
}

impl GenerationMap {
    /// Bytes after the last whole block have no entry.
    pub fn new(
        offset_bytes: u64,
        size_bytes: u64,
        interval_bytes: u32,
    ) -> Result<GenerationMap, VerifyError> {
        super::check_interval(interval_bytes)?;
        let shift = interval_bytes.trailing_zeros();
        let no_memory = || VerifyError::MapTooLarge { size_bytes, interval_bytes };
        let count = usize::try_from(size_bytes >> shift).map_err(|_| no_memory())?;
        // Reserve first, because `vec!` aborts on failure; `vec!` gets zeroed pages, free until
        // touched.
        let reserved = Vec::<u32>::new().try_reserve_exact(count);
        reserved.map_err(|_| no_memory())?;
        Ok(GenerationMap { offset_bytes, shift, blocks: vec![0; count] })
    }

    /// Entries of an I/O; `None` unless it consists of whole blocks of the map.
    #[inline]
    fn entries(&mut self, offset_bytes: u64, len_bytes: u32) -> Option<&mut [u32]> {
        let relative = offset_bytes.checked_sub(self.offset_bytes)?;
        let mask = (1 << self.shift) - 1;
        if (relative | u64::from(len_bytes)) & mask != 0 {
            return None;
        }
        let start = usize::try_from(relative >> self.shift).ok()?;
        let end = start.checked_add((len_bytes >> self.shift) as usize)?;
        self.blocks.get_mut(start..end)
    }

    /// Busy, without effect, when a block has an I/O in flight.
    #[inline]
    #[must_use]
    pub fn begin_write(&mut self, offset_bytes: u64, len_bytes: u32) -> Begin {
        let busy = |&b: &u32| b & (WRITING | READERS_MASK) != 0;
        let Some(blocks) = self.entries(offset_bytes, len_bytes) else {
            return Begin::Outside;
        };
        if blocks.iter().any(busy) {
            return Begin::Busy;
        }
        for block in blocks {
            let generation = next_generation(*block & GENERATION_MASK);
            *block = WRITING | (*block & UNCERTAIN) | generation;
        }
        Begin::Begun
    }

    /// After a failure its blocks may hold its generation, an older one or a mixture, until a later
    /// write succeeds.
    #[inline]
    pub fn finish_write(&mut self, offset_bytes: u64, len_bytes: u32, ok: bool) {
        let uncertain = if ok { 0 } else { UNCERTAIN };
        for block in self.entries(offset_bytes, len_bytes).into_iter().flatten() {
            *block = *block & !(WRITING | UNCERTAIN) | uncertain;
        }
    }

    /// Busy, without effect, when a block is being written or has [`MAX_READERS`] reads in flight.
    #[inline]
    #[must_use]
    pub fn begin_read(&mut self, offset_bytes: u64, len_bytes: u32) -> Begin {
        let busy = |&b: &u32| b & WRITING != 0 || b & READERS_MASK == READERS_MASK;
        let Some(blocks) = self.entries(offset_bytes, len_bytes) else {
            return Begin::Outside;
        };
        if blocks.iter().any(busy) {
            return Begin::Busy;
        }
        blocks.iter_mut().for_each(|block| *block += READER);
        Begin::Begun
    }

    #[inline]
    pub fn finish_read(&mut self, offset_bytes: u64, len_bytes: u32) {
        for block in self.entries(offset_bytes, len_bytes).into_iter().flatten() {
            if *block & READERS_MASK != 0 {
                *block -= READER;
            }
        }
    }

    #[inline]
    pub fn expected(&self, offset_bytes: u64) -> Expected {
        let index = offset_bytes
            .checked_sub(self.offset_bytes)
            .and_then(|relative| usize::try_from(relative >> self.shift).ok());
        let block = index.and_then(|index| self.blocks.get(index)).copied();
        let block = block.unwrap_or(0);
        match u64::from(block & GENERATION_MASK) {
            0 => Expected::Unwritten,
            newest if block & (UNCERTAIN | WRITING) != 0 => Expected::Uncertain { newest },
            generation => Expected::Generation(generation),
        }
    }

    /// Generation last begun for the block at this offset; 0 for none.
    #[inline]
    pub fn generation(&self, offset_bytes: u64) -> u64 {
        match self.expected(offset_bytes) {
            Expected::Generation(newest) | Expected::Uncertain { newest } => newest,
            _ => 0,
        }
    }

    /// The first run of written blocks at or after `from`, an extent to read back.
    pub fn next_written(&self, from: u64, max_len_bytes: u32) -> Option<(u64, u32)> {
        let at = ((from - self.offset_bytes) >> self.shift) as usize;
        let written = |&b: &u32| b & GENERATION_MASK != 0;
        let start = at + self.blocks.get(at..)?.iter().position(written)?;
        let writing = self.blocks[start] & WRITING;
        let max_blocks = (max_len_bytes >> self.shift).max(1) as usize;
        let blocks = self.blocks[start..].iter().take(max_blocks);
        let run = blocks.take_while(|&b| written(b) && b & WRITING == writing).count();
        let offset_bytes = self.offset_bytes + ((start as u64) << self.shift);
        Some((offset_bytes, (run as u32) << self.shift))
    }
}

#[cfg(test)]
#[path = "../../tests/unit/blocks/map.rs"]
mod tests;
