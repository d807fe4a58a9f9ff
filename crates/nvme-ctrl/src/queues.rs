//! Submission and completion queues (Base 3.3): addresses, heads and tails.

use std::collections::VecDeque;

use assay_nvme_spec::{CompletionEntry, SubmissionEntry};

#[derive(Clone, Debug, Default)]
pub(crate) struct SubmissionQueue {
    pub(crate) base: u64,
    /// 2 to 65,536.
    pub(crate) entries: u32,
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) cqid: u16,
    /// Commands fetched without a completion entry yet.
    pub(crate) outstanding: u32,
    /// On the controller's list of queues with entries.
    pub(crate) listed: bool,
    /// Earliest time at which entries can be fetched.
    pub(crate) fetch_ns: u64,
}

impl SubmissionQueue {
    pub(crate) fn new(base: u64, entries: u32, cqid: u16) -> SubmissionQueue {
        SubmissionQueue { base, entries, cqid, ..SubmissionQueue::default() }
    }

    #[inline]
    pub(crate) fn has_entries(&self) -> bool {
        self.head != self.tail
    }

    #[inline]
    pub(crate) fn contiguous_entries(&self) -> u32 {
        if self.tail >= self.head { self.tail - self.head } else { self.entries - self.head }
    }

    #[inline]
    pub(crate) fn head_address(&self) -> u64 {
        let offset = u64::from(self.head) * SubmissionEntry::SIZE as u64;
        self.base.wrapping_add(offset)
    }

    #[inline]
    pub(crate) fn consume(&mut self, count: u32) {
        self.head += count;
        if self.head >= self.entries {
            self.head = 0;
        }
    }

    /// Most outstanding commands; bounds the memory that a guest can use.
    #[inline]
    pub(crate) fn limit(&self) -> u32 {
        // 16 beyond the entries, for Asynchronous Event Requests, which stay outstanding.
        self.entries + 16
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct CompletionQueue {
    pub(crate) base: u64,
    pub(crate) entries: u32,
    pub(crate) head: u32,
    pub(crate) tail: u32,
    pub(crate) phase: bool,
    pub(crate) vector: u16,
    pub(crate) interrupts: bool,
    /// Entries that wait for room, with their times; bounded by the commands outstanding.
    pub(crate) backlog: VecDeque<(u64, CompletionEntry)>,
}

impl CompletionQueue {
    pub(crate) fn new(base: u64, entries: u32, vector: u16, interrupts: bool) -> CompletionQueue {
        CompletionQueue {
            base,
            entries,
            phase: true,
            vector,
            interrupts,
            ..CompletionQueue::default()
        }
    }

    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        let next = self.tail + 1;
        (if next == self.entries { 0 } else { next }) == self.head
    }

    /// Returns address and phase of the next entry.
    #[inline]
    pub(crate) fn advance(&mut self) -> (u64, bool) {
        let offset = u64::from(self.tail) * CompletionEntry::SIZE as u64;
        let address = self.base.wrapping_add(offset);
        let phase = self.phase;
        self.tail += 1;
        if self.tail == self.entries {
            self.tail = 0;
            self.phase = !self.phase;
        }
        (address, phase)
    }

    pub(crate) fn has_entries(&self) -> bool {
        self.head != self.tail
    }

    /// The host consumed the entries before `head`; `false` for an invalid head.
    pub(crate) fn release(&mut self, head: u32) -> bool {
        let distance = |from: u32, to: u32| match to >= from {
            true => to - from,
            false => to + self.entries - from,
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
