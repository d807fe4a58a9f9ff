//! Wear and error rates of the superblocks of a drive, and its spare blocks.
//!
//! The row of [`crate::ageing`]'s table that a read looks up follows from erases, reads and time
//! since the superblock was opened. It is computed when the superblock is opened, when reads may
//! change it, and when patrol visits it. A superblock is *due* for refresh when more than
//! [`DUE_SHARE`] of its reads need retries, and its error rate is at least [`DUE_FACTOR`] times
//! that directly after programming.
//!
//! Blocks fail when they are erased, at the rate of the law; spare blocks replace them, and after
//! those every superblock's worth of failed blocks takes a superblock out of use.
//!
//! # SLC mode
//! Flash rated for 3,000 cycles with three bits per cell endures 30,000 with one (Swissbit, "4
//! reasons to use industrial 3D TLC NAND flash as pseudo-SLC", 2023): [`SLC_MODE_CYCLES`] times as
//! many, assumed of other classes too. Superblocks of an SLC cache's own flash have their own
//! cycles and spare blocks, at power-on worn to the same share of rated cycles as the others
//! (assumed). An erase in SLC mode of borrowed flash is that part of a cycle of its lender. Neither
//! needs retries.
//!
//! # Non-goals
//! Which block of a superblock failed; reads by garbage collection, one per page.

use assay_units::Rng;

use crate::ageing::{AgeingLaw, SPARE_SHARE, WHOLE};
use crate::options::Age;
use crate::profile::NandProfile;

/// Share of reads with retries above which a superblock is refreshed; assumed.
const DUE_SHARE: u64 = WHOLE / 16;
/// Least gain of a refresh; assumed.
const DUE_FACTOR: f64 = 2.0;
/// Reads of a due superblock between two pieces of its refresh; assumed.
const REFRESH_STEP_READS: u32 = 32;
/// Rated cycles in SLC mode over those with all bits, see the module's head.
pub const SLC_MODE_CYCLES: u64 = 10;
const YEAR_NS: f64 = 8_760.0 * 3.6e12;
const BEFORE: u64 = u64::MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WearCounters {
    /// Of the multi-bit superblocks.
    pub mean_cycles: u64,
    pub least_cycles: u64,
    pub most_cycles: u64,
    /// Mean cycles of an SLC cache's own superblocks; 0 without.
    pub slc_cycles: u64,
    /// Multi-bit flash or SLC cache, whichever is more worn.
    pub used_percent: u64,
    pub spare_percent: u8,
    pub bad_blocks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    left: u32,
    row: u16,
}

#[derive(Clone, Copy, Debug)]
struct History {
    /// Including those before power-on.
    cycles: u64,
    /// Reads until `left` was last set, and the value that it was set to.
    reads: u64,
    step: u32,
    opened_ns: u64,
    /// Erases in SLC mode, less than [`SLC_MODE_CYCLES`]: the part of a cycle.
    lent: u8,
}

#[derive(Clone, Debug)]
struct BlockPool {
    bad: u64,
    spare: u64,
    failures: Rng,
}

impl BlockPool {
    fn new(blocks: u64, failed_share: f64, failures: Rng) -> BlockPool {
        BlockPool {
            bad: (failed_share * blocks as f64) as u64,
            spare: (SPARE_SHARE * blocks as f64) as u64,
            failures,
        }
    }

    /// Fail `mean` blocks; its fraction is the chance of one more.
    fn fail(&mut self, mean: f64) {
        let whole = mean as u64;
        let chance = ((mean - whole as f64) * WHOLE as f64) as u64;
        self.bad += whole + u64::from(self.failures.below(WHOLE) < chance);
    }

    fn lost_superblocks(&self, superblock_blocks: u64) -> u64 {
        self.bad.saturating_sub(self.spare).div_ceil(superblock_blocks)
    }

    fn spare_percent(&self) -> u8 {
        let good = self.spare.saturating_sub(self.bad);
        // A drive without spare blocks lost none of them.
        (good * 100).checked_div(self.spare).unwrap_or(100) as u8
    }
}

#[derive(Clone, Debug)]
struct SlcWear {
    cycles: Vec<u64>,
    pool: BlockPool,
}

