//! Discarding all blocks of a drive. `BLKDISCARD` (include/uapi/linux/fs.h) becomes NVMe
//! Deallocate, ATA TRIM, SCSI UNMAP, freed pages of zram, or holes in a loop device's file. It is a
//! hint: a drive may keep and return its data. A file gets one hole (fallocate(2),
//! `FALLOC_FL_PUNCH_HOLE`), which its file system may pass on to the drive under it.
//! [`crate::nvme::purge`] guarantees erasure.

use std::io;

use rustix::fs::{FallocateFlags, FileType};

use assay_io::drive_handle::DriveHandle;
use assay_io::system_calls;

#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    #[error("{0}: is open read-only; purging needs a write permit")]
    ReadOnly(String),
    #[error(
        "{drive}: cannot discard its blocks ({what} is not supported), so this program cannot \
         purge it; purge it by other means before the run (nvme format, nvme sanitize, hdparm \
         --security-erase), or run without a purge and state that with the result"
    )]
    Unsupported {
        drive: String,
        /// The call.
        what: &'static str,
    },
    #[error(
        "{drive}: {what} failed: {source}; part of it may be erased; check the kernel log before \
         continuing"
    )]
    Failed { drive: String, what: &'static str, source: io::Error },
}

/// All zones of a zoned block device of this length.
pub fn reset_all_zones(open: &DriveHandle, len_bytes: u64) -> Result<(), PurgeError> {
    let drive = open.name().to_owned();
    if !open.is_writable() {
        return Err(PurgeError::ReadOnly(drive));
    }
    let reset = system_calls::reset_zones(open.file(), 0, len_bytes);
    reset.map_err(|errno| PurgeError::Failed { drive, what: "BLKRESETZONE", source: errno.into() })
}

/// The first `len_bytes` of a block device, or the whole of a file, which keeps its length. The
/// descriptor was checked against its permit when it was opened.
pub fn discard_all(open: &DriveHandle, len_bytes: u64) -> Result<(), PurgeError> {
    use rustix::io::Errno;
    let drive = open.name().to_owned();
    if !open.is_writable() {
        return Err(PurgeError::ReadOnly(drive));
    }
    let failed = |what, errno: Errno| match errno {
        Errno::OPNOTSUPP | Errno::NOTTY | Errno::NOSYS => PurgeError::Unsupported { drive, what },
        errno => PurgeError::Failed { drive, what, source: errno.into() },
    };
    let file = open.file();
    let stat = match rustix::fs::fstat(file) {
        Ok(stat) => stat,
        Err(errno) => return Err(failed("fstat", errno)),
    };
    let len = stat.st_size.cast_unsigned();
    if FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice {
        system_calls::block_discard(file, len_bytes).map_err(|errno| failed("BLKDISCARD", errno))
    } else if len == 0 {
        Ok(())
    } else {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let punched = rustix::fs::fallocate(file, flags, 0, len);
        punched.map_err(|errno| failed("fallocate (punch hole)", errno))
    }
}
