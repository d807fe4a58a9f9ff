//! Completions waiting for their time.
//!
//! What is due within half a millisecond goes onto a wheel ([`Wheel`]): reads and quick writes. What is later comes nearly in order
//! (writes that wait for the buffer entirely so), and a ring kept sorted takes what belongs near its end by moving a few neighbours;
//! what belongs further up goes to a heap. Taking the next one compares the heads. So the cost stays the same whatever waits, and a
//! heap as deep as the queue is the exception.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::wheel::Wheel;

/// Neighbours moved at most before the heap is cheaper.
const REACH: usize = 24;

/// A completion: when, and the numbers of its command by order of submission and among those on their way.
#[derive(Clone, Copy, Debug, Default)]
struct Finished {
    at_ns: u64,
    /// The low half of the number by order of submission: enough to tell those apart that wait at once.
    seq: u32,
    number: u32,
}

impl Finished {
    /// Does it come before `other`: by time, and of the same time by submission?
    #[inline]
    fn is_before(&self, other: &Finished) -> bool {
        self.at_ns < other.at_ns
            || (self.at_ns == other.at_ns && (self.seq.wrapping_sub(other.seq) as i32) < 0)
    }
}

impl PartialEq for Finished {
    fn eq(&self, other: &Finished) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Finished {}

impl PartialOrd for Finished {
    fn partial_cmp(&self, other: &Finished) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Finished {
    fn cmp(&self, other: &Finished) -> std::cmp::Ordering {
        let by_submission = (self.seq.wrapping_sub(other.seq) as i32).cmp(&0);
        self.at_ns.cmp(&other.at_ns).then(by_submission)
    }
}

/// A sorted line: what was taken out lies before `head` until the memory is wanted.
#[derive(Clone, Debug, Default)]
struct Line {
    slots: Vec<Finished>,
    head: usize,
}

impl Line {
    #[inline]
    fn live(&self) -> &[Finished] {
        &self.slots[self.head..]
    }

    #[inline]
    fn front(&self) -> Option<&Finished> {
        self.slots.get(self.head)
    }

    #[inline]
    fn pop_front(&mut self) -> Option<Finished> {
        let first = *self.front()?;
        self.head += 1;
        Some(first)
    }

    #[inline]
    fn insert(&mut self, finished: Finished) {
        if self.slots.len() == self.slots.capacity() {
            self.make_room();
        }
        let after_all = self
            .slots
            .last()
            .is_none_or(|last| last.is_before(&finished));
        self.slots.push(finished);
        if after_all {
            return;
        }
        let live = &mut self.slots[self.head..];
        let mut hole = live.len() - 1;
        while hole > 0 && live[hole - 1].at_ns > finished.at_ns {
            live[hole] = live[hole - 1];
            hole -= 1;
        }
        // Of the same time: nearly always in order of submission already.
        while hole > 0 && !live[hole - 1].is_before(&finished) {
            live[hole] = live[hole - 1];
            hole -= 1;
        }
        live[hole] = finished;
    }

    /// Move what is left to the beginning of the memory, which is at least three times as large: one move pays for many.
    #[cold]
    fn make_room(&mut self) {
        self.slots.drain(..self.head);
        self.head = 0;
        self.slots.reserve((self.slots.len() * 2).max(256));
    }
}

/// Those that are due late.
#[derive(Clone, Debug, Default)]
struct Late {
    near: Line,
    far: BinaryHeap<Reverse<Finished>>,
}

impl Late {
    #[inline]
    fn push(&mut self, finished: Finished) {
        let near = self.near.live();
        if near.len() > REACH && finished.is_before(&near[near.len() - 1 - REACH]) {
            self.far.push(Reverse(finished));
        } else {
            self.near.insert(finished);
        }
    }

    /// Does the heap have the first?
    #[inline]
    fn is_far_first(&self) -> bool {
        match self.far.peek() {
            None => false,
            Some(Reverse(far)) => self.near.front().is_none_or(|near| far.is_before(near)),
        }
    }

    #[inline]
    fn first(&self) -> Finished {
        let first = if self.is_far_first() {
            self.far.peek().map(|Reverse(first)| first)
        } else {
            self.near.front()
        };
        first.copied().unwrap_or(NEVER)
    }

    #[inline]
    fn pop(&mut self) -> Option<Finished> {
        if self.is_far_first() {
            self.far.pop().map(|Reverse(first)| first)
        } else {
            self.near.pop_front()
        }
    }
}

/// Nothing is due.
const NEVER: Finished = Finished {
    at_ns: u64::MAX,
    seq: 0,
    number: 0,
};

/// The waiting completions.
#[derive(Clone, Debug)]
pub(super) struct FinishedQueue {
    wheel: Wheel,
    late: Late,
    /// The first of the late ones.
    late_first: Finished,
    /// Time of the first, `u64::MAX` when there is none.
    next_ns: u64,
}

impl FinishedQueue {
    pub(super) fn new() -> FinishedQueue {
        FinishedQueue {
            wheel: Wheel::new(),
            late: Late::default(),
            late_first: NEVER,
            next_ns: u64::MAX,
        }
    }

    /// When the first is due, `u64::MAX` when there is none.
    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    #[inline(always)]
    pub(super) fn push(&mut self, at_ns: u64, seq: u64, number: u32) {
        self.next_ns = self.next_ns.min(at_ns);
        if !self.wheel.push(at_ns, seq as u32, number) {
            self.push_late(Finished {
                at_ns,
                seq: seq as u32,
                number,
            });
        }
    }

    #[inline(never)]
    fn push_late(&mut self, finished: Finished) {
        self.late.push(finished);
        if finished.is_before(&self.late_first) {
            self.late_first = finished;
        }
    }

    /// Time and number of the first, if it is due by `until_ns`.
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
        self.next_ns = self.wheel.next_ns().min(self.late_first.at_ns);
        Some(first)
    }

    /// [`FinishedQueue::pop`] where the first of the late ones is due now, and perhaps one of the wheel with it.
    #[inline(never)]
    fn pop_late(&mut self) -> Option<(u64, u32)> {
        let of_wheel = Finished {
            at_ns: self.wheel.next_ns(),
            seq: self.wheel.next_seq(),
            number: 0,
        };
        let first = if of_wheel.is_before(&self.late_first) {
            self.wheel.pop()
        } else {
            let first = self.late.pop()?;
            self.late_first = self.late.first();
            (first.at_ns, first.number)
        };
        self.wheel.turn_to(first.0);
        self.next_ns = self.wheel.next_ns().min(self.late_first.at_ns);
        Some(first)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/drive/finished.rs"]
mod tests;
