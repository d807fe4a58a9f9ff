use super::{FOLD, Ftl, GC, HOST, NONE};
use crate::map::UNMAPPED;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WritePoint {
    pub(super) superblock: u32,
    pub(super) next: u32,
    /// First unit of host data without a map update, see [`Ftl::apply_map_updates`].
    pub(super) mapped: u32,
    pub(super) limit: u32,
    pub(super) group_units: u32,
    pub(super) group_start: u32,
    /// When the group's latest data is in the controller.
    pub(super) ready_ns: u64,
    pub(super) slots: u64,
}

impl WritePoint {
    pub(super) fn closed(group_units: u32) -> WritePoint {
        WritePoint { superblock: NONE, group_units, group_start: UNMAPPED, ..WritePoint::default() }
    }
}

impl Ftl {
    /// Write relocated units; the caller invalidates the old addresses. Returns how many fitted.
    #[inline]
    pub(super) fn relocate(
        &mut self,
        which: usize,
        now_ns: u64,
        units: &[u32],
        ready_ns: u64,
    ) -> usize {
        let mut done = 0;
        while done < units.len() {
            let Some((physical, room)) = self.next_address(which, now_ns) else {
                break;
            };
            let part = &units[done..units.len().min(done + room as usize)];
            self.blocks.place(physical, part);
            self.map.move_to(part, physical);
            self.map_pages.note_moved(part);
            self.advance_write_point(which, now_ns, part.len() as u32, ready_ns);
            done += part.len();
        }
        self.counters.relocated_units += done as u64;
        done
    }

    #[inline(always)]
    pub(super) fn next_address(&mut self, which: usize, now_ns: u64) -> Option<(u32, u32)> {
        if which == HOST && self.is_full_open {
            self.finish_group(HOST, now_ns);
        }
        if self.write_points[which].next == self.write_points[which].limit
            && !self.open_next(which, now_ns)
        {
            return None;
        }
        let write_point = &self.write_points[which];
        let physical = write_point.superblock << self.shift | write_point.next;
        let room = write_point.group_start + write_point.group_units - physical;
        Some((physical, room))
    }

    #[inline]
    pub(super) fn advance_write_point(
        &mut self,
        which: usize,
        now_ns: u64,
        count: u32,
        ready_ns: u64,
    ) {
        let write_point = &mut self.write_points[which];
        write_point.next += count;
        write_point.ready_ns = write_point.ready_ns.max(ready_ns);
        let written = (write_point.superblock << self.shift) + write_point.next;
        if written - write_point.group_start == write_point.group_units {
            if which == HOST && self.keeps_open {
                self.is_full_open = true;
                return;
            }
            self.finish_group(which, now_ns);
        }
    }

    pub(super) fn open_next(&mut self, which: usize, now_ns: u64) -> bool {
        let full = self.write_points[which].superblock;
        if full != NONE {
            if which == HOST {
                self.apply_map_updates();
            }
            self.blocks.close(full);
            if let Some(slc) = self.slc.as_mut().filter(|_| full >= self.blocks.multi) {
                slc.close(full);
            }
            self.write_points[which].superblock = NONE;
            self.write_points[which].group_start = UNMAPPED;
        }
        if which == HOST && self.is_read_only() {
            self.write_points[which].limit = self.write_points[which].next;
            return false;
        }
        let cached = (which == HOST).then(|| self.next_slc(now_ns)).flatten();
        let opened = cached.or_else(|| {
            if which != GC {
                self.gc_until_two_free(now_ns);
            }
            self.free.pop_front()
        });
        let Some(superblock) = opened else {
            self.write_points[which].limit = self.write_points[which].next;
            return false;
        };
        let geometry = self.nand.geometry(superblock << self.shift);
        let (units, group_units) = (geometry.superblock_units, geometry.group_units.divisor);
        self.blocks.open(superblock, units);
        self.nand.wear.open(superblock, now_ns);
        self.write_points[which] = WritePoint {
            superblock,
            limit: units,
            group_start: superblock << self.shift,
            slots: self.write_points[which].slots,
            ..WritePoint::closed(group_units)
        };
        true
    }

    pub(super) fn finish_group(&mut self, which: usize, now_ns: u64) {
        if which == HOST {
            self.is_full_open = false;
            self.apply_many_map_updates();
        }
        let write_point = self.write_points[which];
        let in_slc = self.blocks.is_slc(write_point.superblock);
        let mut ready_ns = write_point.ready_ns.max(now_ns);
        self.counters.programmed_units += u64::from(write_point.group_units);
        let sectors = write_point.group_units * self.unit.sectors();
        self.energy.program(u64::from(sectors));
        if which == HOST {
            ready_ns = ready_ns.max(self.map_pages.known_ns);
            ready_ns = ready_ns.max(self.fold_in_step(write_point.group_units, ready_ns));
        }
        let end_ns = if which == FOLD {
            self.fold_program(ready_ns)
        } else {
            self.nand.program(now_ns, ready_ns, write_point.group_start)
        };
        let write_point = &mut self.write_points[which];
        write_point.group_start += write_point.group_units;
        write_point.ready_ns = 0;
        let slots = std::mem::take(&mut write_point.slots);
        self.blocks.written[write_point.superblock as usize] = write_point.next;
        self.buffer.release(end_ns, slots);
        if which == FOLD || (which == HOST && !in_slc) {
            self.gc_in_step(self.write_points[which].group_units, now_ns, ready_ns);
        }
    }
}
