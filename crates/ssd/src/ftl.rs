//! Flash translation layer: where units are written, garbage collection, the SLC cache.
//!
//! # Writing
//! Host data, folded data and collected data each fill their own open superblock group by group, so that what lives long and
//! what does not are kept apart. A group is programmed when it is full, or when a flush pads it.
//!
//! # Garbage collection
//! The victim is the closed superblock with the fewest valid units (greedy), or the best by age and emptiness (cost-benefit). Collection
//! begins when fewer than `gc_low_superblocks` are free and ends at the high mark (the same, unless a profile has one). Its pace is
//! one of two. *Even*, in step with host writing: each group written scans as many victim units as free one group's worth
//! (`group / (1 - valid share)`), so that the rate is even and free superblocks neither run out nor pile up; a surplus lets them
//! pile up slowly, and a drive then writes undisturbed from the high mark down to the low one: the rare seconds at several times the
//! usual rate of report B's M8Pe-Y. *Burst*: everything from the low mark to the high one at once, while the host waits. Idle
//! drives may collect too. One superblock is kept back so that a victim always has somewhere to go. Moving a unit takes a core's time
//! where a profile says so; the throttle stretches it. Static wear levelling now and then takes the least worn superblock as a
//! victim, however full.
//!
//! # Cost
//! Memory, not arithmetic, sets the pace: a map entry is a cache miss wherever it lies. So the map learns of host data many units at a
//! time ([`Ftl::settle`]), collection looks at a bit per unit instead of the map, asks for the entries of all it will move at once
//! and then only stores to them. A moved unit costs about one miss that overlaps with others, a host write one more, and
//! one for the bits of its old place. Memory: 4 bytes per unit of map, 4 and a bit per physical unit of owners.
//!
//! # SLC cache
//! Where a profile has one, host writes go to SLC superblocks, a ring in order of age. Some have flash of their own; others borrow
//! that of free multi-bit superblocks (the part of a cache that shrinks as the drive fills: AT10833p1, VORTEZ) and give it back when
//! they are folded. When none is free, either each group written folds as much of the oldest one into multi-bit flash
//! first and waits for it (everything goes through SLC: the 600p's reviews, AT10850p1, AT10850p10, DVH65150), or host writes go straight to
//! multi-bit flash and folding waits for idle time (the 960 EVO: AT10833p1), or for the host when borrowed flash is wanted back. The
//! keys are those of the reference's sources.yaml.

use std::collections::VecDeque;

use crate::buffer::WriteBuffer;
use crate::map::{PageMap, UNMAPPED};
use crate::nand::{Nand, address_shift, shapes};
use crate::options::Age;
use crate::profile::{BufferProfile, MAP_UNIT_BYTES, NandProfile, Profile};

mod blocks;
mod frontier;
mod gc;
mod host;
mod idle;
mod map_pages;
mod owners;
mod purge;
mod safety;
mod slc;
mod unsettled;

use blocks::Superblocks;
use frontier::Frontier;
use gc::Collector;
use idle::Idle;
use map_pages::MapPages;
use slc::SlcCache;
use unsettled::UnitFilter;

/// No superblock.
const NONE: u32 = u32::MAX;
/// Indices of the open superblocks: host data, data folded out of SLC, data moved by garbage collection.
const HOST: usize = 0;
const FOLD: usize = 1;
const COLLECT: usize = 2;

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

/// The tables of a drive that grow with it, as they lie in memory: whoever holds the drive may advise the operating system on
/// them (huge pages: every access is a miss of the processor's address cache otherwise).
#[derive(Clone, Copy, Debug)]
pub struct MapTables<'a> {
    /// Logical to physical.
    pub l2p: &'a [u32],
    /// Physical to logical.
    pub p2l: &'a [u32],
    /// A bit per physical unit.
    pub stale: &'a [u64],
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

fn buffer_of(profile: &BufferProfile) -> WriteBuffer {
    let units = profile.bytes.value / MAP_UNIT_BYTES;
    match &profile.overflow {
        Some(overflow) => WriteBuffer::with_overflow(
            units,
            overflow.through_bytes.value / MAP_UNIT_BYTES,
            overflow.pause_ns.value,
        ),
        None => WriteBuffer::new(units),
    }
}

