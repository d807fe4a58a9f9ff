//! Address generation: offset and length of the next I/O.
//!
//! # Architecture
//! [`AddressGenerator`] serves one worker; [`AddressGenerator::next`] neither allocates nor
//! divides. It draws sizes from [`BlockSizes`] and offsets by an [`AddressPattern`]: `Permutation`
//! (a covering pass, the scatter of ranks), `SteadyOrder`, [`RankLaw`], [`ZoneShares`].
//!
//! # Geometry
//! A [`Region`] is the bytes `[offset, offset + size)` of a target. Random patterns start I/Os at
//! `offset + k * align` (fio's `blockalign`; by default the smallest block size) with every I/O
//! wholly inside the region. A sequential stream is contiguous whatever the sizes of its I/Os.
//!
//! # Non-goals
//! No memory of what was written (that is [`assay_integrity::blocks::GenerationMap`]), no timing,
//! no choice between read and write.

mod block_sizes;
mod error;
pub mod fio;
mod order;
mod permutation;
mod ranks;
mod steady;
#[cfg(test)]
#[path = "../../tests/unit/access.rs"]
mod tests;
mod zipf;
mod zoned;

use assay_units::{Rng, SECTOR_BYTES, rng::mix};

pub use block_sizes::{BlockSizes, MAX_BLOCK_BYTES};
pub use error::AccessError;
use order::{Order, RandomRun, SizedSlots, scatter};
use permutation::Permutation;
pub use ranks::RankLaw;
pub use steady::AREA_PER_LEAD;
pub use zoned::ZoneShares;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// First byte; a multiple of 512.
    pub offset_bytes: u64,
    /// Length; bytes beyond the last whole block are not touched.
    pub size_bytes: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum AddressPattern {
    /// One after the other, from the start again after the end.
    #[default]
    Sequential,
    /// All offsets equally likely, with replacement (fio's `norandommap`).
    Uniform,
    /// A pass is one of all workers of a region together ([`AddressGenerator::sharing_passes`]).
    Cover,
    /// Each block once, then those whose overwriting leaves the state of steady random writing;
    /// shared as a pass of [`AddressPattern::Cover`] is.
    Steady,
    /// Ranks are scattered over the region, the same way for all workers of a seed: hot blocks are
    /// shared.
    Ranked(RankLaw),
    /// With strided zones or a split area, each zone or thread's part is divided so.
    Zoned(ZoneShares),
}

