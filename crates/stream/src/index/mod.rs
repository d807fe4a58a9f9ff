//! Recording index: metadata at the start of the range, by which a stream is found, verified and
//! replayed after a crash of its recorder.
//!
//! # Layout
//! On each drive, from the first address of the range (integers little-endian, blocks of 4096
//! bytes):
//!
//! | location | content |
//! |---|---|
//! | block 0 | the header, first copy |
//! | block 1 | zeroes; second copy of the header in layout versions 1 and 2 |
//! | blocks 2 to 2 + 2n | `n` index blocks, two adjacent copies each; a ring has one spare block |
//! | from the next chunk boundary | chunks of the stream |
//! | the last chunk of the range | in its last block the header, second copy |
//!
//! The copies of the header are written alternately. They are far from each other, so that what
//! destroys the start of a range (another program, a flush that was only acknowledged) leaves one.
//!
//! An index block holds length and CRC-32C of up to [`ENTRIES`] consecutive chunks of this drive. A
//! header holds the identity of the recording, the layout, how much was durable when it was
//! written, and whether the recorder ended the recording.
//!
//! # Write order
//! 1. Before the first chunk both copies of the header are written, and zeroes to the index blocks
//!    that the first checkpoint may need; the drive is flushed. Each checkpoint does the same for
//!    the next one. So the index of what was written fits on storage that allocates its blocks as
//!    they are written (sparse files, thin volumes) and has no more.
//! 2. Chunks are written.
//! 3. At a checkpoint, the entries of the contiguous run of completed chunks are written, and a
//!    header with the durable count *before*.
//! 4. The drive is flushed.
//! 5. When the flush has completed, the run is reported durable.
//!
//! A block without new entries at a checkpoint is written a second time, over its older copy, once
//! the newer one is durable. A recording ends with the second copy of the last block and a header
//! marked as ended, both flushed, and then that header's second copy. So every block of an ended
//! recording, and every full block before the last checkpoint, exists twice, and one bad block
//! loses nothing. A recording that is stopped without a flush has one last checkpoint with the
//! header marked as ended; these blocks exist once.
//!
//! A block or header is never written over its newest copy, and no block is written twice within a
//! checkpoint, so a torn write loses only what was not yet durable. An entry whose chunk did not
//! reach the medium (power loss with the chunk in the drive's cache and the entry on flash) is
//! detected by the checksum.
//!
//! # Recovery
//! Both copies of every block are read; the newest valid one is used, and an unreadable one is
//! treated as absent; where the other copy is valid, `verify` and `replay` name it. Without a
//! header at the start, one is searched where the first index blocks say that its second copy is,
//! and at the end of the range, in any block that a chunk of any size could end with. Chunks are
//! recovered from the first as far as entries continue without a gap and, beyond the durable count,
//! as far as checksums match. In a ring the newest run is recovered, without chunks at its old end
//! that were being overwritten or cannot be read.
//!
//! Chunks that the header reports durable, and all chunks of a recording that every header marks as
//! ended, must exist: without an entry in either copy they are *missing*, with a wrong checksum
//! *bad*. Neither is taken for the point at which the recorder was interrupted.
//!
//! # Rings
//! Index blocks are reused in turn, each for [`ENTRIES`] consecutive chunks counted through all
//! wraps. The spare block keeps the oldest chunks indexed until they are overwritten, so a ring
//! that ended is replayed completely. The recorder is never further ahead of the durable run than
//! half the ring, so at least half survives a power loss.
//!
//! # Versions
//! A header of version 1 or 2 has both copies at the start, one of version 1 or 3 has no spare
//! index block. Recordings have version 3, rings version 4. Versions 1 and 2 (rings of version 1
//! have no spare block) are read and no longer written.
//!
//! # Non-goals
//! No file system: one recording per range. No encryption. The checksum detects accidents, not
//! forgery.

mod format;
mod reader;
mod recording;
mod writer;

