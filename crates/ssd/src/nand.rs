//! NAND flash: geometry, dies, channels and operation timing.
//!
//! A superblock is one block of every plane of every die. Its units form *senses* (one page of all
//! planes of a die) and *groups* (one program operation: one sense, or all pages of a word line
//! with one-shot programming). Consecutive groups go to consecutive dies, dies to consecutive
//! channels.
//!
//! With a shorter stripe (`stripe_bytes`), the units of a row of groups lie on the dies in turn,
//! stripe by stripe; with stripes of one page, planes come last, as by the default of MQSim
//! (`Plane_Allocation_Scheme` CWDP: channel, way, die, plane; schemes: A. Tavakkol et al.,
//! "Performance Evaluation of Dynamic Page Allocation Strategies in SSDs", ACM TOMPECS, 2016, pages
//! 7:1 to 7:33). Reads then occupy one die per stripe. Programs and garbage collection take whole
//! rows. Read-ahead takes the stripes of a page with one sense where they are shorter than a page.
//!
//! With `single_plane_bytes`, the host's reads sense one plane of a die after the other, because a
//! multi-plane read needs pages of the same address (ELETT-SMP, SETMP). Consecutive parts of that
//! length lie on the planes in turn; a part's sense reads that part alone. That the RD400 and the
//! SM951 do so is inferred from their rates (`profiles/`). Keys: docs/sources.md.
//!
//! # Timing
//! A read occupies its die (with [`crate::planes`], its planes) for the page type's read time (and,
//! without a cache register, until its data has left); the transfer takes the first gap of the
//! channel. A program transfers page by page, then occupies the die. An erase occupies all dies.
//! Reads have priority over waiting programs and erases; within a class, first come first served.
//! Of waiting programs only the sum is kept; the one under way has `sum mod length` left. Each read
//! delays them by its own time, but end times already returned stay (early by tens of microseconds
//! against milliseconds).

use crate::fastdiv::FastDiv;
use crate::map_unit::MapUnit;
use crate::options::Age;
use crate::planes::PlaneReads;
use crate::profile::{MAP_UNIT_BYTES, NandProfile, SlcProfile};
use crate::retry::ReadVariation;
use crate::sourced::value_or;
use crate::spread::WordLineSpread;
use crate::suspend::Suspender;
use crate::timeline::{ByteTime, Timeline};
use crate::wear::Wear;

mod die;
mod geometry;
mod joint;

use die::Die;
pub use geometry::{SuperblockGeometry, address_shift, geometries};
use geometry::{aged_superblocks, page_units, stripe_units};
use joint::JointReads;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sense {
    die: u32,
    read_ns: u64,
    group: u32,
    /// Of the group's pages, by the order of their programs.
    page: u32,
    row: u32,
    /// First sector asked for of a page of all planes, with independent plane reads; else `None`.
    first_sector: Option<u32>,
}

impl Sense {
    pub fn of_map(die: u16, read_ns: u64) -> Sense {
        Sense { die: u32::from(die), read_ns, group: u32::MAX, page: 0, row: 0, first_sector: None }
    }
}

#[derive(Clone, Debug)]
pub struct Nand {
    dies: Vec<Die>,
    channels: Vec<Timeline>,
    channel_of: Vec<u16>,
    die_count: FastDiv,
    /// Units of a page, or the unit where it is longer.
    page_units: FastDiv,
    page_sectors: u32,
    unit: MapUnit,
    /// Units of a stripe, where that is not a sense.
    stripe_units: Option<FastDiv>,
    /// Units of one plane that a host's read senses at a time, where that is not all planes.
    plane_units: Option<FastDiv>,
    pub reads_ahead_whole: bool,
    page_types: FastDiv,
    program_types: FastDiv,
    multi: SuperblockGeometry,
    slc: SuperblockGeometry,
    first_slc: u32,
    shift: u32,
    read_ns: Vec<u64>,
    program_ns: Vec<u64>,
    slc_read_ns: u64,
    slc_program_ns: u64,
    partial_saving_ns: u64,
    cache_read: bool,
    /// Erase time of a new block, and of the last one erased.
    erase_ns: u64,
    erasing_ns: u64,
    /// Superblocks that are erased together, and those since the last erase.
    slices: u32,
    slices_erased: u32,
    byte_time: ByteTime,
    command_ns: u64,
    /// Channel time per page with its command, and pages per program group: multi-bit, SLC.
    page_in_ns: u64,
    group_pages: [u64; 2],
    spread: WordLineSpread,
    variation: ReadVariation,
    pub(crate) wear: Wear,
    suspender: Option<Suspender>,
    planes: Option<PlaneReads>,
    joint: Option<JointReads>,
}

