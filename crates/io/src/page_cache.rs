//! The host's page cache in front of a drive: drops it, and shows that it was dropped.

use std::fs::File;
use std::io;

use crate::Nanos;
use crate::clock::sleep;
use crate::system_calls::{cached_pages, resident_pages};

/// Where the bytes of later reads come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadSource {
    /// The drive: no page of the range is in the host's page cache. So do those of a file of tmpfs,
    /// whose pages are the only copy.
    Drive,
    /// Perhaps the host's page cache: pages remained in it, or the kernel did not tell.
    HostMemory,
}

/// A file under a drive whose page cache can answer the drive's reads: that of a loop device
/// without direct I/O.
#[derive(Debug)]
pub struct FileBelow {
    /// The open file, or why it cannot be opened.
    pub file: io::Result<File>,
    /// Where the drive's first byte lies in it; `None` where that is not known.
    pub drive_at_bytes: Option<u64>,
}

/// A page that is read ahead, or written by another thread, cannot be dropped at once.
const ATTEMPTS: u32 = 50;
const PAUSE: Nanos = Nanos::from_millis(20);

/// Writes back and drops the cached pages of a range, and looks whether any remain.
pub(crate) fn drop_range(file: &File, offset_bytes: u64, len_bytes: u64) -> ReadSource {
    if is_in_memory(file) {
        return ReadSource::Drive;
    }
    let len_bytes = len_bytes.min((i64::MAX as u64).saturating_sub(offset_bytes));
    let remaining = || pages_in_cache(file, offset_bytes, len_bytes);
    for attempt in 0..ATTEMPTS {
        match remaining() {
            Ok(0) => return ReadSource::Drive,
            Ok(_) if attempt > 0 => sleep(PAUSE),
            Ok(_) => {}
            Err(_) => return ReadSource::HostMemory,
        }
        // The whole file: the kernel does not drop a large folio that is in the range in part.
        let advice = rustix::fs::Advice::DontNeed;
        let dropped =
            file.sync_data().is_ok() && rustix::fs::fadvise(file, 0, None, advice).is_ok();
        if !dropped {
            return ReadSource::HostMemory;
        }
    }
    match remaining() {
        Ok(0) => ReadSource::Drive,
        _ => ReadSource::HostMemory,
    }
}

/// A file of tmpfs or ramfs, whose pages are the only copy.
pub(crate) fn is_in_memory(file: &File) -> bool {
    // linux/magic.h
    const TMPFS: u64 = 0x0102_1994;
    const RAMFS: u64 = 0x8584_58f6;
    matches!(file_system_magic(file), Some(TMPFS | RAMFS))
}

fn file_system_magic(file: &File) -> Option<u64> {
    let statistics = rustix::fs::fstatfs(file).ok()?;
    Some(statistics.f_type as u64 & 0xffff_ffff)
}

/// cachestat(2) counts the pages of the file's own inode, and the pages of a file of overlayfs
/// belong to the inode of a lower layer, which mincore(2) sees.
fn pages_in_cache(file: &File, offset_bytes: u64, len_bytes: u64) -> io::Result<u64> {
    const OVERLAYFS: u64 = 0x794c_7630;
    if file_system_magic(file) != Some(OVERLAYFS)
        && let Ok(pages) = cached_pages(file, offset_bytes, len_bytes)
    {
        return Ok(pages);
    }
    resident_pages(file, offset_bytes, len_bytes)
}

#[cfg(test)]
#[path = "../tests/unit/page_cache.rs"]
mod tests;
