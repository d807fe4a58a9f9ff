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

/// NCQ command slots. Commands are admitted in order.
#[derive(Clone, Debug)]
pub struct CommandSlots {
    ends_ns: BinaryHeap<Reverse<u64>>,
    depth: usize,
}

impl CommandSlots {
    pub fn new(depth: u16) -> CommandSlots {
        CommandSlots {
            ends_ns: BinaryHeap::with_capacity(usize::from(depth.max(1))),
            depth: usize::from(depth.max(1)),
        }
    }

    /// When a command that could start at `start_ns` has a slot; call [`CommandSlots::hold`] next.
    #[inline]
    pub fn admit(&mut self, start_ns: u64) -> u64 {
        if self.ends_ns.len() < self.depth {
            return start_ns;
        }
        self.ends_ns.pop().map_or(start_ns, |Reverse(end_ns)| end_ns.max(start_ns))
    }

    #[inline]
    pub fn hold(&mut self, until_ns: u64) {
        self.ends_ns.push(Reverse(until_ns));
    }
}

#[cfg(test)]
#[path = "../tests/unit/sata.rs"]
mod tests;
