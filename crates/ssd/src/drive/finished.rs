//! Completions waiting for their time.
//!
//! They come nearly in order: buffered writes entirely so, reads but for the differences between dies. A ring kept sorted takes
//! what belongs near its end by moving a few neighbours; what belongs further up goes to a heap. Taking the next one compares the
//! two heads. So the cost stays the same whatever waits, and a heap as deep as the queue is the exception.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::command::Status;

/// Neighbours moved at most before the heap is cheaper.
const REACH: usize = 24;

/// A completion and its place in the order: time, then submission (`seq` is unique).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Finished {
    pub(super) at_ns: u64,
    pub(super) seq: u64,
    pub(super) ordinal: u64,
    pub(super) tag: u32,
    pub(super) status: Status,
}

impl Finished {
    #[inline]
    fn key(&self) -> u128 {
        u128::from(self.at_ns) << 64 | u128::from(self.seq)
    }
}

impl PartialEq for Finished {
    fn eq(&self, other: &Finished) -> bool {
        self.key() == other.key()
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
        self.key().cmp(&other.key())
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
            if before < finished {
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
    pub(super) fn push(&mut self, finished: Finished) {
        self.next_ns = self.next_ns.min(finished.at_ns);
        if self.near.len > REACH && *self.near.at(self.near.len - 1 - REACH) > finished {
            self.far.push(Reverse(finished));
            return;
        }
        self.near.insert(finished);
    }

    /// The first, if it is due by `until_ns`.
    #[inline]
    pub(super) fn pop(&mut self, until_ns: u64) -> Option<Finished> {
        if self.next_ns > until_ns {
            return None;
        }
        let far_first = match (self.near.front(), self.far.peek()) {
            (Some(near), Some(Reverse(far))) => far < near,
            (near, _) => near.is_none(),
        };
        let first = if far_first {
            self.far.pop().map(|Reverse(first)| first)
        } else {
            self.near.pop_front()
        };
        let near_ns = self.near.front().map_or(u64::MAX, |next| next.at_ns);
        let far_ns = self.far.peek().map_or(u64::MAX, |Reverse(next)| next.at_ns);
        self.next_ns = near_ns.min(far_ns);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list.
        #[test]
        fn gives_back_in_order(steps in prop::collection::vec((0_u64..300, any::<bool>(), 0_u64..300), 1..300)) {
            let mut queue = FinishedQueue::new();
            let mut plain: Vec<(u64, u64)> = Vec::new();
            let mut base = 0;
            for (seq, (ahead, pop, until)) in (0..).zip(steps) {
                let at_ns = base + ahead;
                queue.push(Finished { at_ns, seq, ordinal: seq + 7, tag: seq as u32, status: Status::Ok });
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
                    prop_assert_eq!(got.map(|got| (got.at_ns, got.seq)), expected);
                    if let Some(got) = got {
                        prop_assert_eq!(got.ordinal, got.seq + 7);
                    }
                    if expected.is_none() {
                        break;
                    }
                    plain.remove(0);
                }
            }
        }
    }
}
