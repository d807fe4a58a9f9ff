//! Open superblocks: where the next unit goes, and what happens when a group or a superblock is full.

use super::{COLLECT, FOLD, Ftl, HOST, NONE};
use crate::map::UNMAPPED;

/// An open superblock and the group being gathered in it. Times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frontier {
    pub(super) superblock: u32,
    /// Next unit to be written.
    pub(super) next: u32,
    /// Host data only: the first unit that the map does not know yet, see [`Ftl::settle`].
    pub(super) settled: u32,
    /// Units of this superblock.
    pub(super) limit: u32,
    pub(super) group_units: u32,
    /// Physical address of the open group's start.
    pub(super) group_start: u32,
    /// When the latest data of the open group is in the controller.
    pub(super) ready_ns: u64,
    /// Buffer slots that the open group holds.
    pub(super) slots: u64,
}

impl Frontier {
    pub(super) fn closed(group_units: u32) -> Frontier {
        Frontier {
            superblock: NONE,
            next: 0,
            settled: 0,
            limit: 0,
            group_units,
            group_start: UNMAPPED,
            ready_ns: 0,
            slots: 0,
        }
    }
}

impl Ftl {
    /// Put units into an open superblock that the caller takes from where they are (and says so to `Superblocks` after this).
    /// Returns how many found room.
    #[inline]
    pub(super) fn relocate(
        &mut self,
        which: usize,
        floor_ns: u64,
        units: &[u32],
        ready_ns: u64,
    ) -> usize {
        let mut done = 0;
        while done < units.len() {
            let Some((physical, room)) = self.room(which, floor_ns) else {
                break;
            };
            let part = &units[done..units.len().min(done + room as usize)];
            self.blocks.place(physical, part);
            self.map.move_to(part, physical);
            self.map_pages.note_moved(part);
            self.gathered(which, floor_ns, part.len() as u32, ready_ns);
            done += part.len();
        }
        self.counters.relocated_units += done as u64;
        done
    }

    /// Where the next unit of this kind goes, and how many more until its group is full.
    #[inline(always)]
    pub(super) fn room(&mut self, which: usize, floor_ns: u64) -> Option<(u32, u32)> {
        if self.frontiers[which].next == self.frontiers[which].limit
            && !self.open_next(which, floor_ns)
        {
            return None;
        }
        let frontier = &self.frontiers[which];
        let physical = frontier.superblock << self.shift | frontier.next;
        Some((
            physical,
            frontier.group_start + frontier.group_units - physical,
        ))
    }

    /// `count` units were put where [`Ftl::room`] said.
    #[inline]
    pub(super) fn gathered(&mut self, which: usize, floor_ns: u64, count: u32, ready_ns: u64) {
        let frontier = &mut self.frontiers[which];
        frontier.next += count;
        frontier.ready_ns = frontier.ready_ns.max(ready_ns);
        let written = (frontier.superblock << self.shift) + frontier.next;
        if written - frontier.group_start == frontier.group_units {
            self.finish_group(which, floor_ns);
        }
    }

    /// Close the open superblock of this kind and open another.
    pub(super) fn open_next(&mut self, which: usize, floor_ns: u64) -> bool {
        let full = self.frontiers[which].superblock;
        if full != NONE {
            if which == HOST {
                self.settle();
            }
            self.blocks.close(full);
            if self.blocks.is_slc(full)
                && let Some(slc) = &mut self.slc
            {
                slc.close(full);
            }
            self.frontiers[which].superblock = NONE;
            self.frontiers[which].group_start = UNMAPPED;
        }
        let cached = if which == HOST && self.slc.is_some() {
            self.next_slc(floor_ns)
        } else {
            None
        };
        let opened = cached.or_else(|| {
            if which != COLLECT {
                self.collect_until_two_free(floor_ns);
            }
            self.free.pop_front()
        });
        let Some(superblock) = opened else {
            self.frontiers[which].limit = self.frontiers[which].next;
            return false;
        };
        let shape = self.nand.shape(superblock << self.shift);
        let (units, group_units) = (shape.superblock_units, shape.group_units.divisor());
        self.blocks.open(superblock, units);
        let frontier = &mut self.frontiers[which];
        frontier.group_units = group_units;
        frontier.superblock = superblock;
        frontier.next = 0;
        frontier.settled = 0;
        frontier.limit = units;
        frontier.group_start = superblock << self.shift;
        frontier.ready_ns = 0;
        true
    }

    /// The open group of this kind is complete: program it, and keep house in step.
    pub(super) fn finish_group(&mut self, which: usize, floor_ns: u64) {
        if which == HOST {
            self.settle_many();
        }
        let frontier = self.frontiers[which];
        let in_slc = self.blocks.is_slc(frontier.superblock);
        let mut ready_ns = frontier.ready_ns.max(floor_ns);
        self.counters.programmed_units += u64::from(frontier.group_units);
        self.energy_nj +=
            self.program_page_nj * (u64::from(frontier.group_units) / self.page_units);
        if which == HOST {
            ready_ns = ready_ns.max(self.map_pages.known_ns);
            ready_ns = ready_ns.max(self.fold_in_step(frontier.group_units, ready_ns));
        }
        let end_ns = if which == FOLD {
            self.fold_program(ready_ns)
        } else {
            self.nand.program(floor_ns, ready_ns, frontier.group_start)
        };
        let frontier = &mut self.frontiers[which];
        frontier.group_start += frontier.group_units;
        frontier.ready_ns = 0;
        let slots = std::mem::take(&mut frontier.slots);
        self.blocks.set_written(frontier.superblock, frontier.next);
        self.buffer.release(end_ns, slots);
        if which == FOLD || (which == HOST && !in_slc) {
            self.collect_in_step(self.frontiers[which].group_units, floor_ns, ready_ns);
        }
    }
}
