//! Flash translation layer: where units are written, garbage collection, the SLC cache.
//!
//! # Writing
//! Host data, folded data and collected data each fill their own open superblock group by group, so that what lives long and
//! what does not are kept apart. A group is programmed when it is full, or when a flush pads it.
//!
//! # Garbage collection
//! Greedy: the victim is the closed superblock with the fewest valid units. It runs while fewer than `gc_low_superblocks` are
//! free, in step with host writing: each group written scans as many victim units as free one group's worth
//! (`group / (1 - valid share)`), so that the rate is even and free superblocks neither run out nor pile up. One superblock is
//! kept back so that a victim always has somewhere to go.
//!
//! # SLC cache
//! Where a profile has one, every host write goes to SLC superblocks, a ring in order of age. When the last free one is in use,
//! each group written folds as much of the oldest one into multi-bit flash first, and waits for it. Idle drives fold by
//! themselves. Source of the behaviour: the 600p's reviews (AT10850p1, AT10850p10, DVH65150 in the reference's sources.yaml).

use std::collections::VecDeque;

use crate::buffer::WriteBuffer;
use crate::map::{PageMap, UNMAPPED};
use crate::nand::{Nand, address_shift, shapes};
use crate::profile::{MAP_UNIT_BYTES, Profile};

mod gc;
mod slc;

use gc::Collector;
use slc::SlcCache;

/// No superblock.
const NONE: u32 = u32::MAX;
/// Indices of the open superblocks: host data, data folded out of SLC, data moved by garbage collection.
const HOST: usize = 0;
const FOLD: usize = 1;
const COLLECT: usize = 2;

/// A superblock's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Free,
    Open,
    Closed,
}

/// One superblock.
#[derive(Clone, Debug)]
struct Superblock {
    state: State,
    /// Units whose newest copy is here.
    valid: u32,
    /// Units written, padding included.
    written: u32,
    /// Logical unit of each unit; empty in a superblock of the initial sequential fill, whose owners follow from its number.
    owners: Vec<u32>,
}

/// An open superblock and the group being gathered in it. Times in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Frontier {
    superblock: u32,
    /// Next unit to be written.
    next: u32,
    /// Units of this superblock.
    limit: u32,
    group_units: u32,
    /// Physical address of the open group's start.
    group_start: u32,
    /// When the latest data of the open group is in the controller.
    ready_ns: u64,
    /// Buffer slots that the open group holds.
    slots: u64,
}

impl Frontier {
    fn closed(group_units: u32) -> Frontier {
        Frontier {
            superblock: NONE,
            next: 0,
            limit: 0,
            group_units,
            group_start: UNMAPPED,
            ready_ns: 0,
            slots: 0,
        }
    }
}

/// What the flash translation layer counted since power-on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FtlCounters {
    /// Units programmed, padding included.
    pub programmed_units: u64,
    /// Units moved by garbage collection and folding.
    pub relocated_units: u64,
    /// Superblocks erased.
    pub erased_superblocks: u64,
}

/// Why a drive cannot be built of this flash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlashError {
    /// Not enough of it.
    #[error(
        "{have} multi-bit superblocks of {superblock_mib} MiB cannot hold the capacity with room to collect garbage: {need} are needed"
    )]
    TooSmall {
        /// Multi-bit superblocks there are.
        have: u32,
        /// And as many as are needed.
        need: u32,
        /// Size of one in MiB.
        superblock_mib: u64,
    },
    /// More than can be addressed.
    #[error(
        "{superblocks} superblocks of {superblock_mib} MiB (taken as the next power of two) are more than 32-bit addresses of 4 KiB reach"
    )]
    TooLarge {
        /// Superblocks there are.
        superblocks: u32,
        /// Size of one in MiB.
        superblock_mib: u64,
    },
    /// A block has fewer pages than a word line has bits.
    #[error("nand.pages_per_block is less than one SLC page")]
    NoSlcPage,
}

/// Map, superblocks, flash and write buffer of a drive.
#[derive(Clone, Debug)]
pub struct Ftl {
    map: PageMap,
    nand: Nand,
    buffer: WriteBuffer,
    blocks: Vec<Superblock>,
    free: VecDeque<u32>,
    frontiers: [Frontier; 3],
    collector: Collector,
    slc: Option<SlcCache>,
    counters: FtlCounters,
    owners_pool: Vec<Vec<u32>>,
    shift: u32,
    superblock_units: u32,
    user_units: u32,
    read_page_nj: u64,
    program_page_nj: u64,
    page_units: u64,
    energy_nj: u64,
}

