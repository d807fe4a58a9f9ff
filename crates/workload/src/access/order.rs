//! The order in which slots of an area are accessed.

use assay_units::{Rng, SECTOR_BYTES};

use super::block_sizes::BlockSizes;
use super::error::AccessError;
use super::permutation::Permutation;
use super::ranks::Ranks;
use super::steady::SteadyOrder;
use super::zoned::ZoneSampler;
use super::{AccessConfig, AccessStep, AddressPattern, stream_start};

#[derive(Clone, Debug)]
pub(super) enum Order {
    Stream {
        position_bytes: u64,
        /// Between two I/Os; negative: back. Zero in a contiguous stream.
        gap_bytes: i64,
    },
    Uniform,
    Cover {
        permutation: Permutation,
        next: u64,
        /// Workers that share a pass: each takes every so many-th place of it.
        stride: u64,
    },
    Steady(Box<SteadyOrder>),
    Ranked {
        ranks: Ranks,
        scatter: Permutation,
    },
    Zoned(ZoneSampler),
}

#[derive(Clone, Debug)]
pub(super) struct SizedSlots {
    pub(super) sizes: BlockSizes,
    /// Number of aligned offsets where an I/O of each size fits; same order as the sizes.
    pub(super) slots: Vec<u64>,
    /// Size and slots of a single size: saves the hot loop two look-ups.
    pub(super) only: Option<(u32, u64)>,
}

impl SizedSlots {
    pub(super) fn new(sizes: &BlockSizes, area_bytes: u64, align_bytes: u64) -> SizedSlots {
        let slots: Vec<u64> = (0..sizes.count())
            .map(|i| (area_bytes - u64::from(sizes.at(i))) / align_bytes + 1)
            .collect();
        SizedSlots {
            only: sizes.is_single().then(|| (sizes.max_bytes(), slots[0])),
            sizes: sizes.clone(),
            slots,
        }
    }

    #[inline]
    pub(super) fn for_direction<'a>(
        reads: &'a SizedSlots,
        writes: &'a Option<SizedSlots>,
        write: bool,
    ) -> &'a SizedSlots {
        match writes {
            Some(writes) if write => writes,
            _ => reads,
        }
    }

    #[inline]
    pub(super) fn draw(&self, rng: &mut Rng) -> (u32, u64) {
        match self.only {
            Some(only) => only,
            None => self.draw_of_mix(rng),
        }
    }

    #[inline(never)]
    fn draw_of_mix(&self, rng: &mut Rng) -> (u32, u64) {
        let index = self.sizes.pick(rng);
        (self.sizes.at(index), self.slots[index])
    }

    /// This size, or the largest that fits into what is left of the area; `None`: none does.
    #[inline]
    pub(super) fn fitting(&self, len_bytes: u32, left_bytes: u64) -> Option<u32> {
        match u64::from(len_bytes) <= left_bytes {
            true => Some(len_bytes),
            false => self.largest_fitting(left_bytes),
        }
    }

    #[cold]
    pub(super) fn largest_fitting(&self, left_bytes: u64) -> Option<u32> {
        let sizes = self.sizes.entries().map(|(size_bytes, _)| size_bytes);
        sizes.take_while(|&size_bytes| u64::from(size_bytes) <= left_bytes).last()
    }
}

/// A run of I/Os from one random offset on.
#[derive(Clone, Debug)]
pub(super) struct RandomRun {
    pub(super) ios: u32,
    /// I/Os of the run that are still to come, and where they go on.
    pub(super) left: u32,
    pub(super) position_bytes: u64,
}

impl Order {
    pub(super) fn new(
        config: &AccessConfig,
        area_bytes: u64,
        slots: u64,
        seed: u64,
        rng: &mut Rng,
    ) -> Result<Order, AccessError> {
        Ok(match &config.pattern {
            AddressPattern::Sequential => {
                let gap_bytes = match config.step {
                    AccessStep::Gap(gap_bytes) => gap_bytes,
                    _ => 0,
                };
                let limit = (area_bytes - u64::from(config.max_bytes())) as i64;
                let is_valid = gap_bytes.unsigned_abs().is_multiple_of(SECTOR_BYTES)
                    && (-(area_bytes as i64)..=limit).contains(&gap_bytes);
                if !is_valid {
                    return Err(AccessError::BadGap { gap_bytes, area_bytes });
                }
                Order::Stream { position_bytes: stream_start(area_bytes, gap_bytes), gap_bytes }
            }
            AddressPattern::Uniform => Order::Uniform,
            AddressPattern::Cover | AddressPattern::Steady
                if !config.block_sizes.is_single() || config.write_sizes.is_some() =>
            {
                let sizes: Vec<String> = config.sizes().map(ToString::to_string).collect();
                return Err(AccessError::CoverWithMix(sizes.join(",")));
            }
            AddressPattern::Cover => {
                Order::Cover { permutation: Permutation::new(slots, rng), next: 0, stride: 1 }
            }
            AddressPattern::Steady => Order::Steady(Box::new(SteadyOrder::new(slots, seed))),
            AddressPattern::Zoned(shares) => {
                let align_bytes = u64::from(config.effective_align_bytes());
                Order::Zoned(ZoneSampler::new(shares, area_bytes, align_bytes, slots)?)
            }
            &AddressPattern::Ranked(law) => Order::Ranked {
                ranks: Ranks::new(law, slots)?,
                // Keyed by the job's seed alone: the same blocks are hot for all workers.
                scatter: scatter(slots, seed),
            },
        })
    }
}

pub(super) fn scatter(slots: u64, seed: u64) -> Permutation {
    Permutation::new(slots, &mut Rng::stream(seed, "zipf scatter"))
}
