//! An I/O in a slot of the target.

use assay_io::Io;
use assay_io::buffers::Buffers;
use assay_ssd::{Command, Drive};
use assay_units::{DataClass, Nanos, Op};

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    pub(super) thread: u32,
    pub(super) command: Command,
    /// Reclaim unit handle of its write.
    pub(super) handle: u16,
}

impl Slot {
    pub(super) fn unused(slot: u32, depth: u32) -> Slot {
        let thread = slot / depth;
        Slot {
            thread,
            handle: 0,
            command: Command {
                tag: slot,
                queue: thread as u16,
                op: Op::Flush,
                offset_bytes: 0,
                len_bytes: 0,
                data: DataClass::Zero,
                fua: false,
            },
        }
    }

    /// Thread, tag and queue stay.
    #[inline]
    pub(super) fn set(&mut self, io: &Io) {
        let command = &mut self.command;
        command.op = io.op;
        command.offset_bytes = io.offset_bytes;
        command.len_bytes = io.len_bytes;
        command.data = io.data;
        command.fua = io.fua;
    }

    #[inline]
    pub(super) fn start(&self, drive: &mut Drive, at: Nanos, buffers: Option<&mut Buffers>) {
        drive.select_placement(self.handle);
        match buffers {
            Some(buffers) if self.command.op == Op::Write => {
                let bytes = &buffers.slot(self.command.tag)[..self.command.len_bytes as usize];
                drive.submit_write(at, self.command, bytes);
            }
            _ => drive.submit(at, self.command),
        }
    }
}
