//! Blocks in slots, least recently used first.

use std::collections::{BTreeMap, BTreeSet};

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Slot {
    block: u64,
    older: u32,
    newer: u32,
    /// Pages of the block that are cached, a bit each.
    valid: u64,
    /// Pages that the disk does not have yet.
    dirty: u64,
    /// Number of the last access, of all accesses.
    last_access: u64,
}

#[derive(Clone, Debug)]
pub struct LruMap {
    slots: Vec<Slot>,
    by_block: BTreeMap<u64, u32>,
    most: u32,
    oldest: u32,
    newest: u32,
    accesses: u64,
    /// With the last access, the least recent first.
    dirty: BTreeSet<(u64, u32)>,
    dirty_pages: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evicted {
    pub block: u64,
    pub slot: u32,
    /// Pages that the disk does not have yet.
    pub dirty: u64,
}

impl LruMap {
    pub fn new(slots: u32) -> LruMap {
        assert!(slots > 0 && slots < NONE, "a cache has slots");
        LruMap {
            slots: Vec::new(),
            by_block: BTreeMap::new(),
            most: slots,
            oldest: NONE,
            newest: NONE,
            accesses: 0,
            dirty: BTreeSet::new(),
            dirty_pages: 0,
        }
    }

    pub fn used(&self) -> u32 {
        self.by_block.len() as u32
    }

    pub fn most(&self) -> u32 {
        self.most
    }

    pub fn dirty_pages(&self) -> u64 {
        self.dirty_pages
    }

    fn unlink(&mut self, at: u32) {
        let Slot { older, newer, .. } = self.slots[at as usize];
        match older {
            NONE => self.oldest = newer,
            _ => self.slots[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.slots[newer as usize].older = older,
        }
    }

    fn link_newest(&mut self, at: u32) {
        self.accesses += 1;
        let slot = &mut self.slots[at as usize];
        let before = std::mem::replace(&mut slot.last_access, self.accesses);
        if slot.dirty != 0 {
            self.dirty.remove(&(before, at));
            self.dirty.insert((self.accesses, at));
        }
        let newest = std::mem::replace(&mut self.newest, at);
        self.slots[at as usize].older = newest;
        self.slots[at as usize].newer = NONE;
        match newest {
            NONE => self.oldest = at,
            _ => self.slots[newest as usize].newer = at,
        }
    }

    /// The slot of a block and its valid pages; it becomes the most recently used.
    pub fn touch(&mut self, block: u64) -> Option<(u32, u64)> {
        let at = *self.by_block.get(&block)?;
        self.unlink(at);
        self.link_newest(at);
        Some((at, self.slots[at as usize].valid))
    }

    /// Give a block a slot, that of the least recently used one where all are in use.
    pub fn insert(&mut self, block: u64) -> (u32, Option<Evicted>) {
        if let Some((slot, _)) = self.touch(block) {
            return (slot, None);
        }
        let (at, evicted) = match (self.slots.len() as u32) < self.most {
            true => {
                let at = self.slots.len() as u32;
                self.slots.push(Slot {
                    block,
                    older: NONE,
                    newer: NONE,
                    valid: 0,
                    dirty: 0,
                    last_access: 0,
                });
                (at, None)
            }
            false => {
                let at = self.oldest;
                self.unlink(at);
                let old = self.slots[at as usize];
                self.by_block.remove(&old.block);
                self.dirty.remove(&(old.last_access, at));
                self.dirty_pages -= u64::from(old.dirty.count_ones());
                let evicted = Evicted { block: old.block, slot: at, dirty: old.dirty };
                (at, Some(evicted))
            }
        };
        let slot = &mut self.slots[at as usize];
        (slot.block, slot.valid, slot.dirty) = (block, 0, 0);
        self.by_block.insert(block, at);
        self.link_newest(at);
        (at, evicted)
    }

    pub fn fill(&mut self, slot: u32, pages: u64) {
        self.slots[slot as usize].valid |= pages;
    }

    pub fn write(&mut self, at: u32, pages: u64) {
        let slot = &mut self.slots[at as usize];
        self.dirty_pages += u64::from((pages & !slot.dirty).count_ones());
        slot.valid |= pages;
        slot.dirty |= pages;
        if slot.dirty != 0 {
            self.dirty.insert((slot.last_access, at));
        }
    }

    /// The least recently used dirty block, which counts as clean from now on.
    pub fn clean_oldest(&mut self) -> Option<Evicted> {
        let (_, at) = self.dirty.pop_first()?;
        let slot = &mut self.slots[at as usize];
        self.dirty_pages -= u64::from(slot.dirty.count_ones());
        Some(Evicted { block: slot.block, slot: at, dirty: std::mem::take(&mut slot.dirty) })
    }
}

#[cfg(test)]
#[path = "../../tests/unit/block_cache/lru.rs"]
mod tests;
