//! Power states and interrupt coalescing of the drive: [`crate::power`] and [`crate::coalescing`].

use assay_units::Nanos;

use super::{Drive, DriveError};
use crate::command::Completion;

impl Drive {
    /// Select a power state at `now` (Set Features, Power Management): an operational one with its power limit,
    /// or a non-operational one, which the next command ends. See [`crate::power`].
    ///
    /// # Errors
    /// [`DriveError::PowerState`] when there is none of that number.
    pub fn set_power_state(&mut self, now: Nanos, state: u8) -> Result<(), DriveError> {
        let now_ns = now.0.min(super::MAX_TIME_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.run_background(now_ns);
        self.observe_power(now_ns);
        if usize::from(state) == self.power.current() {
            // No change, and the idle period continues.
            self.update_fast_path();
            return Ok(());
        }
        if !self.power.set(now_ns, usize::from(state)) {
            return Err(DriveError::PowerState {
                profile: self.profile.name.clone(),
                state,
                last: self.power.states().len() - 1,
            });
        }
        self.last_submit_ns = now_ns;
        self.account_power();
        self.update_fast_path();
        Ok(())
    }

    /// Last operational state selected, to which commands return the drive.
    pub fn working_power_state(&self) -> u8 {
        self.power.working() as u8
    }

    /// When a drive in transition or in a non-operational state can take a command arriving at `now_ns`.
    pub(super) fn wake(&mut self, now_ns: u64) -> u64 {
        let waiting = self.front.next_ns() != u64::MAX;
        let ready_ns = self.power.wake(now_ns, waiting);
        self.account_power();
        ready_ns
    }

    pub(super) fn observe_power(&mut self, now_ns: u64) {
        if self.front.next_ns() == u64::MAX {
            self.power.observe(now_ns);
            self.account_power();
        }
    }

    pub(super) fn account_power(&mut self) {
        for change in self.power.take_changes() {
            self.thermal.set_idle_power(change);
        }
    }

    /// Deliver completions up to `until_ns` through the interrupt vectors.
    pub(super) fn advance_coalesced(&mut self, until_ns: u64, out: &mut Vec<Completion>) {
        let Some(coalescer) = &mut self.coalescer else {
            return;
        };
        while let Some((at_ns, number)) = self.completions.pop(until_ns) {
            let sub = self.in_flight.take(number);
            let (queue, entry) = (sub.queue, sub.completion(at_ns));
            coalescer.expire(at_ns, out);
            coalescer.add(queue, entry, out);
        }
        // `until_ns` may be `u64::MAX`, for everything.
        coalescer.expire(until_ns.saturating_add(1), out);
    }
}
