//! The PCIe link: options, rate and flight time.

use assay_ssd::profile::LinkProfile;
use assay_units::rng::mix;

use crate::CYCLE_NS;

const CYCLE_PS: u64 = CYCLE_NS * 1000;

/// Outstanding reads with tags of 5 bits, which every function may use; with Extended Tag Field
/// Enable they are 8 bits (PCIe Base Specification 3.1, 2.2.6.2). Many drives have no more: `lspci`
/// shows `ExtTag-`.
pub const DEFAULT_TAGS: u16 = 32;

/// Link with its ends: root port and bridge on the core's side, endpoint on the drive's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkOptions {
    /// 1 to 5; also in Link Status and `link_speed`.
    pub generation: u8,
    /// Also in Link Status and `link_width`.
    pub lanes: u8,
    /// Packets take no time on the link, so that only the bus limits the rate.
    pub unlimited: bool,
    /// Framing, sequence number, header and LCRC of a packet.
    pub packet_overhead_bytes: u32,
    /// Flight time of a packet, each way.
    pub flight_cycles: u32,
    /// Max_Payload_Size Supported of the root port.
    pub root_max_payload_bytes: u32,
    /// Max_Payload_Size Supported of the endpoint.
    pub endpoint_max_payload_bytes: u32,
    /// Read completions are cut at multiples of this address; at least 64, and never above the root
    /// port's Max_Payload_Size.
    pub read_completion_bytes: u32,
    /// Outstanding reads, 1 to 256; above [`DEFAULT_TAGS`] only with Extended Tag Field Enable.
    pub tags: u16,
    /// Posted writes that the bridge buffers (flow control credits).
    pub posted_buffer_bytes: u32,
    /// Writes that the bridge issues before the first of them is answered.
    pub outstanding_writes: u8,
    /// Arrival of a doorbell to request of the entries, in the drive.
    pub fetch_delay_cycles: u32,
    /// End of a command (its data sent) to its completion entry, in the drive.
    pub completion_delay_cycles: u32,
    /// Adjacent completion entries leave the drive in one packet, up to 64 bytes.
    pub combine_completions: bool,
    /// Register accesses to an absent device end with DECERR; otherwise with OKAY, reads as ones.
    pub error_responses: bool,
}

impl LinkOptions {
    /// Latencies of an FPGA's hard block: 250 ns each way.
    pub fn new(generation: u8, lanes: u8) -> LinkOptions {
        assert!((1..=5).contains(&generation), "PCIe generation {generation}");
        assert!(matches!(lanes, 1 | 2 | 4 | 8 | 16), "{lanes} lanes");
        LinkOptions {
            generation,
            lanes,
            unlimited: false,
            packet_overhead_bytes: 24,
            flight_cycles: 62,
            root_max_payload_bytes: 512,
            endpoint_max_payload_bytes: 256,
            read_completion_bytes: 256,
            tags: DEFAULT_TAGS,
            posted_buffer_bytes: 16 << 10,
            outstanding_writes: 16,
            fetch_delay_cycles: 0,
            completion_delay_cycles: 0,
            combine_completions: false,
            error_responses: false,
        }
    }

    /// A quarter of `fetch_ns` is the flight time; what doorbell, fetch and completion entry do not
    /// use of `fetch_ns` and `completion_ns` is spent in the drive.
    pub fn from_profile(link: &LinkProfile) -> LinkOptions {
        let cycles = |ns: u64| (ns / CYCLE_NS) as u32;
        let (fetch, completion) = (cycles(link.fetch_ns.value), cycles(link.completion_ns.value));
        let flight_cycles = fetch / 4;
        LinkOptions {
            packet_overhead_bytes: link.packet_overhead_bytes.value,
            flight_cycles,
            root_max_payload_bytes: link.max_payload_bytes.value,
            endpoint_max_payload_bytes: link.max_payload_bytes.value,
            read_completion_bytes: link.max_payload_bytes.value,
            fetch_delay_cycles: fetch - 3 * flight_cycles,
            completion_delay_cycles: completion.saturating_sub(flight_cycles),
            ..LinkOptions::new(link.generation.value, link.lanes.value)
        }
    }

    /// No limit but the bus: one word per cycle each way, two cycles of flight.
    pub fn unlimited() -> LinkOptions {
        LinkOptions { unlimited: true, flight_cycles: 2, ..LinkOptions::new(5, 4) }
    }

