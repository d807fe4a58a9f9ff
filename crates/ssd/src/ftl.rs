//! Flash translation layer: placement of writes, garbage collection, SLC cache.
//!
//! Host, folded and garbage-collected data each fill their own open superblock, which keeps data of
//! different lifetime apart. A program group is programmed when it is full or padded by a flush.
//!
//! # Garbage collection
//! Collection runs from below `gc_low_superblocks` free ones to the high mark
//! ([`crate::profile::VictimPolicy`]). *Even* pace: each group written scans as many victim units
//! as free one group (`group / (1 - valid share)`); with a surplus, the drive then writes without
//! collection from the high mark to the low one, the rare fast seconds of the M8Pe-Y (AnandTech
//! M8Pe). *Burst* pace: everything at once, while the host waits. One superblock is reserved as
//! destination. Static wear levelling occasionally picks the least worn superblock as victim.
//!
//! # Cost
//! Memory latency dominates: each map entry is a cache miss. So map updates of host data are
//! batched ([`Ftl::apply_map_updates`]), and collection fetches all entries it will change at once.
//!
//! # SLC cache
//! Host writes go to SLC superblocks, a ring in order of age. Some own flash; others borrow that of
//! free multi-bit superblocks (AT10833p1, VORTEZ: the cache shrinks as the drive fills) and return
//! it when folded. When none is free, each group written first folds as much of the oldest one
//! (Intel 600p: AT10850p1, AT10850p10, DVH65150), or host writes go directly to multi-bit flash
//! (Samsung 960 EVO: AT10833p1) and folding waits for idle time or until the host needs borrowed
//! flash. Keys: docs/sources.md.

use std::collections::VecDeque;

use crate::buffer::WriteBuffer;
use crate::map::PageMap;
use crate::map_unit::MapUnit;
use crate::nand::{Nand, Sense, address_shift};
use crate::options::Age;
use crate::profile::{BufferProfile, NandProfile, Profile};
use crate::thermal::Energy;

mod background;
mod blocks;
mod energy;
mod gc;
mod host_writes;
mod layout;
mod map_pages;
mod patrol;
mod pending_updates;
mod placement;
mod reverse_map;
mod slc;
mod write_point;

use background::BackgroundState;
use blocks::Superblocks;
use energy::FlashEnergy;
use gc::GarbageCollector;
use layout::Layout;
use map_pages::MapPages;
use patrol::Patrol;
use pending_updates::UnitFilter;
use placement::Placement;
pub use placement::ReclaimUnit;
use slc::SlcCache;
use write_point::WritePoint;

const NONE: u32 = u32::MAX;
/// Write points: host data, data folded out of SLC, data moved by garbage collection.
const HOST: usize = 0;
const FOLD: usize = 1;
const GC: usize = 2;

/// Counters since power-on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FtlCounters {
    /// Units programmed, padding included.
    pub programmed_units: u64,
    /// Units moved by garbage collection and folding.
    pub relocated_units: u64,
    /// Superblocks erased.
    pub erased_superblocks: u64,
    /// Sectors of 4 KiB read from flash, for the host and by relocation.
    pub read_sectors: u64,
}

/// The tables that grow with capacity; huge pages for them avoid TLB misses.
#[derive(Clone, Copy, Debug)]
pub struct MapTables<'a> {
    /// Logical to physical.
    pub l2p: &'a [u32],
    /// Logical unit of each physical unit.
    pub p2l: &'a [u32],
    /// A bit per physical unit: its newest copy is elsewhere.
    pub stale: &'a [u64],
}

/// Why a drive cannot be built of this flash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlashError {
    /// Too little flash for the capacity.
    #[error(
        "{have} multi-bit superblocks of {superblock_mib} MiB cannot hold the capacity and \
         over-provisioning for garbage collection: {need} are needed"
    )]
    TooSmall {
        /// Multi-bit superblocks available.
        have: u32,
        /// Multi-bit superblocks needed.
        need: u32,
        /// Size of one in MiB.
        superblock_mib: u64,
    },
    /// More than can be addressed.
    #[error(
        "{superblocks} superblocks of {superblock_mib} MiB (rounded up to a power of two) exceed \
         32-bit addresses of mapping units"
    )]
    TooLarge {
        /// Superblocks requested.
        superblocks: u64,
        /// Size of one in MiB.
        superblock_mib: u64,
    },
    /// A block has fewer pages than a word line has bits.
    #[error("nand.pages_per_block is less than one SLC page")]
    NoSlcPage,
}

