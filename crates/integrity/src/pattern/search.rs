//! Location of a beat elsewhere in its stream or in another.
//!
//! Two beats of one stream differ by a factor α^d, where d is their distance. Finding d is a
//! discrete logarithm, cheap in a bounded range by Shanks' baby-step giant-step algorithm: the
//! square root of the range (some thousand products for 2^24 chunks). For a beat of unknown seed,
//! every chunk position is tried, with one product and one hash of the seed each.

use std::collections::HashMap;

use super::field::{self, Multiplier};
use super::{BEAT_BYTES, Pattern, genuine};

/// Maximum number of chunks searched, to either side.
pub const MAX_CHUNKS: u64 = 1 << 24;
/// For distances that are no multiple of the chunk, to either side: 2 TiB.
pub const MAX_BEATS: u64 = 1 << 37;
/// Maximum number of beats searched for data shifted by partial beats, to either side: 256 KiB.
pub const MAX_SHIFT_BEATS: u64 = 1 << 14;
/// Maximum number of baby steps: 13 MiB during the search.
const MAX_BABY_STEPS: u64 = 1 << 18;

/// A multiple of `unit` between `-most * unit` and `most * unit`.
pub fn distance(expected: u128, found: u128, unit: u64, most: u64) -> Option<i64> {
    if expected == 0 || found == 0 || unit == 0 {
        return None;
    }
    // found * α^(most * unit) = expected * α^(unit * n), with n between 0 and 2 * most.
    let range = most.checked_mul(2)?.checked_add(1)?;
    let reach = i64::try_from(most.checked_mul(unit)?).ok()?;
    let baby_steps = range.isqrt().saturating_add(1).min(MAX_BABY_STEPS);
    let unit_step = Multiplier::new(field::forward(1, unit));
    let mut baby = HashMap::with_capacity(baby_steps as usize);
    let mut at = expected;
    for n in 0..baby_steps {
        baby.entry(at).or_insert(n);
        at = unit_step.times(at);
    }
    let giant_step = Multiplier::new(field::backward(1, unit.checked_mul(baby_steps)?));
    let mut at = field::forward(found, reach as u64);
    for giant in 0..range.div_ceil(baby_steps) {
        if let Some(n) = baby.get(&at).map(|&n| giant * baby_steps + n)
            && n < range
        {
            return Some((n as i64 - most as i64) * unit as i64);
        }
        at = giant_step.times(at);
    }
    None
}

/// First byte of `bytes` in the stream, if within two beats they continue as the same stream
/// shifted by partial beats. `expected` is the beat that should be there, its number `beat`.
pub fn shifted(expected: u128, beat: u64, bytes: &[u8]) -> Option<u64> {
    let windows = bytes.windows(BEAT_BYTES).enumerate().take(2 * BEAT_BYTES);
    let mut ahead = windows.filter(|(skipped, _)| skipped % BEAT_BYTES != 0);
    ahead.find_map(|(skipped, window)| {
        let found = u128::from_le_bytes(window.try_into().ok()?);
        let distance = distance(expected, found, 1, MAX_SHIFT_BEATS)?;
        let at = beat.checked_add_signed(distance)?;
        at.checked_mul(BEAT_BYTES as u64)?.checked_sub(skipped as u64)
    })
}

/// Stream and beat of `found`, if it is at the same offset of a chunk there as here: chunks of
/// `chunk_beats`, at most `chunks` of them.
pub fn elsewhere(found: u128, beat: u64, chunk_beats: u64, chunks: u64) -> Option<(Pattern, u64)> {
    if chunk_beats == 0 {
        return None;
    }
    let first = beat % chunk_beats;
    let step = Multiplier::new(field::backward(1, chunk_beats));
    let mut register = field::backward(found, first);
    for chunk in 0..chunks.min(MAX_CHUNKS) {
        if let Some(pattern) = genuine(register) {
            return Some((pattern, first.checked_add(chunk.checked_mul(chunk_beats)?)?));
        }
        register = step.times(register);
    }
    None
}

#[cfg(test)]
#[path = "../../tests/unit/pattern/search.rs"]
mod tests;
