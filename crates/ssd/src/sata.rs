//! Serial ATA: what it costs on the wire, and how many commands it lets in.
//!
//! # Mechanism
//! Commands and data travel in frames (FIS) over one pair of wires per direction, but the protocol is half duplex: while one side
//! sends a frame, the other only answers with primitives. Data goes in Data FISes of at most 8 KiB, each announced, granted
//! and acknowledged (X_RDY, R_RDY, R_OK), after a DMA Setup FIS that names the command. Line coding is 8b/10b. Source: Serial ATA
//! revision 3.0, sections 9 (link) and 10 (transport). The drive takes at most 32 commands (native command queuing, section 13.6);
//! the host keeps further ones back until one of those completes.
//!
//! # Non-goals
//! No port multiplier, no interface power states, no non-queued commands: a flush takes a slot like any other command.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::profile::{LinkProfile, SataProfile};

/// Rate of a SATA link of this generation after line coding, in bytes per second.
pub fn line_bytes_per_second(generation: u8) -> u64 {
    match generation {
        0 | 1 => 150_000_000,
        2 => 300_000_000,
        _ => 600_000_000,
    }
}

/// What frames cost beside the bytes in them.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    payload_bytes: u64,
    frame_ns: u64,
}

impl Frames {
    /// The frames of a link.
    pub fn new(link: &LinkProfile, sata: &SataProfile) -> Frames {
        Frames {
            payload_bytes: u64::from(link.max_payload_bytes.value.max(1)),
            frame_ns: sata.frame_ns.value,
        }
    }

    /// Time on the wire that a transfer of so many bytes takes beside them, in nanoseconds: a DMA Setup FIS and the Data FISes.
    #[inline]
    pub fn overhead_ns(&self, bytes: u64) -> u64 {
        (1 + bytes.div_ceil(self.payload_bytes)) * self.frame_ns
    }
}

/// The command slots of the drive. Commands are admitted in order.
#[derive(Clone, Debug)]
pub struct Slots {
    /// When the commands that hold them complete, in nanoseconds.
    ends_ns: BinaryHeap<Reverse<u64>>,
    depth: usize,
}

impl Slots {
    /// So many free slots (at least one).
    pub fn new(depth: u8) -> Slots {
        Slots {
            ends_ns: BinaryHeap::with_capacity(usize::from(depth.max(1))),
            depth: usize::from(depth.max(1)),
        }
    }

    /// When a command that could start at `start_ns` has a slot. Follow it with [`Slots::hold`].
    #[inline]
    pub fn admit(&mut self, start_ns: u64) -> u64 {
        if self.ends_ns.len() < self.depth {
            return start_ns;
        }
        self.ends_ns
            .pop()
            .map_or(start_ns, |Reverse(end_ns)| end_ns.max(start_ns))
    }

    /// The command admitted last holds its slot until then.
    #[inline]
    pub fn hold(&mut self, until_ns: u64) {
        self.ends_ns.push(Reverse(until_ns));
    }
}

#[cfg(test)]
#[path = "../tests/unit/sata.rs"]
mod tests;
