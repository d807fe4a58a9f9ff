//! fio's laws of random offsets: `lib/zipf.c`, `lib/gauss.c` and `zone-dist.c` of fio 3.33.

use super::random::{Tausworthe, hash_u64};

/// Terms of the harmonic sum; fio sums no more either.
const MOST_TERMS: u64 = 10_000_000;
/// Uniform numbers of which a draw of the normal law is the mean. Their own deviation is a twelfth
/// of the range, so that no normal law is narrower.
const TERMS: u64 = 12;

/// `random_distribution`, as it is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    Uniform,
    Zipf {
        theta: f64,
        center: Option<f64>,
    },
    Pareto {
        h: f64,
        center: Option<f64>,
    },
    Normal {
        deviation: f64,
        center: Option<f64>,
    },
    /// Of reads, writes and trims: percent of the I/Os, percent of the area.
    Zoned([Vec<(u32, u32)>; 3]),
    /// The same with lengths in bytes.
    ZonedBytes([Vec<(u32, u64)>; 3]),
}

#[derive(Clone, Debug)]
pub(super) enum Sampler {
    Zipf { theta: f64, zeta2: f64, zetan: f64 },
    Pareto { power: f64 },
    Normal { deviation: u32 },
}

/// A law whose hot blocks are scattered by a hash.
#[derive(Clone, Debug)]
pub(super) struct Hashed {
    sampler: Sampler,
    random: Tausworthe,
    blocks: u64,
    first: u64,
    scatters: bool,
}

impl Hashed {
    pub(super) fn new(law: &Law, blocks: u64, seed: u32) -> Option<Hashed> {
        let mut random = Tausworthe::new(seed.into(), false);
        let whole = blocks as f64;
        let center = |random: &mut Tausworthe, center: Option<f64>| match (random.next(), center) {
            (_, Some(center)) => (whole * center) as u64,
            (drawn, None) => drawn,
        };
        let (sampler, first) = match *law {
            Law::Zipf { theta, center: at } => {
                let first = center(&mut random, at);
                let terms =
                    (0..blocks.min(MOST_TERMS)).map(|rank| (1.0 / (rank + 1) as f64).powf(theta));
                let sampler =
                    Sampler::Zipf { theta, zeta2: 1.0 + 0.5_f64.powf(theta), zetan: terms.sum() };
                (sampler, first)
            }
            Law::Pareto { h, center: at } => {
                let first = center(&mut random, at);
                let power = h.ln() / (1.0 - h).ln();
                (Sampler::Pareto { power }, first)
            }
            Law::Normal { deviation, center } => {
                let wide = (whole * deviation / 100.0).ceil() as u64;
                let deviation = wide.min(blocks / 2) as u32;
                let first = center.map_or(0, |center| {
                    // fio keeps 32 bits of it, also where it is negative.
                    u64::from((whole * (center - 0.5)) as i64 as u32)
                });
                (Sampler::Normal { deviation }, first)
            }
            Law::Uniform | Law::Zoned(_) | Law::ZonedBytes(_) => return None,
        };
        Some(Hashed { sampler, random, blocks: blocks.max(1), first, scatters: true })
    }

    /// Neighbours stay neighbours.
    pub(super) fn in_order(self) -> Hashed {
        Hashed { scatters: false, ..self }
    }

    pub(super) fn next(&mut self) -> u64 {
        let most = f64::from(u32::MAX);
        let blocks = self.blocks;
        let rank = match self.sampler {
            Sampler::Zipf { theta, zeta2, zetan } => {
                let whole = blocks as f64;
                let eta = (1.0 - (2.0 / whole).powf(1.0 - theta)) / (1.0 - zeta2 / zetan);
                let uniform = self.random.next() as f64 / most;
                let z = uniform * zetan;
                if z < 1.0 {
                    0
                } else if z < 1.0 + 0.5_f64.powf(theta) {
                    1
                } else {
                    let power = (eta * uniform - eta + 1.0).powf(1.0 / (1.0 - theta));
                    (whole * power) as u64
                }
            }
            Sampler::Pareto { power } => {
                let uniform = self.random.next() as f64 / most;
                ((blocks - 1) as f64 * uniform.powf(power)) as u64
            }
            Sampler::Normal { deviation } => self.normal(deviation),
        };
        let place = match self.scatters {
            true => hash_u64(rank),
            false => rank,
        };
        place.wrapping_add(self.first) % blocks
    }

    fn normal(&mut self, deviation: u32) -> u64 {
        let terms = (0..TERMS).map(|_| self.random.next() % (self.blocks + 1));
        let sum: u64 = terms.sum();
        let mean = sum.div_ceil(TERMS);
        if deviation == 0 {
            return mean;
        }
        let drawn = (f64::from(deviation) * self.random.share()) as i64;
        let mut off = drawn - i64::from(deviation / 2);
        while off != 0 && mean.wrapping_add_signed(off) >= self.blocks {
            off /= 2;
        }
        mean.wrapping_add_signed(off)
    }
}

/// The zone of each percent of the I/Os: where it begins and how long it is, in percent or bytes.
pub(super) fn zone_of<T>(zones: &[(u32, T)], percent: u32) -> Option<(T, T)>
where
    T: Copy + Default + std::ops::Add<Output = T>,
{
    let (mut accesses, mut begin) = (0, T::default());
    for &(share, length) in zones {
        accesses += share;
        if percent <= accesses {
            return Some((begin, length));
        }
        begin = begin + length;
    }
    None
}
