//! Format NVM: erase of all user data.

use assay_units::{Nanos, Op};

use super::Drive;
use crate::data::PAGE_BYTES;

impl Drive {
    /// Erase all user data from `now` on, as Format NVM does; returns the end, or `None` if the drive was
    /// removed. Nothing may be in flight.
    ///
    /// Afterwards the drive behaves as never written. Wear, counters, temperature, power state and time
    /// continue; unreadable media is replaced. Source: NVM Express Base Specification 1.4, section 5.23.
    pub fn purge(&mut self, now: Nanos) -> Option<Nanos> {
        if !self.present {
            return None;
        }
        let now_ns = now.0.min(super::MAX_TIME_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.run_background(now_ns);
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
}