/// Whether a drive can be built of the profile's flash, where it has any.
pub fn can_hold(profile: &Profile) -> bool {
    let capacity_bytes = profile.identity.capacity_bytes.value;
    let units = profile.nand.map_unit().from(capacity_bytes);
    profile.in_place.is_some() || Layout::new(profile, units).is_ok()
}

fn buffer_of(profile: &BufferProfile, unit: MapUnit) -> WriteBuffer {
    let units = profile.bytes.value / unit.bytes();
    match &profile.overflow {
        Some(overflow) => WriteBuffer::with_overflow(
            units,
            overflow.through_bytes.value / unit.bytes(),
            overflow.pause_ns.value,
        ),
        None => WriteBuffer::new(units),
    }
}

/// Map, superblocks, flash and write buffer of a drive.
#[derive(Clone, Debug)]
pub struct Ftl {
    pub(crate) map: PageMap,
    pub(crate) nand: Nand,
    pub(crate) buffer: WriteBuffer,
    blocks: Superblocks,
    free: VecDeque<u32>,
    write_points: [WritePoint; 3],
    gc: GarbageCollector,
    slc: Option<SlcCache>,
    background: BackgroundState,
    counters: FtlCounters,
    pending_updates: UnitFilter,
    map_pages: MapPages,
    pending_units: Vec<u32>,
    olds: Vec<u32>,
    shift: u32,
    superblock_units: u32,
    pub(crate) unit: MapUnit,
    keeps_open: bool,
    placement: Placement,
    is_full_open: bool,
    energy: FlashEnergy,
    patrol: Patrol,
    spare_superblocks: u32,
    retired: u32,
}

impl Ftl {
    /// A drive filled sequentially or fresh; an error when the flash cannot hold `user_units`.
    pub fn new(
        profile: &Profile,
        user_units: u32,
        filled: bool,
        seed: u64,
    ) -> Result<Ftl, FlashError> {
        let nand = &profile.nand;
        let unit = nand.map_unit();
        let Layout { multi_geometry, slc_geometry, multi, total, need } =
            Layout::new(profile, user_units)?;
        let superblock_units = multi_geometry.superblock_units;
        let filled_superblocks = user_units.div_ceil(superblock_units);
        let (physical, shift) = (nand.blocks_per_plane.value, address_shift(nand));
        let low = profile.ftl.gc_low_superblocks.value;
        let filled_units = if filled { user_units } else { 0 };
        let blocks = Superblocks::new(total, multi, shift, superblock_units, filled_units);
        let first_free = if filled { filled_superblocks } else { 0 };
        let group = multi_geometry.group_units.divisor;
        let slc_group = slc_geometry.group_units.divisor;
        let host_group = profile.slc.as_ref().map_or(group, |_| slc_group);
        let slc_units = slc_geometry.superblock_units;
        let slc_cache = |slc| SlcCache::new(slc, multi..physical, total, slc_units, low + 2);
        Ok(Ftl {
            map: PageMap::new(user_units, superblock_units, shift, filled),
            nand: Nand::new(nand, profile.slc.as_ref(), multi, seed),
            buffer: buffer_of(&profile.buffer, unit),
            blocks,
            free: (first_free..multi).collect(),
            write_points: [host_group, group, group].map(WritePoint::closed),
            gc: GarbageCollector::new(low, profile.gc.as_ref()),
            slc: profile.slc.as_ref().map(slc_cache),
            background: BackgroundState::new(),
            counters: FtlCounters::default(),
            pending_updates: UnitFilter::new(),
            map_pages: MapPages::default(),
            pending_units: Vec::new(),
            olds: Vec::new(),
            shift,
            superblock_units,
            unit,
            keeps_open: false,
            placement: Placement::default(),
            is_full_open: false,
            energy: FlashEnergy::new(&profile.power, nand),
            patrol: Patrol::new(multi),
            spare_superblocks: multi - need,
            retired: 0,
        })
    }

