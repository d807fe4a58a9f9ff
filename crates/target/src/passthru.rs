//! NVMe passthrough by io_uring: commands as they are, to `/dev/ngXnY`, past the block layer.
//!
//! Each I/O is one NVMe command in a 128-byte submission entry (`IORING_OP_URING_CMD` with `NVME_URING_CMD_IO`, include/uapi/linux/nvme_ioctl.h; Linux
//! 5.19, registered buffers 6.1). Nothing splits, merges or schedules it: what is larger than the controller takes in one command is refused.
//!
//! # How it is fast
//! What `ring` says; the file and the buffers are registered. Polled where the driver has polling queues.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use assay_spec::StatusCode;
use assay_spec::nvm::DatasetRange;
use assay_spec::opcode::NvmOpcode;
use assay_units::{Nanos, Op};
use io_uring::types::Fixed;
use io_uring::{cqueue, opcode, squeue};

use crate::open::OpenDrive;
use crate::ring::{Ring, UringOptions};
use crate::{Completion, Io, Target, TargetError};

/// `NVME_URING_CMD_IO`, `_IOWR('N', 0x80, struct nvme_uring_cmd)`.
const NVME_URING_CMD_IO: u32 = 0xc048_4e80;

/// `NVME_IOCTL_ID`, `_IO('N', 0x40)`: the namespace of an open file.
const NVME_IOCTL_ID: libc::c_ulong = 0x4e40;

/// `struct nvme_uring_cmd`, 72 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct UringCommand {
    opcode: u8,
    flags: u8,
    reserved: u16,
    nsid: u32,
    cdw2: u32,
    cdw3: u32,
    metadata: u64,
    address: u64,
    metadata_len: u32,
    data_len: u32,
    cdw10: u32,
    cdw11: u32,
    cdw12: u32,
    cdw13: u32,
    cdw14: u32,
    cdw15: u32,
    timeout_ms: u32,
    reserved2: u32,
}

const COMMAND_BYTES: usize = size_of::<UringCommand>();
const _: () = assert!(COMMAND_BYTES == 72);

impl UringCommand {
    /// As it lies in memory.
    fn bytes(&self) -> [u8; 80] {
        let mut bytes = [0; 80];
        let head: [u32; 4] = [
            u32::from(self.opcode) | u32::from(self.flags) << 8 | u32::from(self.reserved) << 16,
            self.nsid,
            self.cdw2,
            self.cdw3,
        ];
        let tail: [u32; 10] = [
            self.metadata_len,
            self.data_len,
            self.cdw10,
            self.cdw11,
            self.cdw12,
            self.cdw13,
            self.cdw14,
            self.cdw15,
            self.timeout_ms,
            self.reserved2,
        ];
        let words = head.iter().map(|w| w.to_ne_bytes());
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word);
        }
        bytes[16..24].copy_from_slice(&self.metadata.to_ne_bytes());
        bytes[24..32].copy_from_slice(&self.address.to_ne_bytes());
        for (place, word) in bytes[32..].chunks_exact_mut(4).zip(tail) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

/// A ring of passthrough commands of its own for one worker.
pub struct PassthruTarget {
    ring: Ring<squeue::Entry128, cqueue::Entry32>,
    // Kept open for as long as the ring uses it.
    _file: File,
    nsid: u32,
    block_bytes: u32,
    /// A range of Dataset Management per slot: the kernel reads it while the command is on its way.
    ranges: Vec<DatasetRange>,
}

