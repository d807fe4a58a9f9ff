//! Slots that commands hold from their start to their end: of a SATA drive's queue
//! ([`crate::sata`]), or of a firmware that reads a limited number of commands at a time
//! (`firmware.read_slots`). Where all are held, a command waits for the earliest end.
//!
//! A heap tells that end. With many slots a command seldom waits, and the heap is filled only where
//! one may: a slot is free if all commands but the last `depth - 1` have ended.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// With up to this number of slots, a search costs less than to know that none is needed.
const FEW_SLOTS: usize = 64;

/// Commands are admitted in the order of their starts.
#[derive(Clone, Debug)]
pub struct CommandSlots {
    depth: usize,
    /// The latest end of all commands up to each of the last `depth` ones: a ring from `next` on;
    /// empty with at most [`FEW_SLOTS`] slots.
    latest_ns: Vec<u64>,
    next: usize,
    greatest_ns: u64,
    /// When the last command could start.
    start_ns: u64,
    /// Ends of the commands that hold a slot.
    ends_ns: BinaryHeap<Reverse<u64>>,
    /// Those that are not in the heap yet, since no command has waited.
    recent_ns: Vec<u64>,
}

impl CommandSlots {
    pub fn new(depth: u16) -> CommandSlots {
        let depth = usize::from(depth.max(1));
        CommandSlots {
            depth,
            latest_ns: if depth > FEW_SLOTS { vec![0; depth] } else { Vec::new() },
            next: 0,
            greatest_ns: 0,
            start_ns: 0,
            ends_ns: BinaryHeap::with_capacity(depth),
            recent_ns: Vec::with_capacity(2 * depth),
        }
    }

    /// When a command that could start at `start_ns` has a slot; call [`CommandSlots::hold`] next.
    #[inline]
    pub fn admit(&mut self, start_ns: u64) -> u64 {
        if let Some(&latest_ns) = self.latest_ns.get(self.next) {
            self.start_ns = start_ns;
            // All but fewer than `depth` commands have ended.
            if latest_ns <= start_ns {
                return start_ns;
            }
            self.collect_recent();
        }
        if self.ends_ns.len() < self.depth {
            return start_ns;
        }
        self.ends_ns.pop().map_or(start_ns, |Reverse(end_ns)| end_ns.max(start_ns))
    }

    /// Leaves at most `depth` ends in the heap: those dropped have passed.
    #[inline(never)]
    fn collect_recent(&mut self) {
        let unfinished = self.recent_ns.drain(..).filter(|&end_ns| end_ns > self.start_ns);
        self.ends_ns.extend(unfinished.map(Reverse));
        while self.ends_ns.len() > self.depth {
            self.ends_ns.pop();
        }
    }

    #[inline]
    pub fn hold(&mut self, until_ns: u64) {
        if self.latest_ns.is_empty() {
            return self.ends_ns.push(Reverse(until_ns));
        }
        self.greatest_ns = self.greatest_ns.max(until_ns);
        self.latest_ns[self.next] = self.greatest_ns;
        self.next += 1;
        if self.next == self.depth {
            self.next = 0;
        }
        if self.recent_ns.len() == self.recent_ns.capacity() {
            self.recent_ns.retain(|&end_ns| end_ns > self.start_ns);
        }
        self.recent_ns.push(until_ns);
    }
}

#[cfg(test)]
#[path = "../tests/unit/command_slots.rs"]
mod tests;
