//! Making a real drive forget everything, as far as the kernel can ask it to without commands of the drive's own.
//!
//! A block device is told that none of its blocks is wanted any more (`BLKDISCARD` over all of it, include/uapi/linux/fs.h): NVMe
//! Deallocate, ATA TRIM, SCSI UNMAP, freed pages of zram, holes in a loop device's file. For a drive that is advice: it may keep and even
//! return what it held. A file gets one hole of its whole length (fallocate(2), `FALLOC_FL_PUNCH_HOLE`), which its file system may or may
//! not pass on to the drive under it.
//!
//! # Non-goals
//! NVMe Format and Sanitize, which erase for certain, are commands of their own: [`crate::nvme::purge`].

use std::io;
use std::os::unix::fs::FileTypeExt;

use rustix::fs::FallocateFlags;

use assay_io::drive_handle::DriveHandle;
use assay_io::system_calls;

/// Why a drive could not be purged.
#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    /// It was opened for reading: there is no permit.
    #[error("{drive}: is open for reading only, and nothing is purged without a permit")]
    ReadOnly {
        /// The drive.
        drive: String,
    },
    /// It knows no such command.
    #[error(
        "{drive}: cannot discard its blocks ({what} is not supported), so this program cannot purge it; purge it by other means before the \
         run (nvme format, nvme sanitize, hdparm --security-erase), or go on without and say so with the result"
    )]
    Unsupported {
        /// The drive.
        drive: String,
        /// The call.
        what: &'static str,
    },
    /// It failed.
    #[error(
        "{drive}: {what} failed: {source}; some of it may be gone already, check the kernel's log before going on"
    )]
    Failed {
        /// The drive.
        drive: String,
        /// The call.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

/// Discard the first `len_bytes` bytes of a block device, or all of a file that keeps its length. Nothing else is touched, whatever a path
/// says meanwhile: the descriptor was checked when it was opened with its permit.
///
/// # Errors
/// When it is open for reading only, cannot do it, or fails doing it.
pub fn discard_all(open: &DriveHandle, len_bytes: u64) -> Result<(), PurgeError> {
    let drive = open.name().to_owned();
    if !open.is_writable() {
        return Err(PurgeError::ReadOnly { drive });
    }
    let failed = |what, errno: rustix::io::Errno| match errno {
        // The driver knows no such request, or the device has no such thing.
        rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOTTY | rustix::io::Errno::NOSYS => {
            PurgeError::Unsupported {
                drive: drive.clone(),
                what,
            }
        }
        errno => PurgeError::Failed {
            drive: drive.clone(),
            what,
            source: errno.into(),
        },
    };
    let metadata = open
        .file()
        .metadata()
        .map_err(|source| PurgeError::Failed {
            drive: drive.clone(),
            what: "looking at it",
            source,
        })?;
    if metadata.file_type().is_block_device() {
        return system_calls::block_discard(open.file(), len_bytes)
            .map_err(|errno| failed("BLKDISCARD", errno));
    }
    if metadata.len() == 0 {
        return Ok(());
    }
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(open.file(), flags, 0, metadata.len())
        .map_err(|errno| failed("punching a hole into it", errno))
}