#[derive(Clone, Debug)]
pub struct Wear {
    law: AgeingLaw,
    blocks: Vec<Block>,
    histories: Vec<History>,
    /// Retention at power-on at 30 C.
    years: f64,
    /// Blocks of a superblock, and dies over which its reads are spread.
    superblock_blocks: u64,
    dies: f64,
    pool: BlockPool,
    slc: SlcWear,
    erased: u64,
    age: Age,
    /// 1/1024ths by which programs are shorter and erases longer, per superblock.
    changes: Vec<(u16, u16)>,
}

impl Wear {
    /// `slc` superblocks of an SLC cache follow `multi` multi-bit ones.
    pub fn new(nand: &NandProfile, (multi, slc): (u32, u32), age: Age, seed: u64) -> Wear {
        let law = AgeingLaw::new(nand);
        let dies = u64::from(nand.dies.value);
        let superblock_blocks = dies * u64::from(nand.planes.value);
        let cycles = u64::from(age.cycles);
        let pool = |superblocks: u32, name: &str| {
            let blocks = superblock_blocks * u64::from(superblocks);
            BlockPool::new(blocks, law.failed_share(cycles), Rng::stream(seed, name))
        };
        let history = History { cycles, reads: 0, step: 0, opened_ns: BEFORE, lent: 0 };
        let mut wear = Wear {
            blocks: vec![Block { left: 0, row: 0 }; multi as usize],
            histories: vec![history; multi as usize],
            years: AgeingLaw::retention_years(age),
            superblock_blocks,
            dies: dies as f64,
            pool: pool(multi, "block failures"),
            slc: SlcWear {
                cycles: vec![cycles * SLC_MODE_CYCLES; slc as usize],
                pool: pool(slc, "SLC block failures"),
            },
            erased: 0,
            age,
            changes: vec![changes_of(&law, cycles); multi as usize],
            law,
        };
        if multi > 0 {
            wear.compute(0, 0);
            let (block, history) = (wear.blocks[0], wear.histories[0]);
            wear.blocks.fill(block);
            wear.histories.fill(history);
        }
        wear
    }

    pub fn law(&self) -> &AgeingLaw {
        &self.law
    }

    /// 0 for SLC and map pages, which need no retries.
    #[inline]
    pub fn row(&self, superblock: u32) -> usize {
        let block = self.blocks.get(superblock as usize);
        block.map_or(0, |block| block.row.into())
    }

    /// Count a read; whether to [`Wear::examine`] the superblock.
    #[inline]
    pub fn count_read(&mut self, superblock: u32) -> bool {
        let Some(block) = self.blocks.get_mut(superblock as usize) else {
            return false;
        };
        block.left = block.left.wrapping_sub(1);
        block.left == 0
    }

    /// Compute the row of a multi-bit superblock; whether it is due for refresh.
    pub fn examine(&mut self, superblock: u32, now_ns: u64) -> bool {
        let index = superblock as usize;
        let left = self.blocks[index].left;
        self.histories[index].reads += u64::from(self.histories[index].step - left);
        self.compute(index, now_ns);
        let is_due = self.is_due(superblock);
        if is_due {
            self.set_step(index, REFRESH_STEP_READS);
        }
        is_due
    }

    pub fn is_due(&self, superblock: u32) -> bool {
        let row = self.row(superblock);
        let cycles = self.histories[superblock as usize].cycles;
        let least = self.law.row(self.law.growth(cycles, 0.0, 0.0));
        u64::from(self.law.shares(row)[0]) > DUE_SHARE
            && row >= least + AgeingLaw::rows_of(DUE_FACTOR)
    }

    fn compute(&mut self, index: usize, now_ns: u64) {
        let history = self.histories[index];
        let years = match history.opened_ns {
            BEFORE => self.years + now_ns as f64 / YEAR_NS,
            at_ns => now_ns.saturating_sub(at_ns) as f64 / YEAR_NS,
        };
        let reads = history.reads as f64 / self.dies;
        let growth = self.law.growth(history.cycles, years, reads);
        let row = self.law.row(growth);
        self.blocks[index].row = row as u16;
        let until = self.law.end_of_row(row) - growth;
        let reads = until / self.law.disturb_of(history.cycles) * self.dies;
        // A conversion to an integer saturates.
        self.set_step(index, (reads as u32).saturating_add(1));
    }