impl Ftl {
    /// The flash translation layer of a drive with that many user units, filled sequentially or fresh.
    ///
    /// # Errors
    /// When the flash cannot hold them with room to work.
    pub fn new(
        profile: &Profile,
        user_units: u32,
        filled: bool,
        seed: u64,
    ) -> Result<Ftl, FlashError> {
        let nand = &profile.nand;
        let (multi_shape, slc_shape) = shapes(nand);
        let superblock_units = multi_shape.superblock_units;
        let slc_superblocks = profile.slc.as_ref().map_or(0, |slc| {
            let bytes = u64::from(slc_shape.superblock_units.max(1)) * MAP_UNIT_BYTES;
            slc.bytes.value.div_ceil(bytes).max(3) as u32
        });
        let total = nand.blocks_per_plane.value;
        let multi = total.saturating_sub(slc_superblocks);
        let filled_superblocks = user_units.div_ceil(superblock_units);
        let low = profile.ftl.gc_low_superblocks.value;
        let need = filled_superblocks + low + 4;
        let shift = address_shift(nand);
        let superblock_mib = (u64::from(superblock_units) * MAP_UNIT_BYTES) >> 20;
        if slc_shape.superblock_units == 0 {
            return Err(FlashError::NoSlcPage);
        }
        if u64::from(total) << shift >= u64::from(UNMAPPED) {
            return Err(FlashError::TooLarge {
                superblocks: total,
                superblock_mib,
            });
        }
        if multi < need {
            return Err(FlashError::TooSmall {
                have: multi,
                need,
                superblock_mib,
            });
        }
        let blocks = (0..total)
            .map(|index| {
                let valid = if filled && index < filled_superblocks {
                    superblock_units.min(user_units - index * superblock_units)
                } else {
                    0
                };
                Superblock {
                    state: if valid > 0 {
                        State::Closed
                    } else {
                        State::Free
                    },
                    valid,
                    written: valid,
                    owners: Vec::new(),
                }
            })
            .collect();
        let first_free = if filled { filled_superblocks } else { 0 };
        let group = multi_shape.group_units.divisor();
        let host_group = if profile.slc.is_some() {
            slc_shape.group_units.divisor()
        } else {
            group
        };
        Ok(Ftl {
            map: PageMap::new(user_units, superblock_units, shift, filled),
            nand: Nand::new(nand, profile.slc.as_ref(), multi, seed),
            buffer: WriteBuffer::new(profile.buffer.bytes.value / MAP_UNIT_BYTES),
            blocks,
            free: (first_free..multi).collect(),
            frontiers: [
                Frontier::closed(host_group),
                Frontier::closed(group),
                Frontier::closed(group),
            ],
            collector: Collector::new(low),
            slc: profile
                .slc
                .as_ref()
                .map(|slc| SlcCache::new(slc, multi..total, slc_shape.superblock_units)),
            counters: FtlCounters::default(),
            owners_pool: Vec::new(),
            shift,
            superblock_units,
            user_units,
            read_page_nj: profile.power.read_page_nj.value,
            program_page_nj: profile.power.program_page_nj.value,
            page_units: u64::from(crate::nand::page_units(nand)),
            energy_nj: 0,
        })
    }

    /// Where a unit lies, or [`UNMAPPED`].
    #[inline]
    pub fn locate(&self, unit: u32) -> u32 {
        self.map.get(unit)
    }

    /// Where a unit would lie on a drive filled sequentially (what a drive that reads flash for unmapped units reads).
    pub fn sequential(&self, unit: u32) -> u32 {
        self.map.sequential(unit)
    }

    /// How many units from `unit` (which lies at `physical`), at most `limit`, come with the same sense.
    #[inline]
    pub fn run(&self, unit: u32, physical: u32, limit: u32) -> u32 {
        if limit <= 1 {
            return limit;
        }
        let limit = self.nand.units_in_sense(physical, limit);
        let mut run = 1;
        while run < limit && self.map.get(unit + run) == physical + run {
            run += 1;
        }
        run
    }

