//! Data that compresses by a given ratio, everywhere and at every scale.
//!
//! # The generator
//! A source in the image of what a compressor looks for: *records* of on average [`RECORD_BYTES`], each a copy of bytes that
//! stand a fixed distance of 48 to 79 bytes before (a short-range match) followed by a run of new literals from a small
//! alphabet (so that entropy coding gains too). Lengths vary uniformly by 80 % around their means. Every 4 KiB starts
//! afresh with its own distance and refers to nothing outside itself, so a drive gains as much from a single 4 KiB block as
//! from a long stream, and since the entropy of the source is real, a larger window gains nothing more.
//!
//! # The formula
//! A record of `P` bytes with `L` literals costs a compressor `L * h + c` bits, where `h` is the entropy of one literal (known
//! exactly from the alphabet) and `c` what it takes to describe one match and one run. For ratio `R` the cost must be `8 P /
//! R`, hence `L = (8 P / R - c) / h`. The one number that depends on the compressor is `c`; fitted against zstd 1.5 at level 3
//! it is 21 to 24 bits from R = 1.2 on, which is what one sequence (literal length, match length, repeated offset) costs there
//! plus its share of headers and tables (below 1.2, with its longer records, up to 44). The fitted values are in [`OVERHEAD_BITS`]; the test at the end of this file
//! measures the result again.
//!
//! The alphabet shrinks with the ratio ([`alphabet_for`]) so that literals and copies both contribute; it stays at 32 or above
//! because with fewer different literals accidental long-range matches mislead zstd in large windows.

use super::{NoiseReader, Ratio};

/// Compressible data is made in pieces of this many bytes; nothing in a piece refers outside it.
pub const UNIT_BYTES: usize = 4096;

/// Mean length of a record: a run of literals and the copy before it.
const RECORD_BYTES: f64 = 96.0;
/// The same for ratios below [`SPARSE_BELOW`], where copies get too short for a compressor to take unless they are rarer.
const SPARSE_RECORD_BYTES: f64 = 192.0;
const SPARSE_BELOW: f64 = 1.2;
/// Lengths are uniform within this share of their mean.
const SPREAD: f64 = 0.8;
/// Shorter matches are not worth taking to zstd.
const MIN_COPY: f64 = 5.0;

/// `c` of the formula in bits, as fitted at these ratios; linear in the logarithm of the ratio in between.
const OVERHEAD_BITS: [(f64, f64); 12] = [
    (1.05, 43.5),
    (1.1, 42.5),
    (1.15, 33.0),
    // The step is where records get longer, see SPARSE_BELOW.
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

/// Copies are made in steps of this many bytes, so none may reach less far back.
const STEP: usize = 32;
/// How far back copies reach: 48..80, fixed within a piece.
const MIN_DISTANCE: usize = 48;
const DISTANCE_BITS: u32 = 5;
/// Literals are made this many at a time.
const POOL: usize = 512;
/// Room behind pool and piece for the last run or copy, which may be 1.8 * 192 bytes long, and for its last step.
const SLACK: usize = 512;

/// How to make data of one ratio.
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
    /// Uniform within [`SPREAD`] of the mean, but not below `least` bytes.
    fn around(mean: f64, least: f64) -> Lengths {
        let mean = mean.max(least);
        let min = (mean * (1.0 - SPREAD)).max(least);
        // Half a byte more: drawing rounds down.
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

/// 280 / R^1.5 different literals: entropy per literal falls about as fast as the share of literals does.
fn alphabet_for(ratio: f64) -> u16 {
    (280.0 / ratio.powf(1.5)).round().clamp(32.0, 240.0) as u16
}

/// The entropy in bits of `(random byte * alphabet) >> 8`.
fn literal_entropy_bits(alphabet: u16) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in 0..=255_u16 {
        counts[usize::from((byte * alphabet) >> 8)] += 1;
    }
    let shares = counts
        .iter()
        .filter(|&&n| n > 0)
        .map(|&n| f64::from(n) / 256.0);
    shares.map(|p| -p * p.log2()).sum()
}

fn overhead_bits(ratio: f64) -> f64 {
    let (mut x0, mut y0) = OVERHEAD_BITS[0];
    for (x1, y1) in OVERHEAD_BITS {
        if ratio <= x1 {
            let share = if x1 > x0 {
                (ratio / x0).ln().max(0.0) / (x1 / x0).ln()
            } else {
                0.0
            };
            return y0 + (y1 - y0) * share;
        }
        (x0, y0) = (x1, y1);
    }
    y0
}

impl CompressibleRecipe {
    /// The recipe for a ratio: solves the formula of this module for the mean run of literals.
    pub(crate) fn new(ratio: Ratio) -> CompressibleRecipe {
        let ratio = ratio.as_f64();
        let alphabet = alphabet_for(ratio);
        let record = if ratio < SPARSE_BELOW {
            SPARSE_RECORD_BYTES
        } else {
            RECORD_BYTES
        };
        let literals =
            (8.0 * record / ratio - overhead_bits(ratio)) / literal_entropy_bits(alphabet);
        let literals = literals.clamp(1.0, record - MIN_COPY);
        CompressibleRecipe {
            alphabet,
            literals: Lengths::around(literals, 0.5),
            copies: Lengths::around(record - literals, MIN_COPY),
        }
    }

    /// Fill a buffer, piece by piece.
    pub(crate) fn fill(&self, noise: &mut NoiseReader, buffer: &mut [u8]) {
        for unit in buffer.chunks_mut(UNIT_BYTES) {
            self.fill_unit(noise, unit);
        }
    }

    /// Copies and runs are written in steps of [`STEP`] bytes in ascending order; what a last step writes too much, the next run
    /// or copy overwrites.
    fn fill_unit(&self, noise: &mut NoiseReader, unit: &mut [u8]) {
        let mut block = [0_u8; UNIT_BYTES + SLACK];
        let mut pool = [0_u8; POOL + SLACK];
        self.fill_literals(noise, &mut pool);
        let distance = MIN_DISTANCE + (noise.next_u64() >> (64 - DISTANCE_BITS)) as usize;
        let mut at = 0;
        let mut taken = 0;
        // The first run fills the distance that the first copy reaches back.
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
