//! Placement of chunks on the drives.

use crate::index::{IndexError, IndexLayout};
use crate::range::StreamRange;

/// Chunks are placed in the range itself, or behind an index.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ChunkPlacement {
    Plain(StreamRange),
    Indexed(IndexLayout, u32),
}

impl ChunkPlacement {
    pub(crate) fn chunks(&self) -> u64 {
        match self {
            ChunkPlacement::Plain(range) => range.chunks(),
            ChunkPlacement::Indexed(layout, drives) => layout.chunks * u64::from(*drives),
        }
    }

    pub(crate) fn locate(&self, chunk: u64) -> (usize, u64) {
        match self {
            ChunkPlacement::Plain(range) => range.locate(chunk),
            ChunkPlacement::Indexed(layout, drives) => {
                let drives = u64::from(*drives);
                let address = layout.chunk_address(chunk / drives);
                ((chunk % drives) as usize, address)
            }
        }
    }
}

/// Partition a range into index and stream.
pub(crate) fn indexed(
    range: &StreamRange,
    ring: bool,
    drive: &str,
) -> Result<IndexLayout, IndexError> {
    if u64::from(range.chunk_bytes) < crate::index::BLOCK_BYTES {
        return Err(IndexError::SmallChunks {
            chunk_bytes: range.chunk_bytes,
        });
    }
    let chunks = range.chunks_per_drive();
    let chunk_bytes = range.chunk_bytes;
    IndexLayout::new(range.first, chunks, chunk_bytes, ring).ok_or_else(|| IndexError::NoRoom {
        drive: drive.to_owned(),
        chunks,
        chunk_bytes,
    })
}