    /// NAND pages that a run touches.
    #[inline]
    pub fn pages_touched(&self, physical: u32, units: u32) -> u32 {
        self.nand.pages_touched(physical, units)
    }

    /// Read a run of one sense; returns when its data is in the controller. Data that still waits to be programmed comes from
    /// the buffer at once.
    #[inline]
    pub fn read(&mut self, floor_ns: u64, issue_ns: u64, physical: u32, units: u32) -> u64 {
        let gathering = |frontier: &Frontier| {
            physical.wrapping_sub(frontier.group_start) < frontier.group_units
                && frontier.superblock != NONE
        };
        if self.frontiers.iter().any(gathering) {
            return issue_ns;
        }
        let sense = self.nand.locate(physical);
        if self.nand.is_being_programmed(sense, issue_ns) {
            return issue_ns;
        }
        self.energy_nj += self.read_page_nj * u64::from(self.pages_touched(physical, units));
        self.nand.read(floor_ns, issue_ns, sense, units)
    }

    /// Write one unit of host data that arrives at `arrival_ns` and is complete at `ready_ns` (later when old data must be read
    /// and merged). Returns when it has a buffer slot, or `None` when the drive has no flash left to write to.
    pub fn write(
        &mut self,
        floor_ns: u64,
        unit: u32,
        arrival_ns: u64,
        ready_ns: u64,
    ) -> Option<u64> {
        let slot = match self.buffer.acquire(arrival_ns) {
            Some(slot) => slot,
            None => {
                self.pad(floor_ns);
                self.buffer.acquire(arrival_ns)?
            }
        };
        self.frontiers[HOST].slots += 1;
        if self.place(HOST, floor_ns, unit, slot.max(ready_ns)) {
            Some(slot)
        } else {
            self.frontiers[HOST].slots -= 1;
            self.buffer.release(slot, 1);
            None
        }
    }

    /// Unmap units `first..end`.
    pub fn unmap(&mut self, first: u32, end: u32) {
        let blocks = &mut self.blocks;
        let shift = self.shift;
        self.map.unmap(first, end, |physical, count| {
            blocks[(physical >> shift) as usize].valid -= count;
        });
    }

    /// Program everything acknowledged; returns when it is on flash.
    pub fn flush(&mut self, floor_ns: u64) -> u64 {
        self.pad(floor_ns);
        self.buffer.drained_ns().max(floor_ns)
    }

    /// Let an idle drive do its housekeeping up to `now_ns`, the host having been silent since `quiet_since_ns`.
    #[inline]
    pub fn idle(&mut self, quiet_since_ns: u64, now_ns: u64) {
        if self.slc.is_some() {
            self.idle_fold(quiet_since_ns, now_ns);
        }
    }

    /// Energy used since the last call, in nanojoules.
    #[inline]
    pub fn take_energy_nj(&mut self) -> u64 {
        std::mem::take(&mut self.energy_nj)
    }

    /// Counters since power-on.
    pub fn counters(&self) -> FtlCounters {
        self.counters
    }

    /// Bytes of memory for map and owners.
    pub fn resident_bytes(&self) -> u64 {
        let owners = self
            .blocks
            .iter()
            .map(|block| &block.owners)
            .chain(&self.owners_pool);
        self.map.resident_bytes() + owners.map(|list| list.capacity() as u64 * 4).sum::<u64>()
    }

    /// Put a unit into an open superblock. `false` when there is none to be had.
    #[inline]
    fn place(&mut self, which: usize, floor_ns: u64, unit: u32, ready_ns: u64) -> bool {
        if self.frontiers[which].next == self.frontiers[which].limit
            && !self.open_next(which, floor_ns)
        {
            return false;
        }
        let frontier = &mut self.frontiers[which];
        let physical = frontier.superblock << self.shift | frontier.next;
        let block = &mut self.blocks[frontier.superblock as usize];
        block.owners[frontier.next as usize] = unit;
        block.valid += 1;
        frontier.next += 1;
        frontier.ready_ns = frontier.ready_ns.max(ready_ns);
        let full = physical + 1 - frontier.group_start == frontier.group_units;
        let old = self.map.set(unit, physical);
        if old != UNMAPPED {
            self.blocks[(old >> self.shift) as usize].valid -= 1;
        }
        if full {
            self.finish_group(which, floor_ns);
        }
        true
    }

