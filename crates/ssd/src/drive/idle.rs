use super::Drive;
use crate::thermal::BackgroundWork;

impl Drive {
    /// When a drive in a transition or a non-operational state can take a command.
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

    /// Run the background work due by `now_ns`; call before anything that ends the idle period or
    /// reads state. The result does not depend on when it is called. No command that gets a core by
    /// then may wait. Cores are free and the governor does not apply: only the thermal model
    /// accounts the work.
    #[inline]
    pub(super) fn run_background(&mut self, now_ns: u64) {
        let quiet_since_ns = self.last_submit_ns.max(self.now_ns);
        if self.medium.may_run_background(quiet_since_ns, now_ns) {
            self.run_background_tasks(quiet_since_ns, now_ns);
        }
    }

    #[inline(never)]
    fn run_background_tasks(&mut self, quiet_since_ns: u64, now_ns: u64) {
        // A drive with commands waiting is not idle, and a removed one has no observable state.
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
