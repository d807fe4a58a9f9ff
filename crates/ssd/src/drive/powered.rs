//! The drive's power states and interrupts: how [`crate::power`] and [`crate::coalescing`] meet its commands.

use assay_units::Nanos;

use super::{Drive, DriveError};
use crate::command::Completion;

impl Drive {
    /// Choose a power state at `now` (NVMe Set Features, Power Management): an operational one with its power limit, or a
    /// non-operational one, which the next command ends. What changes for commands is in [`crate::power`].
    ///
    /// # Errors
    /// [`DriveError::PowerState`] when the drive has none of that number.
    pub fn set_power_state(&mut self, now: Nanos, state: u8) -> Result<(), DriveError> {
        let now_ns = now.0.min(super::LAST_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.keep_house(now_ns);
        self.observe_power(now_ns);
        if usize::from(state) == self.power.current() {
            // Nothing changes, the host's silence included.
            self.review();
            return Ok(());
        }
        if !self.power.set(now_ns, usize::from(state)) {
            return Err(DriveError::PowerState {
                profile: self.profile.name.clone(),
                state,
                last: self.power.states().len().saturating_sub(1),
            });
        }
        self.last_submit_ns = now_ns;
        self.account_power();
        self.review();
        Ok(())
    }

    /// The operational state to which commands bring the drive back: the last that was chosen.
    pub fn working_power_state(&self) -> u8 {
        self.power.working() as u8
    }

    /// A command arrives at `now_ns`: when a drive that sleeps, or changes its power state, can take it.
    pub(super) fn wake(&mut self, now_ns: u64) -> u64 {
        let waiting = self.front.next_ns() != u64::MAX;
        let ready_ns = self.power.wake(now_ns, waiting);
        self.account_power();
        ready_ns
    }

    /// Let an idle drive enter the power states that it enters by itself by `now_ns`.
    pub(super) fn observe_power(&mut self, now_ns: u64) {
        if self.front.next_ns() == u64::MAX {
            self.power.observe(now_ns);
            self.account_power();
        }
    }

    pub(super) fn account_power(&mut self) {
        for change in self.power.take_changes() {
            self.thermal.idles_at(change);
        }
    }

    /// Collect completions up to `until_ns` through the interrupt vectors.
    pub(super) fn advance_coalesced(&mut self, until_ns: u64, out: &mut Vec<Completion>) {
        let Some(coalescer) = &mut self.coalescer else {
            return;
        };
        while let Some((at_ns, number)) = self.finished.pop(until_ns) {
            let part = self.parts.take(number);
            let entry = Completion {
                tag: part.tag,
                at: Nanos(at_ns),
                status: part.status,
                ordinal: part.ordinal,
            };
            coalescer.expire(at_ns, out);
            coalescer.add(part.queue, entry, out);
        }
        coalescer.expire(until_ns.saturating_add(1), out);
    }
}
