//! What a synthetic workload needs to know of a trace: sizes, order, hot spots, arrivals, depth.
//!
//! - *Order*: a request that begins where one of the last [`STREAMS`] ended continues a run; any
//!   other begins one.
//! - *Skew*: the probability that two random begins of runs are of the same block,
//!   `sum c (c - 1) / (n (n - 1))` with `c` the begins in a block and `n` all of them, estimates
//!   `sum p^2` of the blocks' probabilities without bias and needs no order of them. By Zipf's law
//!   over `N` blocks it is `H(2 theta) / H(theta)^2` with `H(s) = sum over r = 1..N of r^-s`, which
//!   grows with theta: its inverse is the estimate.
//! - *Arrivals*: rate, and the coefficient of variation of the times between requests: 0 of equal
//!   ones, 1 of a Poisson process, more of bursts.
//! - *Depth*: mean number in flight by Little's law, where the trace has response times.

use std::collections::{BTreeMap, HashMap, VecDeque};

use assay_units::{Nanos, Op};

use crate::{TraceError, TraceReader, TraceRecord, TraceSource, TraceSurvey};

/// Most blocks whose begins of runs are counted, some hundred MiB. In a trace that touches more,
/// the blocks are a sample by a hash of their numbers (C. Waldspurger et al., Efficient MRC
/// construction with SHARDS, FAST 2015).
pub const MOST_BLOCKS: usize = 1 << 22;
/// Ends of requests that the next one may continue.
pub const STREAMS: usize = 16;
/// Most sizes that are kept apart; further ones count as the nearest kept power of two.
const MOST_SIZES: usize = 4096;
const MAX_THETA: f64 = 3.0;
/// Standard deviations that chance alone is granted.
const CHANCE_SIGMAS: f64 = 3.0;

#[derive(Clone, Debug, PartialEq)]
pub struct TraceProfile {
    pub read_sizes: BTreeMap<u64, u64>,
    pub write_sizes: BTreeMap<u64, u64>,
    pub requests: u64,
    pub runs: u64,
    /// Blocks of [`TraceSurvey::alignment_bytes`] at which runs begin.
    pub begin_blocks: u64,
    /// Blocks were sampled: every so many counts for one.
    pub sampled: u64,
    /// Blocks of the area from the lowest to the highest address, of every device.
    pub area_blocks: u64,
    /// Exponent of the Zipf law with the same concentration; 0 is uniform.
    pub theta: f64,
    pub hottest_pct: [f64; 3],
    /// Requests per second, all operations; 0 of a trace without times.
    pub rate: f64,
    /// Standard deviation of the times between requests by their mean.
    pub gap_variation: f64,
    pub longest_gap: Nanos,
    pub in_flight: Option<f64>,
}

pub const HOTTEST_PCT: [u64; 3] = [1, 10, 20];

impl TraceProfile {
    pub fn new(source: &TraceSource, survey: &TraceSurvey) -> Result<TraceProfile, TraceError> {
        let mut reader = TraceReader::open_surveyed(source, survey)?;
        let mut pass = Pass::default();
        while let Some(record) = reader.next_record()? {
            pass.arrivals.add(record.time);
            pass.response_ns += u128::from(record.response.unwrap_or_default().0);
            pass.responses += u64::from(record.response.is_some());
            let sizes = match record.op {
                Op::Read => &mut pass.read_sizes,
                Op::Write => &mut pass.write_sizes,
                _ => continue,
            };
            let is_known = sizes.contains_key(&record.len_bytes) || sizes.len() < MOST_SIZES;
            let size = match is_known {
                true => record.len_bytes,
                false => record.len_bytes.next_power_of_two(),
            };
            *sizes.entry(size).or_default() += 1;
            pass.requests += 1;
            if !pass.continues(&record) {
                pass.runs += 1;
                let block = record.offset_bytes / survey.alignment_bytes;
                // The same address of two devices is two blocks.
                pass.blocks.add(block.wrapping_add(hash(record.device)));
            }
        }
        let devices = survey.mixed_devices(source).len().max(1) as u64;
        Ok(pass.profile(survey, devices))
    }
}

#[derive(Default)]
struct Pass {
    read_sizes: BTreeMap<u64, u64>,
    write_sizes: BTreeMap<u64, u64>,
    requests: u64,
    runs: u64,
    ends: VecDeque<(u64, u64)>,
    blocks: BlockCounts,
    arrivals: ArrivalMoments,
    response_ns: u128,
    responses: u64,
}

impl Pass {
    fn continues(&mut self, record: &TraceRecord) -> bool {
        let begin = (record.device, record.offset_bytes);
        let found = self.ends.iter().position(|&end| end == begin);
        if let Some(at) = found {
            self.ends.remove(at);
        }
        self.ends.push_back((record.device, record.offset_bytes + record.len_bytes));
        if self.ends.len() > STREAMS {
            self.ends.pop_front();
        }
        found.is_some()
    }

