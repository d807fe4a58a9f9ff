//! What a drive does while its host is silent, and where its energy goes.

use super::Drive;
use crate::thermal::Work;

impl Drive {
    /// Live through what an idle drive does by itself up to `now_ns`. Nothing that gets a core by then may still wait for it. To be
    /// called before anything that ends the silence, and by whoever looks: what is done does not depend on who looked and when.
    ///
    /// Nobody waits for the cores meanwhile, and the power governor is for what a host asks for: only the heat is told of it, at the
    /// time when it was done.
    #[inline]
    pub(super) fn keep_house(&mut self, now_ns: u64) {
        if !self.housekeeps {
            return;
        }
        let quiet_since_ns = self.last_submit_ns.max(self.now_ns);
        if self.medium.may_keep_house(quiet_since_ns, now_ns) {
            self.do_chores(quiet_since_ns, now_ns);
        }
    }

    #[inline(never)]
    fn do_chores(&mut self, quiet_since_ns: u64, now_ns: u64) {
        // With commands waiting a drive is not idle, and one that is gone does nothing that anybody could see.
        if !self.present || self.front.next_ns() != u64::MAX {
            return;
        }
        while let Some((from_ns, until_ns)) = self.medium.keep_house(quiet_since_ns, now_ns) {
            self.change_moved(from_ns);
            self.medium.take_firmware_ns();
            self.thermal.works(Work {
                from_ns,
                until_ns,
                energy_nj: self.medium.take_energy_nj(),
            });
        }
    }
}
