//! Queues in host memory (Base 3.3): where they are, and how far each side has come.

use std::collections::VecDeque;

use assay_nvme_spec::{CompletionEntry, SubmissionEntry};

/// A submission queue.
#[derive(Clone, Debug)]
pub(crate) struct SubmissionQueue {
    pub(crate) base: u64,
    /// How many entries it has, 2 to 65,536.
    pub(crate) entries: u32,
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) cqid: u16,
    /// Commands fetched whose completion entry is not written yet.
    pub(crate) outstanding: u32,
    /// Is it on the list of queues that have something?
    pub(crate) listed: bool,
    /// When what it has can be fetched.
    pub(crate) rung_ns: u64,
}

impl SubmissionQueue {
    pub(crate) fn new(base: u64, entries: u32, cqid: u16) -> SubmissionQueue {
        SubmissionQueue {
            base,
            entries,
            head: 0,
            tail: 0,
            cqid,
            outstanding: 0,
            listed: false,
            rung_ns: 0,
        }
    }

    /// Are there entries that were not fetched?
    #[inline]
    pub(crate) fn has_entries(&self) -> bool {
        self.head != self.tail
    }

    /// How many entries lie one after the other from the head on.
    #[inline]
    pub(crate) fn run(&self) -> u32 {
        if self.tail >= self.head {
            self.tail - self.head
        } else {
            self.entries - self.head
        }
    }

    /// Where the head is.
    #[inline]
    pub(crate) fn head_address(&self) -> u64 {
        self.base
            .wrapping_add(u64::from(self.head) * SubmissionEntry::SIZE as u64)
    }

    #[inline]
    pub(crate) fn consume(&mut self, count: u32) {
        self.head += count;
        if self.head >= self.entries {
            self.head = 0;
        }
    }

    /// More commands are not fetched while so many are outstanding: a controller's memory is not the guest's to fill.
    #[inline]
    pub(crate) fn limit(&self) -> u32 {
        // Some room for event requests, which stay for good.
        self.entries + 16
    }
}

/// A completion queue.
#[derive(Clone, Debug)]
pub(crate) struct CompletionQueue {
    pub(crate) base: u64,
    pub(crate) entries: u32,
    pub(crate) head: u32,
    pub(crate) tail: u32,
    /// The phase tag of the entries being written.
    pub(crate) phase: bool,
    pub(crate) vector: u16,
    pub(crate) interrupts: bool,
    /// Completions for which there was no room, with their time in nanoseconds. Not more than its submission queues have outstanding.
    pub(crate) parked: VecDeque<(u64, CompletionEntry)>,
}

impl CompletionQueue {
    pub(crate) fn new(base: u64, entries: u32, vector: u16, interrupts: bool) -> CompletionQueue {
        CompletionQueue {
            base,
            entries,
            head: 0,
            tail: 0,
            phase: true,
            vector,
            interrupts,
            parked: VecDeque::new(),
        }
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        let next = self.tail + 1;
        (if next == self.entries { 0 } else { next }) == self.head
    }

    /// Where the next entry goes, and its phase; the tail moves on.
    #[inline]
    pub(crate) fn advance(&mut self) -> (u64, bool) {
        let at = self
            .base
            .wrapping_add(u64::from(self.tail) * CompletionEntry::SIZE as u64);
        let phase = self.phase;
        self.tail += 1;
        if self.tail == self.entries {
            self.tail = 0;
            self.phase = !self.phase;
        }
        (at, phase)
    }

    /// Is there anything that the host has not taken?
    pub(crate) fn has_entries(&self) -> bool {
        self.head != self.tail
    }

    /// The host says it has taken entries up to `head`; `false` when it cannot have.
    pub(crate) fn release(&mut self, head: u32) -> bool {
        let distance = |from: u32, to: u32| {
            if to >= from {
                to - from
            } else {
                to + self.entries - from
            }
        };
        if head >= self.entries || distance(self.head, head) > distance(self.head, self.tail) {
            return false;
        }
        self.head = head;
        true
    }
}

#[cfg(test)]
#[path = "../tests/unit/queues.rs"]
mod tests;
