//! The open file of a drive, shared by the targets of all worker threads.

use std::fs::File;
use std::io;
use std::sync::Arc;

use assay_nvme_spec::nvm::prinfo;

use crate::page_cache::{self, FileBelow, ReadSource};
use crate::system_calls::reset_zones;

/// A block device or file, open. Clones share the descriptor. The crate `device` opens drives and
/// checks write permits; `clippy.toml` bans [`DriveHandle::new`] elsewhere.
#[derive(Clone, Debug)]
pub struct DriveHandle {
    name: String,
    file: Arc<File>,
    writable: bool,
    block_device: bool,
    block_bytes: u32,
    passthru: Option<Arc<io::Result<PassthruNode>>>,
    below: Arc<[FileBelow]>,
    joined: Arc<[JoinedFile]>,
}

/// One of several files or block devices that are one address space.
#[derive(Clone, Debug)]
pub struct JoinedFile {
    /// Where it begins.
    pub start_bytes: u64,
    /// Its length.
    pub len_bytes: u64,
    /// Itself.
    pub handle: DriveHandle,
}

/// The open NVMe generic character device (`/dev/ngXnY`) of the same namespace.
#[derive(Debug)]
pub struct PassthruNode {
    /// The open device; writable if the drive is.
    pub file: File,
    /// Namespace identifier.
    pub nsid: u32,
    /// Largest transfer of one command, bytes, where the kernel gives it.
    pub max_command_bytes: Option<u64>,
    /// Protection information of each block, if it is all that its metadata holds.
    pub protection: Option<Protection>,
}

/// Protection information that the controller inserts into what is written and strips from what is
/// read (PRACT), so that only data are transferred (NVM 5.2.2). The tags are those that the
/// kernel's driver uses for the block device of the namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The reference tag is the block's address (types 1 and 2).
    pub has_reference: bool,
}

impl Protection {
    /// PRINFO of reads and writes.
    pub fn prinfo(self) -> u8 {
        let reference = match self.has_reference {
            true => prinfo::CHECK_REFERENCE,
            false => 0,
        };
        prinfo::ACTION | prinfo::CHECK_GUARD | reference
    }
}

impl DriveHandle {
    /// Reads from the descriptor whether it is writable or a block device.
    pub fn new(name: &str, file: File, block_bytes: u32) -> io::Result<DriveHandle> {
        use rustix::fs::{FileType, OFlags};
        let flags = rustix::fs::fcntl_getfl(&file)?;
        let mode = rustix::fs::fstat(&file)?.st_mode;
        Ok(DriveHandle {
            name: name.to_owned(),
            writable: flags.intersects(OFlags::RDWR | OFlags::WRONLY),
            block_device: FileType::from_raw_mode(mode) == FileType::BlockDevice,
            file: Arc::new(file),
            block_bytes,
            passthru: None,
            below: Arc::default(),
            joined: Arc::default(),
        })
    }

    /// The first of several files, with all of them, in the order of their addresses. An I/O lies
    /// within one of them.
    #[must_use]
    pub fn with_joined(mut self, name: &str, files: Vec<JoinedFile>) -> DriveHandle {
        self.name = name.to_owned();
        self.joined = files.into();
        self
    }

    /// The number of the file at an address, and the offset in it.
    #[inline]
    pub(crate) fn place(&self, offset_bytes: u64) -> (usize, u64) {
        if self.joined.is_empty() {
            return (0, offset_bytes);
        }
        let begins_before = |file: &JoinedFile| file.start_bytes <= offset_bytes;
        let after = self.joined.partition_point(begins_before);
        let number = after.saturating_sub(1);
        let start_bytes = self.joined[number].start_bytes;
        (number, offset_bytes.saturating_sub(start_bytes))
    }

    /// The file at an address, and the offset in it.
    #[inline]
    pub(crate) fn file_at(&self, offset_bytes: u64) -> (&File, u64) {
        match self.place(offset_bytes) {
            (_, offset_bytes) if self.joined.is_empty() => (&self.file, offset_bytes),
            (number, offset_bytes) => (&self.joined[number].handle.file, offset_bytes),
        }
    }

    /// In the order of [`DriveHandle::place`].
    pub(crate) fn files(&self) -> Vec<&File> {
        match self.joined.is_empty() {
            true => vec![&*self.file],
            false => (self.joined.iter()).map(|joined| &*joined.handle.file).collect(),
        }
    }

    /// Adds the files under it whose page cache can answer its reads.
    #[must_use]
    pub fn with_files_below(mut self, below: Vec<FileBelow>) -> DriveHandle {
        self.below = below.into();
        self
    }

    /// Adds the namespace's generic character device, or why it could not be opened.
    #[must_use]
    pub fn with_passthru(mut self, node: io::Result<PassthruNode>) -> DriveHandle {
        self.passthru = Some(Arc::new(node));
        self
    }

    /// As named on the command line.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Open for writing.
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    pub(crate) fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    /// Set where the drive was opened with an NVMe generic character device.
    pub(crate) fn passthru(&self) -> Option<&Arc<io::Result<PassthruNode>>> {
        self.passthru.as_ref()
    }

    /// A file whose bytes are in memory only (tmpfs, ramfs).
    pub fn is_in_memory(&self) -> bool {
        !self.block_device && self.joined.is_empty() && page_cache::is_in_memory(&self.file)
    }

    /// Sets `O_NONBLOCK` on the shared descriptor: io_uring then attempts every I/O inline, even
    /// where the file system does not announce `RWF_NOWAIT`.
    pub(crate) fn mark_nonblocking(&self) -> io::Result<()> {
        let flags = rustix::fs::fcntl_getfl(&*self.file)? | rustix::fs::OFlags::NONBLOCK;
        Ok(rustix::fs::fcntl_setfl(&*self.file, flags)?)
    }

    /// Empties the zone of a zoned block device that begins here.
    pub fn reset_zone(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        Ok(reset_zones(&self.file, offset_bytes, len_bytes)?)
    }

    /// Drops a range of the drive from the host's page cache, that of files below it included, and
    /// returns where later reads of it come from.
    pub fn drop_cached(&self, offset_bytes: u64, len_bytes: u64) -> ReadSource {
        if !self.joined.is_empty() {
            let end_bytes = offset_bytes.saturating_add(len_bytes);
            let dropped = self.joined.iter().map(|joined| {
                let start = offset_bytes.saturating_sub(joined.start_bytes);
                let end = end_bytes.saturating_sub(joined.start_bytes);
                let len_bytes = end.min(joined.len_bytes).saturating_sub(start);
                match len_bytes {
                    0 => ReadSource::Drive,
                    len_bytes => joined.handle.drop_cached(start, len_bytes),
                }
            });
            return dropped.fold(ReadSource::Drive, ReadSource::max);
        }
        let own = page_cache::drop_range(&self.file, offset_bytes, len_bytes);
        let below = self.below.iter().map(|below| {
            let Ok(file) = &below.file else {
                return ReadSource::HostMemory;
            };
            match below.drive_at_bytes {
                Some(at) => {
                    page_cache::drop_range(file, at.saturating_add(offset_bytes), len_bytes)
                }
                None => page_cache::drop_range(file, 0, u64::MAX),
            }
        });
        below.fold(own, ReadSource::max)
    }
}
