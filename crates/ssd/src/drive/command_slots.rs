//! Command start over a link with native command queuing, see [`crate::sata`].

use super::Drive;

impl Drive {
    /// [`Drive::start`] with command slots: the core waits for one. SATA has one queue, so commands are
    /// admitted in order.
    #[inline(never)]
    pub(super) fn start_in_slot(&mut self, start_ns: u64, number: u32) {
        let start_ns = match &mut self.slots {
            Some(slots) => slots.admit(start_ns),
            None => start_ns,
        };
        self.now_ns = start_ns;
        let sub = *self.in_flight.get(number);
        let (busy_until_ns, done_ns, status) = self.execute(start_ns, number, &sub);
        self.front.occupy(busy_until_ns);
        let end_ns = done_ns + self.link.completion_ns;
        if let Some(slots) = &mut self.slots {
            slots.hold(end_ns);
        }
        self.finish(number, &sub, end_ns, status);
    }
}
