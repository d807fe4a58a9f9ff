//! The registers of a session that has ended, as the result of a stream.

use assay_stream::range::StreamRange;
use assay_stream::registers::StatusBits;
use assay_stream::status::{DeviceFailure, STALLS_KEPT, Stall, Stalls, StreamStatus};

use super::{CoreError, CoreStreamer};
use crate::CYCLE_NS;
use crate::map;
use crate::stream_port::Wait;
use crate::world::DriveSide;

impl<D: DriveSide> CoreStreamer<D> {
    pub(super) fn result(
        &mut self,
        bank: u32,
        range: &StreamRange,
        waits: &[Wait],
        started_at: u64,
    ) -> Result<StreamStatus, CoreError> {
        let world = &mut self.world;
        let status = StatusBits::from_raw(world.read32(bank + map::STATUS)?);
        let bytes = world.read64(bank + map::BYTES)?;
        let last = world.read64(bank + map::LAST_ADDRESS_WRITTEN)?;
        let device = world.read64(bank + map::DEVICE_STATUS)?;
        let mut stalls = Stalls {
            count: world.read64(bank + map::STALLS)?,
            total_ns: world.read64(bank + map::STALL_TIME)?,
            ..Stalls::default()
        };
        let chunk_bytes = u64::from(range.chunk_bytes);
        let mut kept: Vec<Stall> = waits
            .iter()
            .map(|wait| Stall {
                at_ns: wait.at_cycle.saturating_sub(started_at) * CYCLE_NS,
                duration_ns: wait.cycles * CYCLE_NS,
                late_ns: 0,
                chunk: wait.at_bytes / chunk_bytes,
            })
            .collect();
        kept.sort_by_key(|stall| std::cmp::Reverse(stall.duration_ns));
        kept.truncate(STALLS_KEPT);
        stalls.longest_ns = kept.first().map_or(0, |stall| stall.duration_ns);
        kept.sort_by_key(|stall| stall.at_ns);
        stalls.longest = kept;
        let mut result = StreamStatus {
            status,
            first_address: range.first,
            last_address: range.last,
            chunk_bytes: range.chunk_bytes,
            drives: range.drives,
            last_address_written: status.has(StatusBits::LAST_VALID).then_some(last),
            bytes,
            beats: bytes.div_ceil(assay_stream::registers::BEAT_BYTES),
            chunks: bytes.div_ceil(chunk_bytes),
            durable_bytes: world.read64(bank + map::DURABLE_BYTES)?,
            stalls,
            ..StreamStatus::default()
        };
        // The register counts evaluated cycles.
        let cycles = world.read64(bank + map::CYCLES)?;
        result.elapsed_ns = world.elapsed_cycles(cycles) * CYCLE_NS;
        world.unmark();
        result.failure = self.failure(bank, range, device)?;
        Ok(result)
    }

    /// The failed command of `DEVICE_STATUS`.
    fn failure(
        &mut self,
        bank: u32,
        range: &StreamRange,
        value: u64,
    ) -> Result<Option<DeviceFailure>, CoreError> {
        if map::DEVICE_STATUS_VALID.value_in(value) == 0 {
            return Ok(None);
        }
        let drive = map::DEVICE_STATUS_DRIVE.value_in(value) as usize;
        let block = self.world.read32(map::drive_bank(drive) + map::BLOCK_BYTES)?;
        let block = u64::from(block.max(1));
        // The register has the low half of the block number, which is not before the range.
        let first = range.first / block;
        let low = map::DEVICE_STATUS_LBA.value_in(value);
        let near = first & !0xffff_ffff | low;
        let lba = if near < first { near + (1 << 32) } else { near };
        Ok(Some(DeviceFailure {
            drive: self.names[drive].clone(),
            op: if bank == map::WRITE_BANK { "write" } else { "read" },
            address: lba * block,
            result: -errno_of(map::DEVICE_STATUS_STATUS_FIELD.value_in(value) as u16),
        }))
    }
}

/// As the kernel's NVMe driver gives it.
pub(super) fn errno_of(status_field: u16) -> i32 {
    const EIO: i32 = 5;
    const ENODATA: i32 = 61;
    const EREMOTEIO: i32 = 121;
    // Status code type and status code, NVMe Base 2.0c, 3.3.3.2.1.
    match status_field & 0x7ff {
        0x280 | 0x281 => ENODATA,
        0x002 | 0x080 => EREMOTEIO,
        _ => EIO,
    }
}
