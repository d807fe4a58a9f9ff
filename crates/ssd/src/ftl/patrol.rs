//! Patrol reads and refresh.
//!
//! An idle drive reads a page of one superblock after the other ([`PERIOD_NS`] for all), and moves
//! the data of one that is due ([`crate::wear`]) to another: charge that was lost, and what reads
//! disturbed, is renewed at the price of a write. Superblocks that the host reads so much that they
//! become due are moved too, in step with the reads, or with writes. Data-centre drives call it
//! background data refresh or read reclaim (Y. Cai et al., "Flash correct-and-refresh", ICCD 2012,
//! for the principle).
//!
//! A new drive patrols too: a visit costs it the sense of one page of one die. Data too young to be
//! due stays where it is.

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
        Patrol {
            next: 0,
            next_ns: 0,
            interval_ns: PERIOD_NS / u64::from(superblocks.max(1)),
        }
    }
}

impl Ftl {
    /// When the next visit is due after idling since `quiet_since_ns`.
    pub(super) fn next_patrol_ns(&self, quiet_since_ns: u64) -> u64 {
        self.patrol.next_ns.max(quiet_since_ns + IDLE_AFTER_NS)
    }

    /// Visit the next superblock that holds data.
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

    /// A superblock was read so often that its error rate may be another.
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
