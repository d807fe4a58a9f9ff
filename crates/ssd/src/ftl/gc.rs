//! Garbage collection, see the parent module.

use super::{COLLECT, Ftl};
use crate::profile::{GcPace, GcProfile, VictimPolicy};

/// Of so many victims, at most one is chosen to level wear.
const VICTIMS_PER_LEVELLING: u32 = 8;
/// While a victim is emptied to level wear, so many units of it are looked at per unit that the host writes.
const LEVELLING_PACE: u64 = 4;
/// A unit that is owed, see [`Collector::owed`].
const OWED_ONE: u64 = 1024;

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
    /// Was it chosen to level wear, not to make room?
    levelling: bool,
}

/// State of the garbage collector.
#[derive(Clone, Debug)]
pub(super) struct Collector {
    low: u32,
    high: u32,
    /// Did the free superblocks fall below `low`, and have they not come to `high` since?
    active: bool,
    policy: VictimPolicy,
    pace: GcPace,
    surplus_permille: u64,
    unit_ns: u64,
    idle_after_ns: Option<u64>,
    wear_gap_erases: Option<u32>,
    victims_since_levelling: u32,
    /// Even pace: victim units still to be looked at for what the host wrote, in 1024ths; negative when more were.
    owed: i64,
    /// Core time of what was moved since the drive asked last, in nanoseconds.
    firmware_ns: u64,
    victim: Option<Victim>,
    /// Valid units found in one scan, and for each sense how many units it holds and how many of them were found; kept to avoid
    /// allocation.
    found: Vec<u32>,
    senses: Vec<(u32, u32)>,
}

impl Collector {
    pub(super) fn new(low: u32, profile: Option<&GcProfile>) -> Collector {
        let number = |of: fn(&GcProfile) -> Option<u64>| profile.and_then(of);
        Collector {
            low,
            high: profile
                .and_then(|profile| profile.high_superblocks.as_ref())
                .map_or(low, |high| high.value.max(low)),
            active: false,
            policy: profile
                .and_then(|profile| profile.victim.as_ref())
                .map_or_else(VictimPolicy::default, |victim| victim.value),
            pace: profile
                .and_then(|profile| profile.pace.as_ref())
                .map_or_else(GcPace::default, |pace| pace.value),
            surplus_permille: number(|of| Some(of.surplus_permille.as_ref()?.value.into()))
                .unwrap_or_default(),
            unit_ns: number(|of| Some(of.unit_ns.as_ref()?.value)).unwrap_or_default(),
            idle_after_ns: number(|of| Some(of.idle_after_ns.as_ref()?.value)),
            wear_gap_erases: profile
                .and_then(|profile| profile.wear_gap_erases.as_ref())
                .map(|gap| gap.value),
            victims_since_levelling: 0,
            owed: 0,
            firmware_ns: 0,
            victim: None,
            found: Vec::new(),
            senses: Vec::new(),
        }
    }

    /// There is nothing to collect any more.
    pub(super) fn rest(&mut self) {
        self.victim = None;
        self.active = false;
        self.owed = 0;
    }
}

impl Ftl {
    /// After `units` were written: scan as many victim units as make room for as many, and for the surplus; or, where collection
    /// comes in bursts, everything up to the high mark.
    pub(super) fn collect_in_step(&mut self, units: u32, floor_ns: u64, at_ns: u64) {
        if !self.is_collecting() {
            self.collector.owed = 0;
            return;
        }
        if self.collector.pace == GcPace::Burst {
            // The bound is met only when nothing is gained any more.
            for _ in 0..self.blocks.len() * 4 {
                if !self.is_collecting() || !self.scan(self.superblock_units, floor_ns, at_ns) {
                    return;
                }
            }
            return;
        }
        let Some(victim) = self.victim() else {
            return;
        };
        let total = u64::from(self.superblock_units);
        let owed = if victim.levelling {
            u64::from(units) * LEVELLING_PACE * OWED_ONE
        } else {
            let gain = total.saturating_sub(u64::from(victim.valid)).max(1);
            let wanted = u64::from(units) * (1000 + self.collector.surplus_permille);
            (wanted * total * OWED_ONE).div_ceil(gain * 1000)
        };
        // Scans go by whole senses and so look at more than was asked for: what they looked at is what is paid.
        self.collector.owed += owed as i64;
        let budget = self.collector.owed / OWED_ONE as i64;
        if budget <= 0 {
            return;
        }
        let written = self.blocks.written(victim.superblock);
        if !self.scan(budget.min(total as i64) as u32, floor_ns, at_ns) {
            self.collector.owed = 0;
            return;
        }
        let now_at = match self.collector.victim {
            Some(same) if same.superblock == victim.superblock => same.cursor,
            _ => written,
        };
        self.collector.owed -= i64::from(now_at - victim.cursor) * OWED_ONE as i64;
    }

    /// Is it time to collect, by the marks?
    pub(super) fn is_collecting(&mut self) -> bool {
        let free = self.free.len();
        let collector = &mut self.collector;
        let mark = if collector.active {
            collector.high
        } else {
            collector.low
        };
        collector.active = free < mark as usize;
        collector.active
    }

    /// After so many nanoseconds of silence an idle drive collects, if at all.
    #[inline]
    pub(super) fn idle_collect_after_ns(&self) -> Option<u64> {
        self.collector.idle_after_ns
    }

    /// The high mark: collection ends when so many superblocks are free.
    pub(super) fn high_superblocks(&self) -> usize {
        self.collector.high as usize
    }

