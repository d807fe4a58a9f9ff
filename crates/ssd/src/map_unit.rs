//! Indirection unit: what one entry of the L2P map covers.
//!
//! Usually one sector of 4 KiB ([`MAP_UNIT_BYTES`]) with four bytes of map, a thousandth of the
//! capacity in DRAM. Large drives take coarser units (16 KiB in the Solidigm D5-P5336, 64 KiB in
//! the Intel D5-P5316; sources in `reference/hardware.toml`); partial writes then read and program
//! the whole unit, so random 4 KiB writes to 16 KiB units are amplified four times. Reads sense and
//! transfer only the sectors asked for: a sector is a codeword of the error correction code.

use std::ops::Range;

use crate::profile::{MAP_UNIT_BYTES, NandProfile, Profile};
use crate::sourced::value_or;

const SECTOR_SHIFT: u32 = MAP_UNIT_BYTES.trailing_zeros();

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MapUnit {
    shift: u32,
}

impl MapUnit {
    pub(crate) fn of_bytes(bytes: u64) -> MapUnit {
        MapUnit { shift: bytes.trailing_zeros() }
    }

    #[inline]
    pub(crate) fn bytes(self) -> u64 {
        1 << self.shift
    }

    #[inline]
    pub(crate) fn sectors(self) -> u32 {
        1 << (self.shift - SECTOR_SHIFT)
    }

    #[inline]
    pub(crate) fn is_sector(self) -> bool {
        self.shift == SECTOR_SHIFT
    }

    #[inline]
    pub(crate) fn at(self, offset_bytes: u64) -> u32 {
        (offset_bytes >> self.shift) as u32
    }

    /// First unit that begins at or after an address.
    #[inline]
    pub(crate) fn from(self, offset_bytes: u64) -> u32 {
        offset_bytes.div_ceil(self.bytes()) as u32
    }

    #[inline]
    pub(crate) fn start(self, unit: u32) -> u64 {
        u64::from(unit) << self.shift
    }

    /// Whole units of a range (sectors: the range); the drive's capacity may cut its last unit.
    pub(crate) fn whole(self, bytes: Range<u64>, capacity_bytes: u64) -> Range<u64> {
        if self.is_sector() {
            return bytes;
        }
        let start = bytes.start.next_multiple_of(self.bytes());
        let end = match bytes.end == capacity_bytes {
            true => bytes.end,
            false => bytes.end & !(self.bytes() - 1),
        };
        start..end.max(start)
    }

    #[inline]
    pub(crate) fn is_aligned(self, bytes: u64) -> bool {
        bytes & (self.bytes() - 1) == 0
    }
}

/// Sectors of 4 KiB that the non-empty range `start..end` touches.
#[inline(always)]
pub(crate) fn sectors_touched(start: u64, end: u64) -> u32 {
    ((end - 1) >> SECTOR_SHIFT) as u32 - (start >> SECTOR_SHIFT) as u32 + 1
}

impl NandProfile {
    /// Before validation, as given, or 4 KiB.
    fn unit_bytes(&self) -> u64 {
        value_or(&self.indirection_unit_bytes, MAP_UNIT_BYTES)
    }

    /// For valid profiles only.
    pub(crate) fn map_unit(&self) -> MapUnit {
        MapUnit::of_bytes(self.unit_bytes())
    }
}

impl Profile {
    /// Bytes of one L2P map entry; smaller or unaligned writes read the rest first.
    pub fn indirection_unit_bytes(&self) -> u64 {
        self.nand.unit_bytes()
    }
}

#[cfg(test)]
#[path = "../tests/unit/map_unit.rs"]
mod tests;
