//! io_uring target with registered buffers and file, so that the kernel neither looks up the file
//! nor pins the buffers for each I/O; one system call per batch (`ring`). A device or file that
//! does not answer `RWF_NOWAIT` (zram, tmpfs) makes the kernel hand every I/O to an io-wq worker
//! thread. A file in memory never blocks: read through a handle marked `O_NONBLOCK` it is read
//! inline, at half the processor time. `IOSQE_ASYNC`, which skips the attempt, costs more than it
//! saves (measured on zram and tmpfs). `IOPOLL` is used where the device has polling queues,
//! `SQPOLL` on request.

use std::io;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

use assay_units::Op;
use io_uring::types::{Fixed, FsyncFlags};
use io_uring::{cqueue, opcode, squeue};

use crate::drive_handle::DriveHandle;
use crate::page_cache::ReadSource;
use crate::ring::{Encode, Ring, RingTarget};
use crate::sync::{RWF_ATOMIC, fallocate_mode};
use crate::{Completion, Io, TargetError};

pub use crate::ring::UringOptions;

/// Encodes I/Os on one file or block device.
pub struct FileCalls {
    // Kept open for as long as the ring uses it.
    drive: DriveHandle,
    flush: FsyncFlags,
    fua_flags: i32,
    write_flags: i32,
}

/// The io_uring of one worker.
pub type UringTarget = RingTarget<FileCalls>;

/// Why the kernel refuses io_uring to this process, asked once; `None` where it does not.
pub fn refusal() -> Option<&'static str> {
    static REFUSAL: OnceLock<Option<String>> = OnceLock::new();
    let ask = || io_uring::IoUring::new(1).err().map(|error| error.to_string());
    REFUSAL.get_or_init(ask).as_deref()
}

impl UringTarget {
    /// A ring for `slots` I/Os in flight with a buffer of `slot_bytes` each.
    pub fn new(
        drive: DriveHandle,
        slots: u32,
        slot_bytes: u32,
        options: UringOptions,
    ) -> Result<UringTarget, TargetError> {
        if drive.is_in_memory() && !drive.is_writable() {
            // Not for writes: a nonblocking one may fail instead of waiting for a lock.
            let failed = |source| TargetError::Ring {
                drive: drive.name().to_owned(),
                what: "O_NONBLOCK",
                source,
            };
            drive.mark_nonblocking().map_err(failed)?;
        }
        let files: Vec<_> = drive.files().iter().map(|file| file.as_raw_fd()).collect();
        let ring = Ring::new(drive.name(), &files, slots, slot_bytes, &options)?;
        let calls = FileCalls {
            drive,
            flush: match options.flush_metadata {
                true => FsyncFlags::empty(),
                false => FsyncFlags::DATASYNC,
            },
            fua_flags: match options.fua_metadata {
                true => libc::RWF_SYNC,
                false => libc::RWF_DSYNC,
            },
            write_flags: if options.atomic_writes { RWF_ATOMIC as i32 } else { 0 },
        };
        Ok(RingTarget::over(ring, calls))
    }
}

// SAFETY: every entry's buffer is the slot's, and the registered file is kept open.
unsafe impl Encode for FileCalls {
    type Sqe = squeue::Entry;
    type Cqe = cqueue::Entry;
    const MAY_MERGE: bool = true;

    #[inline]
    fn entry(&mut self, io: &Io, buffer: *mut u8, fixed: bool) -> squeue::Entry {
        let (number, offset_bytes) = self.drive.place(io.offset_bytes);
        // A ring registers fewer than 2^32 files.
        let file = Fixed(number as u32);
        let index = io.slot as u16;
        let flags = self.write_flags | if io.fua { self.fua_flags } else { 0 };
        // Atomic writes take no registered buffer (Linux, `generic_atomic_write_valid`).
        let fixed = fixed && (io.op != Op::Write || self.write_flags == 0);
        // Buffer indices are 16 bits wide; slots are at most 32768.
        let entry = match (io.op, fixed) {
            (Op::Read, true) => opcode::ReadFixed::new(file, buffer, io.len_bytes, index)
                .offset(offset_bytes)
                .ioprio(io.priority)
                .build(),
            (Op::Read, false) => opcode::Read::new(file, buffer, io.len_bytes)
                .offset(offset_bytes)
                .ioprio(io.priority)
                .build(),
            (Op::Write, true) => opcode::WriteFixed::new(file, buffer, io.len_bytes, index)
                .offset(offset_bytes)
                .ioprio(io.priority)
                .rw_flags(flags)
                .build(),
            (Op::Write, false) => opcode::Write::new(file, buffer, io.len_bytes)
                .offset(offset_bytes)
                .ioprio(io.priority)
                .rw_flags(flags)
                .build(),
            (Op::Flush, _) => opcode::Fsync::new(file).flags(self.flush).build(),
            (Op::Discard | Op::WriteZeroes, _) => {
                opcode::Fallocate::new(file, u64::from(io.len_bytes))
                    .offset(offset_bytes)
                    .mode(fallocate_mode(io.op).bits() as i32)
                    .build()
            }
        };
        // Operations that complete with 0 return the length with the slot in the user data.
        let length = match io.op {
            Op::Read | Op::Write => 0,
            Op::Flush | Op::Discard | Op::WriteZeroes => u64::from(io.len_bytes),
        };
        entry.user_data(u64::from(io.slot) | length << 32)
    }

    /// The slot is in the low half of the user data, the result that replaces 0 in the high half.
    #[inline]
    fn decode(user_data: u64, result: i32) -> Completion {
        Completion {
            slot: user_data as u32,
            result: match result {
                0 => (user_data >> 32) as i32,
                result => result,
            },
        }
    }

    fn drop_cached(&self, offset_bytes: u64, len_bytes: u64) -> ReadSource {
        self.drive.drop_cached(offset_bytes, len_bytes)
    }

    fn reset_zone(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        self.drive.reset_zone(offset_bytes, len_bytes)
    }
}
