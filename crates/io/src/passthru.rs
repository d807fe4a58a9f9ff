//! NVMe commands sent by io_uring to the generic character device `/dev/ngXnY`, bypassing the block
//! layer. Each I/O is one NVMe command in a 128-byte submission entry (`IORING_OP_URING_CMD` with
//! `NVME_URING_CMD_IO`, include/uapi/linux/nvme_ioctl.h; Linux 5.19, registered buffers 6.1).
//! Commands are not split, merged or scheduled: a transfer larger than the controller's maximum is
//! rejected. Of blocks with protection information the controller inserts and strips it
//! ([`Protection`](crate::drive_handle::Protection)). There is one system call per batch (`ring`),
//! with registered file and buffers; polled where the driver has polling queues.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;

use assay_nvme_spec::StatusCode;
use assay_nvme_spec::fdp::DATA_PLACEMENT;
use assay_nvme_spec::nvm::{
    DatasetManagement, DatasetRange, Flush, Read, Write, WriteZeroes, prinfo,
};
use assay_nvme_spec::opcode::NvmOpcode;
use assay_units::Op;
use io_uring::types::Fixed;
use io_uring::{cqueue, opcode, squeue};

use crate::drive_handle::{DriveHandle, Protection};
use crate::kernel_command::{KernelCommand, status_of};
use crate::page_cache::ReadSource;
use crate::placement::PlacementIds;
use crate::ring::{Encode, Ring, RingTarget, UringOptions};
use crate::{Completion, Io, TargetError};

/// `_IOWR('N', 0x80, struct nvme_uring_cmd)`.
const NVME_URING_CMD_IO: u32 = 0xc048_4e80;

/// Encodes I/Os as NVMe commands of one namespace.
pub struct NvmeCommands {
    // Keeps the node open for as long as the ring uses it.
    drive: DriveHandle,
    /// Writes are Zone Append commands to zones of this length.
    append_zone_bytes: Option<NonZeroU64>,
    nsid: u32,
    block_bytes: u32,
    protection: Option<Protection>,
    placement: Option<PlacementIds>,
    /// A range of Dataset Management per slot: the kernel reads it while the command is in flight.
    ranges: Vec<DatasetRange>,
}

/// The passthrough ring of one worker.
pub type PassthruTarget = RingTarget<NvmeCommands>;

impl PassthruTarget {
    /// A ring for `slots` commands in flight with a buffer of `slot_bytes` each. Fails when the
    /// drive has no generic device, or a command of this size is too large for it.
    pub fn new(
        drive: &DriveHandle,
        slots: u32,
        slot_bytes: u32,
        options: UringOptions,
    ) -> Result<PassthruTarget, TargetError> {
        let name = drive.name();
        let invalid = |kind: io::ErrorKind, what: String| TargetError::Io {
            drive: name.to_owned(),
            what: "passthrough",
            source: io::Error::new(kind, what),
        };
        let no_device = || {
            let what = "it has no NVMe generic device (/dev/ngXnY); use --engine uring";
            invalid(io::ErrorKind::Unsupported, what.to_owned())
        };
        let opened = drive.passthru().ok_or_else(no_device)?;
        let node = opened.as_ref().as_ref();
        let node = node.map_err(|error| invalid(error.kind(), error.to_string()))?;
        if let Some(most) = node.max_command_bytes.filter(|&most| u64::from(slot_bytes) > most) {
            let what = format!(
                "one command transfers at most {most} bytes here, and passthrough commands are \
                 not split; lower --bs or use --engine uring"
            );
            return Err(invalid(io::ErrorKind::InvalidInput, what));
        }
        let file = node.file.as_raw_fd();
        let ring = Ring::new(name, &[file], slots, slot_bytes, &options)?;
        let commands = NvmeCommands {
            nsid: node.nsid,
            protection: node.protection,
            placement: options.placement,
            drive: drive.clone(),
            append_zone_bytes: options.append_zone_bytes,
            block_bytes: drive.block_bytes().max(1),
            ranges: vec![DatasetRange::default(); slots as usize],
        };
        Ok(RingTarget::over(ring, commands))
    }
}

// SAFETY: a command's memory is the slot's buffer, or the slot's range, which lives as long as the
// ring (for ever, where the ring abandoned what was in flight) and is changed only when the slot is
// submitted again; the registered file is kept open.
unsafe impl Encode for NvmeCommands {
    type Sqe = squeue::Entry128;
    type Cqe = cqueue::Entry32;
    const MAY_MERGE: bool = false;