/// Map, superblocks, flash and write buffer of a drive.
#[derive(Clone, Debug)]
pub struct Ftl {
    map: PageMap,
    nand: Nand,
    buffer: WriteBuffer,
    blocks: Superblocks,
    free: VecDeque<u32>,
    frontiers: [Frontier; 3],
    collector: Collector,
    slc: Option<SlcCache>,
    idle: Idle,
    counters: FtlCounters,
    /// Scratch of [`Ftl::settle`], kept to avoid allocation.
    /// Units of host data that the map does not know yet.
    unsettled: UnitFilter,
    map_pages: MapPages,
    gathered: Vec<u32>,
    olds: Vec<u32>,
    shift: u32,
    superblock_units: u32,
    #[cfg(test)]
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
        let (own, borrowing) = profile.slc.as_ref().map_or((0, 0), |slc| {
            let bytes = u64::from(slc_shape.superblock_units.max(1)) * MAP_UNIT_BYTES;
            let borrowed = slc.borrowed_bytes.as_ref().map_or(0, |bytes| bytes.value);
            let own = match slc.bytes.value {
                0 => 0,
                bytes_own => bytes_own.div_ceil(bytes).max(3),
            };
            (own as u32, borrowed.div_ceil(bytes) as u32)
        });
        let physical = nand.blocks_per_plane.value;
        let multi = physical.saturating_sub(own);
        let total = physical.saturating_add(borrowing.min(multi));
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
        let filled_units = if filled { user_units } else { 0 };
        let blocks = Superblocks::new(total, multi, shift, superblock_units, filled_units);
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
            buffer: buffer_of(&profile.buffer),
            blocks,
            free: (first_free..multi).collect(),
            frontiers: [
                Frontier::closed(host_group),
                Frontier::closed(group),
                Frontier::closed(group),
            ],
            collector: Collector::new(low, profile.gc.as_ref()),
            slc: profile.slc.as_ref().map(|slc| {
                SlcCache::new(
                    slc,
                    multi..physical,
                    total,
                    slc_shape.superblock_units,
                    low + 2,
                )
            }),
            idle: Idle::new(),
            counters: FtlCounters::default(),
            unsettled: UnitFilter::new(),
            map_pages: MapPages::default(),
            gathered: Vec::new(),
            olds: Vec::new(),
            shift,
            superblock_units,
            #[cfg(test)]
            user_units,
            read_page_nj: profile.power.read_page_nj.value,
            program_page_nj: profile.power.program_page_nj.value,
            page_units: u64::from(crate::nand::page_units(nand)),
            energy_nj: 0,
        })
    }

    /// Let the flash be this old.
    pub fn set_age(&mut self, nand: &NandProfile, age: Age, seed: u64) {
        self.nand.set_age(nand, age, seed);
    }

    /// Where a unit lies, or [`UNMAPPED`]. Call [`Ftl::settle`] once before.
    #[inline]
    pub fn locate(&self, unit: u32) -> u32 {
        self.map.get(unit)
    }

    /// Did anything change since the drive was switched on, so that map entries lie in memory?
    #[inline]
    pub fn has_table(&self) -> bool {
        self.map.has_table()
    }

    /// Ask memory for the map entries of these units together, because they will be wanted soon.
    #[inline]
    pub fn touch(&self, units: &[u32]) {
        std::hint::black_box(self.map.touch(units));
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
    #[inline(always)]
    pub fn read(&mut self, floor_ns: u64, issue_ns: u64, physical: u32, units: u32) -> u64 {
        if self.blocks.is_open(physical >> self.shift) && self.is_gathered(physical) {
            return issue_ns;
        }
        self.read_sense(floor_ns, issue_ns, physical, units)
    }

    /// Does this address lie in an open group?
    #[inline(never)]
    fn is_gathered(&self, physical: u32) -> bool {
        let gathering = |frontier: &Frontier| {
            physical.wrapping_sub(frontier.group_start) < frontier.group_units
                && frontier.superblock != NONE
        };
        self.frontiers.iter().any(gathering)
    }

    /// [`Ftl::read`] of what does not lie in an open group.
    #[inline(always)]
    fn read_sense(&mut self, floor_ns: u64, issue_ns: u64, physical: u32, units: u32) -> u64 {
        let sense = self.nand.locate(physical);
        if self.nand.is_being_programmed(sense, issue_ns) {
            return issue_ns;
        }
        self.energy_nj += self.read_page_nj * u64::from(self.pages_touched(physical, units));
        self.nand.read(floor_ns, issue_ns, sense, units)
    }

    /// Unmap units `first..end`.
    pub fn unmap(&mut self, first: u32, end: u32) {
        self.settle();
        let blocks = &mut self.blocks;
        self.map.unmap(first, end, |physical, count| {
            blocks.invalidate_run(physical, count, count);
        });
    }

    /// Program everything acknowledged; returns when it is on flash.
    pub fn flush(&mut self, floor_ns: u64) -> u64 {
        self.pad(floor_ns);
        self.buffer.drained_ns().max(floor_ns)
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

    /// The tables that grow with the drive.
    pub fn tables(&self) -> MapTables<'_> {
        let (p2l, stale) = self.blocks.tables();
        MapTables {
            l2p: self.map.table(),
            p2l,
            stale,
        }
    }

    /// Bytes of memory for map and owners.
    pub fn resident_bytes(&self) -> u64 {
        self.map.resident_bytes() + self.blocks.resident_bytes()
    }

    /// Erase a superblock whose units are all gone.
    fn erase(&mut self, superblock: u32, at_ns: u64) {
        self.counters.erased_superblocks += 1;
        self.blocks.erase(superblock);
        self.nand.erase(at_ns);
    }

    /// Take `units` (the owners of what was not stale in the `count` units from `physical` on) out of a superblock, of which
    /// `moved` found room elsewhere.
    #[inline]
    fn give_up(&mut self, physical: u32, count: u32, units: usize, moved: usize) {
        if moved == units {
            self.blocks.invalidate_run(physical, count, moved as u32);
            return;
        }
        for physical in physical..physical + count {
            let owner = self.blocks.owner(physical);
            if owner.is_some_and(|unit| self.map.get(unit) != physical) {
                self.blocks.invalidate(physical);
            }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/ftl.rs"]
mod tests;
