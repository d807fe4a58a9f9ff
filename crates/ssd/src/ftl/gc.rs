//! Garbage collection; mechanism in the parent module.

use std::collections::VecDeque;

use super::blocks::WORD_UNITS;
use super::{Ftl, GC};
use crate::profile::{GcPace, GcProfile, VictimPolicy};
use crate::sourced::value_or;

/// One of so many victims is chosen to level wear, or to be refreshed while space is needed.
const VICTIMS_PER_LEVELLING: u32 = 8;
/// Units scanned per host unit written while a victim of wear levelling or refresh is emptied.
const LEVELLING_PACE: u64 = 4;
const DEBT_ONE: u64 = 1024;
/// Units whose map entries are loaded into the CPU cache together.
const LOAD_AHEAD_UNITS: u32 = 256;

#[derive(Clone, Copy, Debug)]
struct Victim {
    superblock: u32,
    cursor: u32,
    /// Valid units when it was chosen; sets the pace.
    valid: u32,
    /// When its latest relocated data is in the controller.
    moved_ns: u64,
    /// Chosen for its wear or its error rate, whatever it frees.
    levelling: bool,
    /// First unit whose map entry is not loaded into the CPU cache.
    loaded: u32,
}

#[derive(Clone, Debug, Default)]
pub(super) struct GarbageCollector {
    low: u32,
    pub(super) high: u32,
    active: bool,
    policy: VictimPolicy,
    pace: GcPace,
    surplus_permille: u64,
    unit_ns: u64,
    pub(super) idle_after_ns: Option<u64>,
    wear_gap_erases: Option<u32>,
    victims_since_levelling: u32,
    victims_since_refresh: u32,
    refresh: VecDeque<u32>,
    /// Even pace: scan debt for host writes, in 1024ths of a unit; negative after scanning ahead.
    scan_debt: i64,
    firmware_ns: u64,
    victim: Option<Victim>,
    found: Vec<u32>,
    senses: Vec<(u32, u32)>,
}

impl GarbageCollector {
    pub(super) fn new(low: u32, profile: Option<&GcProfile>) -> GarbageCollector {
        let mut gc = GarbageCollector { low, high: low, ..GarbageCollector::default() };
        if let Some(profile) = profile {
            gc.high = value_or(&profile.high_superblocks, low).max(low);
            gc.policy = value_or(&profile.victim, gc.policy);
            gc.pace = value_or(&profile.pace, gc.pace);
            gc.surplus_permille = value_or(&profile.surplus_permille, 0).into();
            gc.unit_ns = value_or(&profile.unit_ns, 0);
            gc.idle_after_ns = profile.idle_after_ns.as_ref().map(|ns| ns.value);
            gc.wear_gap_erases = profile.wear_gap_erases.as_ref().map(|gap| gap.value);
        }
        gc
    }

    pub(super) fn reset(&mut self) {
        self.victim = None;
        self.active = false;
        self.scan_debt = 0;
        self.refresh.clear();
    }

    pub(super) fn may_refresh(&self) -> bool {
        !self.refresh.is_empty() || self.victim.is_some_and(|victim| victim.levelling)
    }
}

impl Ftl {
    /// Free as many units as were written plus the surplus or, in bursts, up to the high mark.
    pub(super) fn gc_in_step(&mut self, units: u32, now_ns: u64, at_ns: u64) {
        if !self.is_gc_active() {
            self.gc.scan_debt = 0;
            self.refresh_in_step(units * LEVELLING_PACE as u32, now_ns, at_ns);
            return;
        }
        if self.gc.pace == GcPace::Burst {
            // The bound is reached only when nothing is gained any more.
            for _ in 0..self.blocks.len() * 4 {
                if !self.is_gc_active() || !self.scan(self.superblock_units, now_ns, at_ns) {
                    return;
                }
            }
            return;
        }
        let Some(victim) = self.victim() else {
            return;
        };
        let total = u64::from(self.superblock_units);
        let scan_debt = if victim.levelling {
            u64::from(units) * LEVELLING_PACE * DEBT_ONE
        } else {
            // Only levelling picks full victims.
            let gain = total - u64::from(victim.valid);
            let wanted = u64::from(units) * (1000 + self.gc.surplus_permille);
            (wanted * total * DEBT_ONE).div_ceil(gain * 1000)
        };
        // Scans cover whole senses, so the debt is reduced by what was really scanned.
        self.gc.scan_debt += scan_debt as i64;
        let budget = self.gc.scan_debt / DEBT_ONE as i64;
        if budget <= 0 {
            return;
        }
        let written = self.blocks.written[victim.superblock as usize];
        if !self.scan(budget.min(total as i64) as u32, now_ns, at_ns) {
            self.gc.scan_debt = 0;
            return;
        }
        let now_at = match self.gc.victim {
            Some(same) if same.superblock == victim.superblock => same.cursor,
            _ => written,
        };
        self.gc.scan_debt -= i64::from(now_at - victim.cursor) * DEBT_ONE as i64;
    }

