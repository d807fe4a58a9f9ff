//! Host link (PCIe or SATA) and the controller's internal data path.
//!
//! Link: raw rate of the generation times lanes, less line coding (8b/10b up to generation 2, then
//! 128b/130b) and packet overhead (PCI Express Base Specification 3.0, sections 2.1 and 4.2;
//! measured 3.23-3.41 GB/s for generation 3 x4 with 128-byte payloads correspond to 20 to 28
//! bytes). Data path: one serial resource between channels and link; long reads are staged in DRAM
//! at their own rate, as are those that exceed the fast memory ([`crate::read_cache`]).

use crate::profile::{DataPathProfile, LinkProfile, MAP_UNIT_BYTES};
use crate::sata::{FrameOverhead, line_bytes_per_second};
use crate::timeline::{ByteTime, DownstreamTimeline, Timeline};

pub fn payload_bytes_per_second(link: &LinkProfile) -> u64 {
    let payload = u64::from(link.max_payload_bytes.value);
    let packet = payload + u64::from(link.packet_overhead_bytes.value);
    if link.sata.is_some() {
        return line_bytes_per_second(link.generation.value) * payload / packet;
    }
    // Per lane after line coding, in kilobytes per second.
    let lane_kb_per_s: u64 = match link.generation.value {
        0 | 1 => 250_000,
        2 => 500_000,
        3 => 984_615,
        4 => 1_969_231,
        _ => 3_938_462,
    };
    lane_kb_per_s * 1000 * u64::from(link.lanes.value) * payload / packet
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    Direct,
    Staged,
    /// Those that exceed the fast memory.
    Exceeded,
}

#[derive(Clone, Debug)]
pub struct Link {
    to_host: DownstreamTimeline,
    to_drive: Timeline,
    data_path: Timeline,
    byte_time: ByteTime,
    routes: [ByteTime; 3],
    direct_limit_bytes: u64,
    /// SATA: half duplex, with a cost per frame.
    frames: Option<FrameOverhead>,
    /// The caller simulates the host link, at this payload rate: transfers take no time here.
    external: Option<ByteTime>,
    /// Doorbell to command in the controller.
    pub fetch_ns: u64,
    /// Last data packet to completion at the host.
    pub completion_ns: u64,
}

impl Link {
    pub fn new(
        link: &LinkProfile,
        data_path: &DataPathProfile,
        external_bytes_per_second: Option<u64>,
    ) -> Link {
        let sata = link.sata.as_ref();
        let exceeded = data_path.read_cache.as_ref();
        Link {
            to_host: DownstreamTimeline::new(),
            to_drive: Timeline::new(),
            data_path: Timeline::new(),
            byte_time: ByteTime::of_rate(payload_bytes_per_second(link)),
            routes: [
                data_path.direct_bytes_per_second.value,
                data_path.staged_bytes_per_second.value,
                exceeded.map_or(1, |cache| cache.exceeded_bytes_per_second.value),
            ]
            .map(ByteTime::of_rate),
            direct_limit_bytes: data_path.direct_limit_bytes.value,
            frames: sata.map(|sata| FrameOverhead::new(link, sata)),
            external: external_bytes_per_second.map(ByteTime::of_rate),
            fetch_ns: link.fetch_ns.value,
            completion_ns: link.completion_ns.value,
        }
    }

    #[inline(always)]
    pub fn route(&self, command_bytes: u64) -> Route {
        if command_bytes <= self.direct_limit_bytes { Route::Direct } else { Route::Staged }
    }

    /// Move read data as `path` (bytes, extra nanoseconds); returns the end.
    #[inline]
    pub fn through_data_path(
        &mut self,
        now_ns: u64,
        ready_ns: u64,
        (path_bytes, setup_ns): (u64, u64),
        route: Route,
    ) -> u64 {
        let duration_ns = self.data_path_ns(path_bytes, route) + setup_ns;
        self.data_path.reserve(now_ns, ready_ns, duration_ns)
    }

    #[inline]
    fn data_path_ns(&self, bytes: u64, route: Route) -> u64 {
        self.routes[route as usize].duration_ns(bytes)
    }

    /// Move read data through the data path (bytes, extra nanoseconds) and to the host.
    #[inline(always)]
    pub fn deliver(
        &mut self,
        now_ns: u64,
        ready_ns: u64,
        bytes: u64,
        (path_bytes, setup_ns): (u64, u64),
        route: Route,
    ) -> u64 {
        let path_ns = self.data_path_ns(path_bytes, route) + setup_ns;
        let through_ns = self.data_path.reserve(now_ns, ready_ns, path_ns);
        if self.external.is_some() {
            return through_ns;
        }
        let duration_ns = self.duration_ns(bytes);
        if self.frames.is_some() {
            return self.to_host.reserve(now_ns, through_ns, duration_ns);
        }
        self.to_host.reserve_downstream(now_ns, through_ns, duration_ns, path_ns)
    }

    #[inline]
    pub fn send_to_host(&mut self, now_ns: u64, ready_ns: u64, bytes: u64) -> u64 {
        if self.external.is_some() {
            return ready_ns;
        }
        let duration_ns = self.duration_ns(bytes);
        self.to_host.reserve(now_ns, ready_ns, duration_ns)
    }

    #[inline]
    pub fn send_to_drive(&mut self, now_ns: u64, ready_ns: u64, bytes: u64) -> u64 {
        if self.external.is_some() {
            return ready_ns;
        }
        let duration_ns = self.duration_ns(bytes);
        if self.frames.is_some() {
            // Half duplex: one wire for both directions.
            return self.to_host.reserve(now_ns, ready_ns, duration_ns);
        }
        self.to_drive.reserve(now_ns, ready_ns, duration_ns)
    }

    /// How long before a command's data are ready their transfer over an external link may begin.
    #[inline]
    pub fn lead_ns(&self, bytes: u64) -> u64 {
        self.external.map_or(0, |rate| rate.duration_ns(bytes))
    }

    #[inline]
    pub fn unit_ns(&self) -> u64 {
        if self.external.is_some() {
            return 0;
        }
        self.byte_time.duration_ns(MAP_UNIT_BYTES)
    }

    #[inline]
    fn duration_ns(&self, bytes: u64) -> u64 {
        let overhead_ns = self.frames.map_or(0, |frames| frames.overhead_ns(bytes));
        self.byte_time.duration_ns(bytes) + overhead_ns
    }
}

#[cfg(test)]
#[path = "../tests/unit/link.rs"]
mod tests;
