//! Patrol reads and refresh.
//!
//! An idle drive reads a page of one superblock after the other ([`PERIOD_NS`] for all), and
//! rewrites the data of one that is due ([`crate::wear`]), which undoes charge loss and read
//! disturb (Y. Cai et al., "Flash correct-and-refresh", ICCD 2012). Superblocks that become due by
//! host reads are rewritten in step with reads or writes. A new drive patrols too, at the cost of
//! one sense per visit.

use super::Ftl;

/// Time in which every superblock is visited once, in nanoseconds; assumed: a day.
const PERIOD_NS: u64 = 86_400_000_000_000;
/// Idle time before patrol and refresh, in nanoseconds; assumed.
pub(super) const IDLE_AFTER_NS: u64 = 1_000_000_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Patrol {
    next: u32,
    next_ns: u64,
    interval_ns: u64,
}

impl Patrol {
    pub(super) fn new(superblocks: u32) -> Patrol {
        Patrol { next: 0, next_ns: 0, interval_ns: PERIOD_NS / u64::from(superblocks.max(1)) }
    }
}

impl Ftl {
    pub(super) fn next_patrol_ns(&self, quiet_since_ns: u64) -> u64 {
        self.patrol.next_ns.max(quiet_since_ns + IDLE_AFTER_NS)
    }

    pub(super) fn visit(&mut self, at_ns: u64) {
        self.patrol.next_ns = at_ns + self.patrol.interval_ns;
        let multi = self.blocks.multi;
        let following = (0..multi).map(|n| (self.patrol.next + n) % multi);
        let Some(superblock) = { following }.find(|&s| self.blocks.is_closed(s)) else {
            return;
        };
        self.patrol.next = (superblock + 1) % multi;
        let physical = superblock << self.shift;
        let sense = self.nand.locate(physical);
        let units = self.nand.sense_units(physical);
        let sectors = units * self.unit.sectors();
        self.read_sense(at_ns, at_ns, physical, (units, sectors), sense);
        if self.nand.wear.examine(superblock, at_ns) {
            self.request_refresh(superblock);
        }
    }

    /// Called when reads may have moved a superblock's error rate to another row.
    #[cold]
    #[inline(never)]
    pub(super) fn examine_read(&mut self, superblock: u32, now_ns: u64, at_ns: u64) {
        if self.nand.wear.examine(superblock, at_ns) {
            self.request_refresh(superblock);
            self.refresh_in_step(self.write_points[super::GC].group_units, now_ns, at_ns);
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/ftl/patrol.rs"]
mod tests;
