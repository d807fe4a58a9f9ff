use assay_units::Rng;

use super::permutation::Permutation;

/// Regions that the first writes of all blocks are divided into.
const FIRST_REGIONS: u64 = 256;
/// Blocks of a region at least: fewer hold no distribution.
const LEAST_REGION_BLOCKS: u64 = 64;
/// One in so many of the first regions is too young to be overwritten: its data may still be in a
/// cache, where an overwrite leaves no invalid block on flash.
const REGIONS_PER_CACHE: u64 = 32;
/// The first writes are a part of the area that the pass then overwrites first: a cache that keeps
/// what it took until the drive idles holds nothing valid then, as in steady state.
pub const AREA_PER_LEAD: u64 = 16;
/// The order begins anew after so many writes of the area.
const MOST_WRITES_OF_AREA: u64 = 4;
/// Bound of the decay per region; nothing is valid beyond it.
const MOST_DECAY: f64 = 64.0;
const BISECTIONS: usize = 60;

/// The order of writes whose state is, whenever the drive's free space ends, that of steady random
/// writing with just this much space.
///
/// In the steady state of uniform random writes, collected in the order of writing (FIFO; greedy
/// collection of large blocks does nearly the same), each valid block is overwritten next with the
/// same probability, so the valid fraction of a region decays exponentially with the writes since:
/// `v = exp(-d * age)`, down to that of the region collected next. Space and data fix the decay:
/// the mean valid fraction is the data's share of the space (P. Desnoyers, "Analytic Modeling of
/// SSD Write Performance", SYSTOR 2012, section 4; B. Van Houdt, "A Mean Field Model for a Class of
/// Garbage Collection Algorithms in Flash-based Solid State Drives", SIGMETRICS 2013, for the
/// limit of greedy collection; W. Bux, I. Iliadis, Performance Evaluation 67, 2010, for finite
/// blocks).
///
/// With more space every region's valid fraction is lower, at every age. So one sequence passes
/// through the steady states of all spare ratios, from none upwards: all blocks once in random
/// order, then region by region those blocks again by which each older region's valid fraction
/// falls to what the space written so far asks for. Nothing about the drive need be known: the
/// state is right when its garbage collection begins.
///
/// A place in the order is computed from its number alone; kept are only the shares that each
/// region took of each older one.
#[derive(Clone, Debug)]
pub(super) struct SteadyOrder {
    blocks: u64,
    region_blocks: u64,
    first_regions: usize,
    cached_regions: usize,
    first: Permutation,
    /// Of each region: the order in which its blocks are overwritten.
    overwriting: Vec<Permutation>,
    /// Of each region, so far.
    overwritten: Vec<u64>,
    /// Of the regions after the first ones.
    rewrites: Vec<Rewrites>,
    rng: Rng,
    next: u64,
    stride: u64,
}

/// What a region overwrites.
#[derive(Clone, Debug)]
struct Rewrites {
    /// By the number of the older region: the end of its share, and how much of it was overwritten
    /// before.
    shares: Vec<(u64, u64)>,
    order: Permutation,
}

impl SteadyOrder {
    pub(super) fn new(blocks: u64, seed: u64) -> SteadyOrder {
        let mut rng = Rng::stream(seed, "steady order");
        let first_regions = (blocks / LEAST_REGION_BLOCKS).clamp(1, FIRST_REGIONS);
        let first = Permutation::new(blocks, &mut rng);
        let mut order = SteadyOrder {
            blocks,
            region_blocks: blocks / first_regions,
            first_regions: first_regions as usize,
            cached_regions: (first_regions / REGIONS_PER_CACHE) as usize,
            first,
            overwriting: Vec::new(),
            overwritten: Vec::new(),
            rewrites: Vec::new(),
            rng,
            next: 0,
            stride: 1,
        };
        for region in 0..order.first_regions {
            order.add_region(region);
        }
        order
    }

    /// Each of several workers takes every so many-th write.
    pub(super) fn share(&mut self, worker: u32, workers: u32) {
        (self.next, self.stride) = (worker.into(), workers.into());
    }