    fn set_step(&mut self, index: usize, reads: u32) {
        self.blocks[index].left = reads;
        self.histories[index].step = reads;
    }

    pub fn open(&mut self, superblock: u32, now_ns: u64) {
        if let Some(history) = self.histories.get_mut(superblock as usize) {
            (history.reads, history.opened_ns) = (0, now_ns);
            self.compute(superblock as usize, now_ns);
        }
    }

    /// Blocks may fail. An SLC cache's own superblocks follow the multi-bit ones.
    pub fn erase(&mut self, superblock: u32) {
        let index = superblock as usize;
        let Some(history) = self.histories.get_mut(index) else {
            return self.erase_slc(index - self.histories.len());
        };
        let before = self.law.failed_share(history.cycles);
        history.cycles += 1;
        self.erased += 1;
        let share = self.law.failed_share(history.cycles) - before;
        self.changes[index] = changes_of(&self.law, history.cycles);
        self.pool.fail(share * self.superblock_blocks as f64);
    }

    fn erase_slc(&mut self, index: usize) {
        let cycles = &mut self.slc.cycles[index];
        let failed = |cycles: u64| self.law.failed_share_of(cycles, SLC_MODE_CYCLES);
        let share = failed(*cycles + 1) - failed(*cycles);
        *cycles += 1;
        self.slc.pool.fail(share * self.superblock_blocks as f64);
    }

    pub fn erase_lent(&mut self, lender: u32) {
        let lent = &mut self.histories[lender as usize].lent;
        *lent += 1;
        if u64::from(*lent) == SLC_MODE_CYCLES {
            *lent = 0;
            self.erase(lender);
        }
    }

    #[inline]
    pub fn program_ns(&self, superblock: u32, new_ns: u64) -> u64 {
        match self.changes.get(superblock as usize) {
            Some(&(shorter, _)) => new_ns - ((new_ns * u64::from(shorter)) >> 10),
            None => new_ns,
        }
    }

    pub fn erase_ns(&self, superblock: u32, new_ns: u64) -> u64 {
        match self.changes.get(superblock as usize) {
            Some(&(_, longer)) => new_ns + ((new_ns * u64::from(longer)) >> 10),
            None => new_ns,
        }
    }

    pub fn lost_superblocks(&self) -> u64 {
        self.pool.lost_superblocks(self.superblock_blocks)
    }

    pub fn lost_slc_superblocks(&self) -> u64 {
        self.slc.pool.lost_superblocks(self.superblock_blocks)
    }

    pub fn counters(&self) -> WearCounters {
        let superblocks = self.histories.len() as u64;
        let mean_cycles = u64::from(self.age.cycles) + self.erased / superblocks.max(1);
        let cycles = || self.histories.iter().map(|history| history.cycles);
        let rated_cycles = u64::from(self.law.rated_cycles());
        let slc_superblocks = (self.slc.cycles.len() as u64).max(1);
        let slc_cycles = self.slc.cycles.iter().sum::<u64>() / slc_superblocks;
        let used_percent = |cycles: u64, rated: u64| cycles * 100 / rated;
        WearCounters {
            mean_cycles,
            least_cycles: cycles().min().unwrap_or(0),
            most_cycles: cycles().max().unwrap_or(0),
            slc_cycles,
            used_percent: used_percent(mean_cycles, rated_cycles)
                .max(used_percent(slc_cycles, rated_cycles * SLC_MODE_CYCLES)),
            spare_percent: (self.pool.spare_percent()).min(self.slc.pool.spare_percent()),
            bad_blocks: self.pool.bad + self.slc.pool.bad,
        }
    }
}

fn changes_of(law: &AgeingLaw, cycles: u64) -> (u16, u16) {
    let (shorter, longer) = law.time_changes(cycles);
    (shorter as u16, longer as u16)
}

#[cfg(test)]
#[path = "../tests/unit/wear.rs"]
mod tests;
