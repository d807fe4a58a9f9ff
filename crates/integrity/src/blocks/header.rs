use xxhash_rust::xxh3::xxh3_64;

use crate::data::{DataPattern, Ratio};

/// Length of the header, in bytes.
pub const HEADER_BYTES: usize = 64;
/// Magic number.
pub const MAGIC: [u8; 8] = *b"ASSAYBLK";
/// Version of the layout.
pub const FORMAT_VERSION: u16 = 1;

/// Little-endian on the medium:
///
/// | bytes | field |
/// |---|---|
/// | 0..8 | magic `ASSAYBLK` |
/// | 8..10 | format version (1) |
/// | 10..12 | header length (64) |
/// | 12..16 | payload pattern: 0 incompressible, 1 zero, else compression ratio in thousandths |
/// | 16..24 | seed of the job |
/// | 24..32 | byte offset of the block on the target |
/// | 32..40 | write generation: 1 for the first write of this block |
/// | 40..44 | block length in bytes, header included |
/// | 44..48 | zero |
/// | 48..56 | XXH3-64 of the payload |
/// | 56..64 | XXH3-64 of bytes 0..56 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    pub pattern: DataPattern,
    pub seed: u64,
    pub offset_bytes: u64,
    pub generation: u64,
    pub len_bytes: u32,
    /// XXH3-64 of the bytes after the header.
    pub payload_checksum: u64,
}

/// Ratios in thousandths are above 1000, so small codes are free.
pub(super) fn pattern_code(pattern: DataPattern) -> u32 {
    match pattern {
        DataPattern::Incompressible => 0,
        // The plan refuses to verify repeated bytes.
        DataPattern::Zero | DataPattern::Repeated(_) => 1,
        DataPattern::Compressible { ratio } => ratio.into(),
    }
}

pub(super) fn pattern_of(code: u32) -> Option<DataPattern> {
    match code {
        0 => Some(DataPattern::Incompressible),
        1 => Some(DataPattern::Zero),
        permille => Ratio::try_from(permille).ok().map(|ratio| DataPattern::Compressible { ratio }),
    }
}

fn bytes_at<const N: usize>(bytes: &[u8; HEADER_BYTES], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("a field lies in the header")
}

fn u32_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u32 {
    u32::from_le_bytes(bytes_at(bytes, at))
}

fn u64_at(bytes: &[u8; HEADER_BYTES], at: usize) -> u64 {
    u64::from_le_bytes(bytes_at(bytes, at))
}

impl BlockHeader {
    #[inline]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[0..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes[10..12].copy_from_slice(&(HEADER_BYTES as u16).to_le_bytes());
        bytes[12..16].copy_from_slice(&pattern_code(self.pattern).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.seed.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.offset_bytes.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.generation.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.len_bytes.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.payload_checksum.to_le_bytes());
        let checksum = xxh3_64(&bytes[..56]);
        bytes[56..64].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Whether a block of the header's length has the payload of its checksum.
    #[inline]
    pub fn describes(&self, block: &[u8]) -> bool {
        self.len_bytes as usize == block.len()
            && xxh3_64(&block[HEADER_BYTES..]) == self.payload_checksum
    }

    /// Also `None` where another version wrote it.
    #[inline]
    pub fn decode(block: &[u8]) -> Option<BlockHeader> {
        let bytes = block.first_chunk::<HEADER_BYTES>()?;
        let version = u32::from(FORMAT_VERSION) | (HEADER_BYTES as u32) << 16;
        if bytes[0..8] != MAGIC
            || xxh3_64(&bytes[..56]) != u64_at(bytes, 56)
            || u32_at(bytes, 8) != version
            || u32_at(bytes, 44) != 0
        {
            return None;
        }
        Some(BlockHeader {
            pattern: pattern_of(u32_at(bytes, 12))?,
            seed: u64_at(bytes, 16),
            offset_bytes: u64_at(bytes, 24),
            generation: u64_at(bytes, 32),
            len_bytes: u32_at(bytes, 40),
            payload_checksum: u64_at(bytes, 48),
        })
    }
}

/// Number of bits in which two slices differ, as far as both go.
pub(super) fn differing_bits(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones()).sum()
}

/// Identity in a header, valid or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct HeaderClaim {
    pub(super) seed: u64,
    pub(super) offset_bytes: u64,
    pub(super) generation: u64,
    pub(super) len_bytes: u32,
    pub(super) pattern: Option<DataPattern>,
}

impl HeaderClaim {
    /// The identity, if at most `max_flips` bits of the magic are wrong.
    pub(super) fn read(block: &[u8], max_flips: u32) -> Option<HeaderClaim> {
        let bytes = block.first_chunk::<HEADER_BYTES>()?;
        (differing_bits(bytes, &MAGIC) <= max_flips).then(|| HeaderClaim {
            seed: u64_at(bytes, 16),
            offset_bytes: u64_at(bytes, 24),
            generation: u64_at(bytes, 32),
            len_bytes: u32_at(bytes, 40),
            pattern: pattern_of(u32_at(bytes, 12)),
        })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/blocks/header.rs"]
mod tests;