    #[inline]
    fn entry(&mut self, io: &Io, buffer: *mut u8, fixed: bool) -> squeue::Entry128 {
        let slba = io.offset_bytes / u64::from(self.block_bytes);
        let blocks = io.len_bytes / self.block_bytes;
        let (entry, address, data_len) = match io.op {
            Op::Read => {
                let mut read = Read::for_blocks(self.nsid, slba, blocks);
                if let Some(protection) = self.protection {
                    read.set_protection(protection.prinfo()).set_initial_reference(slba as u32);
                }
                (read.entry(), buffer as u64, io.len_bytes)
            }
            Op::Write => {
                let mut write = Write::for_blocks(self.nsid, slba, blocks);
                write.set_fua(io.fua);
                if let Some(placement) = &mut self.placement {
                    write.set_directive(DATA_PLACEMENT).set_directive_specific(placement.next_id());
                }
                if let Some(protection) = self.protection {
                    write.set_protection(protection.prinfo()).set_initial_reference(slba as u32);
                }
                let mut opcode = NvmOpcode::WRITE;
                if let Some(zone) = self.append_zone_bytes {
                    let start = io.offset_bytes - io.offset_bytes % zone;
                    write.set_slba(start / u64::from(self.block_bytes));
                    // Its fields are those of Write (ZNS 3.4.1).
                    opcode = NvmOpcode::ZONE_APPEND;
                }
                let mut entry = write.entry();
                entry.set_opcode(opcode.0);
                (entry, buffer as u64, io.len_bytes)
            }
            Op::WriteZeroes => {
                let mut zeroes = WriteZeroes::for_blocks(self.nsid, slba, blocks);
                if self.protection.is_some() {
                    zeroes.set_protection(prinfo::ACTION).set_initial_reference(slba as u32);
                }
                (zeroes.entry(), 0, 0)
            }
            Op::Flush => (Flush::new().set_nsid(self.nsid).entry(), 0, 0),
            Op::Discard => {
                let range = &mut self.ranges[io.slot as usize];
                range.set_slba(slba).set_blocks(blocks);
                // One range: their number counts from 0.
                let mut discard = DatasetManagement::new();
                discard.set_nsid(self.nsid).set_deallocate(true);
                let address = range.as_bytes_mut().as_mut_ptr() as u64;
                (discard.entry(), address, DatasetRange::SIZE as u32)
            }
        };
        let command = KernelCommand::new(&entry, address, data_len);
        let mut built = opcode::UringCmd80::new(Fixed(0), NVME_URING_CMD_IO).cmd(command.bytes());
        if fixed && matches!(io.op, Op::Read | Op::Write) {
            // Buffer indices are 16 bits wide; slots are at most 32768.
            built = built.buf_index(Some(io.slot as u16));
        }
        // The completion has no byte count: a command transfers all or nothing.
        built.build().user_data(u64::from(io.slot) | u64::from(io.len_bytes) << 32)
    }

    /// The result is 0, an NVMe status, or a negated errno.
    #[inline]
    fn decode(user_data: u64, result: i32) -> Completion {
        Completion {
            slot: user_data as u32,
            result: match result {
                0 => (user_data >> 32) as i32,
                status if status > 0 => -errno_of(status_of(status)),
                errno => errno,
            },
        }
    }

    /// These commands bypass the page cache.
    fn drop_cached(&self, _offset_bytes: u64, _len_bytes: u64) -> ReadSource {
        ReadSource::Drive
    }

    fn reset_zone(&self, offset_bytes: u64, len_bytes: u64) -> io::Result<()> {
        self.drive.reset_zone(offset_bytes, len_bytes)
    }

    /// A drive may read a range until its command completes: freed memory could make it deallocate
    /// other blocks.
    fn abandon(&mut self) {
        std::mem::take(&mut self.ranges).leak();
    }
}

/// The error number of the block layer for a status (drivers/nvme/host/core.c, `nvme_error_status`;
/// block/blk-core.c).
fn errno_of(status: StatusCode) -> i32 {
    match status {
        StatusCode::CAPACITY_EXCEEDED => libc::ENOSPC,
        StatusCode::INVALID_OPCODE | StatusCode::INVALID_FIELD | StatusCode::INVALID_NAMESPACE => {
            libc::EOPNOTSUPP
        }
        StatusCode::LBA_OUT_OF_RANGE => libc::EREMOTEIO,
        StatusCode::RESERVATION_CONFLICT => libc::EBADE,
        StatusCode::GUARD_CHECK_ERROR
        | StatusCode::APPLICATION_TAG_CHECK_ERROR
        | StatusCode::REFERENCE_TAG_CHECK_ERROR => libc::EILSEQ,
        // Media and Data Integrity Errors (SCT 2h).
        status if status.sct() == 2 => libc::ENODATA,
        _ => libc::EIO,
    }
}

#[cfg(test)]
#[path = "../tests/unit/passthru.rs"]
mod tests;
