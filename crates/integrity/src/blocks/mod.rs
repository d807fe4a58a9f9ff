mod classify;
mod header;
mod map;
mod pages;
mod reader;
#[cfg(test)]
#[path = "../../tests/unit/blocks.rs"]
mod tests;

use assay_units::{SECTOR_BYTES, rng::mix};
use xxhash_rust::xxh3::xxh3_64;

use crate::data::{DataPattern, Noise, NoiseReader, Payload};
use crate::finding::{Expected, Finding, FindingKind, Unjudged, VerifyReport};

pub use header::{BlockHeader, FORMAT_VERSION, HEADER_BYTES, MAGIC};
pub use map::{Begin, GenerationMap, MAX_GENERATION, MAX_READERS};
pub use pages::VerifyBlocks;
pub use reader::BlockReader;

/// Maximum number of wrong bits that a finding counts.
pub const MAX_COUNTED_FLIPS: u32 = 8;
/// Maximum default length of a verify block.
pub const DEFAULT_INTERVAL_BYTES: u32 = 4096;
/// Maximum length of a verify block: the largest I/O.
pub const MAX_INTERVAL_BYTES: u32 = 4 << 20;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    #[error(
        "verify interval {interval_bytes} bytes is not a power of two from 512 bytes to 4 MiB; \
         choose one that divides the block size"
    )]
    BadInterval {
        /// As requested.
        interval_bytes: u32,
    },
    /// The interval does not divide the block sizes.
    #[error(
        "verify interval {interval_bytes} bytes does not divide the block size {block_bytes} \
         bytes; use a smaller interval or other block sizes"
    )]
    IntervalDoesNotDivide { interval_bytes: u32, block_bytes: u32 },
    #[error(
        "no memory for the verify map of an area of {size_bytes} bytes in blocks of \
         {interval_bytes} bytes (4 bytes each); use a smaller area or a larger verify interval"
    )]
    MapTooLarge { size_bytes: u64, interval_bytes: u32 },
}

pub(crate) fn check_interval(interval_bytes: u32) -> Result<(), VerifyError> {
    let fits = (SECTOR_BYTES as u32..=MAX_INTERVAL_BYTES).contains(&interval_bytes);
    if fits && interval_bytes.is_power_of_two() {
        Ok(())
    } else {
        Err(VerifyError::BadInterval { interval_bytes })
    }
}

/// The chosen interval must divide `common_bytes` and the alignment; without a choice the largest
/// power of two up to [`DEFAULT_INTERVAL_BYTES`] that does.
pub fn interval_for(
    common_bytes: u32,
    align_bytes: u32,
    chosen: Option<u32>,
) -> Result<u32, VerifyError> {
    let align = 1 << align_bytes.trailing_zeros().min(31);
    let Some(interval_bytes) = chosen else {
        return Ok(common_bytes.min(align).min(DEFAULT_INTERVAL_BYTES));
    };
    check_interval(interval_bytes)?;
    match [common_bytes, align].into_iter().find(|&bytes| interval_bytes > bytes) {
        None => Ok(interval_bytes),
        Some(block_bytes) => {
            Err(VerifyError::IntervalDoesNotDivide { interval_bytes, block_bytes })
        }
    }
}

/// Stamps write buffers and checks read buffers of one job; may be cloned per worker.
#[derive(Clone, Debug)]
pub struct Verifier {
    seed: u64,
    interval_bytes: u32,
    payload: Payload,
}

impl Verifier {
    /// **New for every run**: blocks of an earlier run are distinguished by their seed alone.
    pub fn new(
        seed: u64,
        interval_bytes: u32,
        pattern: DataPattern,
    ) -> Result<Verifier, VerifyError> {
        check_interval(interval_bytes)?;
        Ok(Verifier { seed, interval_bytes, payload: Payload::new(pattern) })
    }

    /// A partial block at the end is zeroed.
    #[inline]
    pub fn stamp(&self, buffer: &mut [u8], offset_bytes: u64, generation: u64) {
        self.stamp_with(buffer, offset_bytes, |_| generation);
    }

    #[inline]
    pub fn stamp_write(&self, buffer: &mut [u8], offset_bytes: u64, map: &GenerationMap) {
        self.stamp_with(buffer, offset_bytes, |offset| map.generation(offset));
    }

    #[inline]
    fn stamp_with(&self, buffer: &mut [u8], offset_bytes: u64, generation: impl Fn(u64) -> u64) {
        let interval = self.interval_bytes as usize;
        let mut blocks = buffer.chunks_exact_mut(interval);
        for (block, offset) in (&mut blocks).zip((offset_bytes..).step_by(interval)) {
            self.stamp_block(block, offset, generation(offset));
        }
        blocks.into_remainder().fill(0);
    }

    fn stamp_block(&self, block: &mut [u8], offset_bytes: u64, generation: u64) {
        let Some((head, payload)) = block.split_first_chunk_mut::<HEADER_BYTES>() else {
            return;
        };
        // The payload is keyed by seed, offset and generation.
        let noise = Noise::new(mix(mix(self.seed, offset_bytes), generation));
        self.payload.fill(&mut NoiseReader::new(noise), payload);
        let header = BlockHeader {
            pattern: self.payload.pattern,
            seed: self.seed,
            offset_bytes,
            generation,
            len_bytes: self.interval_bytes,
            payload_checksum: xxh3_64(payload),
        };
        *head = header.encode();
    }

    /// Check the blocks of a buffer read from `offset_bytes`, each against its expectation.
    #[inline]
    pub fn check(
        &self,
        buffer: &[u8],
        offset_bytes: u64,
        expected: impl Fn(u64) -> Expected,
        report: &mut VerifyReport,
    ) {
        let interval = self.interval_bytes as usize;
        let offsets = (offset_bytes..).step_by(interval);
        for (block, offset) in buffer.chunks_exact(interval).zip(offsets) {
            let expected = expected(offset);
            if matches!(expected, Expected::Uncertain { .. }) {
                report.add_unjudged(Unjudged::WriteFailed, 1);
            } else if let Some(kind) = self.check_block(block, offset, expected) {
                report.push(Finding {
                    kind,
                    offset_bytes: offset,
                    len_bytes: self.interval_bytes,
                    expected,
                });
            } else if expected == Expected::Unwritten {
                report.add_unjudged(Unjudged::NotWritten, 1);
            } else {
                report.intact_blocks += 1;
            }
        }
    }

    fn check_block(&self, block: &[u8], offset: u64, expected: Expected) -> Option<FindingKind> {
        if let Expected::Generation(generation) = expected
            && let Some(header) = BlockHeader::decode(block)
            && header.generation == generation
            && header.seed == self.seed
            && header.offset_bytes == offset
            && header.len_bytes == self.interval_bytes
            && header.pattern == self.payload.pattern
            && header.describes(block)
        {
            return None;
        }
        classify::classify(self, block, offset, expected)
    }
}
