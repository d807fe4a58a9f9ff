//! Bytes in and out of a drive that keeps them.

use std::sync::Arc;

use assay_units::{Nanos, Op};

use super::Drive;
use crate::command::{Command, Completion};
use crate::data::PAGE_BYTES;
use crate::faults::WriteFate;
use crate::regenerate::Generator;

impl Drive {
    /// Queue a write with its bytes. Without [`crate::DriveOptions::keep_data`] the bytes are ignored.
    ///
    /// The bytes are stored now (spoiled as the fault plan has it) unless the command will fail. `bytes` shorter or longer than
    /// the command's length store what both have in common.
    pub fn submit_write(&mut self, now: Nanos, command: Command, bytes: &[u8]) {
        let (ok, fate) = self.enqueue(now, command);
        if !ok || command.op != Op::Write {
            self.note_other(&command);
            return;
        }
        let bytes = &bytes[..bytes.len().min(command.len_bytes as usize)];
        let (capacity, offset) = (self.identity.capacity_bytes, command.offset_bytes);
        let kept = matches!(fate, WriteFate::Stored | WriteFate::Corrupted);
        self.note_write(
            self.next_seq - 1,
            offset,
            if kept { bytes.len() } else { 0 },
        );
        let Some(data) = &mut self.data else {
            return;
        };
        match fate {
            WriteFate::Stored => data.write(offset, bytes),
            WriteFate::Dropped => {}
            WriteFate::Misdirected => {
                let len = bytes.len() as u64;
                let after = offset.saturating_add(len);
                let elsewhere = if after.saturating_add(len) <= capacity {
                    after
                } else {
                    offset.saturating_sub(len)
                };
                data.write(elsewhere, bytes);
            }
            WriteFate::Corrupted => {
                let mut spoiled = bytes.to_vec();
                let bit = self.faults.pick_bit(bytes.len());
                if let Some(byte) = spoiled.get_mut((bit / 8) as usize) {
                    *byte ^= 1 << (bit % 8);
                }
                data.write(offset, &spoiled);
            }
        }
    }

    /// The bytes of a read that completed: pass its completion, its offset and a buffer of its length. `false`, and the buffer
    /// untouched, when the drive keeps no data or the read failed.
    pub fn read_data(&self, completion: &Completion, offset_bytes: u64, buffer: &mut [u8]) -> bool {
        let Some(data) = &self.data else {
            return false;
        };
        if !completion.status.is_ok() {
            return false;
        }
        if self.faults.is_stale(completion.ordinal) {
            data.read_stale(offset_bytes, buffer);
        } else {
            data.read(offset_bytes, buffer);
        }
        true
    }

    /// What is kept from a place on, at most up to `end_bytes`: where the extent that begins there ends (or an earlier place, which then
    /// begins one more of its kind), and whether it is a hole, which reads as zeroes. Without kept data everything is one hole.
    pub fn extent(&self, offset_bytes: u64, end_bytes: u64) -> (u64, bool) {
        let Some(data) = &self.data else {
            return (end_bytes, true);
        };
        let end_page = end_bytes.div_ceil(PAGE_BYTES);
        let (end, hole) = data.extent(offset_bytes / PAGE_BYTES, end_page);
        ((end * PAGE_BYTES).min(end_bytes), hole)
    }

    /// What can make pages again that are then not kept, with [`crate::DriveOptions::regenerate_data`]. The first one given stays.
    pub fn set_generator(&mut self, generator: Arc<dyn Generator>) {
        if let Some(data) = &mut self.data {
            data.set_generator(generator);
        }
    }

    /// Does this drive keep the bytes written to it?
    pub fn keeps_data(&self) -> bool {
        self.data.is_some()
    }
}
