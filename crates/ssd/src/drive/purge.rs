//! A Format: everything forgotten, everything erased, nothing else changed.

use assay_units::{Nanos, Op};

use super::Drive;
use crate::data::PAGE_BYTES;

impl Drive {
    /// Forget and erase everything that was written, as NVMe's Format does, beginning at `now`; returns when it is done, or `None` when
    /// the drive is gone ([`Drive::surprise_removal`]). Nothing may be in flight: what is ends as if it had come first.
    ///
    /// After it the drive is as one on which nothing was ever written: reads give zeroes, and writing is as fast as on a fresh drive.
    /// Wear, counters, temperature, power state and time stay; media that could not be read is replaced. Source: NVM Express Base
    /// Specification 1.4, section 5.23 (Format NVM; the erase of all user data).
    pub fn purge(&mut self, now: Nanos) -> Option<Nanos> {
        if !self.present {
            return None;
        }
        let now_ns = now.0.min(super::LAST_NS).max(self.last_submit_ns);
        self.start_waiting(now_ns);
        self.keep_house(now_ns);
        self.last_submit_ns = now_ns;
        let capacity = self.identity.capacity_bytes;
        self.prefetch.invalidate(0, capacity);
        self.faults.meets_bad_media(Op::Discard, 0, capacity);
        if let Some(journal) = &mut self.journal {
            journal.catch_up();
            journal.forget(0, capacity.div_ceil(PAGE_BYTES));
        }
        if let Some(data) = &mut self.data {
            data.discard(0, capacity);
        }
        if let Some(cache) = &mut self.map_cache {
            cache.empty();
        }
        let end_ns = self.medium.purge(now_ns);
        self.power.busy_until(end_ns);
        Some(Nanos(end_ns))
    }
}
