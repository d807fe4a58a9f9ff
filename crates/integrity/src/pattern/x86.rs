//! The kernel of [`super::block`] compiled for AVX2: the same plain Rust, with vectors of 32 bytes instead of 16.
//!
//! # Unsafe
//! This is the one file of this crate with `unsafe`. A function that is compiled for AVX2 may only be called where the processor has it, and only
//! the caller can see to that; no pointer and no intrinsic is used. It is worth it: about twice the speed in a ring that fits
//! the cache.
//!
//! # Non-goals
//! No AVX-512: beyond the cache, memory is the limit already, and older compilers that this project supports cannot name it.

use super::block::{Block, portable_follows, portable_step};

/// Make the block after `previous`; false: the processor has no AVX2 and nothing was done.
#[inline]
pub fn step(previous: &Block, next: &mut Block) -> bool {
    let able = is_x86_feature_detected!("avx2");
    if able {
        // SAFETY: the processor has AVX2, which is all that the function asks for.
        unsafe { step_avx2(previous, next) };
    }
    able
}

/// Is `next` what comes after `previous`? None: the processor has no AVX2.
#[inline]
pub fn follows(previous: &Block, next: &Block) -> Option<bool> {
    if !is_x86_feature_detected!("avx2") {
        return None;
    }
    // SAFETY: the processor has AVX2, which is all that the function asks for.
    Some(unsafe { follows_avx2(previous, next) })
}

#[target_feature(enable = "avx2")]
fn step_avx2(previous: &Block, next: &mut Block) {
    portable_step(previous, next);
}

#[target_feature(enable = "avx2")]
fn follows_avx2(previous: &Block, next: &Block) -> bool {
    portable_follows(previous, next)
}
