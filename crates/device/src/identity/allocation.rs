//! What of a file is on its drive.

use std::fs::File;
use std::io;
use std::path::Path;

use assay_io::system_calls::{FileExtent, file_extents};
use rustix::fs::SeekFrom;

use crate::open::open_file;

/// Fragments of a file that are looked at; the rest counts as written.
const MAX_EXTENTS: usize = 1 << 20;

/// Bytes of a range of a file by where reads of them end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocation {
    pub len_bytes: u64,
    /// Holes, and extents that were allocated (`fallocate`) and never written: the file system
    /// answers zeroes, and no drive is asked.
    pub unwritten_bytes: u64,
    /// Compressed or encrypted by the file system: the drive is asked for other, often fewer bytes.
    pub encoded_bytes: u64,
}

/// Fails where the file system tells neither extents nor holes.
pub fn allocation(path: &Path, offset_bytes: u64, len_bytes: u64) -> io::Result<Allocation> {
    let file = open_file(path, false, libc::O_NONBLOCK)?;
    let end = offset_bytes.saturating_add(len_bytes).min(file.metadata()?.len());
    let len_bytes = end.saturating_sub(offset_bytes);
    let extents = by_extents(&file, offset_bytes, end);
    let (data, encoded_bytes) = extents.or_else(|_| by_seeking(&file, offset_bytes, end))?;
    Ok(Allocation { len_bytes, unwritten_bytes: len_bytes.saturating_sub(data), encoded_bytes })
}

/// Written and encoded bytes.
fn by_extents(file: &File, offset_bytes: u64, end: u64) -> io::Result<(u64, u64)> {
    let (mut at, mut written, mut encoded) = (offset_bytes, 0, 0);
    let mut count = 0;
    while at < end {
        let extents = file_extents(file, at, end - at)?;
        let Some(last) = extents.last().copied() else {
            break;
        };
        for extent in &extents {
            let extent_end = extent.offset_bytes.saturating_add(extent.len_bytes).min(end);
            let bytes = extent_end.saturating_sub(extent.offset_bytes.max(offset_bytes));
            if extent.flags & FileExtent::UNWRITTEN == 0 {
                written += bytes;
            }
            if extent.flags & FileExtent::ENCODED != 0 {
                encoded += bytes;
            }
        }
        count += extents.len();
        let next = last.offset_bytes.saturating_add(last.len_bytes);
        if last.is_last() || next <= at {
            break;
        }
        if count >= MAX_EXTENTS {
            written += end.saturating_sub(next);
            break;
        }
        at = next;
    }
    Ok((written, encoded))
}

/// Holes only, of file systems that do not list extents (tmpfs, NFS).
fn by_seeking(file: &File, offset_bytes: u64, end: u64) -> io::Result<(u64, u64)> {
    let (mut at, mut data) = (offset_bytes, 0);
    while at < end {
        let start = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            // No data up to the end.
            Err(rustix::io::Errno::NXIO) => break,
            start => start?,
        };
        let hole = rustix::fs::seek(file, SeekFrom::Hole(start))?;
        data += hole.min(end).saturating_sub(start);
        at = hole.max(at + 1);
    }
    Ok((data, 0))
}

#[cfg(test)]
#[path = "../../tests/unit/identity/allocation.rs"]
mod tests;
