//! Where on the drives a stream lies: checked addresses, and which chunk goes where.
//!
//! Addresses are byte addresses of chunks on each drive, as in report C: the first and, inclusively, the last one of the range, both
//! multiples of the chunk size. With several drives the chunks go to them in turn, each drive using the same range.

use assay_target::MAX_IO_BYTES;
use serde::Serialize;

use crate::registers::StatusBits;

/// The chunk size of report C, bytes.
pub const DEFAULT_CHUNK_BYTES: u32 = 128 << 10;

/// What a range is asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeRequest {
    /// Address of the first chunk; 0 if not said.
    pub first: Option<u64>,
    /// Address of the last chunk; the last whole one of the smallest drive if not said.
    pub last: Option<u64>,
    /// Bytes per chunk.
    pub chunk_bytes: u32,
}

/// A drive as a range must know it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Media {
    /// As named.
    pub drive: String,
    /// Bytes.
    pub capacity_bytes: u64,
    /// Smallest I/O, bytes.
    pub min_io_bytes: u32,
}

/// Why a range is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// A chunk no drive takes.
    #[error(
        "{drive}: a chunk of {chunk_bytes} bytes is not possible there; it must be a multiple of {min_io_bytes} and at most {MAX_IO_BYTES}"
    )]
    Chunk {
        /// Which drive.
        drive: String,
        /// As asked.
        chunk_bytes: u32,
        /// What it must be a multiple of.
        min_io_bytes: u32,
    },
    /// An address inside a chunk.
    #[error(
        "the {which} address {address} is no multiple of the chunk size {chunk_bytes}; the nearest below is {}",
        .address / u64::from(*.chunk_bytes) * u64::from(*.chunk_bytes)
    )]
    Unaligned {
        /// "first" or "last".
        which: &'static str,
        /// As asked.
        address: u64,
        /// Bytes per chunk.
        chunk_bytes: u32,
    },
    /// The wrong way round.
    #[error(
        "the first address {first} lies after the last {last}; the last is that of the last chunk, inclusive"
    )]
    FirstAfterLast {
        /// As asked.
        first: u64,
        /// As asked.
        last: u64,
    },
    /// Not on the media.
    #[error(
        "{drive}: a chunk of {chunk_bytes} bytes at address {last} ends beyond the drive's {capacity_bytes} bytes"
    )]
    OutOfRange {
        /// Which drive.
        drive: String,
        /// The last address, as asked, or the first when even that is beyond.
        last: u64,
        /// Bytes per chunk.
        chunk_bytes: u32,
        /// What the drive has.
        capacity_bytes: u64,
    },
}

impl RangeError {
    /// The bit of `STATUS` that says this.
    pub fn status(&self) -> StatusBits {
        match self {
            RangeError::Chunk { .. } | RangeError::Unaligned { .. } => StatusBits::UNALIGNED,
            RangeError::FirstAfterLast { .. } => StatusBits::FIRST_AFTER_LAST,
            RangeError::OutOfRange { .. } => StatusBits::OUT_OF_RANGE,
        }
    }
}

/// A checked range: the same addresses on each of `lanes` drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// Address of the first chunk.
    pub first: u64,
    /// Address of the last chunk, inclusive.
    pub last: u64,
    /// Bytes per chunk.
    pub chunk_bytes: u32,
    /// Drives.
    pub lanes: u32,
}