    /// All workers have done so many writes together, as many each.
    pub(super) fn skip(&mut self, writes: u64) {
        self.next += writes.next_multiple_of(self.stride);
    }

    /// Number of the block that is written next.
    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let lead = self.blocks / AREA_PER_LEAD;
        let number = match self.next < lead {
            true => self.next,
            false => (self.next - lead) % (self.blocks * MOST_WRITES_OF_AREA),
        };
        self.next += self.stride;
        if number < self.blocks {
            return self.first.apply(number);
        }
        let beyond = number - self.blocks;
        let rewriting = (beyond / self.region_blocks) as usize;
        while self.rewrites.len() <= rewriting {
            self.add_rewrites();
        }
        self.block(self.first_regions + rewriting, beyond % self.region_blocks)
    }

    /// The last of the first regions has what is left of the division.
    fn blocks_of(&self, region: usize) -> u64 {
        match region + 1 == self.first_regions {
            true => self.blocks - self.region_blocks * region as u64,
            false => self.region_blocks,
        }
    }

    fn add_region(&mut self, region: usize) {
        let count = self.blocks_of(region);
        self.overwriting.push(Permutation::new(count, &mut self.rng));
        self.overwritten.push(0);
    }

    /// The block that was written at a place of a region.
    fn block(&self, mut region: usize, mut place: u64) -> u64 {
        while region >= self.first_regions {
            let rewrites = &self.rewrites[region - self.first_regions];
            let drawn = rewrites.order.apply(place);
            let older = rewrites.shares.partition_point(|&(end, _)| end <= drawn);
            let begin = older.checked_sub(1).map_or(0, |at| rewrites.shares[at].0);
            let overwriting = &self.overwriting[older];
            place = overwriting.apply(rewrites.shares[older].1 + (drawn - begin));
            region = older;
        }
        self.first.apply(self.region_blocks * region as u64 + place)
    }

    fn add_rewrites(&mut self) {
        let region = self.overwritten.len();
        let decay = self.decay(region);
        let mut shares = Vec::with_capacity(region);
        let (mut wanted, mut end) = (0.0, 0);
        for older in 0..region {
            let blocks = self.blocks_of(older);
            let valid = (-decay * self.age(region, older)).exp();
            let done = self.overwritten[older];
            wanted += (blocks as f64 * (1.0 - valid) - done as f64).max(0.0);
            let due = (wanted.round() as u64).min(self.region_blocks);
            let share = due.saturating_sub(end).min(blocks - done);
            end += share;
            shares.push(share);
        }
        // What rounding left over.
        for (older, share) in shares.iter_mut().enumerate() {
            let valid = self.blocks_of(older) - self.overwritten[older] - *share;
            let more = valid.min(self.region_blocks - end);
            (*share, end) = (*share + more, end + more);
        }
        let mut end = 0;
        let shares = shares.into_iter().zip(&mut self.overwritten);
        let shares = shares.map(|(share, overwritten)| {
            end += share;
            *overwritten += share;
            (end, *overwritten - share)
        });
        let shares = shares.collect();
        let order = Permutation::new(self.region_blocks, &mut self.rng);
        self.rewrites.push(Rewrites { shares, order });
        self.add_region(region);
    }

    /// Regions written between an older one and `region`, whose data may be overwritten.
    fn age(&self, region: usize, older: usize) -> f64 {
        (region - older).saturating_sub(self.cached_regions) as f64
    }

    /// Decay per region at which all regions up to `region` hold each block once.
    fn decay(&self, region: usize) -> f64 {
        let valid = |decay: f64| {
            let regions = 0..=region;
            let of =
                |older| self.blocks_of(older) as f64 * (-decay * self.age(region, older)).exp();
            regions.map(of).sum::<f64>()
        };
        let (mut low, mut high) = (0.0, MOST_DECAY);
        for _ in 0..BISECTIONS {
            let middle = f64::midpoint(low, high);
            match valid(middle) > self.blocks as f64 {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    }
}

#[cfg(test)]
#[path = "../../tests/unit/access/steady.rs"]
mod tests;
