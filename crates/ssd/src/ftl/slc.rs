//! SLC cache in front of the multi-bit flash; mechanism in the parent module.

use std::collections::VecDeque;
use std::ops::Range;

use super::{FOLD, Ftl, NONE};
use crate::profile::{SlcOverflow, SlcProfile};
use crate::sourced::value_or;

#[derive(Clone, Debug)]
pub(super) struct SlcCache {
    pub(super) first: u32,
    own: u32,
    superblock_units: u32,
    pub(super) free: VecDeque<u32>,
    /// Superblocks that borrow flash when opened.
    pub(super) bare: Vec<u32>,
    /// Multi-bit superblock whose flash each one borrows, or [`NONE`].
    borrowed: Vec<u32>,
    reserve: usize,
    overflow: SlcOverflow,
    full: VecDeque<u32>,
    retired: u64,
    victim: Option<(u32, u32)>,
    engines: Vec<u64>,
    pub(super) fold_ns: u64,
    idle_after_ns: u64,
    found: Vec<u32>,
}

impl SlcCache {
    /// Superblocks `own` have flash; those up to `end` borrow it while over `reserve` are free.
    pub(super) fn new(
        profile: &SlcProfile,
        own: Range<u32>,
        end: u32,
        superblock_units: u32,
        reserve: u32,
    ) -> SlcCache {
        SlcCache {
            first: own.start,
            own: own.end - own.start,
            superblock_units,
            bare: (own.end..end).rev().collect(),
            borrowed: vec![NONE; (end - own.start) as usize],
            reserve: reserve as usize,
            overflow: value_or(&profile.overflow, SlcOverflow::default()),
            free: own.collect(),
            full: VecDeque::new(),
            retired: 0,
            victim: None,
            engines: vec![0; usize::from(profile.fold_parallel.value.max(1))],
            fold_ns: profile.fold_ns.value,
            idle_after_ns: profile.idle_fold_after_ns.value,
            found: Vec::new(),
        }
    }

    fn take(&mut self, multi: &mut VecDeque<u32>) -> Option<u32> {
        if let Some(superblock) = self.free.pop_front() {
            return Some(superblock);
        }
        if multi.len() <= self.reserve {
            return None;
        }
        let superblock = self.bare.pop()?;
        self.borrowed[(superblock - self.first) as usize] = multi.pop_front()?;
        Some(superblock)
    }

    pub(super) fn lender_of(&self, superblock: u32) -> Option<u32> {
        let index = superblock.checked_sub(self.first)?;
        let lender = self.borrowed[index as usize];
        (lender != NONE).then_some(lender)
    }

    /// `false` if the erased superblock goes out of use in place of the `lost` ones.
    fn release(&mut self, superblock: u32, multi: &mut VecDeque<u32>, lost: u64) -> bool {
        let lender =
            std::mem::replace(&mut self.borrowed[(superblock - self.first) as usize], NONE);
        if lender != NONE {
            self.bare.push(superblock);
            multi.push_back(lender);
        } else if self.retired < lost {
            self.retired += 1;
            return false;
        } else {
            self.free.push_back(superblock);
        }
        true
    }

    pub(super) fn idle_span_ns(&self) -> u64 {
        self.idle_after_ns + self.fold_ns
    }

    #[inline]
    pub(super) fn may_fold(&self, quiet_since_ns: u64, now_ns: u64) -> bool {
        quiet_since_ns + self.idle_span_ns() <= now_ns
    }

    pub(super) fn idle_fold_ns(&self, quiet_since_ns: u64) -> u64 {
        self.engines[self.next_engine()].max(quiet_since_ns + self.idle_after_ns)
    }

    /// Changes with every fold that moves data.
    pub(super) fn progress(&self) -> (usize, Option<(u32, u32)>) {
        (self.full.len(), self.victim)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.victim.is_none() && self.full.is_empty()
    }

    /// Whether folding must precede writes; with direct overflow only to return borrowed flash.
    fn is_pressed(&self, multi_free: usize) -> bool {
        match self.overflow {
            SlcOverflow::Fold => {
                self.free.len() <= 1 && (self.bare.is_empty() || multi_free <= self.reserve)
            }
            SlcOverflow::Direct => {
                multi_free < self.reserve && self.borrowed.iter().any(|&lender| lender != NONE)
            }
        }
    }

    pub(super) fn close(&mut self, superblock: u32) {
        self.full.push_back(superblock);
    }

