//! Where the chunks of a recording go.

use crate::index::{IndexError, IndexLayout};
use crate::range::Range;

/// Where chunks go: straight into the range, or behind an index.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Places {
    Plain(Range),
    Indexed(IndexLayout, u32),
}

impl Places {
    pub(crate) fn chunks(&self) -> u64 {
        match self {
            Places::Plain(range) => range.chunks(),
            Places::Indexed(layout, lanes) => layout.chunks.saturating_mul(u64::from(*lanes)),
        }
    }

    pub(crate) fn place(&self, chunk: u64) -> (usize, u64) {
        match self {
            Places::Plain(range) => range.place(chunk),
            Places::Indexed(layout, lanes) => {
                let lanes = u64::from(*lanes);
                (
                    (chunk % lanes) as usize,
                    layout.chunk_address(chunk / lanes),
                )
            }
        }
    }
}

/// How a range is parted between index and stream.
pub(crate) fn indexed(range: &Range, ring: bool, drive: &str) -> Result<IndexLayout, IndexError> {
    if u64::from(range.chunk_bytes) < crate::index::BLOCK_BYTES {
        return Err(IndexError::SmallChunks {
            chunk_bytes: range.chunk_bytes,
        });
    }
    let chunks = range.chunks_per_lane();
    let chunk_bytes = range.chunk_bytes;
    IndexLayout::new(range.first, chunks, chunk_bytes, ring).ok_or_else(|| IndexError::NoRoom {
        drive: drive.to_owned(),
        chunks,
        chunk_bytes,
    })
}
