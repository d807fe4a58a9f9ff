//! Diagnosis of mismatched pattern data.
//!
//! The bytes are divided into runs: right ones, and wrong ones of one origin each, from the first wrong beat on as far
//! as that origin explains them. The first beat determines the origin: zeroes or ones; few bits from the expected
//! beat; the stream of another seed (the beat taken back to beat 0 gives a valid start register); the same stream
//! elsewhere, by whole beats or not, or another one elsewhere (`search`). The runs are classified by
//! [`crate::mismatch`].
//!
//! # Limitations
//! - *Lost write or later overwrite by an old copy*: both leave stale data, and so does a stream shorter than expected ([`Diagnosis::Stale`] or
//!   [`Diagnosis::Torn`]); [`StreamLength::check_end`](super::StreamLength::check_end) decides where the length is known.
//! - *Wrong seed or a lost first write*, when only the first chunk is given: pass another chunk.
//! - *Misdirected write or misdirected read*: check whether the location the data belong to holds them as well.
//! - *An earlier write with the same seed*: its bytes are right. Use a new seed for each recording.
//! - Of unknown origin: data of another seed from another offset in its chunk; data shifted by partial beats beyond 256 KiB; a beat inside which the right
//!   data start again; a flipped bit in stale data. Only [`MAX_SEARCHES`] unknown beats are searched for elsewhere.
//! - Random bytes match another seed once in 2^64 beats, and another seed elsewhere once in 2^64 / chunks.
//!
//! # Key constants
//! [`MAX_FLIPPED_BITS`], [`MAX_PIECES`], [`MAX_SEARCHES`], [`MAX_UNKNOWN_BEATS`].

use crate::mismatch::{MismatchClass, classify};

use super::search::{self, MAX_BEATS, MAX_CHUNKS};
use super::{BEAT_BYTES, DataOrigin, Diagnosis, Mismatch, MismatchRun, Pattern, PatternChecker};

/// Maximum number of wrong bits in a flipped beat. Unrelated beats agree this far once in 2^88.
pub const MAX_FLIPPED_BITS: u32 = 8;
/// Maximum number of runs of a patchwork.
pub const MAX_PIECES: usize = 16;
/// Maximum number of searches elsewhere: up to a second each at the largest range.
pub const MAX_SEARCHES: u32 = 4;
/// Beats of unknown origin after which the rest is only counted.
pub const MAX_UNKNOWN_BEATS: u64 = 1024;

/// Expected pattern, and the medium to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagnosisContext {
    /// The expected pattern.
    pub pattern: Pattern,
    /// Length of a chunk, bytes: data elsewhere are searched at chunk distances first.
    pub chunk_bytes: u64,
    /// Number of chunks on the medium.
    pub chunks: u64,
}

/// Bytes read, usually a chunk.
#[derive(Clone, Copy, Debug)]
pub struct ReadChunk<'a> {
    /// The expected first beat.
    pub first_beat: u64,
    /// The bytes, at least from the first wrong beat to the end of the chunk.
    pub bytes: &'a [u8],
}