    /// How many units from `unit` (at `physical`), at most `limit`, one sense delivers.
    #[inline]
    pub fn run(&self, unit: u32, physical: u32, limit: u32) -> u32 {
        if limit <= 1 {
            return limit;
        }
        self.mapped_run(unit, physical, self.nand.units_in_sense(physical, limit))
    }

    /// As [`Ftl::run`], of a sense by [`Ftl::read_ahead`].
    #[inline]
    pub fn run_ahead(&self, unit: u32, physical: u32, limit: u32) -> u32 {
        self.mapped_run(unit, physical, self.nand.units_ahead(physical, limit))
    }

    /// Length of the run of consecutive addresses from `unit` (at `physical`), from 1 to `limit`.
    #[inline]
    fn mapped_run(&self, unit: u32, physical: u32, limit: u32) -> u32 {
        let mut run = 1;
        while run < limit && self.map.get(unit + run) == physical + run {
            run += 1;
        }
        run
    }

    /// Returns when the sectors of one sense are in the controller; at once if still buffered.
    #[inline(always)]
    pub fn read(&mut self, now_ns: u64, issue_ns: u64, physical: u32, extent: (u32, u32)) -> u64 {
        self.read_located(now_ns, issue_ns, physical, extent, Nand::locate_read)
    }

    /// [`Ftl::read`] for read-ahead: one sense takes the stripes of a page ([`crate::nand`]).
    #[inline]
    pub fn read_ahead(
        &mut self,
        now_ns: u64,
        issue_ns: u64,
        physical: u32,
        extent: (u32, u32),
    ) -> u64 {
        if !self.nand.reads_ahead_whole {
            return self.read(now_ns, issue_ns, physical, extent);
        }
        self.read_located(now_ns, issue_ns, physical, extent, Nand::locate)
    }

    #[inline(always)]
    fn read_located(
        &mut self,
        now_ns: u64,
        issue_ns: u64,
        physical: u32,
        extent: (u32, u32),
        locate: impl Fn(&Nand, u32) -> Sense,
    ) -> u64 {
        let superblock = physical >> self.shift;
        if self.blocks.is_open(superblock) && self.is_in_open_group(physical) {
            return issue_ns;
        }
        let sense = locate(&self.nand, physical);
        let read_ns = self.read_sense(now_ns, issue_ns, physical, extent, sense);
        if self.nand.wear.count_read(superblock) {
            self.examine_read(superblock, now_ns, issue_ns);
        }
        read_ns
    }

    #[inline(never)]
    fn is_in_open_group(&self, physical: u32) -> bool {
        let in_group = |write_point: &WritePoint| {
            physical.wrapping_sub(write_point.group_start) < write_point.group_units
                && write_point.superblock != NONE
        };
        self.write_points.iter().chain(self.waiting()).any(in_group)
    }

    #[inline(always)]
    fn read_sense(
        &mut self,
        now_ns: u64,
        issue_ns: u64,
        physical: u32,
        (units, sectors): (u32, u32),
        sense: Sense,
    ) -> u64 {
        if self.nand.is_being_programmed(sense, issue_ns) {
            return issue_ns;
        }
        if let Some(read_ns) = self.nand.join(now_ns, issue_ns, sense, sectors) {
            self.energy.read(0, 0, sectors);
            return read_ns;
        }
        let pages = self.nand.pages_touched(physical, units, sectors);
        self.energy.read(1, pages, sectors);
        self.nand.read(now_ns, issue_ns, sense, sectors)
    }

    /// Unmap units `first..end`.
    pub fn unmap(&mut self, first: u32, end: u32) {
        self.apply_map_updates();
        let blocks = &mut self.blocks;
        self.map.unmap(first, end, |physical, count| {
            blocks.invalidate_run(physical, count, count);
        });
    }

