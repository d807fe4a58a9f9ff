//! Features for an NVMe controller around the drive.

use assay_units::Nanos;

use super::Drive;
use crate::coalescing::CoalescingSetting;
use crate::options::Age;
use crate::profile::MAP_UNIT_BYTES;
use crate::thermal::HostThrottling;

impl Drive {
    /// Hand interrupt coalescing over to the caller: completions then appear when their entry is written.
    /// Returns the setting, if on. Call before the first command.
    pub fn take_coalescing(&mut self) -> Option<CoalescingSetting> {
        self.coalescer.take().and(self.identity.coalescing)
    }

    /// Change the logical block size to `bytes`, a power of two from 512 to [`MAP_UNIT_BYTES`], as Format NVM
    /// does (which also erases, see [`Drive::purge`]); `false`, with nothing changed, for any other size.
    pub fn set_logical_block_bytes(&mut self, bytes: u64) -> bool {
        let fits = bytes.is_power_of_two() && (512..=MAP_UNIT_BYTES).contains(&bytes);
        if fits {
            self.identity.logical_block_bytes = bytes;
        }
        fits
    }

    /// Set the autonomous power state transitions from `now` on: idle time and state; none if empty (NVM
    /// Express Base Specification 2.0c, section 5.27.1.9). Unknown and operational states are ignored.
    pub fn set_autonomous_transitions(&mut self, now: Nanos, transitions: &[(Nanos, u8)]) {
        let now_ns = now.0.min(super::MAX_TIME_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.observe_power(now_ns);
        self.power.set_autonomous(transitions);
        self.update_fast_path();
    }

    /// Autonomous power state transitions, by idle time.
    pub fn autonomous_transitions(&self) -> Vec<(Nanos, u8)> {
        self.power.autonomous()
    }

    /// Set the thresholds of Host Controlled Thermal Management (NVM Express Base Specification 2.0c, section
    /// 5.27.1.13).
    pub fn set_host_throttling(&mut self, now: Nanos, throttling: HostThrottling) {
        let now_ns = now.0.min(super::MAX_TIME_NS).max(self.now_ns);
        // The thermal model first needs earlier power changes and background work.
        self.start_waiting(now_ns);
        self.run_background(now_ns);
        self.observe_power(now_ns);
        self.thermal.advance(now_ns);
        self.thermal.set_host(throttling);
    }

    /// Entries into each host controlled throttling level, and seconds in it.
    pub fn host_throttling_counts(&self) -> [(u32, u64); 2] {
        self.thermal.host_counts()
    }

    /// Age of the media at power-on.
    pub fn age(&self) -> Age {
        self.age
    }

    /// First unreadable byte, if any is planned ([`crate::FaultKind::MediaError`]).
    pub fn first_bad_byte(&self) -> Option<u64> {
        self.faults.first_bad()
    }
}