impl Range {
    /// Check a range on these drives, in the order report C gives its errors: alignment, order, media.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(request: &RangeRequest, media: &[Media]) -> Result<Range, RangeError> {
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
                return Err(RangeError::Unaligned {
                    which,
                    address,
                    chunk_bytes,
                });
            }
        }
        let first = request.first.unwrap_or(0);
        if let Some(last) = request.last.filter(|&last| first > last) {
            return Err(RangeError::FirstAfterLast { first, last });
        }
        let beyond = |drive: &Media, last| RangeError::OutOfRange {
            drive: drive.drive.clone(),
            last,
            chunk_bytes,
            capacity_bytes: drive.capacity_bytes,
        };
        let mut last = request.last.unwrap_or(u64::MAX);
        for drive in media {
            let whole_chunks = drive.capacity_bytes / chunk;
            let end = whole_chunks.checked_sub(1).map(|n| n * chunk);
            match (end, request.last) {
                (None, _) => return Err(beyond(drive, first)),
                (Some(end), Some(last)) if last > end => return Err(beyond(drive, last)),
                (Some(end), None) if first > end => return Err(beyond(drive, first)),
                (Some(end), _) => last = last.min(end),
            }
        }
        Ok(Range {
            first,
            last,
            chunk_bytes,
            lanes: media.len().max(1) as u32,
        })
    }

    /// Chunks of one drive.
    pub fn chunks_per_lane(&self) -> u64 {
        (self.last - self.first) / u64::from(self.chunk_bytes) + 1
    }

    /// Chunks of all drives.
    pub fn chunks(&self) -> u64 {
        self.chunks_per_lane().saturating_mul(u64::from(self.lanes))
    }

    /// Bytes of all drives.
    pub fn bytes(&self) -> u64 {
        self.chunks().saturating_mul(u64::from(self.chunk_bytes))
    }

    /// Drive and byte address of a chunk of the stream. Beyond the range's end it begins again at its first (a ring).
    pub fn place(&self, chunk: u64) -> (usize, u64) {
        let lanes = u64::from(self.lanes);
        let local = (chunk / lanes) % self.chunks_per_lane();
        (
            (chunk % lanes) as usize,
            self.first + local * u64::from(self.chunk_bytes),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn media(capacity_bytes: u64) -> Media {
        Media {
            drive: "drive".to_owned(),
            capacity_bytes,
            min_io_bytes: 512,
        }
    }

    fn range(
        first: Option<u64>,
        last: Option<u64>,
        chunk_bytes: u32,
        capacity_bytes: u64,
    ) -> Result<Range, RangeError> {
        let request = RangeRequest {
            first,
            last,
            chunk_bytes,
        };
        Range::new(&request, &[media(capacity_bytes)])
    }

    #[test]
    fn a_range_unasked_is_all_whole_chunks() {
        let whole = range(None, None, 4096, 10_000).unwrap();
        assert_eq!((whole.first, whole.last, whole.chunks()), (0, 4096, 2));
    }

    #[test]
    fn what_is_wrong_has_its_bit() {
        let bit = |result: Result<Range, RangeError>| result.unwrap_err().status();
        assert_eq!(
            bit(range(Some(1), None, 4096, 1 << 20)),
            StatusBits::UNALIGNED
        );
        assert_eq!(
            bit(range(None, Some(100), 4096, 1 << 20)),
            StatusBits::UNALIGNED
        );
        assert_eq!(
            bit(range(Some(8192), Some(4096), 4096, 1 << 20)),
            StatusBits::FIRST_AFTER_LAST
        );
        assert_eq!(
            bit(range(None, Some(1 << 20), 4096, 1 << 20)),
            StatusBits::OUT_OF_RANGE
        );
        assert_eq!(
            bit(range(Some(1 << 20), None, 4096, 1 << 20)),
            StatusBits::OUT_OF_RANGE
        );
        assert_eq!(bit(range(None, None, 4096, 4095)), StatusBits::OUT_OF_RANGE);
        assert_eq!(bit(range(None, None, 1000, 1 << 20)), StatusBits::UNALIGNED);
        assert_eq!(bit(range(None, None, 0, 1 << 20)), StatusBits::UNALIGNED);
        assert_eq!(
            bit(range(None, None, 8 << 20, 1 << 30)),
            StatusBits::UNALIGNED
        );
        assert!(range(None, Some((1 << 20) - 4096), 4096, 1 << 20).is_ok());
    }

    #[test]
    fn the_smallest_of_several_drives_decides() {
        let request = RangeRequest {
            first: None,
            last: None,
            chunk_bytes: 4096,
        };
        let both = Range::new(&request, &[media(1 << 20), media(1 << 16)]).unwrap();
        assert_eq!(
            (both.lanes, both.last, both.chunks()),
            (2, (1 << 16) - 4096, 32)
        );
        assert_eq!(both.place(0), (0, 0));
        assert_eq!(both.place(3), (1, 4096));
        assert_eq!(both.place(32), (0, 0));
    }

    proptest! {
        /// Every chunk has a place of its own inside the range, and a ring comes back to it.
        #[test]
        fn places_are_a_bijection(first in 0_u64..8, chunks in 1_u64..50, lanes in 1_usize..5) {
            let chunk = 4096_u64;
            let drives = vec![media(1 << 20); lanes];
            let request = RangeRequest { first: Some(first * chunk), last: Some((first + chunks - 1) * chunk), chunk_bytes: 4096 };
            let range = Range::new(&request, &drives).unwrap();
            let places: std::collections::BTreeSet<_> = (0..range.chunks()).map(|n| range.place(n)).collect();
            prop_assert_eq!(places.len() as u64, range.chunks());
            for n in 0..range.chunks() {
                let (lane, address) = range.place(n);
                prop_assert!(lane < lanes && address >= range.first && address <= range.last);
                prop_assert_eq!(range.place(n + range.chunks()), (lane, address));
            }
        }

        /// No request panics.
        #[test]
        fn any_request_is_answered(first in any::<Option<u64>>(), last in any::<Option<u64>>(), chunk in any::<u32>(), capacity in any::<u64>()) {
            if let Ok(range) = range(first, last, chunk, capacity) {
                prop_assert!(range.last + u64::from(chunk) <= capacity);
                prop_assert!(range.bytes() <= capacity);
            }
        }
    }
}
