//! Commands on their way, from submission to completion.
//!
//! Queues and the list of completions hold a number for each, so that what is moved about and sorted stays small.

use assay_units::{DataClass, Op};

use crate::command::{Command, Status};

/// A command that is one NVMe command, not a part of a split one.
pub(super) const WHOLE: u32 = u32::MAX;

/// Which way a command takes through the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A whole read that is expected to work, and that nothing holds up.
    Read,
    /// A write of that kind.
    Write,
    /// Anything else.
    Other,
}

impl Way {
    /// That of a whole command which is expected to work.
    #[inline]
    pub(super) fn of(op: Op) -> Way {
        match op {
            Op::Read => Way::Read,
            Op::Write => Way::Write,
            _ => Way::Other,
        }
    }
}

/// A command, or part of one, on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) offset_bytes: u64,
    pub(super) len_bytes: u32,
    pub(super) tag: u32,
    pub(super) seq: u64,
    pub(super) ordinal: u64,
    /// Index into the drive's splits, or [`WHOLE`].
    pub(super) split: u32,
    /// The submission queue it came by.
    pub(super) queue: u16,
    pub(super) op: Op,
    pub(super) way: Way,
    /// How it will end, as far as known.
    pub(super) status: Status,
    pub(super) data: DataClass,
    /// Is there a latency spike for it?
    pub(super) spiked: bool,
    /// A read whose data stays in the drive.
    pub(super) verifies: bool,
    /// A flush that does nothing.
    pub(super) dropped: bool,
}

impl Part {
    /// A command as it comes in, expected to work. `ordinal` counts the reads or the writes since power-on.
    #[inline]
    pub(super) fn of(command: &Command, seq: u64, ordinal: u64) -> Part {
        Part {
            offset_bytes: command.offset_bytes,
            len_bytes: command.len_bytes,
            tag: command.tag,
            seq,
            ordinal,
            split: WHOLE,
            queue: command.queue,
            op: command.op,
            way: Way::of(command.op),
            status: Status::Ok,
            data: command.data,
            spiked: false,
            verifies: false,
            dropped: false,
        }
    }
}

/// The parts on their way, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    /// The number given back last and, by number, the one given back before it; as many as there are parts when there is none.
    free: u32,
    free_before: Vec<u32>,
}

impl Parts {
    /// Keep a part; returns its number. The number given back last comes first: its memory is near.
    #[inline]
    pub(super) fn add(&mut self, part: Part) -> u32 {
        let number = self.free;
        match self.parts.get_mut(number as usize) {
            Some(place) => {
                *place = part;
                self.free = self.free_before[number as usize];
                number
            }
            None => self.add_more(part),
        }
    }

    #[cold]
    fn add_more(&mut self, part: Part) -> u32 {
        let number = self.parts.len() as u32;
        self.parts.push(part);
        self.free_before.push(0);
        self.free = number + 1;
        number
    }

    /// A part that was added and not taken out yet.
    #[inline]
    pub(super) fn get(&self, number: u32) -> &Part {
        &self.parts[number as usize]
    }

    /// Note how a part ended.
    #[inline]
    pub(super) fn set_status(&mut self, number: u32, status: Status) {
        self.parts[number as usize].status = status;
    }

    /// Take a part out; what it was can be read until the next is added.
    #[inline]
    pub(super) fn take(&mut self, number: u32) -> &Part {
        self.free_before[number as usize] = self.free;
        self.free = number;
        &self.parts[number as usize]
    }
}

#[cfg(test)]
#[path = "../../tests/unit/drive/parts.rs"]
mod tests;
