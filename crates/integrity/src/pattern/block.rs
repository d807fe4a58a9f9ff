//! Pattern kernel: 256 beats from the 256 before, by XOR of whole beats.
//!
//! # Derivation
//! Let α = x^128, the factor between beats. Squaring is additive in characteristic 2, so p(α) =
//! p(x^(2^7)) = p(x)^(2^7) = 0: α is a root of p like x, hence α^128 = α^7 + α^2 + α + 1 and,
//! squared, α^256 = α^14 + α^4 + α^2 +
//! 1. Times the register, this is a relation between beats:
//!
//! ```text
//! beat[n + 256] = beat[n + 14] ^ beat[n + 4] ^ beat[n + 2] ^ beat[n]
//! ```
//!
//! No shifts and no carries: bytes at distances of 224, 64, 32 and 0, which vectorise at any width
//! in plain Rust, and the data before, generated *or checked*, are the register: four loads and
//! three XORs per vector. (By x^(128*8) = x^56 + x^16 + x^8 + 1, eight beats at a time, each 32
//! bytes would need six byte shifts, three bit shifts and nine XORs.) `x86` compiles it for AVX2:
//! about twice as fast in a ring that fits the cache; beyond it, memory is the limit. This doubling
//! makes all distances multiples of 32 bytes, so aligned buffers give aligned vectors.
//!
//! # Checking without generating
//! If the block before is right, a block is right exactly if the relation holds throughout: by
//! induction, the first byte that violates it is the first wrong one. So the checker writes nothing
//! ([`follows`]).

use super::{BEAT_BYTES, field};

pub const BLOCK_BEATS: u64 = 256;
/// Bytes of a block: the lag of the relation.
pub const BLOCK_BYTES: usize = BLOCK_BEATS as usize * BEAT_BYTES;
/// Distances of the relation in bytes: 2, 4 and 14 beats.
const NEAR: usize = 2 * BEAT_BYTES;
const MIDDLE: usize = 4 * BEAT_BYTES;
const FAR: usize = 14 * BEAT_BYTES;
/// Bytes of a block that depend on the previous block alone.
const BULK: usize = BLOCK_BYTES - FAR;

pub type Block = [u8; BLOCK_BYTES];

/// The block that starts with the beat of this register.
pub fn from(register: u128) -> Block {
    let mut block = [0; BLOCK_BYTES];
    let mut beat = register;
    let (beats, _) = block.as_chunks_mut::<BEAT_BYTES>();
    for slot in beats.iter_mut().take(128) {
        *slot = beat.to_le_bytes();
        beat = field::next_beat(beat);
    }
    // The relation before squaring: beat[n + 128] = beat[n + 7] ^ beat[n + 2] ^ beat[n + 1] ^
    // beat[n].
    for n in 128 * BEAT_BYTES..BLOCK_BYTES {
        let from = n - 128 * BEAT_BYTES;
        block[n] = block[from]
            ^ block[from + BEAT_BYTES]
            ^ block[from + 2 * BEAT_BYTES]
            ^ block[from + 7 * BEAT_BYTES];
    }
    block
}

/// Generate the block after `previous`.
pub fn step(previous: &Block, next: &mut Block) {
    #[cfg(target_arch = "x86_64")]
    if super::x86::step(previous, next) {
        return;
    }
    portable_step(previous, next);
}

/// Whether `next` is the block after `previous`, which is known to be right.
pub fn follows(previous: &Block, next: &Block) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let Some(answer) = super::x86::follows(previous, next) {
        return answer;
    }
    portable_follows(previous, next)
}

#[inline(always)]
pub fn portable_step(previous: &Block, next: &mut Block) {
    for i in 0..BULK {
        next[i] = previous[i] ^ previous[i + NEAR] ^ previous[i + MIDDLE] ^ previous[i + FAR];
    }
    let window = seam(previous, next);
    for i in 0..FAR {
        next[BULK + i] = window[i] ^ window[i + NEAR] ^ window[i + MIDDLE] ^ window[i + FAR];
    }
}

/// [`follows`], vectorised for the function it is inlined into. It compares a whole block first: a
/// test per vector would cost more than it saves.
#[inline(always)]
pub fn portable_follows(previous: &Block, next: &Block) -> bool {
    let mut wrong = 0;
    for i in 0..BULK {
        wrong |=
            next[i] ^ previous[i] ^ previous[i + NEAR] ^ previous[i + MIDDLE] ^ previous[i + FAR];
    }
    let window = seam(previous, next);
    for i in 0..FAR {
        wrong |=
            next[BULK + i] ^ window[i] ^ window[i + NEAR] ^ window[i + MIDDLE] ^ window[i + FAR];
    }
    wrong == 0
}

#[inline(always)]
fn seam(previous: &Block, next: &Block) -> [u8; 2 * FAR] {
    let mut window = [0; 2 * FAR];
    window[..FAR].copy_from_slice(&previous[BULK..]);
    window[FAR..].copy_from_slice(&next[..FAR]);
    window
}

#[cfg(test)]
#[path = "../../tests/unit/pattern/block.rs"]
mod tests;