    fn profile(self, survey: &TraceSurvey, devices: u64) -> TraceProfile {
        let area = survey.high_bytes - survey.low_bytes;
        let area_blocks = area.div_ceil(survey.alignment_bytes).max(1).saturating_mul(devices);
        let span_s = survey.span.as_secs_f64();
        TraceProfile {
            theta: theta(self.blocks.concentration(), self.blocks.pairs(), area_blocks),
            hottest_pct: self.blocks.hottest_pct(),
            begin_blocks: self.blocks.distinct(),
            sampled: 1 << self.blocks.shift,
            area_blocks,
            read_sizes: self.read_sizes,
            write_sizes: self.write_sizes,
            requests: self.requests,
            runs: self.runs,
            rate: match span_s > 0.0 {
                true => (self.arrivals.count - 1) as f64 / span_s,
                false => 0.0,
            },
            gap_variation: self.arrivals.variation(),
            longest_gap: self.arrivals.longest,
            in_flight: (self.responses > 0 && span_s > 0.0)
                .then(|| self.response_ns as f64 / 1e9 / span_s),
        }
    }
}

/// Times between requests: mean and variance by Welford's method.
#[derive(Default)]
struct ArrivalMoments {
    count: u64,
    last: Nanos,
    mean_ns: f64,
    squares: f64,
    longest: Nanos,
}

impl ArrivalMoments {
    fn add(&mut self, time: Nanos) {
        self.count += 1;
        if self.count > 1 {
            let gap = time - self.last;
            self.longest = self.longest.max(gap);
            let gaps = (self.count - 1) as f64;
            let from_mean = gap.0 as f64 - self.mean_ns;
            self.mean_ns += from_mean / gaps;
            self.squares += from_mean * (gap.0 as f64 - self.mean_ns);
        }
        self.last = time;
    }

    fn variation(&self) -> f64 {
        if self.count < 3 || self.mean_ns == 0.0 {
            return 0.0;
        }
        (self.squares / (self.count - 2) as f64).sqrt() / self.mean_ns
    }
}

/// Begins of runs by block, of a sample of the blocks where there are too many.
#[derive(Default)]
struct BlockCounts {
    counts: HashMap<u64, u32>,
    shift: u32,
    all: u64,
}

/// Mixes the bits of a block's number (the finaliser of SplitMix64).
fn hash(block: u64) -> u64 {
    let mut z = block.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl BlockCounts {
    fn is_sampled(&self, block: u64) -> bool {
        hash(block).trailing_zeros() >= self.shift
    }

    fn add(&mut self, block: u64) {
        self.all += 1;
        if !self.is_sampled(block) {
            return;
        }
        let count = self.counts.entry(block).or_default();
        // Saturates: the estimate of a block with 2^32 begins does not change.
        *count = count.saturating_add(1);
        if self.counts.len() > MOST_BLOCKS {
            self.shift += 1;
            let shift = self.shift;
            self.counts.retain(|block, _| hash(*block).trailing_zeros() >= shift);
        }
    }

    fn distinct(&self) -> u64 {
        (self.counts.len() as u64) << self.shift
    }

    fn concentration(&self) -> Option<f64> {
        if self.all < 2 {
            return None;
        }
        let pairs = |&count: &u32| f64::from(count) * (f64::from(count) - 1.0);
        let sum: f64 = self.counts.values().map(pairs).sum();
        let scale = (1_u64 << self.shift) as f64;
        Some(sum * scale / (self.all as f64 * (self.all - 1) as f64))
    }

    fn pairs(&self) -> f64 {
        self.all as f64 * self.all.saturating_sub(1) as f64 / 2.0
    }

    fn hottest_pct(&self) -> [f64; 3] {
        let mut counts: Vec<u32> = self.counts.values().copied().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let all: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        HOTTEST_PCT.map(|pct| {
            let blocks = (counts.len() as u64 * pct).div_ceil(100) as usize;
            let hot: u64 = counts[..blocks].iter().map(|&count| u64::from(count)).sum();
            hot as f64 / all.max(1) as f64 * 100.0
        })
    }
}

/// `sum over r = 1..n of r^-s`: the first terms singly, the others by Euler and Maclaurin.
fn harmonic(n: u64, s: f64) -> f64 {
    const SINGLY: u64 = 1000;
    let term = |r: f64| r.powf(-s);
    let singly: f64 = (1..=n.min(SINGLY)).map(|r| term(r as f64)).sum();
    if n <= SINGLY {
        return singly;
    }
    let (low, high) = (SINGLY as f64, n as f64);
    let integral = match (s - 1.0).abs() < 1e-9 {
        true => (high / low).ln(),
        false => (high.powf(1.0 - s) - low.powf(1.0 - s)) / (1.0 - s),
    };
    let slopes = s / 12.0 * (low.powf(-s - 1.0) - high.powf(-s - 1.0));
    singly + integral + (term(high) - term(low)) / 2.0 + slopes
}

/// 0 where the pairs in one block, a Poisson variable, are within [`CHANCE_SIGMAS`] of equal
/// shares.
fn theta(concentration: Option<f64>, pairs: f64, blocks: u64) -> f64 {
    let Some(wanted) = concentration else {
        return 0.0;
    };
    let by_chance = pairs / blocks as f64;
    if wanted * pairs <= by_chance + CHANCE_SIGMAS * by_chance.sqrt() {
        return 0.0;
    }
    let of = |theta: f64| harmonic(blocks, 2.0 * theta) / harmonic(blocks, theta).powi(2);
    let (mut low, mut high) = (0.0, MAX_THETA);
    if wanted <= of(low) {
        return 0.0;
    }
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        match of(middle) < wanted {
            true => low = middle,
            false => high = middle,
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
#[path = "../tests/unit/profile.rs"]
mod tests;
