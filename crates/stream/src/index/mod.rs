//! Recordings that describe themselves: what lies at the head of the range so that a stream can be found, verified and replayed after
//! anything happened to its recorder.
//!
//! # Layout
//! On each drive of a recording, from the first address of its range (all integers little-endian, blocks of 4096 bytes):
//!
//! | where | what |
//! |---|---|
//! | block 0 and 1 | the header, two copies written in turn |
//! | blocks 2 to 2 + 2n | `n` index blocks, two copies each, side by side: 2, 3 for the first, 4, 5 for the second; in a ring one more than tells of all chunks |
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
//! A block that has nothing new to say at a checkpoint is then written a second time, over its older copy, once the newer is known to be durable. At the
//! end of a recording come the last block's second copy and one more header, flushed after everything else, which says that this was all, and then
//! that header's second copy. So each block of a recording that ended, and each full one of any but those of the last checkpoint, is there twice, and one
//! bad block costs nothing. A recording that is stopped without a flush has one last checkpoint, whose header says that it ended; what that wrote is
//! there once.
//!
//! A block or header is never written over its newest copy, and within a checkpoint no block is written twice, so a torn write costs what was not
//! yet durable and nothing else. An entry whose
//! chunk did not reach the medium (the drive lost power with the chunk in its cache and the entry on its flash) is told by the checksum.
//!
//! # Recovery
//! Both copies of every block are read; the newest whole one counts, and one that cannot be read is one that is not there. Chunks count from the first as far
//! as entries go without a gap and, beyond what the header knows as durable, as far as their checksums are right. In a ring the newest run counts, and what
//! at its old end was being overwritten, or cannot be read there, is left out.
//!
//! What the header knows to have been durable, and all of a recording that every header says has ended, must be there: if the index, bad in both copies of a block,
//! does not tell of it, it is *missing*; if its checksum is wrong, it is *bad*. Neither is ever taken for where the recorder was cut off.
//!
//! # Rings
//! Blocks are filled and used again in turn, each for [`ENTRIES`] consecutive chunks counted through all turns. There is one more than a turn needs, so
//! the oldest chunks are told of until they are written over, and a ring that ended is given back whole. The recorder is never further ahead of
//! what is durable than half the ring; so a loss of power leaves at least the other half.
//!
//! # Versions
//! 1: as here. Its rings had no block to spare; they are read, and no longer written. 2: a ring with the block to spare.
//!
//! # Non-goals
//! No file system: one recording per range. No encryption. The checksum finds accidents, not forgery.

mod format;
mod reader;
mod recording;
mod writer;

pub use format::{ChunkEntry, ENTRIES, RecordingHeader, StreamId};
pub use reader::{IndexError, RecordingPart, find};
pub use recording::Recording;
pub use writer::{IndexOptions, IndexWriter};

/// Most drives a recording can be on.
pub const MAX_DRIVES: u32 = 256;
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
    /// Index blocks, each in two copies.
    pub index_blocks: u64,
}

impl IndexLayout {
    /// Part a range of whole chunks between index and stream; `None` when nothing would be left for the stream.
    pub fn new(first: u64, range_chunks: u64, chunk_bytes: u32, ring: bool) -> Option<IndexLayout> {
        let chunk = u64::from(chunk_bytes.max(1));
        let reserved = |chunks: u64| index_bytes(index_blocks(chunks, ring)).div_ceil(chunk);
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
            index_blocks: index_blocks(chunks, ring),
        })
    }

    /// Is there a block more than tells of all chunks?
    pub(crate) fn has_spare(&self) -> bool {
        self.index_blocks > index_blocks(self.chunks, false)
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

/// Index blocks for so many chunks. A ring has one to spare: while it is filled, all the others together still tell of a whole turn.
fn index_blocks(chunks: u64, ring: bool) -> u64 {
    chunks.div_ceil(ENTRIES) + u64::from(ring)
}

/// Bytes of headers and so many index blocks.
fn index_bytes(blocks: u64) -> u64 {
    blocks
        .saturating_mul(2)
        .saturating_add(2)
        .saturating_mul(BLOCK_BYTES)
}

#[cfg(test)]
#[path = "../../tests/unit/index.rs"]
mod tests;
