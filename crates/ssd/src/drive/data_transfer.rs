//! Data transfer of a drive that keeps data.

use std::sync::Arc;

use assay_units::{Nanos, Op};

use super::Drive;
use crate::command::{Command, Completion};
use crate::data::PAGE_BYTES;
use crate::faults::WriteEffect;
use crate::regenerate::Generator;

impl Drive {
    /// Queue a write with its bytes. [`crate::DriveOptions::keep_data`] stores them now (modified
    /// by planned faults) unless the command will fail; only the common prefix if the lengths
    /// differ.
    pub fn submit_write(&mut self, now: Nanos, command: Command, bytes: &[u8]) {
        let (ok, effect) = self.enqueue(now, command);
        if !ok || command.op != Op::Write {
            self.update_journal(&command, ok);
            return;
        }
        let bytes = &bytes[..bytes.len().min(command.len_bytes as usize)];
        let (capacity, offset) = (self.identity.capacity_bytes, command.offset_bytes);
        let kept = matches!(effect, WriteEffect::Stored | WriteEffect::Corrupted);
        let stored = if kept { bytes.len() } else { 0 };
        self.journal_write(self.next_seq - 1, offset, stored);
        let Some(data) = &mut self.data else {
            return;
        };
        match effect {
            WriteEffect::Stored => data.write(offset, bytes),
            WriteEffect::Dropped => {}
            WriteEffect::Misdirected => {
                let len = bytes.len() as u64;
                let after = offset + len;
                let elsewhere = if after + len <= capacity {
                    after
                } else {
                    // At 0 when there is no address of this length before it either.
                    offset.saturating_sub(len)
                };
                data.write(elsewhere, bytes);
            }
            WriteEffect::Corrupted => {
                let mut spoiled = bytes.to_vec();
                let bit = self.faults.pick_bit(bytes.len());
                if let Some(byte) = spoiled.get_mut((bit / 8) as usize) {
                    *byte ^= 1 << (bit % 8);
                }
                data.write(offset, &spoiled);
            }
        }
    }

    /// Queue an NVMe Verify at `now`. Its bytes count as data read, but not as a read command (NVM
    /// Express Base Specification 1.4, section 5.14.1.2).
    pub fn submit_verify(&mut self, now: Nanos, mut command: Command) {
        command.op = Op::Read;
        let now_ns = self.catch_up(now);
        self.last_submit_ns = now_ns;
        let seq = self.next_seq;
        self.next_seq += 1;
        let status = self.check(&command);
        self.enqueue_general(now_ns, command, seq, status, true);
        self.update_journal(&command, true);
    }

    /// Copy a completed read's data; `false` when no data is kept or the read failed.
    pub fn read_data(&self, completion: &Completion, offset_bytes: u64, buffer: &mut [u8]) -> bool {
        let data = self.data.as_ref();
        let Some(data) = data.filter(|_| completion.status.is_ok()) else {
            return false;
        };
        if self.faults.is_stale(completion.ordinal) {
            data.read_stale(offset_bytes, buffer);
        } else {
            data.read(offset_bytes, buffer);
        }
        true
    }

    /// End (or an earlier one) of the extent at an offset, and whether it is a hole.
    pub fn extent(&self, offset_bytes: u64, end_bytes: u64) -> (u64, bool) {
        let Some(data) = &self.data else {
            return (end_bytes, true);
        };
        let end_page = end_bytes.div_ceil(PAGE_BYTES);
        let (end, hole) = data.extent(offset_bytes / PAGE_BYTES, end_page);
        ((end * PAGE_BYTES).min(end_bytes), hole)
    }

    /// Set the generator for [`crate::DriveOptions::regenerate_data`]. Only the first one counts.
    pub fn set_generator(&mut self, generator: Arc<dyn Generator>) {
        if let Some(data) = &mut self.data {
            data.set_generator(generator);
        }
    }

    /// Read kept data without a command; `false` without kept data or beyond the drive.
    pub fn read_kept(&self, offset_bytes: u64, buffer: &mut [u8]) -> bool {
        let is_inside = self.has_range(offset_bytes, buffer.len());
        let Some(data) = self.data.as_ref().filter(|_| is_inside) else {
            return false;
        };
        data.read(offset_bytes, buffer);
        true
    }

    /// Replace kept data without a command, as [`Drive::read_kept`].
    pub fn write_kept(&mut self, offset_bytes: u64, bytes: &[u8]) -> bool {
        let is_inside = self.has_range(offset_bytes, bytes.len());
        let Some(data) = self.data.as_mut().filter(|_| is_inside) else {
            return false;
        };
        data.write(offset_bytes, bytes);
        true
    }

    fn has_range(&self, offset_bytes: u64, len: usize) -> bool {
        let end = offset_bytes.checked_add(len as u64);
        end.is_some_and(|end| end <= self.identity.capacity_bytes)
    }

    /// Whether written data is kept.
    pub fn keeps_data(&self) -> bool {
        self.data.is_some()
    }
}
