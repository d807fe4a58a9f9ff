//! Durability of host data, for power loss.

use super::Ftl;

impl Ftl {
    /// Track from now on which units are on flash ([`Ftl::durable_units`]).
    pub fn track_durability(&mut self) {
        self.buffer.track();
    }

    /// Units of host data taken into the write buffer since power-on.
    #[inline]
    pub fn accepted_units(&self) -> u64 {
        self.buffer.accepted_units()
    }

    /// How many of them, consecutively from the first, are on flash at `now_ns`. Calls come in order of time,
    /// after [`Ftl::track_durability`].
    pub fn durable_units(&mut self, now_ns: u64) -> u64 {
        self.buffer.durable_units(now_ns)
    }

    /// Restart after a power loss: the open group is closed as it is.
    pub fn restart(&mut self, now_ns: u64) {
        self.pad(now_ns);
    }
}