    /// Close the open superblock of this kind and open another.
    fn open_next(&mut self, which: usize, floor_ns: u64) -> bool {
        let full = self.frontiers[which].superblock;
        if full != NONE {
            self.blocks[full as usize].state = State::Closed;
            if which == HOST
                && let Some(slc) = &mut self.slc
            {
                slc.close(full);
            }
            self.frontiers[which].superblock = NONE;
            self.frontiers[which].group_start = UNMAPPED;
        }
        let in_slc = which == HOST && self.slc.is_some();
        let opened = if in_slc {
            self.next_slc(floor_ns)
        } else {
            if which != COLLECT {
                self.collect_until_two_free(floor_ns);
            }
            self.free.pop_front()
        };
        let Some(superblock) = opened else {
            self.frontiers[which].limit = self.frontiers[which].next;
            return false;
        };
        let units = self.nand.shape(superblock << self.shift).superblock_units;
        let block = &mut self.blocks[superblock as usize];
        block.state = State::Open;
        block.valid = 0;
        block.written = 0;
        block.owners = self.owners_pool.pop().unwrap_or_default();
        block.owners.clear();
        block.owners.resize(units as usize, UNMAPPED);
        let frontier = &mut self.frontiers[which];
        frontier.superblock = superblock;
        frontier.next = 0;
        frontier.limit = units;
        frontier.group_start = superblock << self.shift;
        frontier.ready_ns = 0;
        true
    }

    /// The open group of this kind is complete: program it, and keep house in step.
    fn finish_group(&mut self, which: usize, floor_ns: u64) {
        let frontier = self.frontiers[which];
        let mut ready_ns = frontier.ready_ns.max(floor_ns);
        self.counters.programmed_units += u64::from(frontier.group_units);
        self.energy_nj +=
            self.program_page_nj * (u64::from(frontier.group_units) / self.page_units);
        if which == HOST {
            ready_ns = ready_ns.max(self.fold_in_step(frontier.group_units, ready_ns));
        }
        let end_ns = if which == FOLD {
            self.fold_program(ready_ns)
        } else {
            self.nand.program(floor_ns, ready_ns, frontier.group_start)
        };
        let frontier = &mut self.frontiers[which];
        frontier.group_start += frontier.group_units;
        frontier.ready_ns = 0;
        let slots = std::mem::take(&mut frontier.slots);
        self.blocks[frontier.superblock as usize].written = frontier.next;
        self.buffer.release(end_ns, slots);
        if which == FOLD || (which == HOST && self.slc.is_none()) {
            self.collect_in_step(self.frontiers[which].group_units, floor_ns, ready_ns);
        }
    }

    /// Program the open group of host data, padded.
    fn pad(&mut self, floor_ns: u64) {
        let frontier = &mut self.frontiers[HOST];
        let gathered =
            (frontier.superblock << self.shift | frontier.next).wrapping_sub(frontier.group_start);
        if frontier.superblock == NONE || gathered == 0 {
            return;
        }
        frontier.next += frontier.group_units - gathered;
        self.finish_group(HOST, floor_ns);
    }

    /// The logical unit written at this place of a superblock, if its newest copy is still here.
    #[inline]
    fn valid_owner(&self, superblock: u32, within: u32) -> Option<u32> {
        let block = &self.blocks[superblock as usize];
        let unit = match block.owners.get(within as usize) {
            Some(&unit) => unit,
            None => superblock * self.superblock_units + within,
        };
        (unit < self.user_units && self.map.get(unit) == (superblock << self.shift | within))
            .then_some(unit)
    }

    /// Erase a superblock whose units are all gone.
    fn erase(&mut self, superblock: u32, at_ns: u64) {
        self.counters.erased_superblocks += 1;
        let block = &mut self.blocks[superblock as usize];
        block.state = State::Free;
        block.written = 0;
        let owners = std::mem::take(&mut block.owners);
        if owners.capacity() > 0 {
            self.owners_pool.push(owners);
        }
        self.nand.erase(at_ns);
    }
}

#[cfg(test)]
mod tests;