/// fio's `zonemode=strided`: work in one zone until `size_bytes` were transferred (more than once
/// over it, if that is more than `range_bytes`), then in the next one, and from the first again
/// after the last that fits wholly into the region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedZones {
    pub size_bytes: u64,
    pub range_bytes: u64,
    pub skip_bytes: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AccessConfig {
    pub pattern: AddressPattern,
    pub block_sizes: BlockSizes,
    /// The sizes of writes, where they are not those of the reads.
    pub write_sizes: Option<BlockSizes>,
    /// Relative to the region's start (fio's `blockalign`); the smallest block size when absent.
    pub align_bytes: Option<u32>,
    pub zones: Option<StridedZones>,
    pub step: AccessStep,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessStep {
    /// A sequential stream is contiguous; every random I/O has an offset of its own.
    #[default]
    Plain,
    /// Negative: backwards, from the end of the area on.
    Gap(i64),
    /// I/Os that follow each other from each random offset on.
    Run(u32),
}

impl AccessConfig {
    fn sizes(&self) -> impl Iterator<Item = &BlockSizes> {
        std::iter::once(&self.block_sizes).chain(&self.write_sizes)
    }

    pub fn max_bytes(&self) -> u32 {
        let own = self.block_sizes.max_bytes();
        self.sizes().map(BlockSizes::max_bytes).fold(own, u32::max)
    }

    pub fn min_bytes(&self) -> u32 {
        let own = self.block_sizes.min_bytes();
        self.sizes().map(BlockSizes::min_bytes).fold(own, u32::min)
    }

    pub fn common_power_of_two(&self) -> u32 {
        let own = self.block_sizes.common_power_of_two();
        let each = self.sizes().map(BlockSizes::common_power_of_two);
        each.fold(own, u32::min)
    }

    /// The expected size of an I/O in a mix with this share of reads, in bytes.
    pub fn mean_bytes(&self, read_percent: u8) -> f64 {
        let reads = f64::from(read_percent) / 100.0;
        let writes = self.write_sizes.as_ref().unwrap_or(&self.block_sizes);
        reads * self.block_sizes.mean_bytes() + (1.0 - reads) * writes.mean_bytes()
    }

    fn effective_align_bytes(&self) -> u32 {
        self.align_bytes.unwrap_or_else(|| self.min_bytes())
    }

    /// The largest power of two, in bytes, that divides the length of every I/O and its distance
    /// from the region's start: the coarsest blocks that no I/O cuts.
    pub fn grid_bytes(&self) -> u32 {
        let align = match self.pattern {
            // A stream ignores the alignment, and a gap moves it.
            AddressPattern::Sequential => match self.step {
                AccessStep::Gap(gap_bytes) => gap_bytes.unsigned_abs(),
                _ => 0,
            },
            _ => u64::from(self.effective_align_bytes()),
        };
        let stride = self
            .zones
            // Only the lowest bits matter; a sum that wraps is refused by `zone_state`.
            .map_or(0, |zones| zones.range_bytes.wrapping_add(zones.skip_bytes));
        let bits = u64::from(self.common_power_of_two()) | align | stride;
        // The block sizes alone keep this at 4 MiB or below.
        1 << bits.trailing_zeros()
    }
}

#[derive(Clone, Debug)]
struct ZoneState {
    size_bytes: u64,
    stride_bytes: u64,
    count: u64,
    index: u64,
    moved_bytes: u64,
}

/// The stream of addresses of one worker. Same configuration, region, seed and worker: same stream.
#[derive(Clone, Debug)]
pub struct AddressGenerator {
    rng: Rng,
    reads: SizedSlots,
    writes: Option<SizedSlots>,
    /// Start of the region, or of the current zone.
    base_bytes: u64,
    /// Length of the region, or of a zone.
    area_bytes: u64,
    align_bytes: u64,
    min_bytes: u32,
    order: Order,
    run: Option<RandomRun>,
    zones: Option<ZoneState>,
    region: Region,
}

impl AddressGenerator {
    pub fn new(
        config: &AccessConfig,
        region: Region,
        seed: u64,
        worker: u32,
    ) -> Result<AddressGenerator, AccessError> {
        let end = region.offset_bytes.checked_add(region.size_bytes);
        if !region.offset_bytes.is_multiple_of(SECTOR_BYTES) || end.is_none_or(|end| end > 1 << 63)
        {
            return Err(AccessError::BadRegion(region));
        }
        let align_bytes = u64::from(config.effective_align_bytes());
        if align_bytes == 0 || !align_bytes.is_multiple_of(SECTOR_BYTES) {
            return Err(AccessError::BadAlign(align_bytes));
        }
        let zones = config.zones.map(|zones| zone_state(zones, region)).transpose()?;
        let area_bytes = config.zones.map_or(region.size_bytes, |zones| zones.range_bytes);
        let largest = config.max_bytes();
        if u64::from(largest) > area_bytes {
            return Err(AccessError::BlockLargerThanArea { block_bytes: largest, area_bytes });
        }
        let mut rng = Rng::stream(mix(seed, u64::from(worker)), "addresses");
        // Where the largest size fits, all do.
        let common_slots = (area_bytes - u64::from(largest)) / align_bytes + 1;
        let order = Order::new(config, area_bytes, common_slots, seed, &mut rng)?;
        Ok(AddressGenerator {
            rng,
            reads: SizedSlots::new(&config.block_sizes, area_bytes, align_bytes),
            writes: (config.write_sizes.as_ref())
                .map(|sizes| SizedSlots::new(sizes, area_bytes, align_bytes)),
            min_bytes: config.min_bytes(),
            base_bytes: region.offset_bytes,
            area_bytes,
            align_bytes,
            order,
            run: match config.step {
                AccessStep::Run(ios) if ios > 1 => {
                    Some(RandomRun { ios, left: 0, position_bytes: 0 })
                }
                _ => None,
            },
            zones,
            region,
        })
    }

    /// The same generator with the places of another seed's hot blocks.
    #[must_use]
    pub fn with_placement(mut self, seed: u64) -> AddressGenerator {
        if let Order::Ranked { scatter: own, .. } = &mut self.order {
            *own = scatter(own.count(), seed);
        }
        self
    }

    /// The order `steady` goes on after so many writes of all workers together.
    #[must_use]
    pub fn after_writes(mut self, writes: u64) -> AddressGenerator {
        if let Order::Steady(order) = &mut self.order {
            order.skip(writes);
        }
        self
    }

    /// Zones are entered by each worker at its own time and have passes of their own.
    #[must_use]
    pub fn sharing_passes(mut self, seed: u64, worker: u32, workers: u32) -> AddressGenerator {
        if let Order::Steady(order) = &mut self.order {
            order.share(worker, workers);
        }
        if let Order::Cover { permutation, next, stride } = &mut self.order
            && self.zones.is_none()
            && workers > 1
        {
            // The workers draw the same orders. Nothing else is drawn from it: a covering pass has
            // one size.
            self.rng = Rng::stream(seed, "shared passes");
            let count = permutation.count();
            *permutation = Permutation::new(count, &mut self.rng);
            (*next, *stride) = (u64::from(worker), u64::from(workers));
            while *next >= count {
                *next -= count;
                permutation.reshuffle(&mut self.rng);
            }
        }
        self
    }

    /// Inlined always, which saves the engine a call for each I/O.
    #[inline(always)]
    pub fn next(&mut self, write: bool) -> (u64, u32) {
        let sized = SizedSlots::for_direction(&self.reads, &self.writes, write);
        let (len_bytes, slots) = sized.draw(&mut self.rng);
        let is_uniform = matches!(self.order, Order::Uniform);
        if is_uniform && self.run.is_none() && self.zones.is_none() {
            return (self.base_bytes + self.uniform(slots), len_bytes);
        }
        self.next_in_order(write, slots, len_bytes)
    }

    /// Not inlined, as the engine's loop is long enough with the commonest order.
    #[inline(never)]
    fn next_in_order(&mut self, write: bool, slots: u64, mut len_bytes: u32) -> (u64, u32) {
        let relative_bytes = match self.continued_run(len_bytes) {
            Some(relative_bytes) => relative_bytes,
            None => {
                let relative_bytes = self.place(write, slots, &mut len_bytes);
                if let Some(run) = &mut self.run {
                    run.left = run.ios - 1;
                    run.position_bytes = relative_bytes + u64::from(len_bytes);
                }
                relative_bytes
            }
        };
        let offset_bytes = self.base_bytes + relative_bytes;
        if self.zones.is_some() {
            self.account_zone(len_bytes);
        }
        (offset_bytes, len_bytes)
    }

    /// Offset in the area by the pattern. A stream of mixed sizes finishes the area with the
    /// largest block that still fits.
    #[inline]
    fn place(&mut self, write: bool, slots: u64, len_bytes: &mut u32) -> u64 {
        match &mut self.order {
            Order::Stream { position_bytes, gap_bytes } => {
                let mut start = *position_bytes;
                let sized = SizedSlots::for_direction(&self.reads, &self.writes, write);
                match sized.fitting(*len_bytes, self.area_bytes - start) {
                    Some(fitting) => *len_bytes = fitting,
                    None => start = 0,
                }
                let next = (start + u64::from(*len_bytes)).checked_add_signed(*gap_bytes);
                let fits = |next: &u64| {
                    next.checked_add(u64::from(self.min_bytes))
                        .is_some_and(|end| end <= self.area_bytes)
                };
                *position_bytes =
                    next.filter(fits).unwrap_or_else(|| stream_start(self.area_bytes, *gap_bytes));
                start
            }
            Order::Uniform => self.uniform(slots),
            Order::Cover { permutation, next, stride } => {
                let slot = permutation.apply(*next);
                *next += *stride;
                while *next >= permutation.count() {
                    *next -= permutation.count();
                    permutation.reshuffle(&mut self.rng);
                }
                slot * self.align_bytes
            }
            Order::Steady(order) => order.next() * self.align_bytes,
            Order::Ranked { ranks, scatter } => {
                scatter.apply(ranks.sample(&mut self.rng)) * self.align_bytes
            }
            Order::Zoned(zones) => zones.sample(&mut self.rng) * self.align_bytes,
        }
    }

    #[inline]
    fn uniform(&mut self, slots: u64) -> u64 {
        self.rng.below(slots) * self.align_bytes
    }

    /// Where an I/O of a run goes on, if one is under way and there is room.
    #[inline]
    fn continued_run(&mut self, len_bytes: u32) -> Option<u64> {
        let run = self.run.as_mut()?;
        let end = run.position_bytes + u64::from(len_bytes);
        if run.left == 0 || end > self.area_bytes {
            return None;
        }
        run.left -= 1;
        Some(std::mem::replace(&mut run.position_bytes, end))
    }

    fn account_zone(&mut self, len_bytes: u32) {
        let Some(zone) = &mut self.zones else { return };
        zone.moved_bytes += u64::from(len_bytes);
        if zone.moved_bytes < zone.size_bytes {
            return;
        }
        zone.moved_bytes = 0;
        zone.index += 1;
        if zone.index == zone.count {
            zone.index = 0;
        }
        self.base_bytes = self.region.offset_bytes + zone.index * zone.stride_bytes;
        if let Some(run) = &mut self.run {
            run.left = 0;
        }
        match &mut self.order {
            Order::Stream { position_bytes, gap_bytes } => {
                *position_bytes = stream_start(self.area_bytes, *gap_bytes)
            }
            Order::Cover { permutation, next, .. } => {
                *next = 0;
                permutation.reshuffle(&mut self.rng);
            }
            Order::Uniform | Order::Steady(_) | Order::Ranked { .. } | Order::Zoned(_) => {}
        }
    }
}

/// As fio's: at the start, or the first place on the way back from the end.
fn stream_start(area_bytes: u64, gap_bytes: i64) -> u64 {
    match gap_bytes < 0 {
        true => area_bytes - gap_bytes.unsigned_abs(),
        false => 0,
    }
}

fn zone_state(zones: StridedZones, region: Region) -> Result<ZoneState, AccessError> {
    let stride_bytes = zones.range_bytes.checked_add(zones.skip_bytes);
    let aligned = |bytes: &u64| bytes.is_multiple_of(SECTOR_BYTES);
    let is_valid = zones.size_bytes > 0
        && (1..=region.size_bytes).contains(&zones.range_bytes)
        && aligned(&zones.range_bytes);
    let stride_bytes = stride_bytes.filter(|stride| is_valid && aligned(stride));
    let stride_bytes = stride_bytes.ok_or(AccessError::BadZones(zones))?;
    Ok(ZoneState {
        size_bytes: zones.size_bytes,
        stride_bytes,
        count: (region.size_bytes - zones.range_bytes) / stride_bytes + 1,
        index: 0,
        moved_bytes: 0,
    })
}
