//! LRU and CLOCK page cache, (amortised) constant time per access.

use crate::profile::Replacement;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Evicted {
    pub(super) page: u32,
    pub(super) dirty: bool,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    page: u32,
    older: u32,
    newer: u32,
    /// When the page is present, in nanoseconds.
    ready_ns: u64,
    dirty: bool,
    used: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Pages {
    policy: Replacement,
    capacity: usize,
    slot_of: Vec<u32>,
    slots: Vec<Slot>,
    oldest: u32,
    newest: u32,
    hand: usize,
}

impl Pages {
    pub(super) fn new(policy: Replacement, capacity: u64, pages: u32) -> Pages {
        let capacity = capacity.clamp(1, u64::from(pages.max(1))) as usize;
        Pages {
            policy,
            capacity,
            slot_of: vec![NONE; pages as usize],
            slots: Vec::new(),
            oldest: NONE,
            newest: NONE,
            hand: 0,
        }
    }

    /// Returns when the page is present, if cached. `change` makes it dirty.
    #[inline]
    pub(super) fn touch(&mut self, page: u32, change: bool) -> Option<u64> {
        let slot = self.slot_of[page as usize];
        if slot == NONE {
            return None;
        }
        if self.policy == Replacement::Lru && slot != self.newest {
            self.unlink(slot);
            self.append(slot);
        }
        let held = &mut self.slots[slot as usize];
        held.used = true;
        held.dirty |= change;
        Some(held.ready_ns)
    }

    pub(super) fn insert(&mut self, page: u32, ready_ns: u64, dirty: bool) -> Option<Evicted> {
        let held = Slot { page, older: NONE, newer: NONE, ready_ns, dirty, used: true };
        let (slot, evicted) = if self.slots.len() < self.capacity {
            self.slots.push(held);
            ((self.slots.len() - 1) as u32, None)
        } else {
            let slot = self.victim();
            let Slot { page, dirty, .. } = std::mem::replace(&mut self.slots[slot as usize], held);
            self.slot_of[page as usize] = NONE;
            (slot, Some(Evicted { page, dirty }))
        };
        self.slot_of[page as usize] = slot;
        if self.policy == Replacement::Lru {
            self.append(slot);
        }
        evicted
    }

    /// Forget all pages and hold at most `capacity` (at least 1); returns the dirty ones in order.
    pub(super) fn resize(&mut self, capacity: u64) -> Vec<u32> {
        let dirty = self.slots.iter().filter(|held| held.dirty);
        let mut dirty: Vec<u32> = dirty.map(|held| held.page).collect();
        dirty.sort_unstable();
        self.clear();
        self.capacity = capacity.clamp(1, (self.slot_of.len() as u64).max(1)) as usize;
        dirty
    }

    pub(super) fn clean(&mut self, page: u32) {
        if let Some(held) = self.slots.get_mut(self.slot_of[page as usize] as usize) {
            held.dirty = false;
        }
    }

    pub(super) fn clear(&mut self) {
        for held in self.slots.drain(..) {
            self.slot_of[held.page as usize] = NONE;
        }
        (self.oldest, self.newest, self.hand) = (NONE, NONE, 0);
    }

    pub(super) fn resident_bytes(&self) -> u64 {
        self.slot_of.len() as u64 * 4 + (self.slots.len() * size_of::<Slot>()) as u64
    }

    fn victim(&mut self) -> u32 {
        if self.policy == Replacement::Lru {
            let slot = self.oldest;
            self.unlink(slot);
            return slot;
        }
        loop {
            let slot = self.hand;
            self.hand = (slot + 1) % self.slots.len();
            if !std::mem::take(&mut self.slots[slot].used) {
                return slot as u32;
            }
        }
    }

    fn unlink(&mut self, slot: u32) {
        let Slot { older, newer, .. } = self.slots[slot as usize];
        match self.slots.get_mut(older as usize) {
            Some(held) => held.newer = newer,
            None => self.oldest = newer,
        }
        match self.slots.get_mut(newer as usize) {
            Some(held) => held.older = older,
            None => self.newest = older,
        }
    }

    fn append(&mut self, slot: u32) {
        let newest = std::mem::replace(&mut self.newest, slot);
        match self.slots.get_mut(newest as usize) {
            Some(held) => held.newer = slot,
            None => self.oldest = slot,
        }
        let held = &mut self.slots[slot as usize];
        (held.older, held.newer) = (newest, NONE);
    }
}

#[cfg(test)]
#[path = "../../tests/unit/map_cache/pages.rs"]
mod tests;