    pub(super) fn is_gc_active(&mut self) -> bool {
        let free = self.free.len();
        let gc = &mut self.gc;
        let mark = if gc.active { gc.high } else { gc.low };
        gc.active = free < mark as usize;
        gc.active
    }

    /// Core time of relocations since the last call, in nanoseconds.
    #[inline]
    pub fn take_firmware_ns(&mut self) -> u64 {
        std::mem::take(&mut self.gc.firmware_ns)
    }

    /// Two free superblocks: one for new data and one as destination.
    pub(super) fn gc_until_two_free(&mut self, now_ns: u64) {
        // Each round gains at least a unit, so with over-provisioning the bound is never reached.
        for _ in 0..self.blocks.len() * 4 {
            if self.free.len() >= 2 || self.victim().is_none() {
                return;
            }
            if !self.scan(self.superblock_units, now_ns, now_ns) {
                return;
            }
        }
    }

    fn victim(&mut self) -> Option<Victim> {
        if self.gc.victim.is_none() {
            self.apply_map_updates();
            let worn = self.least_worn().or_else(|| self.refresh_among_victims());
            let superblock = match worn {
                Some(superblock) => superblock,
                None => match self.gc.policy {
                    VictimPolicy::Greedy => self.blocks.victim()?,
                    VictimPolicy::CostBenefit => self.blocks.aged_victim()?,
                },
            };
            self.choose(superblock, worn.is_some());
        }
        self.gc.victim
    }

    fn choose(&mut self, superblock: u32, levelling: bool) {
        self.gc.victim = Some(Victim {
            superblock,
            cursor: 0,
            valid: self.blocks.valid[superblock as usize],
            moved_ns: 0,
            levelling,
            loaded: 0,
        });
    }

    pub(super) fn request_refresh(&mut self, superblock: u32) {
        let is_victim = self.gc.victim.is_some_and(|v| v.superblock == superblock);
        let can_move = self.blocks.is_closed(superblock) && !self.is_read_only();
        if can_move && !is_victim && !self.gc.refresh.contains(&superblock) {
            self.gc.refresh.push_back(superblock);
        }
    }

    /// Move `units` units of the superblock being refreshed; returns whether any moved.
    pub(super) fn refresh_in_step(&mut self, units: u32, now_ns: u64, at_ns: u64) -> bool {
        if !self.gc.may_refresh() || self.free.len() < 2 {
            return false;
        }
        if self.gc.victim.is_none() {
            self.apply_map_updates();
            let Some(superblock) = self.next_refresh() else {
                return false;
            };
            self.choose(superblock, true);
        }
        self.scan(units, now_ns, at_ns)
    }

    fn next_refresh(&mut self) -> Option<u32> {
        while let Some(first) = self.gc.refresh.pop_front() {
            if self.blocks.is_closed(first) && self.nand.wear.is_due(first) {
                return Some(first);
            }
        }
        None
    }

    fn refresh_among_victims(&mut self) -> Option<u32> {
        if self.gc.refresh.is_empty() || self.free.len() < 2 {
            return None;
        }
        self.gc.victims_since_refresh += 1;
        if self.gc.victims_since_refresh < VICTIMS_PER_LEVELLING {
            return None;
        }
        self.gc.victims_since_refresh = 0;
        self.next_refresh()
    }

    fn least_worn(&mut self) -> Option<u32> {
        let gap = self.gc.wear_gap_erases?;
        self.gc.victims_since_levelling += 1;
        if self.gc.victims_since_levelling < VICTIMS_PER_LEVELLING || self.free.len() < 2 {
            return None;
        }
        let superblock = self.blocks.least_worn(gap)?;
        self.gc.victims_since_levelling = 0;
        Some(superblock)
    }

    /// Count valid units of whole senses from `from` on, until `budget` units or `end` are covered.
    #[inline]
    fn read_senses(
        &self,
        from: u32,
        end: u32,
        budget: u32,
        found: &mut Vec<u32>,
        senses: &mut Vec<(u32, u32)>,
    ) -> usize {
        let sense_units = self.nand.sense_units(from);
        let most = (budget + sense_units).min(end - from) as usize;
        if found.len() < most {
            found.resize(most, 0);
        }
        senses.clear();
        let (mut at, mut holds) = (from, 0);
        while at < end && at - from < budget {
            let units = sense_units.min(end - at);
            let valid = self.blocks.valid_units_into(at, units, &mut found[holds..]);
            senses.push((units, valid));
            holds += valid as usize;
            at += units;
        }
        holds
    }

