//! Everything gone at once: the flash translation layer after a Format.

use super::frontier::Frontier;
use super::{Ftl, HOST};

impl Ftl {
    /// Forget everything that was written and erase what it lay on, from `now_ns` on. Returns when the last erase is done.
    ///
    /// Wear goes on from where it was, and so do all counters: what is erased here counts as erased, and nothing is programmed. Data
    /// that waited in the buffer for more to fill a program is dropped, and its slots are free at once; programs that are going on end
    /// first.
    pub fn purge(&mut self, now_ns: u64) -> u64 {
        self.settle();
        let slots = std::mem::take(&mut self.frontiers[HOST].slots);
        self.buffer.release(now_ns, slots);
        for frontier in &mut self.frontiers {
            *frontier = Frontier::closed(frontier.group_units);
        }
        self.map.clear();
        let erased = self.blocks.wipe();
        for _ in 0..erased {
            self.nand.erase(now_ns);
        }
        self.counters.erased_superblocks += u64::from(erased);
        self.free = (0..self.blocks.multi()).collect();
        if let Some(slc) = &mut self.slc {
            slc.empty();
        }
        self.collector.rest();
        self.nand.idle_ns().max(now_ns)
    }
}