/// Diagnose a chunk; `None` if it is right. Reads it a few times and in the worst case searches for seconds.
///
/// `other` is another chunk of the stream, right or wrong: it distinguishes a stream of another seed from a lost first
/// write. Without it, a first chunk entirely of another seed is [`Diagnosis::WrongSeed`].
pub fn diagnose(
    context: &DiagnosisContext,
    chunk: &ReadChunk,
    other: Option<&ReadChunk>,
) -> Option<Diagnosis> {
    let dissection = Dissection::take(context, chunk);
    let runs = dissection.pieces.as_slice();
    let first = *runs.first()?;
    let beats = chunk.bytes.len().div_ceil(BEAT_BYTES) as u64;
    let unit = chunk.first_beat..chunk.first_beat.saturating_add(beats);
    let classified: Vec<_> = runs.iter().map(MismatchRun::classified).collect();
    let class = classify(&classified, &unit)?;
    let corrupt = Diagnosis::Corrupt {
        first_beat: first.first_beat,
        beats: dissection.wrong_beats,
    };
    if dissection.gave_up || runs.iter().all(unknown) {
        return Some(corrupt);
    }
    Some(match (class, first.origin) {
        (MismatchClass::Corrupt, DataOrigin::Flipped { mask }) if runs.iter().all(flipped) => {
            Diagnosis::BitFlip {
                beat: first.first_beat,
                mask,
                beats: dissection.wrong_beats,
            }
        }
        (MismatchClass::Torn, origin) if runs.len() == 1 => Diagnosis::Torn {
            first_beat: first.first_beat,
            end_beat: first.end_beat,
            origin,
        },
        (MismatchClass::Torn | MismatchClass::Corrupt, _) if runs.len() > MAX_PIECES => corrupt,
        (MismatchClass::Torn | MismatchClass::Corrupt, _) => Diagnosis::Patchwork {
            pieces: runs.to_vec(),
        },
        (_, DataOrigin::Seed { seed }) if is_whole_stream(seed, chunk, other) => {
            Diagnosis::WrongSeed { seed }
        }
        (_, DataOrigin::Seed { seed }) => Diagnosis::Stale { seed },
        (_, DataOrigin::SeedElsewhere { seed, beat }) => Diagnosis::StaleElsewhere { seed, beat },
        (_, DataOrigin::Place { beat }) => Diagnosis::Misplaced { beat },
        (_, DataOrigin::Shifted { byte }) => Diagnosis::Shifted { byte },
        (_, DataOrigin::Zero) => Diagnosis::Zero,
        (_, DataOrigin::Ones) => Diagnosis::Ones,
        (_, DataOrigin::Flipped { .. } | DataOrigin::Unknown) => corrupt,
    })
}

/// Whether all chunks given, including the first of the stream, are of this seed.
fn is_whole_stream(seed: u64, chunk: &ReadChunk, other: Option<&ReadChunk>) -> bool {
    let of_seed = |seen: &ReadChunk| {
        let mut checker = Pattern::new(seed).checker(seen.first_beat);
        checker.check(seen.bytes).is_ok()
    };
    let begins = |seen: &ReadChunk| seen.first_beat == 0;
    (begins(chunk) || other.is_some_and(begins)) && other.is_none_or(of_seed)
}

/// A chunk divided into runs.
struct Dissection {
    /// Wrong runs in order, up to one more than [`MAX_PIECES`] without flipped ones.
    pieces: Vec<MismatchRun>,
    wrong_beats: u64,
    /// Too many beats of unknown origin.
    gave_up: bool,
}

impl Dissection {
    fn take(context: &DiagnosisContext, chunk: &ReadChunk) -> Dissection {
        let counted = context
            .pattern
            .checker(chunk.first_beat)
            .count_wrong(chunk.bytes);
        let mut apart = Dissection {
            pieces: Vec::new(),
            wrong_beats: counted.beats,
            gave_up: false,
        };
        let mut tracer = Tracer {
            context,
            searches: MAX_SEARCHES,
        };
        let mut checker = context.pattern.checker(chunk.first_beat);
        let (mut unknown, mut patches) = (0, 0);
        let mut at = 0;
        while let Err(mismatch) = checker.check(chunk.bytes.get(at..).unwrap_or_default()) {
            at += mismatch.offset_bytes as usize;
            let (before, rest) = chunk.bytes.split_at(at);
            let origin = tracer.origin(&mismatch, rest);
            let bytes = extent(origin, &mismatch, rest, context.pattern);
            let beats = bytes.div_ceil(BEAT_BYTES) as u64;
            let piece = MismatchRun {
                first_beat: mismatch.beat,
                end_beat: mismatch.beat.saturating_add(beats),
                origin,
            };
            at += bytes;
            unknown += u64::from(origin == DataOrigin::Unknown);
            patches += usize::from(apart.add(piece, before, context.pattern) && !flipped(&piece));
            if unknown > MAX_UNKNOWN_BEATS || patches > MAX_PIECES {
                apart.gave_up = true;
                break;
            }
            checker.skip_to(piece.end_beat);
        }
        apart
    }