impl PassthruTarget {
    /// A ring for `slots` commands in flight with a buffer of `slot_bytes` each, on the generic device of an opened drive, writable if that is.
    ///
    /// # Errors
    /// When the drive has no generic device, a command of this size is too large for it, or the kernel refuses the ring or the memory.
    pub fn new(
        drive: &OpenDrive,
        slots: u32,
        slot_bytes: u32,
        options: UringOptions,
    ) -> Result<PassthruTarget, TargetError> {
        let name = drive.name();
        let failed = |what: &'static str, source: io::Error| TargetError::Io {
            drive: name.to_owned(),
            what,
            source,
        };
        let Some(generic) = drive.generic() else {
            return Err(failed(
                "passthrough",
                io::Error::new(
                    io::ErrorKind::Unsupported,
                    "it has no NVMe generic device (/dev/ngXnY); use --engine uring",
                ),
            ));
        };
        if generic
            .max_command_bytes
            .is_some_and(|most| u64::from(slot_bytes) > most)
        {
            return Err(failed(
                "passthrough",
                io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!(
                        "one command moves at most {} bytes here, and nothing splits larger ones; lower --bs or use --engine uring",
                        generic.max_command_bytes.unwrap_or(0)
                    ),
                ),
            ));
        }
        let file = OpenOptions::new()
            .read(true)
            .write(drive.is_writable())
            .custom_flags(libc::O_CLOEXEC)
            .open(&generic.path)
            .map_err(|source| failed("opening its generic device", source))?;
        // SAFETY: this request takes no argument and touches no memory of this process.
        let nsid = unsafe { libc::ioctl(file.as_raw_fd(), NVME_IOCTL_ID as _) };
        if u32::try_from(nsid).ok() != Some(generic.nsid) {
            return Err(failed(
                "passthrough",
                io::Error::other(format!(
                    "{} is not namespace {} of it: the drives were renumbered; begin again",
                    generic.path.display(),
                    generic.nsid
                )),
            ));
        }
        Ok(PassthruTarget {
            ring: Ring::new(name, file.as_raw_fd(), slots, slot_bytes, options)?,
            _file: file,
            nsid: generic.nsid,
            block_bytes: generic.block_bytes.max(1),
            ranges: vec![DatasetRange::default(); slots as usize],
        })
    }

    fn entry(&mut self, io: &Io) -> squeue::Entry128 {
        let slba = io.offset_bytes / u64::from(self.block_bytes);
        let blocks = io.len_bytes / self.block_bytes;
        let mut command = UringCommand {
            nsid: self.nsid,
            ..UringCommand::default()
        };
        let mut fixed = false;
        let place = |command: &mut UringCommand| {
            command.cdw10 = slba as u32;
            command.cdw11 = (slba >> 32) as u32;
            // Number of Logical Blocks counts from 0 (NVM 3.2.4).
            command.cdw12 = blocks.saturating_sub(1);
        };
        match io.op {
            Op::Read | Op::Write => {
                let opcode = if io.op == Op::Read {
                    NvmOpcode::READ
                } else {
                    NvmOpcode::WRITE
                };
                command.opcode = opcode.0;
                command.address = self.ring.buffers.pointer(io.slot) as u64;
                command.data_len = io.len_bytes;
                fixed = self.ring.fixed_buffers;
                place(&mut command);
            }
            Op::Flush => command.opcode = NvmOpcode::FLUSH.0,
            Op::WriteZeroes => {
                command.opcode = NvmOpcode::WRITE_ZEROES.0;
                place(&mut command);
            }
            Op::Discard => {
                command.opcode = NvmOpcode::DATASET_MANAGEMENT.0;
                let range = &mut self.ranges[io.slot as usize];
                range.set_slba(slba).set_blocks(blocks);
                command.address = range.as_bytes_mut().as_mut_ptr() as u64;
                command.data_len = DatasetRange::SIZE as u32;
                // One range; Attribute - Deallocate (NVM 3.2.3).
                command.cdw11 = 1 << 2;
            }
        }
        let mut built = opcode::UringCmd80::new(Fixed(0), NVME_URING_CMD_IO).cmd(command.bytes());
        if fixed {
            // Buffer indices are 16 bits wide; slots are at most 32768.
            built = built.buf_index(Some(io.slot as u16));
        }
        // What a command moved is not in its completion: it is all or nothing.
        built
            .build()
            .user_data(u64::from(io.slot) | u64::from(io.len_bytes) << 32)
    }
}

/// User data back to a completion. The result is 0, an NVMe status, or a negated errno.
fn decode(user_data: u64, result: i32) -> Completion {
    Completion {
        slot: user_data as u32,
        result: match result {
            0 => (user_data >> 32) as i32,
            status if status > 0 => -errno_of(StatusCode(status as u16 & 0x7ff)),
            errno => errno,
        },
    }
}

/// The error number that the block layer would give for a status (drivers/nvme/host/core.c, `nvme_error_status`; block/blk-core.c).
fn errno_of(status: StatusCode) -> i32 {
    match status {
        StatusCode::CAPACITY_EXCEEDED => libc::ENOSPC,
        StatusCode::INVALID_OPCODE | StatusCode::INVALID_FIELD | StatusCode::INVALID_NAMESPACE => {
            libc::EOPNOTSUPP
        }
        StatusCode::LBA_OUT_OF_RANGE => libc::EREMOTEIO,
        StatusCode::RESERVATION_CONFLICT => libc::EBADE,
        // Media and Data Integrity Errors (SCT 2h).
        status if status.sct() == 2 => libc::ENODATA,
        _ => libc::EIO,
    }
}

impl Target for PassthruTarget {
    #[inline]
    fn now(&mut self) -> Nanos {
        self.ring.clock.now()
    }

    #[inline]
    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            let entry = self.entry(io);
            // SAFETY: the command's memory is the slot's buffer, or the slot's range, which lives as long as this target and is changed only when
            // the slot is submitted again; the registered file is kept open.
            unsafe { self.ring.push(io.slot, &entry) }?;
        }
        Ok(())
    }

    #[inline]
    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        self.ring.reap(min, until, out, decode)
    }

    fn buffer(&mut self, slot: u32) -> Option<&mut [u8]> {
        Some(self.ring.buffers.slot(slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_lies_in_memory_as_the_kernel_has_it() {
        let command = UringCommand {
            opcode: 0x02,
            nsid: 7,
            address: 0x1122_3344_5566_7788,
            data_len: 4096,
            cdw10: 10,
            cdw11: 11,
            cdw12: 12,
            ..UringCommand::default()
        };
        let bytes = command.bytes();
        // SAFETY: the structure is plain numbers without padding, of this size.
        let raw: [u8; COMMAND_BYTES] = unsafe { std::mem::transmute(command) };
        assert_eq!(bytes[..COMMAND_BYTES], raw);
        assert_eq!(bytes[COMMAND_BYTES..], [0; 8]);
    }

    #[test]
    fn statuses_become_the_errors_that_the_block_layer_gives() {
        let result = |status: u16| decode(3 | 512 << 32, i32::from(status)).result;
        assert_eq!(result(0), 512);
        assert_eq!(result(StatusCode::UNRECOVERED_READ_ERROR.0), -libc::ENODATA);
        assert_eq!(
            result(StatusCode::LBA_OUT_OF_RANGE.0 | 0x4000),
            -libc::EREMOTEIO
        );
        assert_eq!(result(StatusCode::INTERNAL_ERROR.0), -libc::EIO);
        assert_eq!(decode(3, -libc::EINVAL).result, -libc::EINVAL);
    }
}