impl Nand {
    pub fn new(nand: &NandProfile, slc: Option<&SlcProfile>, first_slc: u32, seed: u64) -> Nand {
        let dies = u32::from(nand.dies.value);
        let (multi, slc_geometry) = geometries(nand);
        let channels = usize::from(nand.channels.value);
        let byte_time = ByteTime::of_rate(nand.channel_bytes_per_second.value);
        let command_ns = nand.channel_command_ns.value;
        let suspend = nand.suspend.as_ref();
        let (page, unit) = (nand.page_bytes.value, nand.map_unit());
        let pages = |geometry: &SuperblockGeometry| {
            u64::from(geometry.group_units.divisor) * unit.bytes() / page.max(1)
        };
        Nand {
            dies: vec![Die::default(); dies as usize],
            channels: vec![Timeline::new(); channels],
            channel_of: (0..dies as usize).map(|die| (die % channels) as u16).collect(),
            die_count: FastDiv::new(dies),
            page_units: FastDiv::new(page_units(nand).max(1)),
            page_sectors: (page / MAP_UNIT_BYTES) as u32,
            unit,
            stripe_units: stripe_units(nand).map(FastDiv::new),
            plane_units: (nand.single_plane_bytes.as_ref())
                .map(|bytes| FastDiv::new((bytes.value / unit.bytes()) as u32)),
            reads_ahead_whole: (nand.stripe_bytes.as_ref())
                .is_some_and(|stripe| stripe.value < nand.page_bytes.value),
            page_types: FastDiv::new(nand.read_ns.value.len() as u32),
            program_types: FastDiv::new(nand.program_ns.value.len() as u32),
            multi,
            slc: slc_geometry,
            first_slc,
            shift: address_shift(nand),
            read_ns: nand.read_ns.value.clone(),
            program_ns: nand.program_ns.value.clone(),
            slc_read_ns: slc.map_or(0, |slc| slc.read_ns.value),
            slc_program_ns: slc.map_or(0, |slc| slc.program_ns.value),
            partial_saving_ns: nand.partial_read_saving_ns.value,
            cache_read: nand.cache_read.value,
            erase_ns: nand.erase_ns.value,
            erasing_ns: nand.erase_ns.value,
            slices: nand.slices.unwrap_or(1),
            slices_erased: 0,
            page_in_ns: command_ns + byte_time.duration_ns(page),
            group_pages: [pages(&multi), pages(&slc_geometry)],
            byte_time,
            command_ns,
            spread: WordLineSpread::new(
                nand.read_sigma_ns.as_ref().map(|sigma_ns| sigma_ns.value),
                nand.read_jitter_ns.value,
                nand.read_ns.value.iter().sum::<u64>() / nand.read_ns.value.len() as u64,
                seed,
            ),
            variation: ReadVariation::new(None, nand.retry.as_ref(), seed),
            wear: Wear::new(nand, aged_superblocks(nand, first_slc), Age::default(), seed),
            suspender: suspend.map(|suspend| Suspender::new(suspend, dies as usize)),
            planes: value_or(&nand.independent_plane_reads, false).then(|| {
                let page_sectors = (page / MAP_UNIT_BYTES) as u32;
                PlaneReads::new(dies as usize, nand.planes.value, page_sectors)
            }),
            joint: value_or(&nand.joint_reads, false).then(|| JointReads::new(dies as usize)),
        }
    }

    pub fn set_age(&mut self, nand: &NandProfile, age: Age, seed: u64) {
        self.wear = Wear::new(nand, aged_superblocks(nand, self.first_slc), age, seed);
    }

    #[inline]
    pub fn geometry(&self, physical: u32) -> &SuperblockGeometry {
        if physical >> self.shift >= self.first_slc { &self.slc } else { &self.multi }
    }

    #[inline]
    pub fn sense_units(&self, physical: u32) -> u32 {
        self.geometry(physical).sense_units.divisor
    }

    /// Units that one program of every die writes to multi-bit flash.
    pub fn row_units(&self) -> u32 {
        self.multi.row_units.divisor
    }

    #[inline]
    pub fn units_in_sense(&self, physical: u32, limit: u32) -> u32 {
        self.units_within(physical, limit, self.plane_units.or(self.stripe_units))
    }

    #[inline]
    pub fn units_ahead(&self, physical: u32, limit: u32) -> u32 {
        let units = self.stripe_units.filter(|_| !self.reads_ahead_whole);
        self.units_within(physical, limit, units)
    }

    #[inline]
    fn units_within(&self, physical: u32, limit: u32, stripe: Option<FastDiv>) -> u32 {
        let within = physical & ((1 << self.shift) - 1);
        let units = stripe.unwrap_or(self.geometry(physical).sense_units);
        let (_, within) = units.div_rem(within);
        limit.min(units.divisor - within)
    }

