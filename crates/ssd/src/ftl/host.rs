//! Host data on its way into flash: buffer slots, the open group, and when the map learns of it.

use super::{Ftl, HOST, NONE};
use crate::map::UNMAPPED;

/// So many units of host data go to the map together: enough that what memory can fetch at once is what sets the pace.
const SETTLED_TOGETHER: u32 = 64;

impl Ftl {
    /// Write one unit of host data that arrives at `arrival_ns` and is complete at `ready_ns` (later when old data must be read
    /// and merged). Returns when it has a buffer slot, or `None` when the drive has no flash left to write to.
    pub fn write(
        &mut self,
        floor_ns: u64,
        unit: u32,
        arrival_ns: u64,
        ready_ns: u64,
    ) -> Option<u64> {
        let slot = match self.buffer.acquire(arrival_ns) {
            Some(slot) => slot,
            None => {
                self.pad(floor_ns);
                self.buffer.acquire(arrival_ns)?
            }
        };
        self.frontiers[HOST].slots += 1;
        if self.place(floor_ns, unit, slot.max(ready_ns)) {
            Some(slot)
        } else {
            self.frontiers[HOST].slots -= 1;
            self.buffer.release(slot, 1);
            None
        }
    }

    /// Write `count` whole units from `first` on, as [`Ftl::write`] would one by one. Returns when the last has a buffer slot,
    /// and whether the drive had flash left for all.
    #[inline]
    pub fn write_run(
        &mut self,
        floor_ns: u64,
        first: u32,
        count: u32,
        arrival_ns: u64,
    ) -> (u64, bool) {
        let (mut latest_ns, mut all) = (arrival_ns, true);
        let (mut unit, end) = (first, first + count);
        while unit < end {
            if end - unit > 1
                && let Some((placed, slot_ns)) =
                    self.place_run(floor_ns, unit, end - unit, arrival_ns)
            {
                latest_ns = latest_ns.max(slot_ns);
                unit += placed;
                continue;
            }
            match self.write(floor_ns, unit, arrival_ns, arrival_ns) {
                Some(slot_ns) => latest_ns = latest_ns.max(slot_ns),
                None => all = false,
            }
            unit += 1;
        }
        (latest_ns, all)
    }

    /// Put units of host data into the open group, as many as fit, if the buffer has slots for all of them or will have. Returns
    /// how many, and when they have their slots.
    fn place_run(
        &mut self,
        floor_ns: u64,
        first: u32,
        count: u32,
        arrival_ns: u64,
    ) -> Option<(u32, u64)> {
        let (physical, room) = self.room(HOST, floor_ns)?;
        let count = count.min(room);
        let slot_ns = self.buffer.acquire_run(arrival_ns, u64::from(count))?;
        self.settle();
        self.frontiers[HOST].slots += u64::from(count);
        self.frontiers[HOST].settled += count;
        self.blocks.place_run(physical, first, count);
        let blocks = &mut self.blocks;
        self.map
            .set_run(first, count, physical, |old, count| match count {
                1 => blocks.invalidate(old),
                _ => blocks.invalidate_run(old, count, count),
            });
        self.gathered(HOST, floor_ns, count, slot_ns);
        Some((count, slot_ns))
    }

    /// Let the map know the host data gathered since the last time.
    ///
    /// A random write needs two cache lines from memory that nobody has asked for yet: the unit's map entry, and from that the bits
    /// of its old place. Nothing else about the write depends on them, so they wait until there are `SETTLED_TOGETHER` or the
    /// superblock is full, or until anything wants to read the map, to choose a victim, or to move a unit that is among them; then
    /// memory is asked for all of them at once.
    #[inline]
    pub fn settle(&mut self) {
        if self.frontiers[HOST].settled < self.frontiers[HOST].next {
            self.settle_gathered();
        }
    }

    /// At the end of a group: is it worth the wait, or are there more to come?
    #[inline]
    pub(super) fn settle_many(&mut self) {
        let frontier = &self.frontiers[HOST];
        if self.slc.is_some() || frontier.next - frontier.settled >= SETTLED_TOGETHER {
            self.settle();
        }
    }

    /// Might the map not know yet that one of these units, found where it says, was written since?
    #[inline]
    pub(super) fn is_unsettled(&self, units: &[u32]) -> bool {
        let frontier = &self.frontiers[HOST];
        frontier.settled < frontier.next && self.unsettled.may_hold(units)
    }

    #[inline(never)]
    fn settle_gathered(&mut self) {
        let frontier = &mut self.frontiers[HOST];
        let physical = frontier.superblock << self.shift | frontier.settled;
        let count = frontier.next - frontier.settled;
        frontier.settled = frontier.next;
        let mut units = std::mem::take(&mut self.gathered);
        units.clear();
        units.extend_from_slice(self.blocks.listed(physical, count));
        if count > 1 {
            let olds = units.iter().map(|&unit| self.map.get(unit));
            self.olds.clear();
            self.olds.extend(olds);
            let bits = self.olds.iter().map(|&old| self.blocks.touch(old));
            std::hint::black_box(bits.fold(0, |sum, bits| sum ^ bits));
        }
        for (&unit, physical) in units.iter().zip(physical..) {
            self.unsettled.remove(unit);
            let old = self.map.set(unit, physical);
            if old != UNMAPPED {
                self.blocks.invalidate(old);
            }
        }
        self.gathered = units;
    }

    /// Put a unit of host data into the open superblock. `false` when there is none to be had.
    #[inline]
    fn place(&mut self, floor_ns: u64, unit: u32, ready_ns: u64) -> bool {
        let Some((physical, _)) = self.room(HOST, floor_ns) else {
            return false;
        };
        self.blocks.place_one(physical, unit);
        self.unsettled.insert(unit);
        self.gathered(HOST, floor_ns, 1, ready_ns);
        true
    }

    /// Program the open group of host data, padded.
    pub(super) fn pad(&mut self, floor_ns: u64) {
        self.settle();
        let frontier = &mut self.frontiers[HOST];
        let gathered = (frontier.superblock << self.shift)
            .wrapping_add(frontier.next)
            .wrapping_sub(frontier.group_start);
        if frontier.superblock == NONE || gathered == 0 {
            return;
        }
        frontier.next += frontier.group_units - gathered;
        frontier.settled = frontier.next;
        self.finish_group(HOST, floor_ns);
    }
}
