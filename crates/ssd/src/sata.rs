//! Serial ATA: frame overhead and native command queuing.
//!
//! Commands and data travel in frames (FIS), half duplex. Data FISes carry at most 8 KiB, each with
//! a handshake (X_RDY, R_RDY, R_OK), after a DMA Setup FIS. Line coding is 8b/10b. Source: Serial
//! ATA revision 3.0, sections 9 (link), 10 (transport) and 13.6 (NCQ, at most 32 commands).
//!
//! # Non-goals
//! Port multipliers, interface power states, non-queued commands: a flush takes a slot like others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::profile::{LinkProfile, SataProfile};

pub fn line_bytes_per_second(generation: u8) -> u64 {
    match generation {
        0 | 1 => 150_000_000,
        2 => 300_000_000,
        _ => 600_000_000,
    }
}

#[derive(Clone, Copy, Debug)]
pub struct FrameOverhead {
    payload_bytes: u64,
    frame_ns: u64,
}

impl FrameOverhead {
    pub fn new(link: &LinkProfile, sata: &SataProfile) -> FrameOverhead {
        FrameOverhead {
            payload_bytes: u64::from(link.max_payload_bytes.value.max(1)),
            frame_ns: sata.frame_ns.value,
        }
    }

    /// Overhead of a transfer: a DMA Setup FIS and the Data FISes.
    #[inline]
    pub fn overhead_ns(&self, bytes: u64) -> u64 {
        (1 + bytes.div_ceil(self.payload_bytes)) * self.frame_ns
    }
}

/// With up to this number of slots, the heap costs less than to know whether a command may wait.
const FEW: usize = 64;

/// Command slots. Commands are admitted in order of their start.
#[derive(Clone, Debug)]
pub struct CommandSlots {
    depth: usize,
    /// The latest end of all commands up to each of the last `depth` ones: a ring from `next` on;
    /// empty with at most [`FEW`] slots.
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
            latest_ns: vec![0; if depth > FEW { depth } else { 0 }],
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
#[path = "../tests/unit/sata.rs"]
mod tests;
