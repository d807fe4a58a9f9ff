//! Greedy garbage collection, see the parent module.

use super::{COLLECT, Ftl};

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
    /// Valid units found in one scan, and for each sense how many units it holds and how many of them were found; kept to avoid
    /// allocation.
    found: Vec<u32>,
    senses: Vec<(u32, u32)>,
}

impl Collector {
    pub(super) fn new(low: u32) -> Collector {
        Collector {
            low,
            victim: None,
            found: Vec::new(),
            senses: Vec::new(),
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
            let superblock = self.blocks.victim()?;
            self.collector.victim = Some(Victim {
                superblock,
                cursor: 0,
                valid: self.blocks.valid(superblock),
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
        let written = self.blocks.written(victim.superblock);
        // Look first, at everything within the budget, and have memory fetch all of it at once; then move.
        let mut found = std::mem::take(&mut self.collector.found);
        let mut senses = std::mem::take(&mut self.collector.senses);
        found.clear();
        senses.clear();
        let (mut cursor, mut left) = (victim.cursor, budget);
        while left > 0 && cursor < written {
            let physical = base | cursor;
            let count = self.nand.units_in_sense(physical, written - cursor);
            let before = found.len();
            self.blocks.owners(physical, count, &mut found);
            senses.push((count, (found.len() - before) as u32));
            cursor += count;
            left = left.saturating_sub(count);
        }
        std::hint::black_box(self.map.touch(&found));
        let mut rest = &found[..];
        let mut stuck = false;
        for &(count, valid) in &senses {
            if valid > 0 {
                let physical = base | victim.cursor;
                let (units, others) = rest.split_at(valid as usize);
                rest = others;
                let read_ns = self.read(floor_ns, at_ns, physical, valid);
                victim.moved_ns = victim.moved_ns.max(read_ns);
                let moved = self.relocate(COLLECT, floor_ns, units, read_ns);
                self.give_up(physical, count, units.len(), moved);
                if moved < units.len() {
                    stuck = true;
                    break;
                }
            }
            victim.cursor += count;
        }
        self.collector.found = found;
        self.collector.senses = senses;
        if stuck {
            return false;
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
}
