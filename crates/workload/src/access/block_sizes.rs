use std::fmt;
use std::str::FromStr;

use assay_units::{Rng, parse_size, text::compact_size};

use super::AccessError;
use super::error::BLOCK_SIZES;
use super::zoned::TOLERANCE_PERCENT;

pub const MAX_BLOCK_BYTES: u32 = 4 << 20;
pub const MAX_MIX_ENTRIES: usize = 256;

/// One column of the alias table: a 32-bit draw below `threshold` keeps `own`, any other takes
/// `alias`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Column {
    threshold: u64,
    own: u16,
    alias: u16,
}

/// Text form (fio's `bs` and `bssplit` for one direction): `4k`, or `4k/60:64k/40` with weights in
/// percent. Entries without a weight share what is left of 100 evenly. A draw costs one random
/// number and no loop: Walker's alias method, with the table built as in M. Vose, "A linear
/// algorithm for generating random numbers with a given distribution" (1991). A single size draws
/// nothing.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockSizes {
    /// Sizes in bytes, ascending and distinct.
    sizes: Vec<u32>,
    /// Weights as given, summed for equal sizes; same order as `sizes`.
    weights: Vec<f64>,
    columns: Vec<Column>,
}

impl BlockSizes {
    pub fn single(size_bytes: u32) -> Result<BlockSizes, AccessError> {
        BlockSizes::mix(&[(size_bytes, 1.0)])
    }

    /// A mix of `(size in bytes, weight)`. Weights are relative; an entry of weight 0 is left out.
    pub fn mix(entries: &[(u32, f64)]) -> Result<BlockSizes, AccessError> {
        if entries.len() > MAX_MIX_ENTRIES {
            return Err(AccessError::MixTooLong(entries.len()));
        }
        let mut merged: Vec<(u32, f64)> = Vec::with_capacity(entries.len());
        for &(size, weight) in entries {
            check_block_size(u64::from(size))?;
            if !weight.is_finite() || weight < 0.0 {
                return Err(AccessError::BadWeight(weight));
            }
            if weight == 0.0 {
                continue;
            }
            match merged.iter_mut().find(|entry| entry.0 == size) {
                Some(entry) => entry.1 += weight,
                None => merged.push((size, weight)),
            }
        }
        if merged.is_empty() {
            return Err(AccessError::EmptyMix);
        }
        merged.sort_by_key(|entry| entry.0);
        let (sizes, weights): (Vec<u32>, Vec<f64>) = merged.into_iter().unzip();
        let columns = alias_table(&weights);
        Ok(BlockSizes { sizes, weights, columns })
    }

    pub fn min_bytes(&self) -> u32 {
        self.sizes[0]
    }

    pub fn max_bytes(&self) -> u32 {
        self.sizes[self.sizes.len() - 1]
    }

    fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    pub fn mean_bytes(&self) -> f64 {
        let sum: f64 = self.entries().map(|(size, w)| f64::from(size) * w).sum();
        sum / self.total_weight()
    }

    pub fn is_single(&self) -> bool {
        self.sizes.len() == 1
    }

    pub fn entries(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.sizes.iter().copied().zip(self.weights.iter().copied())
    }

    /// The finest grid on which the I/Os of a contiguous stream start.
    pub fn common_power_of_two(&self) -> u32 {
        let bits = self.sizes.iter().fold(0, |bits, size| bits | size);
        1 << bits.trailing_zeros()
    }

    pub(super) fn count(&self) -> usize {
        self.sizes.len()
    }

    #[inline]
    pub(super) fn at(&self, index: usize) -> u32 {
        self.sizes[index]
    }

    #[inline]
    pub(super) fn pick(&self, rng: &mut Rng) -> usize {
        let count = self.columns.len() as u64;
        if count == 1 {
            return 0;
        }
        let draw = rng.next_u64();
        // High half picks the column (bias below 2^-24 for 256 columns), low half decides within
        // it.
        let column = self.columns[(((draw >> 32) * count) >> 32) as usize];
        let keep = (draw & 0xffff_ffff) < column.threshold;
        usize::from(if keep { column.own } else { column.alias })
    }
}

/// Vose's construction: columns of equal mass, each shared by at most two entries.
fn alias_table(weights: &[f64]) -> Vec<Column> {
    const ONE: f64 = 4_294_967_296.0;
    let count = weights.len();
    let total: f64 = weights.iter().sum();
    let mut mass: Vec<f64> = weights.iter().map(|w| w / total * count as f64).collect();
    let mut columns: Vec<Column> =
        (0..count).map(|i| Column { threshold: 1 << 32, own: i as u16, alias: i as u16 }).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..count).partition(|&i| mass[i] < 1.0);
    while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
        small.pop();
        columns[low].threshold = (mass[low] * ONE).round() as u64;
        columns[low].alias = high as u16;
        mass[high] -= 1.0 - mass[low];
        if mass[high] < 1.0 {
            large.pop();
            small.push(high);
        }
    }
    // What is left on either list has mass 1 up to rounding and keeps its own column whole.
    columns
}

fn check_block_size(size_bytes: u64) -> Result<u32, AccessError> {
    match (1..=u64::from(MAX_BLOCK_BYTES)).contains(&size_bytes) {
        true => Ok(size_bytes as u32),
        false => Err(AccessError::BadBlockSize(size_bytes)),
    }
}

impl FromStr for BlockSizes {
    type Err = AccessError;

    fn from_str(text: &str) -> Result<BlockSizes, AccessError> {
        let bad = |reason: String| AccessError::BadText {
            what: BLOCK_SIZES,
            text: text.to_owned(),
            reason,
            form: "one size (4k) or sizes with percentages (4k/60:64k/40)",
        };
        let mut entries = Vec::new();
        for part in text.split(':') {
            let (size, weight) = part.split_once('/').unwrap_or((part, ""));
            let size = parse_size(size).map_err(|error| bad(error.to_string()))?;
            let size = check_block_size(size)?;
            let weight = weight.trim().trim_end_matches('%');
            let not_a_number = |_| bad(format!("{weight:?} is not a percentage"));
            let percent = (!weight.is_empty()).then(|| weight.parse::<f64>().map_err(not_a_number));
            let percent = percent.transpose()?;
            if let Some(percent) = percent.filter(|p| !p.is_finite() || *p < 0.0) {
                return Err(AccessError::BadWeight(percent));
            }
            entries.push((size, percent));
        }
        let given: f64 = entries.iter().filter_map(|(_, percent)| *percent).sum();
        let absent = entries.iter().filter(|(_, percent)| percent.is_none());
        let absent = absent.count();
        if given > 100.0 + TOLERANCE_PERCENT {
            return Err(bad(format!("the weights add up to {given}, over 100")));
        }
        if absent == 0 && given < 100.0 - TOLERANCE_PERCENT {
            return Err(bad(format!("the weights add up to {given}, not 100")));
        }
        let share = (100.0 - given).max(0.0) / absent.max(1) as f64;
        let whole = |(size, percent): (u32, Option<f64>)| (size, percent.unwrap_or(share));
        let entries: Vec<(u32, f64)> = entries.into_iter().map(whole).collect();
        BlockSizes::mix(&entries)
    }
}

impl fmt::Display for BlockSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_single() {
            return f.write_str(&compact_size(u64::from(self.min_bytes())));
        }
        for (i, (size, weight)) in self.entries().enumerate() {
            let separator = if i == 0 { "" } else { ":" };
            let percent = weight * 100.0 / self.total_weight();
            write!(f, "{separator}{}/{percent}", compact_size(u64::from(size)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "../../tests/unit/access/block_sizes.rs"]
mod tests;
