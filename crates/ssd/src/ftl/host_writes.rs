//! Host writes: buffer slots, durability, the open group, and deferred map updates.

use super::{Ftl, HOST, NONE};
use crate::map::UNMAPPED;

/// Map updates of host data per batch: enough to saturate memory parallelism.
const MAP_UPDATE_BATCH: u32 = 192;

impl Ftl {
    /// Units of host data taken into the write buffer since power-on.
    #[inline]
    pub fn accepted_units(&self) -> u64 {
        self.buffer.accepted_units
    }

    /// Write a unit complete at `ready_ns`; returns when it has a slot, or `None` without flash.
    pub fn write(&mut self, now_ns: u64, unit: u32, arrival_ns: u64, ready_ns: u64) -> Option<u64> {
        let slot = match self.buffer.acquire(arrival_ns) {
            Some(slot) => slot,
            None => {
                self.pad(now_ns);
                self.buffer.acquire(arrival_ns)?
            }
        };
        self.write_points[HOST].slots += 1;
        if self.place(now_ns, unit, slot.max(ready_ns)) {
            Some(slot)
        } else {
            self.write_points[HOST].slots -= 1;
            self.buffer.release(slot, 1);
            None
        }
    }

    /// As many [`Ftl::write`]: when the last has a buffer slot, and whether flash was left for all.
    #[inline]
    pub fn write_run(
        &mut self,
        now_ns: u64,
        first: u32,
        count: u32,
        arrival_ns: u64,
    ) -> (u64, bool) {
        let (mut latest_ns, mut all) = (arrival_ns, true);
        let (mut unit, end) = (first, first + count);
        while unit < end {
            if end - unit > 1
                && let Some((placed, slot_ns)) =
                    self.place_run(now_ns, unit, end - unit, arrival_ns)
            {
                latest_ns = latest_ns.max(slot_ns);
                unit += placed;
                continue;
            }
            match self.write(now_ns, unit, arrival_ns, arrival_ns) {
                Some(slot_ns) => latest_ns = latest_ns.max(slot_ns),
                None => all = false,
            }
            unit += 1;
        }
        (latest_ns, all)
    }

    /// Write as many units as fit to the open group if the buffer will have slots: count, time.
    fn place_run(
        &mut self,
        now_ns: u64,
        first: u32,
        count: u32,
        arrival_ns: u64,
    ) -> Option<(u32, u64)> {
        let (physical, room) = self.next_address(HOST, now_ns)?;
        let count = count.min(room);
        let slot_ns = self.buffer.acquire_run(arrival_ns, u64::from(count))?;
        self.apply_map_updates();
        self.write_points[HOST].slots += u64::from(count);
        self.write_points[HOST].mapped += count;
        self.blocks.place_run(physical, first, count);
        let blocks = &mut self.blocks;
        self.map.set_run(first, count, physical, |old, count| match count {
            1 => blocks.invalidate(old),
            _ => blocks.invalidate_run(old, count, count),
        });
        self.advance_write_point(HOST, now_ns, count, slot_ns);
        Some((count, slot_ns))
    }

    /// Apply the deferred map updates of host data.
    ///
    /// A random write misses the cache twice: map entry, and validity bits of the old address.
    /// Updates are deferred, so that the misses overlap, until there are `MAP_UPDATE_BATCH`, the
    /// superblock is full, or something reads the map, chooses a victim or relocates such a unit.
    #[inline]
    pub fn apply_map_updates(&mut self) {
        if self.write_points[HOST].mapped < self.write_points[HOST].next {
            self.apply_pending();
        }
    }

    #[inline]
    pub(super) fn apply_many_map_updates(&mut self) {
        let write_point = &self.write_points[HOST];
        if self.slc.is_some() || write_point.next - write_point.mapped >= MAP_UPDATE_BATCH {
            self.apply_map_updates();
        }
    }

    /// May be falsely true.
    #[inline]
    pub(super) fn has_pending_update(&self, units: &[u32]) -> bool {
        let write_point = &self.write_points[HOST];
        write_point.mapped < write_point.next && self.pending_updates.may_hold(units)
    }

    #[inline(never)]
    fn apply_pending(&mut self) {
        let write_point = &mut self.write_points[HOST];
        let physical = write_point.superblock << self.shift | write_point.mapped;
        let count = write_point.next - write_point.mapped;
        write_point.mapped = write_point.next;
        let mut units = std::mem::take(&mut self.pending_units);
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
            self.pending_updates.remove(unit);
            let old = self.map.set(unit, physical);
            if old != UNMAPPED {
                self.blocks.invalidate(old);
            }
        }
        self.pending_units = units;
    }

    /// [`Ftl::write`] of a unit that a later write may complete: its group stays open.
    pub fn write_part(
        &mut self,
        now_ns: u64,
        unit: u32,
        arrival_ns: u64,
        ready_ns: u64,
    ) -> Option<u64> {
        self.keeps_open = !self.unit.is_sector();
        let slot_ns = self.write(now_ns, unit, arrival_ns, ready_ns);
        self.keeps_open = false;
        slot_ns
    }

    /// Add data to a unit of the open, unprogrammed group; `false` if `physical` is not in it.
    pub fn complete_in_buffer(&mut self, physical: u32, arrival_ns: u64) -> bool {
        let write_point = &mut self.write_points[HOST];
        let is_open = write_point.superblock != NONE
            && physical.wrapping_sub(write_point.group_start) < write_point.group_units;
        if is_open {
            write_point.ready_ns = write_point.ready_ns.max(arrival_ns);
        }
        is_open
    }

    #[inline]
    fn place(&mut self, now_ns: u64, unit: u32, ready_ns: u64) -> bool {
        let Some((physical, _)) = self.next_address(HOST, now_ns) else {
            return false;
        };
        self.blocks.place_one(physical, unit);
        self.pending_updates.insert(unit);
        self.advance_write_point(HOST, now_ns, 1, ready_ns);
        true
    }

    pub(crate) fn pad(&mut self, now_ns: u64) {
        self.pad_selected(now_ns);
        self.with_waiting(|ftl| ftl.pad_selected(now_ns));
    }

    pub(super) fn pad_selected(&mut self, now_ns: u64) {
        self.apply_map_updates();
        let write_point = &mut self.write_points[HOST];
        let in_group = (write_point.superblock << self.shift)
            .wrapping_add(write_point.next)
            .wrapping_sub(write_point.group_start);
        if write_point.superblock == NONE || in_group == 0 {
            return;
        }
        write_point.next += write_point.group_units - in_group;
        write_point.mapped = write_point.next;
        self.finish_group(HOST, now_ns);
    }
}