    /// Add a run after these bytes; false if it extended the last one.
    fn add(&mut self, piece: MismatchRun, before: &[u8], pattern: Pattern) -> bool {
        match self.pieces.last_mut() {
            Some(last) if last.end_beat != piece.first_beat => {}
            Some(last) if unknown(last) && unknown(&piece) => {
                last.end_beat = piece.end_beat;
                return false;
            }
            Some(last) => {
                let new = flipped(last);
                if let Some(piece) = spliced(last, &piece, before, pattern) {
                    *last = piece;
                    return new;
                }
            }
            None => {}
        }
        self.pieces.push(piece);
        true
    }
}

fn unknown(piece: &MismatchRun) -> bool {
    piece.origin == DataOrigin::Unknown
}

fn flipped(piece: &MismatchRun) -> bool {
    matches!(piece.origin, DataOrigin::Flipped { .. })
}

/// A beat that starts right and continues like `piece` is torn inside: both are one run.
fn spliced(
    last: &MismatchRun,
    piece: &MismatchRun,
    before: &[u8],
    pattern: Pattern,
) -> Option<MismatchRun> {
    let single = last.end_beat.checked_sub(last.first_beat) == Some(1);
    if !single || !(unknown(last) || flipped(last)) {
        return None;
    }
    let found = before.last_chunk::<BEAT_BYTES>()?;
    let right = pattern.beat(last.first_beat).to_le_bytes();
    let (earlier, origin) = one_earlier(piece.origin, piece.first_beat, pattern)?;
    let tear = |at: usize| found[..at] == right[..at] && found[at..] == earlier[at..];
    (1..BEAT_BYTES).any(tear).then_some(MismatchRun {
        first_beat: last.first_beat,
        end_beat: piece.end_beat,
        origin,
    })
}

/// The beat before one of this origin, and its origin.
fn one_earlier(
    origin: DataOrigin,
    beat: u64,
    pattern: Pattern,
) -> Option<([u8; BEAT_BYTES], DataOrigin)> {
    let of = |pattern: Pattern, beat: u64| pattern.beat(beat).to_le_bytes();
    Some(match origin {
        DataOrigin::Seed { seed } => (of(Pattern::new(seed), beat.checked_sub(1)?), origin),
        DataOrigin::Place { beat } => {
            let beat = beat.checked_sub(1)?;
            (of(pattern, beat), DataOrigin::Place { beat })
        }
        DataOrigin::SeedElsewhere { seed, beat } => {
            let beat = beat.checked_sub(1)?;
            let origin = DataOrigin::SeedElsewhere { seed, beat };
            (of(Pattern::new(seed), beat), origin)
        }
        DataOrigin::Shifted { byte } => {
            let byte = byte.checked_sub(BEAT_BYTES as u64)?;
            let mut two = [0; 2 * BEAT_BYTES];
            pattern.generator(byte / BEAT_BYTES as u64).fill(&mut two);
            let from = (byte % BEAT_BYTES as u64) as usize;
            let earlier = *two.get(from..)?.first_chunk()?;
            (earlier, DataOrigin::Shifted { byte })
        }
        DataOrigin::Zero => ([0; BEAT_BYTES], origin),
        DataOrigin::Ones => ([0xff; BEAT_BYTES], origin),
        DataOrigin::Flipped { .. } | DataOrigin::Unknown => return None,
    })
}

struct Tracer<'a> {
    context: &'a DiagnosisContext,
    searches: u32,
}

