//! The open file of a drive, shared by the targets of all worker threads.

use std::fs::File;
use std::io;
use std::sync::Arc;

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
        })
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
        // linux/magic.h
        const TMPFS: u64 = 0x0102_1994;
        const RAMFS: u64 = 0x8584_58f6;
        !self.block_device
            && rustix::fs::fstatfs(&*self.file)
                .is_ok_and(|fs| matches!(fs.f_type as u64 & 0xffff_ffff, TMPFS | RAMFS))
    }

    /// Sets `O_NONBLOCK` on the shared descriptor: io_uring then attempts every I/O inline, even
    /// where the file system does not announce `RWF_NOWAIT`.
    pub(crate) fn mark_nonblocking(&self) -> io::Result<()> {
        let flags = rustix::fs::fcntl_getfl(&*self.file)? | rustix::fs::OFlags::NONBLOCK;
        Ok(rustix::fs::fcntl_setfl(&*self.file, flags)?)
    }

    /// Drops the file's pages from the page cache; `true` when the kernel took the advice.
    pub fn drop_cached(&self) -> bool {
        self.file.sync_data().is_ok()
            && rustix::fs::fadvise(&*self.file, 0, None, rustix::fs::Advice::DontNeed).is_ok()
    }
}
