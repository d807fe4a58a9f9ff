//! Schedule of completions, at a cost that does not depend on the number pending.
//!
//! Those due within half a millisecond go to a [`TimingWheel`]. Later ones come nearly in order
//! (buffered writes) and go to a sorted ring when a few moves suffice, else to a heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::timing_wheel::TimingWheel;

const REACH: usize = 24;

#[derive(Clone, Copy, Debug, Default)]
struct PendingCompletion {
    at_ns: u64,
    /// Low half of the submission number, which distinguishes those pending at once.
    seq: u32,
    number: u32,
}

impl PendingCompletion {
    #[inline]
    fn new(at_ns: u64, seq: u64, number: u32) -> PendingCompletion {
        PendingCompletion { at_ns, seq: seq as u32, number }
    }

    #[inline]
    fn is_before(&self, other: &PendingCompletion) -> bool {
        self.at_ns < other.at_ns
            || (self.at_ns == other.at_ns && (self.seq.wrapping_sub(other.seq) as i32) < 0)
    }
}

#[derive(Clone, Debug, Default)]
struct SortedRing {
    slots: Vec<PendingCompletion>,
    head: usize,
}

impl SortedRing {
    #[inline]
    fn live(&self) -> &[PendingCompletion] {
        &self.slots[self.head..]
    }

    #[inline]
    fn front(&self) -> Option<&PendingCompletion> {
        self.slots.get(self.head)
    }

    #[inline]
    fn pop_front(&mut self) -> Option<PendingCompletion> {
        let first = *self.front()?;
        self.head += 1;
        Some(first)
    }

    #[inline]
    fn insert(&mut self, pending: PendingCompletion) {
        if self.slots.len() == self.slots.capacity() {
            self.make_room();
        }
        let after_all = self.slots.last().is_none_or(|last| last.is_before(&pending));
        self.slots.push(pending);
        if after_all {
            return;
        }
        let live = &mut self.slots[self.head..];
        let mut hole = live.len() - 1;
        while hole > 0 && live[hole - 1].at_ns > pending.at_ns {
            live[hole] = live[hole - 1];
            hole -= 1;
        }
        while hole > 0 && !live[hole - 1].is_before(&pending) {
            live[hole] = live[hole - 1];
            hole -= 1;
        }
        live[hole] = pending;
    }

    /// Move live entries to the start of memory at least three times as large: rare per insertion.
    #[cold]
    fn make_room(&mut self) {
        self.slots.drain(..self.head);
        self.head = 0;
        self.slots.reserve((self.slots.len() * 2).max(256));
    }
}

#[derive(Clone, Debug, Default)]
struct LateCompletions {
    near: SortedRing,
    far: BinaryHeap<Reverse<(u64, u64, u32)>>,
}

impl LateCompletions {
    #[inline]
    fn push(&mut self, at_ns: u64, seq: u64, number: u32) {
        let near = self.near.live();
        let pending = PendingCompletion::new(at_ns, seq, number);
        if near.len() > REACH && pending.is_before(&near[near.len() - 1 - REACH]) {
            self.far.push(Reverse((at_ns, seq, number)));
        } else {
            self.near.insert(pending);
        }
    }

    #[inline]
    fn first_far(&self) -> Option<PendingCompletion> {
        let &Reverse((at_ns, seq, number)) = self.far.peek()?;
        let far = PendingCompletion::new(at_ns, seq, number);
        let precedes = self.near.front().is_none_or(|near| far.is_before(near));
        precedes.then_some(far)
    }

    #[inline]
    fn first(&self) -> PendingCompletion {
        let first = self.first_far().or_else(|| self.near.front().copied());
        first.unwrap_or(NEVER)
    }

    #[inline]
    fn pop(&mut self) -> Option<PendingCompletion> {
        let far = self.first_far();
        if far.is_none() {
            return self.near.pop_front();
        }
        self.far.pop();
        far
    }
}

const NEVER: PendingCompletion = PendingCompletion { at_ns: u64::MAX, seq: 0, number: 0 };

#[derive(Clone, Debug)]
pub(super) struct CompletionSchedule {
    wheel: TimingWheel,
    late: LateCompletions,
    late_first: PendingCompletion,
    pub(super) next_ns: u64,
}

impl CompletionSchedule {
    pub(super) fn new() -> CompletionSchedule {
        CompletionSchedule {
            wheel: TimingWheel::new(),
            late: LateCompletions::default(),
            late_first: NEVER,
            next_ns: u64::MAX,
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, at_ns: u64, seq: u64, number: u32) {
        self.next_ns = self.next_ns.min(at_ns);
        if !self.wheel.push(at_ns, seq as u32, number) {
            self.push_late(at_ns, seq, number);
        }
    }

    #[inline(never)]
    fn push_late(&mut self, at_ns: u64, seq: u64, number: u32) {
        self.late.push(at_ns, seq, number);
        let pending = PendingCompletion::new(at_ns, seq, number);
        if pending.is_before(&self.late_first) {
            self.late_first = pending;
        }
    }

    #[inline(always)]
    pub(super) fn pop(&mut self, until_ns: u64) -> Option<(u64, u32)> {
        if self.next_ns > until_ns {
            return None;
        }
        if self.late_first.at_ns == self.next_ns {
            return self.pop_late();
        }
        let first = self.wheel.pop();
        self.wheel.turn_to(first.0);
        self.next_ns = self.wheel.next_ns.min(self.late_first.at_ns);
        Some(first)
    }

    /// [`CompletionSchedule::pop`] of a late one, or of a wheel entry of the same time.
    #[inline(never)]
    fn pop_late(&mut self) -> Option<(u64, u32)> {
        let of_wheel =
            PendingCompletion { at_ns: self.wheel.next_ns, seq: self.wheel.next_seq(), number: 0 };
        let first = if of_wheel.is_before(&self.late_first) {
            self.wheel.pop()
        } else {
            let first = self.late.pop()?;
            self.late_first = self.late.first();
            (first.at_ns, first.number)
        };
        self.wheel.turn_to(first.0);
        self.next_ns = self.wheel.next_ns.min(self.late_first.at_ns);
        Some(first)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/drive/completions.rs"]
mod tests;