impl Tracer<'_> {
    fn origin(&mut self, wrong: &Mismatch, rest: &[u8]) -> DataOrigin {
        let flipped = wrong.wrong_bits();
        if wrong.found == 0 {
            DataOrigin::Zero
        } else if wrong.found == u128::MAX {
            DataOrigin::Ones
        } else if flipped.count_ones() <= MAX_FLIPPED_BITS {
            DataOrigin::Flipped { mask: flipped }
        } else if rest.len() < BEAT_BYTES {
            DataOrigin::Unknown
        } else if let Some(pattern) = Pattern::of_beat(wrong.beat, wrong.found) {
            DataOrigin::Seed {
                seed: pattern.seed(),
            }
        } else {
            self.elsewhere(wrong, rest).unwrap_or(DataOrigin::Unknown)
        }
    }

    fn elsewhere(&mut self, wrong: &Mismatch, rest: &[u8]) -> Option<DataOrigin> {
        self.searches = self.searches.checked_sub(1)?;
        let chunk_beats = self.context.chunk_bytes / BEAT_BYTES as u64;
        let beats = chunk_beats
            .saturating_mul(self.context.chunks)
            .min(MAX_BEATS);
        let chunks = self.context.chunks.min(MAX_CHUNKS);
        let far = |unit, most| search::distance(wrong.expected, wrong.found, unit, most);
        let distance = far(chunk_beats, chunks).or_else(|| far(1, beats));
        if let Some(beat) = distance.and_then(|d| wrong.beat.checked_add_signed(d)) {
            return Some(DataOrigin::Place { beat });
        }
        if let Some(byte) = search::shifted(wrong.expected, wrong.beat, rest) {
            return Some(DataOrigin::Shifted { byte });
        }
        let (pattern, beat) = search::elsewhere(wrong.found, wrong.beat, chunk_beats, chunks)?;
        Some(DataOrigin::SeedElsewhere {
            seed: pattern.seed(),
            beat,
        })
    }
}

/// Bytes from a wrong beat on that are of its origin.
fn extent(origin: DataOrigin, wrong: &Mismatch, rest: &[u8], pattern: Pattern) -> usize {
    let follow = |mut checker: PatternChecker| match checker.check(rest) {
        Ok(()) => rest.len(),
        Err(end) => end.offset_bytes as usize,
    };
    let same = |byte: u8| {
        let beats = rest.chunks(BEAT_BYTES);
        let of_it = beats.take_while(|beat| beat.iter().all(|&b| b == byte));
        of_it.map(<[u8]>::len).sum()
    };
    let bytes: usize = match origin {
        DataOrigin::Seed { seed } => follow(Pattern::new(seed).checker(wrong.beat)),
        DataOrigin::Place { beat } => follow(pattern.checker(beat)),
        DataOrigin::SeedElsewhere { seed, beat } => follow(Pattern::new(seed).checker(beat)),
        DataOrigin::Shifted { byte } => shifted_extent(pattern, byte, rest),
        DataOrigin::Zero => same(0),
        DataOrigin::Ones => same(0xff),
        DataOrigin::Flipped { .. } | DataOrigin::Unknown => 0,
    };
    // At least the beat itself, so that the loop ends.
    bytes.max(BEAT_BYTES.min(rest.len()))
}

/// Bytes of the stream from this byte on, in whole beats. The first two beats, where the shift may start, are not
/// compared.
fn shifted_extent(pattern: Pattern, byte: u64, rest: &[u8]) -> usize {
    let beat_bytes = BEAT_BYTES as u64;
    let first = byte.div_ceil(beat_bytes) + 1;
    let skipped = (first * beat_bytes - byte) as usize;
    let Some(shifted) = rest.get(skipped..) else {
        return rest.len();
    };
    match pattern.checker(first).check(shifted) {
        Ok(()) => rest.len(),
        Err(end) => {
            let bytes = skipped + end.offset_bytes as usize;
            bytes - bytes % BEAT_BYTES
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/pattern/diagnose.rs"]
mod tests;
