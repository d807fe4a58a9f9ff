//! What of the host's data is on flash, for those who pull the plug.

use super::Ftl;

impl Ftl {
    /// Follow from now on which units are on flash ([`Ftl::safe_units`]).
    pub fn track_safety(&mut self) {
        self.buffer.track();
    }

    /// Units of host data taken into the write buffer since power-on.
    #[inline]
    pub fn taken_units(&self) -> u64 {
        self.buffer.taken_units()
    }

    /// How many of them, from the first on without a gap, are on flash at `now_ns`. Calls come in order of time, after
    /// [`Ftl::track_safety`].
    pub fn safe_units(&mut self, now_ns: u64) -> u64 {
        self.buffer.safe_units(now_ns)
    }

    /// The drive starts again after a loss of power: the group that was being gathered is closed as it is.
    pub fn restart(&mut self, now_ns: u64) {
        self.pad(now_ns);
    }
}