    /// Unmap and erase everything; returns when the last erase is done. Wear and counters continue.
    /// Buffered data of an incomplete group is dropped; programs under way end first.
    pub fn purge(&mut self, now_ns: u64) -> u64 {
        self.apply_map_updates();
        self.is_full_open = false;
        let slots = std::mem::take(&mut self.write_points[HOST].slots);
        self.buffer.release(now_ns, slots);
        self.with_waiting(|ftl| {
            let waiting = ftl.write_points[HOST];
            ftl.buffer.release(now_ns, waiting.slots);
            ftl.write_points[HOST] = WritePoint::closed(waiting.group_units);
        });
        for write_point in &mut self.write_points {
            *write_point = WritePoint::closed(write_point.group_units);
        }
        self.map.clear();
        let erased = self.blocks.erase_all();
        for &superblock in &erased {
            self.energy.erase_superblock();
            let lender = self.lender_of(superblock);
            self.nand.erase(superblock, lender, now_ns);
        }
        self.counters.erased_superblocks += erased.len() as u64;
        let multi = 0..self.blocks.multi;
        self.free = multi.filter(|&superblock| !self.blocks.is_retired(superblock)).collect();
        if let Some(slc) = &mut self.slc {
            let blocks = &self.blocks;
            slc.empty(|superblock| blocks.is_retired(superblock));
        }
        self.gc.reset();
        self.nand.idle_ns().max(now_ns)
    }

    /// Program everything acknowledged; returns when it is on flash.
    pub fn flush(&mut self, now_ns: u64) -> u64 {
        self.pad(now_ns);
        self.buffer.drained_ns().max(now_ns)
    }

    /// Energy used since the last call.
    #[inline]
    pub fn take_energy(&mut self) -> Energy {
        self.energy.take()
    }

    /// Counters since power-on.
    pub fn counters(&self) -> FtlCounters {
        FtlCounters { read_sectors: self.energy.read_sectors, ..self.counters }
    }

    /// Multi-bit superblocks.
    pub fn multi_superblocks(&self) -> u64 {
        self.blocks.multi.into()
    }

    /// Superblocks that the capacity does not fill.
    pub fn spare_superblocks(&self) -> u32 {
        let filled = self.map.units.div_ceil(self.superblock_units);
        self.blocks.multi.saturating_sub(filled)
    }

    /// Free superblocks over those that the capacity does not fill, in per cent.
    pub fn free_percent(&self) -> u8 {
        let spare = u64::from(self.spare_superblocks()).max(1);
        (self.free.len() as u64 * 100 / spare).min(100) as u8
    }

    /// The tables that grow with capacity.
    pub fn tables(&self) -> MapTables<'_> {
        let (p2l, stale) = self.blocks.tables();
        MapTables { l2p: &self.map.table, p2l, stale }
    }

    /// Bytes of memory of both maps.
    pub fn resident_bytes(&self) -> u64 {
        self.map.resident_bytes() + self.blocks.resident_bytes()
    }

    fn erase(&mut self, superblock: u32, at_ns: u64) {
        self.counters.erased_superblocks += 1;
        self.energy.erase_superblock();
        self.blocks.erase(superblock);
        let lender = self.lender_of(superblock);
        self.nand.erase(superblock, lender, at_ns);
    }

    fn lender_of(&self, superblock: u32) -> Option<u32> {
        self.slc.as_ref()?.lender_of(superblock)
    }

    /// Free an erased superblock, or retire it in place of those that lost too many blocks.
    fn add_free(&mut self, superblock: u32) {
        let lost = self.nand.wear.lost_superblocks();
        if u64::from(self.retired) < lost && self.retired < self.spare_superblocks {
            self.blocks.retire(superblock);
            self.retired += 1;
        } else {
            self.free.push_back(superblock);
        }
    }

    /// Set the age at power-on; superblocks whose blocks failed before are out of use.
    pub fn set_age(&mut self, nand: &NandProfile, age: Age, seed: u64) {
        self.nand.set_age(nand, age, seed);
        for superblock in std::mem::take(&mut self.free) {
            self.add_free(superblock);
        }
    }

    /// Whether more blocks failed than the drive can spare, so that the host cannot write any more.
    pub fn is_read_only(&self) -> bool {
        self.nand.wear.lost_superblocks() > u64::from(self.spare_superblocks)
    }

    /// Invalidate `units` valid units among `count`, of which `moved` were relocated.
    #[inline]
    fn invalidate_moved(&mut self, physical: u32, count: u32, units: usize, moved: usize) {
        if moved == units {
            self.blocks.invalidate_run(physical, count, moved as u32);
            return;
        }
        for physical in physical..physical + count {
            let unit = self.blocks.valid_unit(physical);
            if unit.is_some_and(|unit| self.map.get(unit) != physical) {
                self.blocks.invalidate(physical);
            }
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/ftl.rs"]
mod tests;
