//! An opened drive: the one handle that real targets share, writable only with a permit.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use crate::identity::{DriveInfo, DriveKind};
use crate::interlock::{PermitError, WritePermit};
use crate::nvme::place::NvmePlace;

/// Why a drive could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system refused.
    #[error("{drive}: cannot open it {how}: {source}{advice}")]
    System {
        /// The drive.
        drive: String,
        /// For reading or for writing, direct or not.
        how: &'static str,
        /// The system's answer.
        source: io::Error,
        /// What to do about it.
        advice: &'static str,
    },
    /// What was opened is not the drive the permit is for.
    #[error(transparent)]
    Permit(#[from] PermitError),
    /// It has no file behind it.
    #[error("{drive} is not a file or block device; it is opened as the target it is")]
    NoFile {
        /// The drive.
        drive: String,
    },
}

/// A block device or file, open. Clones share the handle.
#[derive(Clone, Debug)]
pub struct OpenDrive {
    name: String,
    file: Arc<File>,
    direct: bool,
    writable: bool,
    block_device: bool,
    /// Its controller and namespace, where it is a whole namespace of an NVMe drive.
    nvme: Option<NvmePlace>,
    block_bytes: u32,
}

impl OpenDrive {
    /// Open for reading, and for writing when a permit is given. `direct` bypasses the page cache (O_DIRECT).
    ///
    /// The permit itself holds a block device's exclusive claim (O_EXCL) while it lives, so that nothing can be mounted from
    /// it meanwhile; here the opened descriptor is checked to be that very device or file.
    ///
    /// # Errors
    /// When the system refuses, or the permit is for another drive.
    pub fn open(
        info: &DriveInfo,
        direct: bool,
        permit: Option<&WritePermit>,
    ) -> Result<OpenDrive, OpenError> {
        let path = match (&info.path, info.kind) {
            (Some(path), DriveKind::Block | DriveKind::File) => path.clone(),
            _ => {
                return Err(OpenError::NoFile {
                    drive: info.spec.clone(),
                });
            }
        };
        let block_device = info.kind == DriveKind::Block;
        let mut flags = libc::O_CLOEXEC;
        if direct {
            flags |= libc::O_DIRECT;
        }
        let file = open_file(&path, permit.is_some(), flags).map_err(|source| {
            let how = match (permit.is_some(), direct) {
                (true, true) => "for writing with O_DIRECT",
                (true, false) => "for writing",
                (false, true) => "for reading with O_DIRECT",
                (false, false) => "for reading",
            };
            OpenError::System {
                drive: info.spec.clone(),
                how,
                advice: advice(&source, direct),
                source,
            }
        })?;
        if let Some(permit) = permit {
            permit.check(&file)?;
        }
        Ok(OpenDrive {
            name: info.spec.clone(),
            file: Arc::new(file),
            direct,
            writable: permit.is_some(),
            block_device,
            // A part of a namespace is not one: its addresses are others.
            nvme: info.nvme.clone().filter(|_| info.partition_of.is_none()),
            block_bytes: info.logical_block_bytes,
        })
    }

    /// As named on the command line.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Bypassing the page cache?
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// Its controller and namespace, where it is a whole namespace of an NVMe drive.
    pub(crate) fn nvme(&self) -> Option<&NvmePlace> {
        self.nvme.as_ref()
    }

    /// Logical block, bytes.
    pub(crate) fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    /// Open for writing?
    pub fn is_writable(&self) -> bool {
        self.writable
    }

    /// A block device (not a file)?
    pub fn is_block_device(&self) -> bool {
        self.block_device
    }

    /// A file whose bytes are in memory and nowhere else (tmpfs, ramfs)?
    pub fn is_in_memory(&self) -> bool {
        // linux/magic.h
        const TMPFS: u64 = 0x0102_1994;
        const RAMFS: u64 = 0x8584_58f6;
        !self.block_device
            && rustix::fs::fstatfs(&*self.file)
                .is_ok_and(|fs| matches!(fs.f_type as u64 & 0xffff_ffff, TMPFS | RAMFS))
    }

    /// Sets `O_NONBLOCK` on the handle and all its clones, which lets io_uring try every I/O at once even where the file system
    /// does not say that it answers `RWF_NOWAIT`.
    pub(crate) fn mark_nonblocking(&self) -> io::Result<()> {
        let flags = rustix::fs::fcntl_getfl(&*self.file)?;
        Ok(rustix::fs::fcntl_setfl(
            &*self.file,
            flags | rustix::fs::OFlags::NONBLOCK,
        )?)
    }

    /// Drop what the page cache holds of it, so that a buffered read measures the drive. Best effort: returns whether the
    /// kernel took the advice.
    pub fn drop_cached(&self) -> bool {
        self.file.sync_data().is_ok()
            && rustix::fs::fadvise(&*self.file, 0, None, rustix::fs::Advice::DontNeed).is_ok()
    }
}

fn open_file(path: &Path, write: bool, flags: i32) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(write)
        .custom_flags(flags)
        .open(path)
}

fn advice(error: &io::Error, direct: bool) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied => "; run as root, or give yourself access to it",
        io::ErrorKind::NotFound => "; does it exist? `assay list` shows the drives here",
        io::ErrorKind::ResourceBusy => {
            "; something on this machine holds it: unmount or stop that first"
        }
        io::ErrorKind::InvalidInput if direct => {
            "; its file system does not support O_DIRECT: use --direct 0 and say so with the result"
        }
        _ => "",
    }
}