    /// After random writes each entry is a cache miss, and more misses at once overlap better.
    #[inline]
    fn load_map_entries(&self, victim: &mut Victim, scanned: u32) {
        let base = victim.superblock << self.shift;
        let written = self.blocks.written[victim.superblock as usize];
        while victim.loaded < victim.cursor + scanned {
            let end = written.min(victim.loaded + LOAD_AHEAD_UNITS);
            let mut ahead = [0; LOAD_AHEAD_UNITS as usize];
            let mut holds = 0;
            for at in (victim.loaded..end).step_by(WORD_UNITS as usize) {
                let (units, found) = (WORD_UNITS.min(end - at), &mut ahead[holds..]);
                holds += self.blocks.valid_units_into(base + at, units, found) as usize;
            }
            self.map.touch(&ahead[..holds]);
            victim.loaded = end;
        }
    }

    /// Relocate the valid ones of up to `budget` units of the victim; `false` if none could move.
    pub(super) fn scan(&mut self, budget: u32, now_ns: u64, at_ns: u64) -> bool {
        let Some(mut victim) = self.victim() else {
            return false;
        };
        let base = victim.superblock << self.shift;
        let written = self.blocks.written[victim.superblock as usize];
        let mut found = std::mem::take(&mut self.gc.found);
        let mut senses = std::mem::take(&mut self.gc.senses);
        let (from, end) = (base | victim.cursor, base + written);
        let mut holds = self.read_senses(from, end, budget, &mut found, &mut senses);
        if self.has_pending_update(&found[..holds]) {
            self.apply_map_updates();
            holds = self.read_senses(from, end, budget, &mut found, &mut senses);
        }
        let units = &found[..holds];
        let scanned: u32 = senses.iter().map(|&(count, _)| count).sum();
        self.load_map_entries(&mut victim, scanned);
        // Dies are reserved sense by sense; map and validity are updated in one batch.
        let mut moving = Moving::default();
        let mut stuck = None;
        for &(count, valid) in &senses {
            if valid > 0 {
                let physical = base | victim.cursor;
                let sense = self.nand.locate(physical);
                let sectors = valid * self.unit.sectors();
                let read_ns = self.read_sense(now_ns, at_ns, physical, (valid, sectors), sense);
                victim.moved_ns = victim.moved_ns.max(read_ns);
                let moved = self.move_sense(&mut moving, units, valid, now_ns, read_ns);
                if moved < valid {
                    stuck = Some((physical, count, valid, moved));
                    break;
                }
            }
            victim.cursor += count;
        }
        self.note_moving(&moving, units);
        let moved = moving.end as u32;
        self.counters.relocated_units += u64::from(moved);
        let core_ns = self.gc.unit_ns * u64::from(moved);
        self.gc.firmware_ns += core_ns;
        self.energy.firmware(core_ns);
        let moved_of_stuck = stuck.map_or(0, |(_, _, _, moved)| moved);
        let looked_at = base + victim.cursor - from;
        self.blocks.invalidate_run(from, looked_at, moved - moved_of_stuck);
        self.gc.found = found;
        self.gc.senses = senses;
        if let Some((physical, count, valid, moved)) = stuck {
            self.invalidate_moved(physical, count, valid as usize, moved as usize);
            return false;
        }
        if victim.cursor >= written {
            self.erase(victim.superblock, victim.moved_ns.max(at_ns));
            self.add_free(victim.superblock);
            self.gc.victim = None;
        } else {
            self.gc.victim = Some(victim);
        }
        true
    }

    #[inline]
    fn move_sense(
        &mut self,
        moving: &mut Moving,
        units: &[u32],
        count: u32,
        now_ns: u64,
        ready_ns: u64,
    ) -> u32 {
        let mut left = count;
        while left > 0 {
            let Some((physical, room)) = self.next_address(GC, now_ns) else {
                break;
            };
            let part = left.min(room);
            let opened = physical & ((1 << self.shift) - 1) == 0;
            if opened || physical != moving.physical + (moving.end - moving.start) as u32 {
                self.note_moving(moving, units);
                (moving.start, moving.physical) = (moving.end, physical);
            }
            moving.end += part as usize;
            self.advance_write_point(GC, now_ns, part, ready_ns);
            left -= part;
        }
        count - left
    }

    #[inline]
    fn note_moving(&mut self, moving: &Moving, units: &[u32]) {
        let units = &units[moving.start..moving.end];
        if !units.is_empty() {
            self.blocks.place(moving.physical, units);
            self.map.move_to(units, moving.physical);
            self.map_pages.note_moved(units);
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Moving {
    start: usize,
    end: usize,
    physical: u32,
}
