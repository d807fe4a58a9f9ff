//! The SLC cache through which every write goes, see the parent module.

use std::collections::VecDeque;
use std::ops::Range;

use super::{FOLD, Ftl};
use crate::profile::SlcProfile;

/// Ring of SLC superblocks and the fold engines. Times in nanoseconds.
#[derive(Clone, Debug)]
pub(super) struct SlcCache {
    #[cfg(test)]
    first: u32,
    superblock_units: u32,
    free: VecDeque<u32>,
    /// Closed superblocks, oldest first.
    full: VecDeque<u32>,
    /// The superblock being folded and the next unit of it.
    victim: Option<(u32, u32)>,
    /// When each fold engine is free.
    engines: Vec<u64>,
    fold_ns: u64,
    idle_after_ns: u64,
    /// Valid units found in one fold; kept to avoid allocation.
    found: Vec<u32>,
}

impl SlcCache {
    pub(super) fn new(
        profile: &SlcProfile,
        superblocks: Range<u32>,
        superblock_units: u32,
    ) -> SlcCache {
        SlcCache {
            #[cfg(test)]
            first: superblocks.start,
            superblock_units,
            free: superblocks.collect(),
            full: VecDeque::new(),
            victim: None,
            engines: vec![0; usize::from(profile.fold_parallel.value.max(1))],
            fold_ns: profile.fold_ns.value,
            idle_after_ns: profile.idle_fold_after_ns.value,
            found: Vec::new(),
        }
    }

    /// Number of the first SLC superblock.
    #[cfg(test)]
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// This superblock is full.
    pub(super) fn close(&mut self, superblock: u32) {
        self.full.push_back(superblock);
    }

    fn next_engine(&self) -> usize {
        let mut best = 0;
        for engine in 1..self.engines.len() {
            if self.engines[engine] < self.engines[best] {
                best = engine;
            }
        }
        best
    }

    /// When everything handed to the engines is done.
    fn folded_ns(&self) -> u64 {
        self.engines.iter().copied().max().unwrap_or(0)
    }
}

impl Ftl {
    /// Fold as much as a host group of `units` needs when the cache is nearly full; returns when that is done.
    pub(super) fn fold_in_step(&mut self, units: u32, at_ns: u64) -> u64 {
        match &self.slc {
            Some(slc) if slc.free.len() <= 1 => self.fold(units, at_ns),
            _ => 0,
        }
    }

    /// A free SLC superblock, folding until there is one.
    pub(super) fn next_slc(&mut self, at_ns: u64) -> Option<u32> {
        // Folding the whole cache frees one for certain, unless multi-bit flash has run out.
        let mut left = self.blocks.len() * 2;
        loop {
            let slc = self.slc.as_mut()?;
            if let Some(superblock) = slc.free.pop_front() {
                return Some(superblock);
            }
            if left == 0 || (slc.victim.is_none() && slc.full.is_empty()) {
                return None;
            }
            left -= 1;
            let units = slc.superblock_units;
            self.fold(units, at_ns);
        }
    }

    /// Look at `budget` units of the oldest SLC superblock and move the valid ones to multi-bit flash. Returns when it is done.
    fn fold(&mut self, budget: u32, at_ns: u64) -> u64 {
        let mut left = budget;
        while left > 0 {
            let Some(slc) = &mut self.slc else { return 0 };
            let Some((superblock, cursor)) = slc
                .victim
                .take()
                .or_else(|| slc.full.pop_front().map(|superblock| (superblock, 0)))
            else {
                break;
            };
            let mut found = std::mem::take(&mut slc.found);
            found.clear();
            let written = self.blocks.written(superblock);
            let stop = written.min(cursor + left);
            let physical = superblock << self.shift | cursor;
            self.blocks.owners(physical, stop - cursor, &mut found);
            std::hint::black_box(self.map.touch(&found));
            let moved = self.relocate(FOLD, at_ns, &found, at_ns);
            let stuck = moved < found.len();
            self.give_up(physical, stop - cursor, found.len(), moved);
            // When flash has run out, what could not move is looked at again.
            let at = if stuck { cursor } else { stop };
            left -= at - cursor;
            let done = at >= written;
            if done {
                self.erase(superblock, at_ns);
            }
            let Some(slc) = &mut self.slc else { return 0 };
            slc.found = found;
            if done {
                slc.free.push_back(superblock);
            } else {
                slc.victim = Some((superblock, at));
            }
            if stuck {
                break;
            }
        }
        self.slc.as_ref().map_or(0, SlcCache::folded_ns)
    }

    /// A group of folded data is complete: give it to the next engine; returns when it is folded. The dies' other work goes on
    /// meanwhile (folding is suspended for the host).
    pub(super) fn fold_program(&mut self, ready_ns: u64) -> u64 {
        let Some(slc) = &mut self.slc else {
            return ready_ns;
        };
        let engine = slc.next_engine();
        let end_ns = slc.engines[engine].max(ready_ns) + slc.fold_ns;
        slc.engines[engine] = end_ns;
        end_ns
    }

    /// Fold in the time between the host's silence and now.
    pub(super) fn idle_fold(&mut self, quiet_since_ns: u64, now_ns: u64) {
        let group = self.frontiers[FOLD].group_units;
        while let Some(slc) = &self.slc {
            if slc.victim.is_none() && slc.full.is_empty() {
                return;
            }
            let start_ns = slc.engines[slc.next_engine()]
                .max(quiet_since_ns.saturating_add(slc.idle_after_ns));
            if start_ns.saturating_add(slc.fold_ns) > now_ns {
                return;
            }
            self.settle();
            self.fold(group, start_ns);
        }
    }
}
