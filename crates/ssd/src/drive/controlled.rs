//! What a controller around the drive needs of it: an NVMe controller speaks to hosts, and its features act here.

use assay_units::Nanos;

use super::Drive;
use crate::coalescing::CoalescingSetting;
use crate::options::Age;
use crate::profile::MAP_UNIT_BYTES;
use crate::thermal::HostThrottling;

impl Drive {
    /// Hand the coalescing of interrupts over to the caller: from now on completions come out when their entry is written. Returns how
    /// they were coalesced, if at all. To be called before the first command.
    pub fn take_coalescing(&mut self) -> Option<CoalescingSetting> {
        self.coalescer.take().and(self.identity.coalescing)
    }

    /// Change the logical block size to `bytes`, a power of two from 512 to [`MAP_UNIT_BYTES`], as NVMe's Format does (which forgets the
    /// data as well, see [`Drive::purge`]); `false`, and nothing changed, for any other size.
    pub fn set_logical_block_bytes(&mut self, bytes: u64) -> bool {
        let fits = bytes.is_power_of_two() && (512..=MAP_UNIT_BYTES).contains(&bytes);
        if fits {
            self.identity.logical_block_bytes = bytes;
        }
        fits
    }

    /// Choose from `now` on which power states an idle drive enters by itself, and after how long without a command: none, when the
    /// list is empty (Autonomous Power State Transitions; NVM Express Base Specification 2.0c, section 5.27.1.9). States that the drive
    /// does not have, and operational ones, are left out.
    pub fn set_autonomous_transitions(&mut self, now: Nanos, transitions: &[(Nanos, u8)]) {
        let now_ns = now.0.min(super::LAST_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.observe_power(now_ns);
        self.power.set_autonomous(transitions);
        self.review();
    }

    /// The power states that an idle drive enters by itself, by idle time.
    pub fn autonomous_transitions(&self) -> Vec<(Nanos, u8)> {
        self.power.autonomous()
    }

    /// Throttle from these temperatures on, beside what the drive does by itself (Host Controlled Thermal Management; NVM Express Base
    /// Specification 2.0c, section 5.27.1.13).
    pub fn set_host_throttling(&mut self, now: Nanos, throttling: HostThrottling) {
        let now_ns = now.0.min(super::LAST_NS).max(self.now_ns);
        // The heat has to know of the sleep and the work that lie behind it.
        self.start_waiting(now_ns);
        self.keep_house(now_ns);
        self.observe_power(now_ns);
        self.thermal.advance(now_ns);
        self.thermal.set_host(throttling);
    }

    /// How often the host's two throttling temperatures were met, and for how many seconds the drive throttled for each.
    pub fn host_throttling_counts(&self) -> [(u32, u64); 2] {
        self.thermal.host_counts()
    }

    /// How old the media was at power-on.
    pub fn age(&self) -> Age {
        self.age
    }

    /// The first byte that cannot be read until it is written, if any is planned ([`crate::FaultKind::MediaError`]).
    pub fn first_bad_byte(&self) -> Option<u64> {
        self.faults.first_bad()
    }
}
