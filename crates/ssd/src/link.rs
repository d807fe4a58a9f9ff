//! The host link and the controller's internal data path.
//!
//! Link: raw rate of the generation times lanes, less line coding (8b/10b for generations 1 and 2, 128b/130b from 3), less
//! the share of each packet that is not payload: `payload / (payload + overhead)`. Source: PCI Express Base Specification
//! 3.0, sections 2.1 and 4.2; the shared notes give 3.23-3.41 GB/s for generation 3 x4 with 128-byte payloads, which an
//! overhead of 20 to 28 bytes reproduces. The two directions are independent. For Serial ATA see [`crate::sata`].
//!
//! Data path: what lies between the channels and the link (error correction, buffers, DMA), as one serial resource. Long
//! reads are staged in DRAM and go at a rate of their own (see the profile field `data_path.direct_limit_bytes`); every read of flash
//! may cost a setup of the path besides (descriptors, DMA).

use crate::profile::{DataPathProfile, LinkProfile, MAP_UNIT_BYTES};
use crate::sata::{Frames, line_bytes_per_second};
use crate::timeline::{ByteTime, Follower, Timeline};

/// Payload rate of a link in bytes per second.
pub fn payload_bytes_per_second(link: &LinkProfile) -> u64 {
    let payload = u64::from(link.max_payload_bytes.value);
    let packet = payload + u64::from(link.packet_overhead_bytes.value);
    if link.sata.is_some() {
        return line_bytes_per_second(link.generation.value) * payload / packet;
    }
    // Per lane and after line coding, in kilobytes per second.
    let lane_kb_per_s: u64 = match link.generation.value {
        0 | 1 => 250_000,
        2 => 500_000,
        3 => 984_615,
        4 => 1_969_231,
        _ => 3_938_462,
    };
    lane_kb_per_s * 1000 * u64::from(link.lanes.value) * payload / packet
}

/// Both directions of the link, the data path, and the fixed costs of a command on the wire.
#[derive(Clone, Debug)]
pub struct Link {
    to_host: Follower,
    to_drive: Timeline,
    data_path: Timeline,
    byte_time: ByteTime,
    direct: ByteTime,
    staged: ByteTime,
    direct_limit_bytes: u64,
    /// Where the link is half duplex and pays by the frame.
    frames: Option<Frames>,
    /// From doorbell to the command in the controller, in nanoseconds.
    pub fetch_ns: u64,
    /// From last data packet to the completion at the host, in nanoseconds.
    pub completion_ns: u64,
}

impl Link {
    /// An idle link.
    pub fn new(link: &LinkProfile, data_path: &DataPathProfile) -> Link {
        Link {
            to_host: Follower::new(),
            to_drive: Timeline::new(),
            data_path: Timeline::new(),
            byte_time: ByteTime::of_rate(payload_bytes_per_second(link)),
            direct: ByteTime::of_rate(data_path.direct_bytes_per_second.value),
            staged: ByteTime::of_rate(data_path.staged_bytes_per_second.value),
            direct_limit_bytes: data_path.direct_limit_bytes.value,
            frames: link.sata.as_ref().map(|sata| Frames::new(link, sata)),
            fetch_ns: link.fetch_ns.value,
            completion_ns: link.completion_ns.value,
        }
    }

    /// Move read data from the channels to where the link can take it, as so many bytes and so much longer (`path`: bytes, nanoseconds);
    /// `command_bytes` decides the route. Returns the end.
    #[inline]
    pub fn through_data_path(
        &mut self,
        floor_ns: u64,
        ready_ns: u64,
        (path_bytes, setup_ns): (u64, u64),
        command_bytes: u64,
    ) -> u64 {
        let duration_ns = self.data_path_ns(path_bytes, command_bytes) + setup_ns;
        self.data_path.reserve(floor_ns, ready_ns, duration_ns)
    }

    #[inline]
    fn data_path_ns(&self, bytes: u64, command_bytes: u64) -> u64 {
        let rate = if command_bytes <= self.direct_limit_bytes {
            self.direct
        } else {
            self.staged
        };
        rate.duration_ns(bytes)
    }

    /// Move read data through the data path, where it counts as so many bytes and takes so much longer (`path`: bytes, nanoseconds), and on
    /// to the host; returns the end.
    #[inline(always)]
    pub fn deliver(
        &mut self,
        floor_ns: u64,
        ready_ns: u64,
        bytes: u64,
        (path_bytes, setup_ns): (u64, u64),
        command_bytes: u64,
    ) -> u64 {
        let path_ns = self.data_path_ns(path_bytes, command_bytes) + setup_ns;
        let through_ns = self.data_path.reserve(floor_ns, ready_ns, path_ns);
        if let Some(frames) = self.frames {
            return self.over_shared_wire(frames, floor_ns, through_ns, bytes);
        }
        let duration_ns = self.byte_time.duration_ns(bytes);
        self.to_host
            .follow(floor_ns, through_ns, duration_ns, path_ns)
    }

    /// Send data to the host; returns the end.
    #[inline]
    pub fn to_host(&mut self, floor_ns: u64, ready_ns: u64, bytes: u64) -> u64 {
        if let Some(frames) = self.frames {
            return self.over_shared_wire(frames, floor_ns, ready_ns, bytes);
        }
        self.to_host
            .reserve(floor_ns, ready_ns, self.byte_time.duration_ns(bytes))
    }

    /// Fetch data from the host; returns the end.
    #[inline]
    pub fn to_drive(&mut self, floor_ns: u64, ready_ns: u64, bytes: u64) -> u64 {
        if let Some(frames) = self.frames {
            return self.over_shared_wire(frames, floor_ns, ready_ns, bytes);
        }
        self.to_drive
            .reserve(floor_ns, ready_ns, self.byte_time.duration_ns(bytes))
    }

    /// Time of one mapping unit on the link, in nanoseconds.
    #[inline]
    pub fn unit_ns(&self) -> u64 {
        self.byte_time.duration_ns(MAP_UNIT_BYTES)
    }

    fn over_shared_wire(
        &mut self,
        frames: Frames,
        floor_ns: u64,
        ready_ns: u64,
        bytes: u64,
    ) -> u64 {
        let duration_ns = self.byte_time.duration_ns(bytes) + frames.overhead_ns(bytes);
        self.to_host.reserve(floor_ns, ready_ns, duration_ns)
    }
}

#[cfg(test)]
#[path = "../tests/unit/link.rs"]
mod tests;
