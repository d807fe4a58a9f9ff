//! Commands on their way, from submission to completion.
//!
//! Queues and the list of completions hold a number for each, so that what is moved about and sorted stays small.

use assay_units::{DataClass, Op};

use crate::command::{Command, Status};

/// A command that is one NVMe command, not a part of a split one.
pub(super) const WHOLE: u32 = u32::MAX;

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
    /// How it will end, as far as known.
    pub(super) status: Status,
    pub(super) data: DataClass,
    /// Is there a latency spike for it?
    pub(super) spiked: bool,
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
            status: Status::Ok,
            data: command.data,
            spiked: false,
            dropped: false,
        }
    }
}

/// The parts on their way, by number.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    parts: Vec<Part>,
    free: Vec<u32>,
}

impl Parts {
    /// Keep a part; returns its number. The number given back last comes first: its memory is near.
    #[inline]
    pub(super) fn add(&mut self, part: Part) -> u32 {
        match self.free.pop() {
            Some(number) => {
                self.parts[number as usize] = part;
                number
            }
            None => {
                self.parts.push(part);
                (self.parts.len() - 1) as u32
            }
        }
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
        self.free.push(number);
        &self.parts[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_used_again_and_never_twice_at_once() {
        let part = |seq| Part {
            offset_bytes: 0,
            len_bytes: 4096,
            tag: 0,
            seq,
            ordinal: 0,
            split: WHOLE,
            queue: 0,
            op: Op::Read,
            status: Status::Ok,
            data: DataClass::Incompressible,
            spiked: false,
            dropped: false,
        };
        let mut parts = Parts::default();
        let (a, b) = (parts.add(part(1)), parts.add(part(2)));
        assert_ne!(a, b);
        parts.set_status(a, Status::WriteFault);
        let taken = *parts.take(a);
        assert_eq!((taken.seq, taken.status), (1, Status::WriteFault));
        let c = parts.add(part(3));
        assert_eq!(c, a);
        assert_eq!(
            (parts.get(b).seq, parts.get(c).seq, parts.get(c).status),
            (2, 3, Status::Ok)
        );
    }
}