    /// Core time of what was moved since the last call, in nanoseconds.
    #[inline]
    pub fn take_firmware_ns(&mut self) -> u64 {
        std::mem::take(&mut self.collector.firmware_ns)
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

    /// The victim at hand, chosen now if there was none.
    fn victim(&mut self) -> Option<Victim> {
        if self.collector.victim.is_none() {
            self.settle();
            let worn = self.least_worn();
            let superblock = match worn {
                Some(superblock) => superblock,
                None => match self.collector.policy {
                    VictimPolicy::Greedy => self.blocks.victim()?,
                    VictimPolicy::CostBenefit => self.blocks.aged_victim()?,
                },
            };
            self.collector.victim = Some(Victim {
                superblock,
                cursor: 0,
                valid: self.blocks.valid(superblock),
                moved_ns: 0,
                levelling: worn.is_some(),
            });
        }
        self.collector.victim
    }

    /// A superblock to be emptied only because it was erased so seldom, when it is time for one and there is room for its data.
    fn least_worn(&mut self) -> Option<u32> {
        let gap = self.collector.wear_gap_erases?;
        self.collector.victims_since_levelling += 1;
        if self.collector.victims_since_levelling < VICTIMS_PER_LEVELLING || self.free.len() < 2 {
            return None;
        }
        let superblock = self.blocks.least_worn(gap)?;
        self.collector.victims_since_levelling = 0;
        Some(superblock)
    }

    /// Owners of what is not stale from address `from` on, where a sense begins: whole senses, until they hold `budget` units or end at
    /// `end`. Returns how many there are.
    #[inline]
    fn look(
        &self,
        from: u32,
        end: u32,
        budget: u32,
        found: &mut Vec<u32>,
        senses: &mut Vec<(u32, u32)>,
    ) -> usize {
        let sense_units = self.nand.sense_units(from);
        let most = (budget.saturating_add(sense_units)).min(end - from) as usize;
        if found.len() < most {
            found.resize(most, 0);
        }
        senses.clear();
        let (mut at, mut holds) = (from, 0);
        while at < end && at - from < budget {
            let units = sense_units.min(end - at);
            let valid = self.blocks.owners_into(at, units, &mut found[holds..]);
            senses.push((units, valid));
            holds += valid as usize;
            at += units;
        }
        holds
    }

    /// Look at up to `budget` units of the victim and move the valid ones; erases it at its end. `false` when nothing could move.
    pub(super) fn scan(&mut self, budget: u32, floor_ns: u64, at_ns: u64) -> bool {
        let Some(mut victim) = self.victim() else {
            return false;
        };
        let base = victim.superblock << self.shift;
        let written = self.blocks.written(victim.superblock);
        // Look first, at everything within the budget, and have memory fetch all of it at once; then move.
        let mut found = std::mem::take(&mut self.collector.found);
        let mut senses = std::mem::take(&mut self.collector.senses);
        let (from, end) = (base | victim.cursor, base + written);
        let mut holds = self.look(from, end, budget, &mut found, &mut senses);
        if self.is_unsettled(&found[..holds]) {
            self.settle();
            holds = self.look(from, end, budget, &mut found, &mut senses);
        }
        let units = &found[..holds];
        std::hint::black_box(self.map.touch(units));
        // Flash is busy sense by sense and group by group; what that does to the books is done together.
        let mut moving = Moving::default();
        let mut stuck = None;
        for &(count, valid) in &senses {
            if valid > 0 {
                let physical = base | victim.cursor;
                let read_ns = self.read_sense(floor_ns, at_ns, physical, valid);
                victim.moved_ns = victim.moved_ns.max(read_ns);
                let moved = self.move_sense(&mut moving, units, valid, floor_ns, read_ns);
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
        self.collector.firmware_ns += self.collector.unit_ns * u64::from(moved);
        let moved_of_stuck = stuck.map_or(0, |(_, _, _, moved)| moved);
        let looked_at = base + victim.cursor - from;
        self.blocks
            .invalidate_run(from, looked_at, moved - moved_of_stuck);
        self.collector.found = found;
        self.collector.senses = senses;
        if let Some((physical, count, valid, moved)) = stuck {
            self.give_up(physical, count, valid as usize, moved as usize);
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

    /// Put the next `count` units that were found into the collector's open superblock; returns how many found room.
    #[inline]
    fn move_sense(
        &mut self,
        moving: &mut Moving,
        units: &[u32],
        count: u32,
        floor_ns: u64,
        ready_ns: u64,
    ) -> u32 {
        let mut left = count;
        while left > 0 {
            let Some((physical, room)) = self.room(COLLECT, floor_ns) else {
                break;
            };
            let part = left.min(room);
            let opened = physical & ((1 << self.shift) - 1) == 0;
            if opened || physical != moving.physical + (moving.end - moving.start) as u32 {
                self.note_moving(moving, units);
                (moving.start, moving.physical) = (moving.end, physical);
            }
            moving.end += part as usize;
            self.gathered(COLLECT, floor_ns, part, ready_ns);
            left -= part;
        }
        count - left
    }

    /// Tell the books of units that lie together now.
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

/// Of the units that were found: those that go to consecutive addresses, of which the books do not know yet.
#[derive(Clone, Copy, Debug, Default)]
struct Moving {
    start: usize,
    end: usize,
    /// Where the first of them goes.
    physical: u32,
}
