//! Generator of data with a given compression ratio.
//!
//! # Method
//! *Records* of [`RECORD_BYTES`] on average: a copy of bytes at a fixed distance of 48 to 79 bytes
//! (a short match), then new literals from a small alphabet (for entropy coding). Lengths vary
//! uniformly by 80 %. Every 4 KiB unit has its own distance and no references outside, so a
//! compressor gains the same from a 4 KiB block as from a long stream.
//!
//! # Formula
//! A record of `P` bytes with `L` literals costs a compressor `L * h + c` bits: `h` is the entropy
//! of a literal, known from the alphabet, `c` the cost of one match and one run. For ratio `R` the
//! cost must be `8 P / R`, hence `L = (8 P / R - c) / h`. Fitted against zstd 1.5 at level 3, `c`
//! is 21 to 24 bits from R = 1.2 on (one sequence with its share of headers and tables), below,
//! with longer records, up to 44: [`OVERHEAD_BITS`], verified by the unit tests.
//!
//! The alphabet shrinks with the ratio ([`alphabet_for`]) and has at least 32 literals: with fewer,
//! accidental long-range matches mislead zstd.

use super::{NoiseReader, Ratio};

/// Unit in which compressible data are generated; no reference crosses it.
pub const UNIT_BYTES: usize = 4096;

const RECORD_BYTES: f64 = 96.0;
/// Mean length below [`SPARSE_BELOW`], where copies must be rarer to be long enough.
const SPARSE_RECORD_BYTES: f64 = 192.0;
const SPARSE_BELOW: f64 = 1.2;
/// Lengths are uniform within this share of their mean.
const SPREAD: f64 = 0.8;
/// zstd ignores shorter matches.
const MIN_COPY: f64 = 5.0;

/// `c` of the formula in bits, as fitted at these ratios; interpolated linearly in the logarithm of
/// the ratio.
const OVERHEAD_BITS: [(f64, f64); 12] = [
    (1.05, 43.5),
    (1.1, 42.5),
    (1.15, 33.0),
    // Records get longer here, see SPARSE_BELOW.
    (1.199, 29.0),
    (1.2, 20.8),
    (1.5, 21.0),
    (2.0, 23.5),
    (3.0, 23.0),
    (5.0, 23.0),
    (8.0, 23.6),
    (13.0, 23.3),
    (20.0, 22.4),
];

/// Copies are made in steps of this many bytes, the minimum distance.
const STEP: usize = 32;
/// Distance of copies: 48..80, fixed within a unit.
const MIN_DISTANCE: usize = 48;
const DISTANCE_BITS: u32 = 5;
/// Literals are generated in batches of this size.
const POOL: usize = 512;
/// Space behind pool and unit for the last run or copy (up to 1.8 * 192 bytes) and its last step.
const SLACK: usize = 512;

/// Parameters for one ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CompressibleRecipe {
    /// Number of different literals, 32..=256.
    alphabet: u16,
    literals: Lengths,
    copies: Lengths,
}

/// Uniformly distributed lengths, in 2^-16 bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Lengths {
    min: u32,
    span: u32,
}

impl Lengths {
    /// Uniform within [`SPREAD`] of the mean, at least `least` bytes.
    fn around(mean: f64, least: f64) -> Lengths {
        let mean = mean.max(least);
        let min = (mean * (1.0 - SPREAD)).max(least);
        // Half a byte more, since drawing rounds down.
        Lengths {
            min: ((min + 0.5) * 65_536.0) as u32,
            span: (2.0 * (mean - min) * 65_536.0) as u32,
        }
    }

    /// A length in bytes from 32 random bits.
    #[inline]
    fn draw(self, bits: u64) -> usize {
        ((u64::from(self.min) + ((bits * u64::from(self.span)) >> 32)) >> 16) as usize
    }
}

/// 280 / R^1.5 literals: entropy per literal falls about as fast as the share of literals.
fn alphabet_for(ratio: f64) -> u16 {
    (280.0 / ratio.powf(1.5)).round().clamp(32.0, 240.0) as u16
}

/// The entropy in bits of `(random byte * alphabet) >> 8`.
fn literal_entropy_bits(alphabet: u16) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in 0..=255_u16 {
        counts[usize::from((byte * alphabet) >> 8)] += 1;
    }
    let shares = counts.iter().filter(|&&n| n > 0).map(|&n| f64::from(n) / 256.0);
    shares.map(|p| -p * p.log2()).sum()
}

fn overhead_bits(ratio: f64) -> f64 {
    let after = OVERHEAD_BITS.partition_point(|&(at, _)| at < ratio);
    let (x1, y1) = OVERHEAD_BITS[after.min(OVERHEAD_BITS.len() - 1)];
    let (x0, y0) = OVERHEAD_BITS[after.saturating_sub(1)];
    if x0 == x1 {
        return y1;
    }
    let share = (ratio / x0).ln() / (x1 / x0).ln();
    y0 + (y1 - y0) * share
}

impl CompressibleRecipe {
    /// Solves the formula for the mean number of literals.
    pub(crate) fn new(ratio: Ratio) -> CompressibleRecipe {
        let ratio = ratio.as_f64();
        let alphabet = alphabet_for(ratio);
        let record = if ratio < SPARSE_BELOW { SPARSE_RECORD_BYTES } else { RECORD_BYTES };
        let literals =
            (8.0 * record / ratio - overhead_bits(ratio)) / literal_entropy_bits(alphabet);
        let literals = literals.clamp(1.0, record - MIN_COPY);
        CompressibleRecipe {
            alphabet,
            literals: Lengths::around(literals, 0.5),
            copies: Lengths::around(record - literals, MIN_COPY),
        }
    }

    pub(crate) fn fill(&self, noise: &mut NoiseReader, buffer: &mut [u8]) {
        for unit in buffer.chunks_mut(UNIT_BYTES) {
            self.fill_unit(noise, unit);
        }
    }

    /// The excess of a last step of [`STEP`] bytes is overwritten by the next.
    fn fill_unit(&self, noise: &mut NoiseReader, unit: &mut [u8]) {
        let mut block = [0_u8; UNIT_BYTES + SLACK];
        let mut pool = [0_u8; POOL + SLACK];
        self.fill_literals(noise, &mut pool);
        let distance = MIN_DISTANCE + (noise.next_u64() >> (64 - DISTANCE_BITS)) as usize;
        let mut at = 0;
        let mut taken = 0;
        // The first run fills the copy distance.
        let mut run = distance;
        loop {
            for done in (0..run).step_by(STEP) {
                let from = taken + done;
                block[at + done..at + done + STEP].copy_from_slice(&pool[from..from + STEP]);
            }
            at += run;
            taken += run;
            if at >= unit.len() {
                break;
            }
            if taken >= POOL {
                self.fill_literals(noise, &mut pool);
                taken = 0;
            }
            let draw = noise.next_u64();
            let copy = self.copies.draw(draw & 0xffff_ffff);
            for done in (0..copy).step_by(STEP) {
                let from = at + done - distance;
                block.copy_within(from..from + STEP, at + done);
            }
            at += copy;
            if at >= unit.len() {
                break;
            }
            run = self.literals.draw(draw >> 32);
        }
        unit.copy_from_slice(&block[..unit.len()]);
    }

    fn fill_literals(&self, noise: &mut NoiseReader, pool: &mut [u8; POOL + SLACK]) {
        noise.fill(pool);
        for byte in pool {
            *byte = ((u16::from(*byte) * self.alphabet) >> 8) as u8;
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/data/compressible.rs"]
mod tests;
