//! LFSR test pattern of streams.
//!
//! # Architecture
//! [`Pattern`] is a stream of 128-bit *beats*, the words of a hardware stream. [`PatternRegister`]
//! generates it and finds the first wrong beat, [`StreamVerifier`] verifies a stream chunk by
//! chunk, [`diagnose()`] explains mismatches, and [`PatternPages`] saves simulated drives from
//! storing it.
//!
//! # The format
//! The register is a Galois LFSR of 128 bits over p(x) = x^128 + x^7 + x^2 + x + 1, which is
//! primitive (proved by a test of `field`): bit *i* is the coefficient of x^*i*, and a clock
//! multiplies by x: all bits move up by one, and the bit shifted out is XORed into bits 0, 1, 2 and
//! 7. **A beat is the register, and 128 clocks lie between beats**: beat *n* = beat 0 * x^(128 *n*)
//! mod p. The period is 2^128 - 1 beats (128 and 2^128 - 1 are coprime). Beats are stored in memory
//! and on the drive in little-endian order: byte *k* of a beat is bits 8*k*...8*k* + 7. A stream
//! may end inside a beat; the lower bytes of it then count.
//!
//! **Beat 0** is the seed in bits 0...63 and, in bits 64...127, splitmix64 of the seed: with all
//! arithmetic modulo 2^64,
//!
//! ```text
//! z = seed + 0x9e3779b97f4a7c15
//! z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9
//! z = (z ^ z >> 27) * 0x94d049bb133111eb
//! bits 64...127 = z ^ z >> 31
//! ```
//!
//! (S. Vigna's splitmix64, 2015, after G. Steele, D. Lea, C. Flood, "Fast splittable pseudorandom
//! number generators", 2014.) It is never zero: of seed 0 it is 0xe220a8397b1dcdaf. The driver
//! computes it and loads the register by two writes of 64 bits.
//!
//! | beat | seed 0 | seed 0x0123456789abcdef |
//! |---|---|---|
//! | 0 | `e220a8397b1dcdaf0000000000000000` | `157a3807a48faa9d0123456789abcdef` |
//! | 1 | `beb74413efb7b7cd00000000000038d9` | `d77aabc4387b1b53964a69f269b5933b` |
//! | 2 | `62a6d58c55dde1e300000000001ce91b` | `9930b14094ece971c6c3e4ebc6c151be` |
//! | 3 | `7e1aee8f47e15429000000000e220a51` | `57cbb68998f226b631b9cb7030ee4d57` |
//! | 4 | `7733ce0f270cb85f000000073beb008d` | `42a94570b3cdaa1a48c8c848e5ad5cf3` |
//! | 2^32 | `903c654bb1eed690131dbde26b81fe72` | `53b2bc46a83b6a7847be5c6d2a78386f` |
//!
//! As numbers, highest bit first; in memory beat 0 of the second stream begins with the bytes
//! `ef cd ab 89`. The first eight beats of a small seed still contain its zeroes.
//!
//! ## In hardware
//! A beat per clock cycle is one layer of XORs of at most nine inputs, because x^128 = x^7 + x^2 +
//! x + 1 is sparse:
//!
//! ```verilog
//! // r: the register, which is the beat. over: the bits shifted out, to be multiplied
//! // by x^128 once more.
//! wire [6:0]   over = {r[127], r[126], r[125], r[124], r[123], r[127] ^ r[122],
//!                      r[127] ^ r[126] ^ r[121]};
//! wire [127:0] next = r ^ (r << 1) ^ (r << 2) ^ (r << 7)
//!                   ^ {121'b0, over} ^ {120'b0, over, 1'b0}
//!                   ^ {119'b0, over, 2'b0} ^ {114'b0, over, 7'b0};
//! always @(posedge clk)
//!     if (load_low)       r[63:0]   <= wdata;   // the seed
//!     else if (load_high) r[127:64] <= wdata;   // splitmix64 of it
//!     else if (valid && ready) r <= next;
//! ```
//!
//! To begin at beat *n*, load [`Pattern::beat`]\(*n*) instead. A checker is the same register and a
//! comparator.
//!
//! # Mechanism
//! - *Random access*: x^(128 *n*) by the powers x^(128 * 2^*k*), tables made at compile time; 1 to
//!   2 µs.
//! - *Speed*: beat\[n + 256] = beat\[n + 14] ^ beat\[n + 4] ^ beat\[n + 2] ^ beat\[n] (proved in
//!   `block`): four loads and three XORs per vector, and checking needs nothing generated, since
//!   the right data before are the register.
//! - *Identity*: a beat at a known position, multiplied by x^(-128 *n*), is that stream's beat 0,
//!   whose upper half is splitmix64 of the lower one; random bytes match once in 2^64. So stale
//!   data identify their seed ([`Pattern::of_beat`]), and a beat of the same stream its distance
//!   ([`diagnose()`]). splitmix64 is not linear, so neither flipped bits nor sums of streams
//!   resemble another seed.
//!
//! # Non-goals
//! Not for secrets: 16 bytes and their position determine the whole stream. Not random under tests
//! of linearity. It does not compress.

