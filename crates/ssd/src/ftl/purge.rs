//! Erase of all user data (NVMe Format).

use super::write_point::WritePoint;
use super::{Ftl, HOST};

impl Ftl {
    /// Unmap and erase everything from `now_ns` on. Returns when the last erase is done.
    ///
    /// Wear and counters continue; erases here count. Buffered data of an incomplete group is dropped and its
    /// slots are free at once; programs under way end first.
    pub fn purge(&mut self, now_ns: u64) -> u64 {
        self.apply_map_updates();
        let slots = std::mem::take(&mut self.write_points[HOST].slots);
        self.buffer.release(now_ns, slots);
        for write_point in &mut self.write_points {
            *write_point = WritePoint::closed(write_point.group_units);
        }
        self.map.clear();
        let erased = self.blocks.erase_all();
        for _ in 0..erased {
            self.nand.erase(now_ns);
        }
        self.counters.erased_superblocks += u64::from(erased);
        self.free = (0..self.blocks.multi()).collect();
        if let Some(slc) = &mut self.slc {
            slc.empty();
        }
        self.gc.reset();
        self.nand.idle_ns().max(now_ns)
    }
}