    /// Single-plane pages touched; of units longer than a page, those that hold `sectors` sectors.
    #[inline]
    pub fn pages_touched(&self, physical: u32, units: u32, sectors: u32) -> u32 {
        if self.unit.sectors() > self.page_sectors {
            return sectors.div_ceil(self.page_sectors);
        }
        if units <= 1 {
            return 1;
        }
        let (first, _) = self.page_units.div_rem(physical);
        let (last, _) = self.page_units.div_rem(physical + units - 1);
        last - first + 1
    }

    #[inline(always)]
    pub fn locate_read(&self, physical: u32) -> Sense {
        let mut sense = match self.stripe_units {
            None => self.locate(physical),
            Some(stripe) => self.locate_striped(physical, stripe),
        };
        if self.planes.is_some() {
            sense.first_sector = Some(self.first_sector(physical));
        }
        sense
    }

    /// Sector of a unit within the page of all planes that a sense reads.
    fn first_sector(&self, physical: u32) -> u32 {
        let mut within = physical & ((1 << self.shift) - 1);
        let geometry = self.geometry(physical);
        if let Some(stripe) = self.stripe_units {
            let (_, in_row) = geometry.row_units.div_rem(within);
            let (stripes, in_stripe) = stripe.div_rem(in_row);
            let (above, _) = self.die_count.div_rem(stripes);
            within = above * stripe.divisor + in_stripe;
        }
        let (_, unit) = geometry.sense_units.div_rem(within);
        unit * self.unit.sectors()
    }

    #[inline]
    fn locate_striped(&self, physical: u32, stripe: FastDiv) -> Sense {
        let within = physical & ((1 << self.shift) - 1);
        let geometry = self.geometry(physical);
        let (row, within) = geometry.row_units.div_rem(within);
        let (stripes, _) = stripe.div_rem(within);
        let (above, die) = self.die_count.div_rem(stripes);
        let (page, _) = geometry.sense_units.div_rem(above * stripe.divisor);
        let group = row * self.die_count.divisor + die;
        self.sense(physical, (group, row, die), page)
    }

    #[inline]
    pub fn locate(&self, physical: u32) -> Sense {
        let within = physical & ((1 << self.shift) - 1);
        let geometry = self.geometry(physical);
        let (sense, _) = geometry.sense_units.div_rem(within);
        let (group, page) = geometry.program_pages.div_rem(sense);
        let (row, die) = self.die_count.div_rem(group);
        self.sense(physical, (group, row, die), page)
    }

    #[inline(always)]
    fn sense(&self, physical: u32, (group, row, die): (u32, u32, u32), page: u32) -> Sense {
        let superblock = physical >> self.shift;
        let geometry = self.geometry(physical);
        let read_ns = if superblock >= self.first_slc {
            self.slc_read_ns
        } else {
            let one_shot = geometry.program_pages.divisor > 1;
            let (_, kind) = self.page_types.div_rem(if one_shot { page } else { row });
            self.read_ns[kind as usize]
        };
        Sense {
            die,
            read_ns,
            group: superblock << self.shift | group,
            page,
            row,
            first_sector: None,
        }
    }

    /// Whether data is still in the controller at `at_ns` because its program has not ended.
    #[inline]
    pub fn is_being_programmed(&self, sense: Sense, at_ns: u64) -> bool {
        let die = &self.dies[sense.die as usize];
        die.last_program_end_ns > at_ns && die.last_program == sense.group
    }

    /// Channel time of a read's data, with its command.
    #[inline]
    fn transfer_ns(&self, sectors: u32) -> u64 {
        self.command_ns + self.byte_time.duration_ns(u64::from(sectors) * MAP_UNIT_BYTES)
    }