mod block;
mod diagnose;
mod diagnosis;
mod field;
mod pages;
mod register;
mod search;
#[cfg(test)]
#[path = "../../tests/unit/pattern.rs"]
mod tests;
mod verifier;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86;

pub use diagnose::{
    DiagnosisContext, MAX_FLIPPED_BITS, MAX_PIECES, MAX_SEARCHES, MAX_UNKNOWN_BEATS, ReadChunk,
    diagnose,
};
pub use diagnosis::{DataOrigin, Diagnosis};
pub use pages::{MAX_ANNOUNCED, PatternPages};
pub use register::{Mismatch, PatternRegister, WrongBeats};
pub use search::{MAX_BEATS, MAX_CHUNKS};
pub use verifier::{ExpectedData, ExpectedLayout, MismatchedChunk, StreamFindings, StreamVerifier};

use assay_units::rng::splitmix64;

/// Bytes of a beat: 128 bits.
pub const BEAT_BYTES: usize = 16;

/// An endless stream: the beats of one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    seed: u64,
}

impl Pattern {
    /// The stream of this seed; every seed is valid.
    pub const fn new(seed: u64) -> Pattern {
        Pattern { seed }
    }

    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Beat `index` of the stream, little-endian. 1 to 2 µs.
    pub fn beat(&self, index: u64) -> u128 {
        field::forward(start(self.seed), index)
    }

    /// Generates the stream, or compares bytes with it, from this beat on.
    pub fn at(&self, first_beat: u64) -> PatternRegister {
        PatternRegister::new(*self, first_beat)
    }

    /// The stream that has this beat at this position, if any; random bytes match once in 2^64.
    pub fn of_beat(index: u64, beat: u128) -> Option<Pattern> {
        genuine(field::backward(beat, index))
    }
}

/// Continue the stream whose bytes these are; false, without effect, if they are less than a block.
pub fn continue_stream(bytes: &[u8], out: &mut [u8]) -> bool {
    let Some(&(mut previous)) = bytes.last_chunk::<{ block::BLOCK_BYTES }>() else {
        return false;
    };
    for part in out.chunks_mut(block::BLOCK_BYTES) {
        let mut next = previous;
        block::step(&previous, &mut next);
        part.copy_from_slice(&next[..part.len()]);
        previous = next;
    }
    true
}

/// The register at beat 0.
fn start(seed: u64) -> u128 {
    let mut state = seed;
    u128::from(splitmix64(&mut state)) << 64 | u128::from(seed)
}

/// The pattern with this register at beat 0, if any.
fn genuine(register: u128) -> Option<Pattern> {
    let seed = register as u64;
    (start(seed) == register).then_some(Pattern { seed })
}