    /// Of one direction, line coding deducted; `None` without limit.
    pub fn bytes_per_second(&self) -> Option<u64> {
        // Per lane in kilobytes: 8b/10b up to generation 2, then 128b/130b.
        let lane_kb_per_s: u64 = match self.generation {
            1 => 250_000,
            2 => 500_000,
            3 => 984_615,
            4 => 1_969_231,
            _ => 3_938_462,
        };
        (!self.unlimited).then_some(lane_kb_per_s * 1000 * u64::from(self.lanes))
    }

    /// Of data in packets with this payload; `u64::MAX` without limit.
    pub fn payload_bytes_per_second(&self, payload_bytes: u32) -> u64 {
        let payload = u64::from(payload_bytes);
        let packet = payload + u64::from(self.packet_overhead_bytes);
        self.bytes_per_second().map_or(u64::MAX, |rate| rate * payload / packet)
    }

    pub(super) fn check(&self) {
        for bytes in [self.root_max_payload_bytes, self.endpoint_max_payload_bytes] {
            let is_valid = bytes.is_power_of_two() && (128..=4096).contains(&bytes);
            assert!(is_valid, "Max_Payload_Size of {bytes} bytes");
        }
        let completion = self.read_completion_bytes;
        assert!(
            completion.is_power_of_two() && completion >= 64,
            "read completions of {completion} bytes"
        );
        assert!((1..=256).contains(&self.tags), "{} tags", self.tags);
        assert!(self.outstanding_writes > 0 && self.posted_buffer_bytes >= 4096);
    }
}

#[derive(Clone, Debug)]
pub(super) struct Line {
    bytes_per_second: Option<u64>,
    overhead_bytes: u64,
    flight_cycles: u64,
    /// When the last packet has left.
    free_ps: u64,
}

impl Line {
    pub(super) fn new(options: &LinkOptions) -> Line {
        Line {
            bytes_per_second: options.bytes_per_second(),
            overhead_bytes: u64::from(options.packet_overhead_bytes),
            flight_cycles: u64::from(options.flight_cycles.max(1)),
            free_ps: 0,
        }
    }

    /// Whether a packet can begin in this cycle.
    #[inline]
    pub(super) fn is_free(&self, cycle: u64) -> bool {
        self.free_ps < (cycle + 1) * CYCLE_PS
    }

    /// Whether less than the time of `bytes` bytes is waiting.
    #[inline]
    pub(super) fn has_room(&self, cycle: u64, bytes: u64) -> bool {
        self.free_ps <= cycle * CYCLE_PS + self.duration_ps(bytes)
    }

    /// First cycle in which a packet can begin.
    pub(super) fn free_cycle(&self) -> u64 {
        self.free_ps / CYCLE_PS
    }

    #[inline]
    fn duration_ps(&self, bytes: u64) -> u64 {
        match self.bytes_per_second {
            Some(rate) => bytes * 1_000_000_000_000 / rate,
            None => 0,
        }
    }

    /// Returns the cycle of the packet's arrival.
    #[inline]
    pub(super) fn send(&mut self, cycle: u64, payload_bytes: u64) -> u64 {
        let duration_ps = self.duration_ps(payload_bytes + self.overhead_bytes);
        self.free_ps = self.free_ps.max(cycle * CYCLE_PS) + duration_ps;
        self.free_ps.div_ceil(CYCLE_PS).max(cycle) + self.flight_cycles
    }

    pub(super) fn reset(&mut self) {
        self.free_ps = 0;
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Channel {
    WriteAddress,
    WriteData,
    WriteResponse,
    ReadAddress,
    ReadData,
    BarWriteAddress,
    BarWriteData,
    BarWriteResponse,
    BarReadAddress,
    BarReadData,
}

/// Depends on seed, channel and cycle only, so that cycles without work can be left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackPressure {
    pub(super) seed: u64,
    pub(super) percent: u8,
}

impl BackPressure {
    /// Whether the drive raises valid or ready of the channel in this cycle.
    #[inline]
    pub(super) fn allows(&self, channel: Channel, cycle: u64) -> bool {
        self.percent == 0 || self.draw(channel, cycle) >= u64::from(self.percent)
    }

    #[inline(never)]
    fn draw(&self, channel: Channel, cycle: u64) -> u64 {
        mix(mix(self.seed, channel as u64 + 1), cycle) % 100
    }
}

#[cfg(test)]
#[path = "../../tests/unit/pcie_drive/link.rs"]
mod tests;
