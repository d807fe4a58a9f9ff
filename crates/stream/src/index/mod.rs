//! Recordings that describe themselves: what lies at the head of the range so that a stream can be found, verified and replayed after
//! anything happened to its recorder.
//!
//! # Layout
//! On each drive of a recording, from the first address of its range (all integers little-endian, blocks of 4096 bytes):
//!
//! | where | what |
//! |---|---|
//! | block 0 and 1 | the header, two copies written in turn |
//! | blocks 2 to 2 + 2n | `n` index blocks, two copies each, side by side: 2, 3 for the first, 4, 5 for the second |
//! | the next chunk boundary on | chunks of the stream |
//!
//! An index block says of up to [`ENTRIES`] consecutive chunks of this drive how many bytes of each count and their CRC-32C. A header says whose recording it
//! is, how chunks are laid out, how much was durable when it was written, and whether the recording ended by itself.
//!
//! # Order of writing
//! 1. Chunks are written.
//! 2. At a checkpoint, the entries of all chunks in the unbroken run of finished ones are written, and the header with what was durable
//!    *before*.
//! 3. The drive is flushed.
//! 4. Only when the flush has ended is the run said to be durable.
//!
//! At the end of a recording comes one more header, flushed after everything else, which says that this was all.
//!
//! A block or header is never written over its newest copy, so a torn write costs what was not yet durable and nothing else. An entry whose
//! chunk did not reach the medium (the drive lost power with the chunk in its cache and the entry on its flash) is told by the checksum.
//!
//! # Recovery
//! Both copies of every block are read; the newest whole one counts. Chunks count from the first as far as entries go without a gap and, beyond what
//! the header knows as durable, as far as their checksums are right. In a ring the newest run counts, and what at its old end was being overwritten
//! is left out.
//!
//! # Non-goals
//! No file system: one recording per range. No encryption. The checksum finds accidents, not forgery.

mod format;
mod reader;
mod writer;

pub use format::{ENTRIES, Entry, Header, StreamId};
pub use reader::{Found, IndexError, Recording, find};
pub use writer::{IndexOptions, IndexWriter};

/// Most drives a recording can be on.
pub const MAX_LANES: u32 = 256;
/// Bytes of a block of the index.
pub const BLOCK_BYTES: u64 = 4096;

/// Where the parts of one drive's recording are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct IndexLayout {
    /// Address of the header.
    pub first: u64,
    /// Chunks of the stream that fit.
    pub chunks: u64,
    /// Address of the first of them.
    pub data_first: u64,
    /// Bytes per chunk.
    pub chunk_bytes: u32,
}

impl IndexLayout {
    /// Part a range of whole chunks between index and stream; `None` when nothing would be left for the stream.
    pub fn new(first: u64, range_chunks: u64, chunk_bytes: u32) -> Option<IndexLayout> {
        let chunk = u64::from(chunk_bytes.max(1));
        let reserved = |chunks: u64| index_bytes(chunks).div_ceil(chunk);
        // The largest number that fits with its index; both grow together, so halving finds it.
        let (mut chunks, mut too_many) = (0, range_chunks);
        while too_many - chunks > 1 {
            let middle = chunks + (too_many - chunks) / 2;
            if middle.saturating_add(reserved(middle)) <= range_chunks {
                chunks = middle;
            } else {
                too_many = middle;
            }
        }
        (chunks > 0).then(|| IndexLayout {
            first,
            chunks,
            data_first: first + reserved(chunks) * chunk,
            chunk_bytes,
        })
    }

    /// Index blocks.
    pub fn blocks(&self) -> u64 {
        self.chunks.div_ceil(ENTRIES)
    }

    /// Address of a copy (0 or 1) of the header.
    pub fn header_address(&self, copy: u64) -> u64 {
        self.first + copy * BLOCK_BYTES
    }

    /// Address of a copy (0 or 1) of an index block.
    pub fn block_address(&self, block: u64, copy: u64) -> u64 {
        self.first + (2 + 2 * block + copy) * BLOCK_BYTES
    }

    /// Address of the chunk of that number on this drive.
    pub fn chunk_address(&self, local: u64) -> u64 {
        self.data_first + (local % self.chunks) * u64::from(self.chunk_bytes)
    }
}

/// Bytes of header and index for so many chunks.
fn index_bytes(chunks: u64) -> u64 {
    chunks
        .div_ceil(ENTRIES)
        .saturating_mul(2)
        .saturating_add(2)
        .saturating_mul(BLOCK_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn index_and_chunks_share_the_range_and_waste_little(first in 0_u64..10, range_chunks in 0_u64..200_000, chunk in prop::sample::select(vec![4096_u32, 8192, 65536, 131_072, 1 << 20])) {
            let first = first * u64::from(chunk);
            match IndexLayout::new(first, range_chunks, chunk) {
                None => prop_assert!(range_chunks <= index_bytes(1).div_ceil(u64::from(chunk))),
                Some(layout) => {
                    let end = layout.chunk_address(layout.chunks - 1) + u64::from(chunk);
                    prop_assert!(end <= first + range_chunks * u64::from(chunk));
                    prop_assert!(layout.block_address(layout.blocks() - 1, 1) + BLOCK_BYTES <= layout.data_first);
                    prop_assert!(layout.data_first.is_multiple_of(u64::from(chunk)));
                    // One chunk more would not fit.
                    prop_assert!(layout.chunks + 1 + index_bytes(layout.chunks + 1).div_ceil(u64::from(chunk)) > range_chunks);
                }
            }
        }
    }
}
