//! Commands in flight. Queues and the completion schedule hold their numbers only.

use std::ops::Range;

use assay_units::{DataClass, Nanos, Op};

use super::Drive;
use crate::command::{Command, Completion, Status};

pub(super) const NOT_SPLIT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandKind {
    Read,
    Write,
    Other,
}

impl CommandKind {
    #[inline]
    pub(super) fn from_op(op: Op) -> CommandKind {
        match op {
            Op::Read => CommandKind::Read,
            Op::Write => CommandKind::Write,
            _ => CommandKind::Other,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SubCommand {
    pub(super) offset_bytes: u64,
    pub(super) len_bytes: u32,
    pub(super) tag: u32,
    pub(super) seq: u64,
    pub(super) ordinal: u64,
    pub(super) split: u32,
    pub(super) queue: u16,
    pub(super) handle: u16,
    pub(super) op: Op,
    pub(super) kind: CommandKind,
    pub(super) status: Status,
    pub(super) data: DataClass,
    pub(super) spiked: bool,
    /// NVMe Verify: a read without transfer.
    pub(super) verifies: bool,
    pub(super) dropped: bool,
    pub(super) fua: bool,
}

impl SubCommand {
    /// `ordinal` counts reads or writes since power-on.
    #[inline]
    pub(super) fn new(command: &Command, seq: u64, ordinal: u64) -> SubCommand {
        SubCommand {
            offset_bytes: command.offset_bytes,
            len_bytes: command.len_bytes,
            tag: command.tag,
            seq,
            ordinal,
            split: NOT_SPLIT,
            queue: command.queue,
            handle: 0,
            op: command.op,
            kind: CommandKind::from_op(command.op),
            status: Status::Ok,
            data: command.data,
            spiked: false,
            verifies: false,
            dropped: false,
            fua: command.fua,
        }
    }

    pub(super) fn range(&self) -> Range<u64> {
        self.offset_bytes..self.offset_bytes + u64::from(self.len_bytes)
    }

    #[inline]
    pub(super) fn completion(&self, at_ns: u64) -> Completion {
        Completion { tag: self.tag, at: Nanos(at_ns), status: self.status, ordinal: self.ordinal }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct InFlightTable {
    in_flight: Vec<SubCommand>,
    /// Free list: its head, and the next free number per number; the table's length ends it.
    free: u32,
    free_before: Vec<u32>,
}

impl InFlightTable {
    /// Returns the number freed last, for locality.
    #[inline]
    pub(super) fn add(&mut self, sub: SubCommand) -> u32 {
        let number = self.free;
        match self.in_flight.get_mut(number as usize) {
            Some(place) => {
                *place = sub;
                self.free = self.free_before[number as usize];
                number
            }
            None => self.add_more(sub),
        }
    }

    #[cold]
    fn add_more(&mut self, sub: SubCommand) -> u32 {
        let number = self.in_flight.len() as u32;
        self.in_flight.push(sub);
        self.free_before.push(0);
        self.free = number + 1;
        number
    }

    #[inline]
    pub(super) fn get(&self, number: u32) -> &SubCommand {
        &self.in_flight[number as usize]
    }

    #[inline]
    pub(super) fn set_status(&mut self, number: u32, status: Status) {
        self.in_flight[number as usize].status = status;
    }

    /// Free a number; its command is readable until the next addition.
    #[inline]
    pub(super) fn take(&mut self, number: u32) -> &SubCommand {
        self.free_before[number as usize] = self.free;
        self.free = number;
        &self.in_flight[number as usize]
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct SplitCommand {
    pub(super) left: u32,
    pub(super) at_ns: u64,
    pub(super) status: Status,
}

impl Drive {
    pub(super) fn enqueue_split(&mut self, arrival_ns: u64, whole: SubCommand, limit: u32) {
        let split = self.free_splits.pop().unwrap_or(self.splits.len() as u32);
        let entry =
            SplitCommand { left: whole.len_bytes.div_ceil(limit), at_ns: 0, status: Status::Ok };
        match self.splits.get_mut(split as usize) {
            Some(free) => *free = entry,
            None => self.splits.push(entry),
        }
        for done in (0..whole.len_bytes).step_by(limit as usize) {
            let number = self.in_flight.add(SubCommand {
                offset_bytes: whole.offset_bytes + u64::from(done),
                len_bytes: limit.min(whole.len_bytes - done),
                split,
                kind: CommandKind::Other,
                ..whole
            });
            self.front.push(whole.queue, arrival_ns, number);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/drive/in_flight.rs"]
mod tests;
