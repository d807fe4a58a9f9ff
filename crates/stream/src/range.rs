//! Addresses are byte addresses of chunks, inclusive, as in the MLE NVMe Streamer. With several
//! drives, chunks are striped over them round-robin, at the same addresses on each.

use assay_io::MAX_IO_BYTES;
use serde::Serialize;

use crate::registers::StatusBits;

pub const DEFAULT_CHUNK_BYTES: u32 = 128 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeRequest {
    /// Address of the first chunk; default 0.
    pub first: Option<u64>,
    /// Address of the last chunk; default the last whole one of the smallest drive.
    pub last: Option<u64>,
    pub chunk_bytes: u32,
}

/// Properties of a drive that limit a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveExtent {
    pub drive: String,
    pub capacity_bytes: u64,
    pub min_io_bytes: u32,
}

/// Why a range is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// The drive does not accept this chunk size.
    #[error(
        "{drive}: a chunk of {chunk_bytes} bytes is not supported; it must be a multiple of \
         {min_io_bytes} and at most {MAX_IO_BYTES}"
    )]
    Chunk {
        drive: String,
        chunk_bytes: u32,
        /// Required divisor.
        min_io_bytes: u32,
    },
    /// An address inside a chunk.
    #[error(
        "the {which} address {address} is not a multiple of the chunk size {chunk_bytes}; the \
         nearest below is {}",
        .address / u64::from(*.chunk_bytes) * u64::from(*.chunk_bytes)
    )]
    Unaligned {
        /// "first" or "last".
        which: &'static str,
        address: u64,
        chunk_bytes: u32,
    },
    /// First and last are reversed.
    #[error(
        "the first address {first} is after the last {last}; the last is that of the last chunk, \
         inclusive"
    )]
    FirstAfterLast {
        /// As requested.
        first: u64,
        last: u64,
    },
    /// Beyond the drive's capacity.
    #[error(
        "{drive}: a chunk of {chunk_bytes} bytes at address {last} ends beyond the drive's \
         {capacity_bytes} bytes"
    )]
    OutOfRange {
        drive: String,
        /// The requested last address, or the first when that is beyond, too.
        last: u64,
        chunk_bytes: u32,
        capacity_bytes: u64,
    },
}

impl RangeError {
    pub fn status(&self) -> StatusBits {
        match self {
            RangeError::Chunk { .. } | RangeError::Unaligned { .. } => StatusBits::UNALIGNED,
            RangeError::FirstAfterLast { .. } => StatusBits::FIRST_AFTER_LAST,
            RangeError::OutOfRange { .. } => StatusBits::OUT_OF_RANGE,
        }
    }
}

/// A checked range: the same addresses on each of `drives` drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StreamRange {
    /// Address of the first chunk.
    pub first: u64,
    /// Address of the last chunk, inclusive.
    pub last: u64,
    pub chunk_bytes: u32,
    #[serde(rename = "lanes")]
    pub drives: u32,
}

impl StreamRange {
    /// Check a range on these drives, in the order of the MLE core: alignment, order, capacity.
    pub fn new(request: &RangeRequest, media: &[DriveExtent]) -> Result<StreamRange, RangeError> {
        let chunk_bytes = request.chunk_bytes;
        for drive in media {
            let aligned = chunk_bytes.is_multiple_of(drive.min_io_bytes.max(1));
            if chunk_bytes == 0 || chunk_bytes > MAX_IO_BYTES || !aligned {
                return Err(RangeError::Chunk {
                    drive: drive.drive.clone(),
                    chunk_bytes,
                    min_io_bytes: drive.min_io_bytes,
                });
            }
        }
        let chunk = u64::from(chunk_bytes);
        for (which, address) in [("first", request.first), ("last", request.last)] {
            if let Some(address) = address.filter(|a| !a.is_multiple_of(chunk)) {
                return Err(RangeError::Unaligned { which, address, chunk_bytes });
            }
        }
        let first = request.first.unwrap_or(0);
        if let Some(last) = request.last.filter(|&last| first > last) {
            return Err(RangeError::FirstAfterLast { first, last });
        }
        let beyond = |drive: &DriveExtent, last| RangeError::OutOfRange {
            drive: drive.drive.clone(),
            last,
            chunk_bytes,
            capacity_bytes: drive.capacity_bytes,
        };
        assert!(!media.is_empty(), "a range needs a drive");
        let mut smallest = u64::MAX;
        for drive in media {
            let whole_chunks = drive.capacity_bytes / chunk;
            let end = whole_chunks.checked_sub(1).map(|n| n * chunk);
            match (end, request.last) {
                (None, _) => return Err(beyond(drive, first)),
                (Some(end), Some(last)) if last > end => return Err(beyond(drive, last)),
                (Some(end), None) if first > end => return Err(beyond(drive, first)),
                (Some(end), _) => smallest = smallest.min(end),
            }
        }
        let range = StreamRange {
            first,
            last: request.last.unwrap_or(smallest),
            chunk_bytes,
            drives: media.len() as u32,
        };
        let chunks = range.chunks_per_drive() as u128 * media.len() as u128;
        assert!(chunks * u128::from(chunk) <= u128::from(u64::MAX), "a range of more than 16 EiB");
        Ok(range)
    }

    pub fn chunks_per_drive(&self) -> u64 {
        (self.last - self.first) / u64::from(self.chunk_bytes) + 1
    }

    pub fn chunks(&self) -> u64 {
        self.chunks_per_drive() * u64::from(self.drives)
    }

    pub fn bytes(&self) -> u64 {
        self.chunks() * u64::from(self.chunk_bytes)
    }

    /// Drive and byte address of a chunk of the stream; wraps around after the end of the range
    /// (ring).
    pub fn locate(&self, chunk: u64) -> (usize, u64) {
        let drives = u64::from(self.drives);
        let local = (chunk / drives) % self.chunks_per_drive();
        let address = self.first + local * u64::from(self.chunk_bytes);
        ((chunk % drives) as usize, address)
    }
}

#[cfg(test)]
#[path = "../tests/unit/range.rs"]
mod tests;