    /// Reset after a purge. Retired superblocks stay so; folds under way end as scheduled.
    pub(super) fn empty(&mut self, is_retired: impl Fn(u32) -> bool) {
        let superblocks = self.first..self.first + self.borrowed.len() as u32;
        self.borrowed.fill(NONE);
        self.bare = (self.first + self.own..superblocks.end).rev().collect();
        let own = self.first..self.first + self.own;
        self.free = { own }.filter(|&superblock| !is_retired(superblock)).collect();
        self.full.clear();
        self.victim = None;
    }

    fn next_engine(&self) -> usize {
        let first = (0..self.engines.len()).min_by_key(|&engine| self.engines[engine]);
        first.unwrap_or(0)
    }

    fn folded_ns(&self) -> u64 {
        self.engines.iter().copied().max().unwrap_or(0)
    }
}

impl Ftl {
    /// Fold as much as a host group needs when the cache is nearly full; returns the end.
    pub(super) fn fold_in_step(&mut self, units: u32, at_ns: u64) -> u64 {
        match &self.slc {
            Some(slc) if slc.is_pressed(self.free.len()) => self.fold(units, at_ns),
            _ => 0,
        }
    }

    /// A free SLC superblock, folding for it; `None`: write to multi-bit flash directly.
    pub(super) fn next_slc(&mut self, at_ns: u64) -> Option<u32> {
        // Folding the whole cache frees one unless multi-bit flash has run out.
        let mut left = self.blocks.len() * 2;
        loop {
            let slc = self.slc.as_mut()?;
            if let Some(superblock) = slc.take(&mut self.free) {
                return Some(superblock);
            }
            if left == 0 || slc.is_empty() || slc.overflow == SlcOverflow::Direct {
                return None;
            }
            left -= 1;
            let units = slc.superblock_units;
            self.fold(units, at_ns);
        }
    }

    pub(super) fn fold(&mut self, budget: u32, at_ns: u64) -> u64 {
        let mut left = budget;
        while left > 0 {
            let Some(slc) = &mut self.slc else { return 0 };
            let oldest = || slc.full.pop_front().map(|superblock| (superblock, 0));
            let Some((superblock, cursor)) = slc.victim.take().or_else(oldest) else {
                break;
            };
            let mut found = std::mem::take(&mut slc.found);
            found.clear();
            let written = self.blocks.written[superblock as usize];
            let stop = written.min(cursor + left);
            let physical = superblock << self.shift | cursor;
            self.blocks.valid_units(physical, stop - cursor, &mut found);
            // Consecutive map entries share cache lines anyway.
            let ends = found.first().zip(found.last());
            let span = ends.map_or(0, |(first, last)| last.wrapping_sub(*first));
            if span as usize >= found.len() {
                self.map.touch(&found);
            }
            let valid = found.len() as u32;
            let sectors = self.unit.sectors();
            let scanned = stop - cursor;
            let pages = self.nand.pages_touched(physical, scanned, scanned * sectors);
            let senses = (stop - cursor).div_ceil(self.nand.sense_units(physical));
            let moved_sectors = valid * sectors;
            self.energy.read(senses.min(valid), pages.min(moved_sectors), moved_sectors);
            let moved = self.relocate(FOLD, at_ns, &found, at_ns);
            let stuck = moved < found.len();
            self.invalidate_moved(physical, stop - cursor, found.len(), moved);
            // Out of flash: units that could not move are scanned again.
            let at = if stuck { cursor } else { stop };
            left -= at - cursor;
            let done = at >= written;
            if done {
                self.erase(superblock, at_ns);
            }
            let Some(slc) = &mut self.slc else { return 0 };
            slc.found = found;
            if done {
                let lost = self.nand.wear.lost_slc_superblocks();
                if !slc.release(superblock, &mut self.free, lost) {
                    self.blocks.retire(superblock);
                }
            } else {
                slc.victim = Some((superblock, at));
            }
            if stuck {
                break;
            }
        }
        self.slc.as_ref().map_or(0, SlcCache::folded_ns)
    }

    pub(super) fn fold_program(&mut self, ready_ns: u64) -> u64 {
        let Some(slc) = &mut self.slc else {
            return ready_ns;
        };
        let engine = slc.next_engine();
        let end_ns = slc.engines[engine].max(ready_ns) + slc.fold_ns;
        slc.engines[engine] = end_ns;
        end_ns
    }
}
