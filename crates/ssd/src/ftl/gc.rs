//! Greedy garbage collection, see the parent module.

use super::{COLLECT, Ftl, State};

/// The victim being emptied.
#[derive(Clone, Copy, Debug)]
struct Victim {
    superblock: u32,
    /// Next unit to look at.
    cursor: u32,
    /// Valid units when it was chosen: the pace.
    valid: u32,
    /// When the latest data moved out of it is in the controller, in nanoseconds.
    moved_ns: u64,
}

/// State of the garbage collector.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    low: u32,
    victim: Option<Victim>,
    /// Valid units found in one sense; kept to avoid allocation.
    found: Vec<u32>,
}

impl Collector {
    pub(super) fn new(low: u32) -> Collector {
        Collector {
            low,
            victim: None,
            found: Vec::new(),
        }
    }
}

impl Ftl {
    /// After `units` were written: scan as many victim units as make room for as many.
    pub(super) fn collect_in_step(&mut self, units: u32, floor_ns: u64, at_ns: u64) {
        if self.free.len() >= self.collector.low as usize {
            return;
        }
        let Some(victim) = self.victim() else {
            return;
        };
        let total = u64::from(self.superblock_units);
        let gain = total.saturating_sub(u64::from(victim.valid)).max(1);
        // One more, so that rounding never lets the free superblocks dwindle.
        let budget = u64::from(units) * total / gain + 1;
        self.scan(budget.min(total) as u32, floor_ns, at_ns);
    }

    /// Before a superblock is opened for new data: at least two must be free, one for it and one for the collector.
    pub(super) fn collect_until_two_free(&mut self, floor_ns: u64) {
        // Each round empties a victim and gains at least one unit; the bound is never met on a drive with spare area.
        for _ in 0..self.blocks.len() * 4 {
            if self.free.len() >= 2 || self.victim().is_none() {
                return;
            }
            if !self.scan(self.superblock_units, floor_ns, floor_ns) {
                return;
            }
        }
    }

    /// The victim at hand, chosen now if there was none: the closed superblock with the fewest valid units, the first of equals.
    fn victim(&mut self) -> Option<Victim> {
        if self.collector.victim.is_none() {
            let multi = self.multi_superblocks();
            let (superblock, block) = self.blocks[..multi]
                .iter()
                .enumerate()
                .filter(|(_, block)| block.state == State::Closed)
                .min_by_key(|(_, block)| block.valid)?;
            if block.valid >= self.superblock_units {
                return None;
            }
            self.collector.victim = Some(Victim {
                superblock: superblock as u32,
                cursor: 0,
                valid: block.valid,
                moved_ns: 0,
            });
        }
        self.collector.victim
    }

    /// Look at up to `budget` units of the victim and move the valid ones; erases it at its end. `false` when nothing could move.
    fn scan(&mut self, budget: u32, floor_ns: u64, at_ns: u64) -> bool {
        let Some(mut victim) = self.victim() else {
            return false;
        };
        let base = victim.superblock << self.shift;
        let written = self.blocks[victim.superblock as usize].written;
        let mut left = budget;
        while left > 0 && victim.cursor < written {
            let count = self
                .nand
                .units_in_sense(base | victim.cursor, written - victim.cursor);
            let mut found = std::mem::take(&mut self.collector.found);
            found.clear();
            found.extend(
                (victim.cursor..victim.cursor + count)
                    .filter_map(|within| self.valid_owner(victim.superblock, within)),
            );
            if !found.is_empty() {
                let read_ns = self.read(floor_ns, at_ns, base | victim.cursor, found.len() as u32);
                victim.moved_ns = victim.moved_ns.max(read_ns);
                for &unit in &found {
                    if !self.place(COLLECT, floor_ns, unit, read_ns) {
                        self.collector.found = found;
                        return false;
                    }
                }
                self.counters.relocated_units += found.len() as u64;
            }
            self.collector.found = found;
            victim.cursor += count;
            left = left.saturating_sub(count);
        }
        if victim.cursor >= written {
            self.erase(victim.superblock, victim.moved_ns.max(at_ns));
            self.free.push_back(victim.superblock);
            self.collector.victim = None;
        } else {
            self.collector.victim = Some(victim);
        }
        true
    }

    fn multi_superblocks(&self) -> usize {
        self.slc
            .as_ref()
            .map_or(self.blocks.len(), |slc| slc.first() as usize)
    }
}