    /// Returns when `sectors` sectors of the sense are in the controller.
    #[inline(always)]
    pub fn read(&mut self, now_ns: u64, issue_ns: u64, sense: Sense, sectors: u32) -> u64 {
        let mut read_ns = sense.read_ns;
        if sectors * 2 <= self.page_sectors {
            read_ns -= self.partial_saving_ns;
        }
        // Map pages lie on no word line.
        if sense.group != u32::MAX {
            read_ns = self.spread.sense_ns(sense.group, read_ns);
        }
        let row = self.wear.row(sense.group >> self.shift);
        read_ns = self.variation.of_flash_ns(read_ns, self.wear.law(), row);
        let transfer_ns = self.transfer_ns(sectors);
        let number = sense.die as usize;
        let die = &mut self.dies[number];
        let period_ends_ns = die.reads_free_ns;
        let beside_ns = self.planes.as_ref().and_then(|planes| {
            let span = planes.span(number, sense.first_sector, sectors);
            planes.begin(number, span, issue_ns, period_ends_ns)
        });
        let mut start_ns =
            beside_ns.unwrap_or_else(|| die.read_start_ns(issue_ns, self.erasing_ns));
        let mut lost_ns = 0;
        if let Some(suspender) = &mut self.suspender
            && beside_ns.is_none()
            && start_ns > issue_ns.max(die.reads_free_ns)
            && let Some(ready_ns) = suspender.interrupt(sense.die as usize, issue_ns, start_ns)
        {
            lost_ns = suspender.cost_ns();
            start_ns = ready_ns;
        }
        let sensed = start_ns + read_ns;
        if let Some(joint) = &mut self.joint {
            joint.begin(now_ns, sense.die, sense.page_address(self.page_sectors), sensed);
        }
        let channel = &mut self.channels[usize::from(self.channel_of[sense.die as usize])];
        let moved = channel.reserve(now_ns, sensed, transfer_ns);
        let before_ns = die.free_ns;
        let end_ns = if self.cache_read { sensed } else { moved };
        if let Some(planes) = &mut self.planes {
            let span = planes.span(number, sense.first_sector, sectors);
            let first_ns = beside_ns.is_none().then_some(start_ns);
            planes.occupy(number, span, first_ns, end_ns);
        }
        // Beside other reads, a read occupies its die only for as long as it outlasts them.
        if beside_ns.is_none() || end_ns > period_ends_ns {
            let from_ns = beside_ns.map_or(start_ns, |_| period_ends_ns);
            die.occupy_for_read(from_ns, end_ns);
        }
        if let Some(suspender) = &mut self.suspender
            && before_ns > start_ns
        {
            die.free_ns += lost_ns;
            let later_ns = die.free_ns - before_ns;
            if die.erase_end_ns > start_ns {
                die.erase_end_ns += later_ns;
            }
            suspender.put_off(sense.die as usize, later_ns);
        }
        moved
    }

    pub fn program(&mut self, now_ns: u64, ready_ns: u64, physical: u32) -> u64 {
        let sense = self.locate(physical);
        let superblock = physical >> self.shift;
        let program_ns = if superblock >= self.first_slc {
            self.slc_program_ns
        } else {
            let (_, kind) = self.program_types.div_rem(sense.row);
            self.wear.program_ns(superblock, self.program_ns[kind as usize])
        };
        let program_ns = self.spread.program_ns(sense.group, program_ns);
        let moved = self.move_in(now_ns, ready_ns, sense, superblock >= self.first_slc);
        let die = &mut self.dies[sense.die as usize];
        let end = die.program(moved, program_ns);
        die.last_program = sense.group;
        die.last_program_end_ns = end;
        end
    }

    /// Transfer a group to its die page by page, so that reads fit between; returns the end.
    #[inline]
    fn move_in(&mut self, now_ns: u64, ready_ns: u64, sense: Sense, slc: bool) -> u64 {
        let pages = self.group_pages[usize::from(slc)];
        let channel = &mut self.channels[usize::from(self.channel_of[sense.die as usize])];
        channel.reserve_train(now_ns, ready_ns, self.page_in_ns, pages)
    }

    pub(crate) fn program_map_pages(
        &mut self,
        now_ns: u64,
        ready_ns: u64,
        die: u16,
        program_ns: u64,
    ) -> u32 {
        let moved_ns = self.move_in(now_ns, ready_ns, Sense::of_map(die, 0), true);
        self.dies[usize::from(die)].program(moved_ns, program_ns);
        self.slc.group_units.divisor
    }

    pub fn idle_ns(&self) -> u64 {
        self.dies.iter().map(|die| die.free_ns).max().unwrap_or(0)
    }

    /// Every die is busy for the erase time; the flash may be borrowed from `lender`. Of
    /// superblocks that are slices, only the last one takes it.
    pub fn erase(&mut self, superblock: u32, lender: Option<u32>, issue_ns: u64) {
        let erase_ns = match lender {
            Some(lender) => {
                self.wear.erase_lent(lender);
                self.wear.erase_ns(lender, self.erase_ns)
            }
            None => {
                let erase_ns = self.wear.erase_ns(superblock, self.erase_ns);
                self.wear.erase(superblock);
                erase_ns
            }
        };
        self.slices_erased += 1;
        if self.slices_erased < self.slices {
            return;
        }
        self.slices_erased = 0;
        self.erasing_ns = erase_ns;
        for die in &mut self.dies {
            die.free_ns = die.free_ns.max(issue_ns) + erase_ns;
            die.erase_end_ns = die.free_ns;
        }
    }
}

#[cfg(test)]
#[path = "../tests/unit/nand.rs"]
pub(crate) mod tests;