pub use format::{ChunkEntry, ENTRIES, IndexBlock, RecordingHeader, StreamId};
pub use reader::{DamagedCopy, HeaderCopy, IndexError, RecordingPart, find};
pub use recording::Recording;
pub(crate) use writer::BlockWrite;
pub use writer::{IndexOptions, IndexWriter};

use crate::range::StreamRange;

/// Maximum number of drives of a recording.
pub const MAX_DRIVES: u32 = 256;
/// Bytes of a block of the index.
pub const BLOCK_BYTES: u64 = 4096;

/// Location of index and data on one drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct IndexLayout {
    /// Address of the header.
    pub first: u64,
    /// Chunks of the stream that fit.
    pub chunks: u64,
    /// Address of the first chunk.
    pub data_first: u64,
    pub chunk_bytes: u32,
    pub index_blocks: u64,
    /// Address of the header's second copy, the last block of the range; `None` in versions 1 and
    /// 2: it is next to the first.
    pub tail: Option<u64>,
}

impl IndexLayout {
    /// `None` when nothing is left for the stream.
    pub fn new(first: u64, range_chunks: u64, chunk_bytes: u32, ring: bool) -> Option<IndexLayout> {
        let chunk = u64::from(chunk_bytes.max(1));
        let reserved = |chunks: u64| index_bytes(index_blocks(chunks, ring)).div_ceil(chunk);
        // The last chunk of the range is for the header's second copy.
        let range_chunks = range_chunks.saturating_sub(1);
        // Bisection: chunks and index grow together.
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
            tail: Some(first + (range_chunks + 1) * chunk - BLOCK_BYTES),
        })
    }

    /// Partition a range into index and stream; `drive` is for messages.
    pub(crate) fn in_range(
        range: &StreamRange,
        ring: bool,
        drive: &str,
    ) -> Result<IndexLayout, IndexError> {
        let (chunks, chunk_bytes) = (range.chunks_per_drive(), range.chunk_bytes);
        if u64::from(chunk_bytes) < BLOCK_BYTES {
            return Err(IndexError::SmallChunks { chunk_bytes });
        }
        let layout = IndexLayout::new(range.first, chunks, chunk_bytes, ring);
        layout.ok_or_else(|| IndexError::NoRoom { drive: drive.to_owned(), chunks, chunk_bytes })
    }

    pub(crate) fn data(&self, drives: u32) -> StreamRange {
        StreamRange {
            first: self.data_first,
            last: self.chunk_address(self.chunks - 1),
            chunk_bytes: self.chunk_bytes,
            drives,
        }
    }

    pub(crate) fn has_spare(&self) -> bool {
        self.index_blocks > index_blocks(self.chunks, false)
    }

    pub fn header_address(&self, copy: u64) -> u64 {
        match self.tail {
            Some(tail) if copy > 0 => tail,
            _ => self.first + copy * BLOCK_BYTES,
        }
    }

    pub fn block_address(&self, block: u64, copy: u64) -> u64 {
        self.first + (2 + 2 * block + copy) * BLOCK_BYTES
    }

    /// Address of a chunk of this drive; wraps in a ring.
    pub fn chunk_address(&self, local: u64) -> u64 {
        self.data_first + (local % self.chunks) * u64::from(self.chunk_bytes)
    }
}

/// Index blocks for this many chunks; a ring has one spare, so that the others cover a whole wrap
/// while one is filled.
fn index_blocks(chunks: u64, ring: bool) -> u64 {
    chunks.div_ceil(ENTRIES) + u64::from(ring)
}

/// Saturates, because a header read from a drive may claim any number of chunks.
fn index_bytes(blocks: u64) -> u64 {
    blocks.saturating_mul(2).saturating_add(2).saturating_mul(BLOCK_BYTES)
}

#[cfg(test)]
#[path = "../../tests/unit/index.rs"]
mod tests;
