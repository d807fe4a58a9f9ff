//! Commands over a link that lets only so many in, see [`crate::sata`].

use super::Drive;

impl Drive {
    /// [`Drive::start`] over a link with command slots: the core waits for one. Such a link has one queue, so that commands are
    /// admitted in order and nothing else can start meanwhile.
    #[inline(never)]
    pub(super) fn start_in_slot(&mut self, start_ns: u64, number: u32) {
        let start_ns = match &mut self.slots {
            Some(slots) => slots.admit(start_ns),
            None => start_ns,
        };
        self.now_ns = start_ns;
        let part = *self.parts.get(number);
        let (busy_until_ns, done_ns, status) = self.execute(start_ns, number, &part);
        self.front.occupy(busy_until_ns);
        let end_ns = done_ns + self.link.completion_ns;
        if let Some(slots) = &mut self.slots {
            slots.hold(end_ns);
        }
        self.finish(number, &part, end_ns, status);
    }
}
