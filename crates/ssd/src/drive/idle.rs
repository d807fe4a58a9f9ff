//! Idle drive: power states and background work.

use super::Drive;
use crate::thermal::BackgroundWork;

impl Drive {
    /// When a drive in transition or in a non-operational state can take a command arriving at
    /// `now_ns`.
    pub(super) fn wake(&mut self, now_ns: u64) -> u64 {
        let waiting = self.front.next_ns != u64::MAX;
        let ready_ns = self.power.wake(now_ns, waiting);
        self.account_power();
        ready_ns
    }

    pub(super) fn observe_power(&mut self, now_ns: u64) {
        if self.front.next_ns == u64::MAX {
            self.power.observe(now_ns);
            self.account_power();
        }
    }

    pub(super) fn account_power(&mut self) {
        for change in self.power.take_changes() {
            self.thermal.set_idle_power(change);
        }
    }

    /// Run the background work due by `now_ns`. No command that gets a core by then may still wait.
    /// Call before anything that ends the idle period or reads state; the result does not depend on
    /// when it is called.
    ///
    /// Cores are free meanwhile and the governor does not apply: only the thermal model accounts
    /// the work, at its time.
    #[inline]
    pub(super) fn run_background(&mut self, now_ns: u64) {
        let quiet_since_ns = self.last_submit_ns.max(self.now_ns);
        if self.medium.may_run_background(quiet_since_ns, now_ns) {
            self.run_background_tasks(quiet_since_ns, now_ns);
        }
    }

    #[inline(never)]
    fn run_background_tasks(&mut self, quiet_since_ns: u64, now_ns: u64) {
        // Not idle with commands waiting; a removed drive has no observable state.
        if !self.present || self.front.next_ns != u64::MAX {
            return;
        }
        while let Some((from_ns, until_ns)) = self.medium.run_background(quiet_since_ns, now_ns) {
            self.update_moved_pages(from_ns);
            self.medium.take_firmware_ns();
            self.thermal.add_background_work(BackgroundWork {
                from_ns,
                until_ns,
                energy: self.medium.take_energy(),
            });
        }
    }
}
