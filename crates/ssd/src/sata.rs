//! Serial ATA: frame overhead and native command queuing.
//!
//! Commands and data travel in frames (FIS), half duplex. Data FISes carry at most 8 KiB, each with
//! a handshake (X_RDY, R_RDY, R_OK), after a DMA Setup FIS. Line coding is 8b/10b. Source: Serial
//! ATA revision 3.0, sections 9 (link), 10 (transport) and 13.6 (NCQ, at most 32 commands:
//! [`crate::command_slots`]).
//!
//! # Non-goals
//! Port multipliers, interface power states, non-queued commands: a flush takes a slot like others.

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

#[cfg(test)]
#[path = "../tests/unit/sata.rs"]
mod tests;
