//! One `pread`/`pwrite` at a time, as each thread of the DragonFly and AnandTech PBlaze5 tests
//! does.

use std::io;
use std::io::IoSlice;
use std::os::unix::fs::FileExt;

use assay_units::{Nanos, Op};
use rustix::fs::FallocateFlags;
use rustix::io::ReadWriteFlags;

use crate::buffers::Buffers;
use crate::drive_handle::DriveHandle;
use crate::null::Completed;
use crate::page_cache::ReadSource;
use crate::{Completion, Io, Target, TargetError};

/// `RWF_ATOMIC` of include/uapi/linux/fs.h (Linux 6.11): a write is done as a whole or not at all,
/// also when power fails.
pub(crate) const RWF_ATOMIC: u32 = 0x40;

/// How blocking calls write and flush.
#[derive(Clone, Copy, Debug)]
pub struct BlockingCalls {
    write_flags: ReadWriteFlags,
    flush_metadata: bool,
    fua_flags: ReadWriteFlags,
}

impl Default for BlockingCalls {
    fn default() -> BlockingCalls {
        BlockingCalls::new(false, false)
    }
}

impl BlockingCalls {
    /// Selects fsync(2) over fdatasync(2) for flushes, and RWF_SYNC over RWF_DSYNC for FUA.
    pub fn new(flush_metadata: bool, fua_metadata: bool) -> BlockingCalls {
        BlockingCalls {
            write_flags: ReadWriteFlags::empty(),
            flush_metadata,
            fua_flags: match fua_metadata {
                true => ReadWriteFlags::SYNC,
                false => ReadWriteFlags::DSYNC,
            },
        }
    }

    /// Writes with RWF_ATOMIC.
    #[must_use]
    pub fn with_atomic_writes(self, atomic: bool) -> BlockingCalls {
        let flags = if atomic { RWF_ATOMIC } else { 0 };
        BlockingCalls { write_flags: ReadWriteFlags::from_bits_retain(flags), ..self }
    }

    /// Does an I/O with the buffer of its slot; bytes moved, or a negated `errno`.
    pub(crate) fn run(self, drive: &DriveHandle, io: &Io, buffer: &mut [u8]) -> i32 {
        let length = io.len_bytes as usize;
        if matches!(io.op, Op::Read | Op::Write) && length > buffer.len() {
            return -libc::EINVAL;
        }
        let (file, offset_bytes) = drive.file_at(io.offset_bytes);
        let result = match io.op {
            Op::Read => file.read_at(&mut buffer[..length], offset_bytes),
            Op::Write if io.fua || !self.write_flags.is_empty() => {
                let buffer = IoSlice::new(&buffer[..length]);
                let flags = match io.fua {
                    true => self.write_flags | self.fua_flags,
                    false => self.write_flags,
                };
                rustix::io::pwritev2(file, &[buffer], offset_bytes, flags).map_err(Into::into)
            }
            Op::Write => file.write_at(&buffer[..length], offset_bytes),
            Op::Flush if self.flush_metadata => file.sync_all().map(|()| length),
            Op::Flush => file.sync_data().map(|()| length),
            Op::Discard | Op::WriteZeroes => {
                rustix::fs::fallocate(file, fallocate_mode(io.op), offset_bytes, length as u64)
                    .map(|()| length)
                    .map_err(Into::into)
            }
        };
        match result {
            Ok(bytes) => bytes as i32,
            Err(error) => -error.raw_os_error().unwrap_or(libc::EIO),
        }
    }
}

/// Runs each I/O inside [`Target::submit`].
#[derive(Debug)]
pub struct SyncTarget {
    drive: DriveHandle,
    buffers: Buffers,
    completed: Completed,
    calls: BlockingCalls,
}

impl SyncTarget {
    /// A target with `slots` buffers of `slot_bytes`; I/Os of a batch run one after the other.
    pub fn new(drive: DriveHandle, slots: u32, slot_bytes: u32) -> Result<SyncTarget, TargetError> {
        Ok(SyncTarget {
            buffers: Buffers::new(slots, slot_bytes)?,
            drive,
            completed: Completed::new(slots),
            calls: BlockingCalls::default(),
        })
    }

    /// Flushes as these calls do.
    #[must_use]
    pub fn with_calls(self, calls: BlockingCalls) -> SyncTarget {
        SyncTarget { calls, ..self }
    }
}

/// Linux maps both modes to commands of the block device.
pub(crate) fn fallocate_mode(op: Op) -> FallocateFlags {
    match op {
        Op::WriteZeroes => FallocateFlags::ZERO_RANGE | FallocateFlags::KEEP_SIZE,
        _ => FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
    }
}

impl Target for SyncTarget {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.completed.clock.now()
    }

    #[inline]
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            let buffer = self.buffers.slot(io.slot);
            let result = self.calls.run(&self.drive, io, buffer);
            self.completed.done.push(Completion { slot: io.slot, result });
        }
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        _min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.completed.reap(until, out);
        Ok(())
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        Some(self.buffers.slot(slot))
    }

    fn drop_cached(&mut self, offset_bytes: u64, len_bytes: u64) -> ReadSource {
        self.drive.drop_cached(offset_bytes, len_bytes)
    }

    fn reset_zone(&mut self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        self.drive.reset_zone(offset_bytes, len_bytes)
    }
}
