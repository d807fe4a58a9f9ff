//! Admin commands: Format NVM, power states and other features.

use assay_units::{Nanos, Op};

use super::{Drive, DriveError, MAX_TIME_NS};
use crate::coalescing::CoalescingSetting;
use crate::data::PAGE_BYTES;
use crate::options::Age;
use crate::profile::MAP_UNIT_BYTES;
use crate::thermal::HostThrottling;

impl Drive {
    /// Erase all user data from `now` on, as Format NVM does (NVM Express Base Specification 1.4,
    /// section 5.23); returns the end, or `None` if the drive was removed. Nothing may be in
    /// flight. Wear, counters, temperature, power state and time continue; unreadable media is
    /// replaced.
    pub fn purge(&mut self, now: Nanos) -> Option<Nanos> {
        if !self.present {
            return None;
        }
        let now_ns = self.catch_up(now);
        self.last_submit_ns = now_ns;
        let capacity = self.identity.capacity_bytes;
        self.prefetch.invalidate(0, capacity);
        self.faults.hits_bad_media(Op::Discard, 0, capacity);
        if let Some(journal) = &mut self.journal {
            journal.catch_up();
            journal.drop_range(0, capacity.div_ceil(PAGE_BYTES));
        }
        if let Some(data) = &mut self.data {
            data.discard(0, capacity);
        }
        if let Some(cache) = &mut self.map_cache {
            cache.clear();
        }
        let end_ns = self.medium.purge(now_ns);
        self.power.busy_until(end_ns);
        Some(Nanos(end_ns))
    }

    /// Set Features, Power Management, see [`crate::power`]; an error without such a state.
    pub fn set_power_state(&mut self, now: Nanos, state: u8) -> Result<(), DriveError> {
        let now_ns = self.catch_up(now);
        self.observe_power(now_ns);
        if usize::from(state) != self.power.current {
            if !self.power.set(now_ns, usize::from(state)) {
                return Err(DriveError::PowerState {
                    profile: self.profile.name.clone(),
                    state,
                    last: self.power.states.len() - 1,
                });
            }
            self.last_submit_ns = now_ns;
            self.account_power();
        }
        self.update_fast_path();
        Ok(())
    }

    /// Last operational state selected, to which commands return the drive.
    pub fn working_power_state(&self) -> u8 {
        self.power.working as u8
    }

    /// Hand interrupt coalescing (its setting, if on) over to the caller, before the first command.
    pub fn take_coalescing(&mut self) -> Option<CoalescingSetting> {
        self.coalescer.take().and(self.identity.coalescing)
    }

    /// Set the logical block size; `false` unless a power of two from 512 to [`MAP_UNIT_BYTES`].
    pub fn set_logical_block_bytes(&mut self, bytes: u64) -> bool {
        let fits = bytes.is_power_of_two() && (512..=MAP_UNIT_BYTES).contains(&bytes);
        if fits {
            self.identity.logical_block_bytes = bytes;
        }
        fits
    }

    /// Set autonomous transitions: idle time, state (Base Specification 2.0c, section 5.27.1.9).
    pub fn set_autonomous_transitions(&mut self, now: Nanos, transitions: &[(Nanos, u8)]) {
        let now_ns = now.0.min(MAX_TIME_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.observe_power(now_ns);
        self.power.set_autonomous(transitions);
        self.update_fast_path();
    }

    /// Autonomous power state transitions, by idle time.
    pub fn autonomous_transitions(&self) -> Vec<(Nanos, u8)> {
        self.power.autonomous()
    }

    /// Host Controlled Thermal Management (Base Specification 2.0c, section 5.27.1.13).
    pub fn set_host_throttling(&mut self, now: Nanos, throttling: HostThrottling) {
        let now_ns = now.0.min(MAX_TIME_NS).max(self.now_ns);
        // The thermal model needs earlier power changes and background work first.
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
