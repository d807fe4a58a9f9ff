//! From wrong bytes to what happened.
//!
//! The bytes are taken apart into pieces: right ones, and wrong ones each with one origin, from the first wrong beat on as far as that
//! origin explains them. A piece's origin is told by its first beat: zeroes and ones; few bits off the expected beat; the stream of
//! another seed (the beat taken back to beat 0 gives a genuine register, see the module's head); the same stream elsewhere, by whole
//! beats or not, or another one elsewhere (`search`). The pieces then make the diagnosis.
//!
//! # What it cannot tell
//! - *Lost write or later overwrite by an old copy*: both leave stale data. Equally a stream that was recorded shorter than expected
//!   leaves what was there before, which is [`Diagnosis::Stale`] or [`Diagnosis::Torn`]; [`StreamLength::check_end`](super::StreamLength::check_end)
//!   tells where the length is known.
//! - *Wrong seed or a lost first write*, when the first chunk is all there is to see: show another chunk.
//! - *A misdirected write or a misdirected read*: look whether the place that the data belongs to holds them as well.
//! - *A write of the same seed before this one*: its bytes are the right ones. Take a new seed for each recording.
//! - Data of another seed from another place of its chunk, and data shifted by other than whole beats and far (256 KiB), is of unknown
//!   origin; so is a beat inside of which the right data begins again, or a flipped bit in stale data. Of unknown beats only [`MAX_SEARCHES`] are searched for
//!   elsewhere.
//! - Random bytes pass for another seed's once in 2^64 beats, for those of another seed elsewhere once in 2^64 / chunks: at 2^24 chunks
//!   once in 2^40.
//!
//! # Key constants
//! [`MAX_FLIPPED_BITS`], [`MAX_PIECES`], [`MAX_SEARCHES`], [`MAX_UNKNOWN_BEATS`].

use crate::mismatch::{MismatchClass, classify};

use super::search::{self, MAX_BEATS, MAX_CHUNKS};
use super::{BEAT_BYTES, DataOrigin, Diagnosis, Mismatch, MismatchRun, Pattern, PatternChecker};

/// More wrong bits of a beat are not called flipped. Unrelated beats agree so far once in 2^88 times.
pub const MAX_FLIPPED_BITS: u32 = 8;
/// More pieces are corruption.
pub const MAX_PIECES: usize = 16;
/// Searches for a place elsewhere: up to a second each at the largest range.
pub const MAX_SEARCHES: u32 = 4;
/// Beats of unknown origin after which the rest is only counted.
pub const MAX_UNKNOWN_BEATS: u64 = 1024;

/// What was read from and what should be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagnosisContext {
    /// The pattern that should be there.
    pub pattern: Pattern,
    /// Length of a chunk in bytes: what lies elsewhere is looked for at distances of chunks first.
    pub chunk_bytes: u64,
    /// How many chunks the range has that was written.
    pub chunks: u64,
}

/// Bytes that were read, usually a chunk.
#[derive(Clone, Copy, Debug)]
pub struct ReadChunk<'a> {
    /// The beat that they should begin with.
    pub first_beat: u64,
    /// The bytes, at least from the first wrong beat on to the end of the chunk.
    pub bytes: &'a [u8],
}

/// What is wrong with the bytes of `chunk`; none: they are right. It reads them a few times, and in the worst case searches for
/// seconds.
///
/// `other` is a chunk elsewhere in the stream, right or wrong, if there is one to see: only that tells a stream of another seed
/// from a first chunk that was not written. Without it, a first chunk wholly of another seed counts as [`Diagnosis::WrongSeed`].
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

/// Is all that is seen of the stream of this seed, its beginning included?
fn is_whole_stream(seed: u64, chunk: &ReadChunk, other: Option<&ReadChunk>) -> bool {
    let of_seed = |seen: &ReadChunk| {
        let mut checker = Pattern::new(seed).checker(seen.first_beat);
        checker.check(seen.bytes).is_ok()
    };
    let begins = |seen: &ReadChunk| seen.first_beat == 0;
    (begins(chunk) || other.is_some_and(begins)) && other.is_none_or(of_seed)
}

/// Bytes taken apart.
struct Dissection {
    /// The wrong pieces in order, up to one more than [`MAX_PIECES`] but for flipped ones.
    pieces: Vec<MismatchRun>,
    wrong_beats: u64,
    /// Too much of it is of unknown origin.
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

    /// Add a piece, the bytes before it being these; false: it only made the last one longer.
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

/// If the one beat `last` begins right and goes on as `piece` does, it is torn inside: both are one piece.
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

/// The beat before one of this origin, and that origin one beat earlier.
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

/// Finds origins.
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

/// How many bytes, from a wrong beat on, are of its origin.
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
    // At least the beat itself, so that this comes to an end.
    bytes.max(BEAT_BYTES.min(rest.len()))
}

/// How many bytes are those of the stream from this byte on, to whole beats; the first two beats, where it may begin, are not looked at.
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
