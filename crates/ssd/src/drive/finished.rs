//! Completions waiting for their time.
//!
//! They come nearly in order: buffered writes entirely so, reads but for the differences between dies. A ring kept sorted takes
//! what belongs near its end by moving a few neighbours; what belongs further up goes to a heap. Taking the next one compares the
//! two heads. So the cost stays the same whatever waits, and a heap as deep as the queue is the exception.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

/// A sorted ring.
#[derive(Clone, Debug, Default)]
struct Ring {
    /// As many as a power of two, or none.
    slots: Vec<Finished>,
    head: usize,
    len: usize,
}

impl Ring {
    #[inline]
    fn at(&self, index: usize) -> &Finished {
        &self.slots[(self.head + index) & (self.slots.len() - 1)]
    }

    #[inline]
    fn front(&self) -> Option<&Finished> {
        (self.len > 0).then(|| self.at(0))
    }

    #[inline]
    fn pop_front(&mut self) -> Option<Finished> {
        let first = *self.front()?;
        self.head = (self.head + 1) & (self.slots.len() - 1);
        self.len -= 1;
        Some(first)
    }

    #[inline]
    fn insert(&mut self, finished: Finished) {
        if self.len == self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        let mut hole = self.head + self.len;
        self.len += 1;
        while hole > self.head {
            let before = self.slots[(hole - 1) & mask];
            if before.is_before(&finished) {
                break;
            }
            self.slots[hole & mask] = before;
            hole -= 1;
        }
        self.slots[hole & mask] = finished;
    }

    #[cold]
    fn grow(&mut self) {
        self.slots.rotate_left(self.head);
        self.head = 0;
        let slots = (self.slots.len() * 2).max(64);
        self.slots.resize(slots, Finished::default());
    }
}

/// The waiting completions.
#[derive(Clone, Debug, Default)]
pub(super) struct FinishedQueue {
    near: Ring,
    far: BinaryHeap<Reverse<Finished>>,
    /// Time of the first, `u64::MAX` when there is none.
    next_ns: u64,
}

impl FinishedQueue {
    pub(super) fn new() -> FinishedQueue {
        FinishedQueue {
            next_ns: u64::MAX,
            ..FinishedQueue::default()
        }
    }

    /// When the first is due, `u64::MAX` when there is none.
    #[inline]
    pub(super) fn next_ns(&self) -> u64 {
        self.next_ns
    }

    #[inline]
    pub(super) fn push(&mut self, at_ns: u64, seq: u64, number: u32) {
        let finished = Finished {
            at_ns,
            seq: seq as u32,
            number,
        };
        self.next_ns = self.next_ns.min(at_ns);
        if self.near.len > REACH && finished.is_before(self.near.at(self.near.len - 1 - REACH)) {
            self.far.push(Reverse(finished));
            return;
        }
        self.near.insert(finished);
    }

    /// Time and number of the first, if it is due by `until_ns`.
    #[inline]
    pub(super) fn pop(&mut self, until_ns: u64) -> Option<(u64, u32)> {
        if self.next_ns > until_ns {
            return None;
        }
        let first = if self.far.is_empty() {
            self.near.pop_front()
        } else {
            self.pop_either()
        }?;
        self.next_ns = self.near.front().map_or(u64::MAX, |next| next.at_ns);
        if let Some(Reverse(next)) = self.far.peek() {
            self.next_ns = self.next_ns.min(next.at_ns);
        }
        Some((first.at_ns, first.number))
    }

    fn pop_either(&mut self) -> Option<Finished> {
        let far_first = match (self.near.front(), self.far.peek()) {
            (Some(near), Some(Reverse(far))) => far.is_before(near),
            (near, _) => near.is_none(),
        };
        if far_first {
            self.far.pop().map(|Reverse(first)| first)
        } else {
            self.near.pop_front()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list.
        #[test]
        fn gives_back_in_order(first: u64, steps in prop::collection::vec((0_u64..300, any::<bool>(), 0_u64..300), 1..300)) {
            let mut queue = FinishedQueue::new();
            let mut plain: Vec<(u64, u64)> = Vec::new();
            let mut base = 0;
            let first = first >> 1;
            for (seq, (ahead, pop, until)) in (first..).zip(steps) {
                let at_ns = base + ahead;
                queue.push(at_ns, seq, (seq - first) as u32);
                plain.push((at_ns, seq));
                plain.sort_unstable();
                prop_assert_eq!(queue.next_ns(), plain[0].0);
                base += 3;
                if !pop {
                    continue;
                }
                loop {
                    let expected = plain.first().copied().filter(|&(at, _)| at <= base + until);
                    let got = queue.pop(base + until);
                    prop_assert_eq!(got, expected.map(|(at, seq)| (at, (seq - first) as u32)));
                    if expected.is_none() {
                        break;
                    }
                    plain.remove(0);
                }
            }
        }
    }
}
