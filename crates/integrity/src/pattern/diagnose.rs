//! The bytes are divided into runs: right ones, and wrong ones of one origin each, from the first
//! wrong beat on as far as that origin explains them. The first beat determines the origin: zeroes
//! or ones; few bits from the expected beat; the stream of another seed (the beat taken back to
//! beat 0 gives a valid start register); the same stream elsewhere, by whole beats or not, or
//! another one elsewhere (`search`).
//!
//! # Limitations
//!
//! - *Lost write or later overwrite by an old copy*: both leave stale data, and so does a stream
//!   shorter than expected; [`Diagnosis::check_length`] decides where the length is known.
//! - *Wrong seed or a lost first write*, when only the first chunk is given: pass another chunk.
//! - *Misdirected write or misdirected read*: check whether the location the data belong to holds
//!   them as well.
//! - *An earlier write with the same seed*: its bytes are right. Use a new seed for each recording.
//! - Of unknown origin: data of another seed from another offset in its chunk; data shifted by
//!   partial beats beyond 256 KiB; a beat inside which the right data start again; a flipped bit in
//!   stale data. Only [`MAX_SEARCHES`] unknown beats are searched for elsewhere.
//! - Random bytes match another seed once in 2^64 beats, and another seed elsewhere once in 2^64 /
//!   chunks.

use crate::mismatch::{MismatchClass, MismatchRun, classify};

use super::search::{self, MAX_BEATS, MAX_CHUNKS};
use super::{BEAT_BYTES, DataOrigin, Diagnosis, Mismatch, Pattern, PatternRegister};

/// Unrelated beats agree this far once in 2^88.
pub const MAX_FLIPPED_BITS: u32 = 8;
/// Maximum number of runs of a patchwork.
pub const MAX_PIECES: usize = 16;
/// Maximum number of searches elsewhere: up to a second each at the largest range.
pub const MAX_SEARCHES: u32 = 4;
/// Beats of unknown origin after which the rest is only counted.
pub const MAX_UNKNOWN_BEATS: u64 = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiagnosisContext {
    pub pattern: Pattern,
    /// Length of a chunk, bytes: data elsewhere are searched at chunk distances first.
    pub chunk_bytes: u64,
    /// Number of chunks on the medium.
    pub chunks: u64,
}

/// Bytes read, usually a chunk.
#[derive(Clone, Copy, Debug)]
pub struct ReadChunk<'a> {
    pub first_beat: u64,
    /// The bytes, at least from the first wrong beat to the end of the chunk.
    pub bytes: &'a [u8],
}

impl ReadChunk<'_> {
    pub fn new(first_beat: u64, bytes: &[u8]) -> ReadChunk<'_> {
        ReadChunk { first_beat, bytes }
    }
}

/// Reads it a few times and in the worst case searches for seconds. `other` is another chunk of the
/// stream, right or wrong: it distinguishes a stream of another seed from a lost first write.
/// Without it, a first chunk entirely of another seed is [`Diagnosis::WrongSeed`].
pub fn diagnose(
    context: &DiagnosisContext,
    chunk: &ReadChunk,
    other: Option<&ReadChunk>,
) -> Option<Diagnosis> {
    let Dissection { runs, wrong_beats, gave_up } = Dissection::take(context, chunk);
    let first = runs.first()?.clone();
    let beats = chunk.bytes.len().div_ceil(BEAT_BYTES) as u64;
    let unit = chunk.first_beat..chunk.first_beat.saturating_add(beats);
    let class = classify(&runs, &unit)?;
    let corrupt = Diagnosis::Corrupt { first_beat: first.granules.start, beats: wrong_beats };
    if gave_up || runs.iter().all(is_unknown) {
        return Some(corrupt);
    }
    Some(match (class, first.origin) {
        (MismatchClass::Corrupt, DataOrigin::Flipped(mask)) if runs.iter().all(is_flipped) => {
            Diagnosis::BitFlip { beat: first.granules.start, mask, beats: wrong_beats }
        }
        (MismatchClass::Torn, _) if runs.len() == 1 => Diagnosis::Torn(first),
        (MismatchClass::Torn | MismatchClass::Corrupt, _) if runs.len() > MAX_PIECES => corrupt,
        (MismatchClass::Torn | MismatchClass::Corrupt, _) => Diagnosis::Patchwork(runs),
        (_, DataOrigin::Seed(seed)) if is_whole_stream(seed, chunk, other) => {
            Diagnosis::WrongSeed(seed)
        }
        (_, origin) => Diagnosis::Whole(origin),
    })
}

/// Whether all chunks given, including the first of the stream, are of this seed.
fn is_whole_stream(seed: u64, chunk: &ReadChunk, other: Option<&ReadChunk>) -> bool {
    let of_seed = |seen: &ReadChunk| {
        let mut checker = Pattern::new(seed).at(seen.first_beat);
        checker.check(seen.bytes).is_ok()
    };
    let begins = |seen: &ReadChunk| seen.first_beat == 0;
    (begins(chunk) || other.is_some_and(begins)) && other.is_none_or(of_seed)
}

/// A chunk divided into runs.
#[derive(Default)]
struct Dissection {
    /// Wrong runs in order, up to one more than [`MAX_PIECES`] without flipped ones.
    runs: Vec<MismatchRun<DataOrigin>>,
    wrong_beats: u64,
    /// Too many beats of unknown origin.
    gave_up: bool,
}

impl Dissection {
    fn take(context: &DiagnosisContext, chunk: &ReadChunk) -> Dissection {
        let mut checker = context.pattern.at(chunk.first_beat);
        let mut apart = Dissection {
            wrong_beats: checker.clone().count_wrong(chunk.bytes).beats,
            ..Dissection::default()
        };
        let mut searches = MAX_SEARCHES;
        let (mut unknown, mut patches) = (0, 0);
        let mut at = 0;
        while let Err(mismatch) = checker.check(chunk.bytes.get(at..).unwrap_or_default()) {
            at += mismatch.offset_bytes as usize;
            let (before, rest) = chunk.bytes.split_at(at);
            let origin = origin(context, &mut searches, &mismatch, rest);
            let bytes = extent(origin, &mismatch, rest, context.pattern);
            let end = mismatch.beat.saturating_add(bytes.div_ceil(BEAT_BYTES) as u64);
            let run = MismatchRun { granules: mismatch.beat..end, origin };
            at += bytes;
            unknown += u64::from(is_unknown(&run));
            let is_patch = !is_flipped(&run);
            patches += usize::from(apart.add(run, before, context.pattern) && is_patch);
            if unknown > MAX_UNKNOWN_BEATS || patches > MAX_PIECES {
                apart.gave_up = true;
                break;
            }
            checker.seek(end);
        }
        apart
    }

    fn add(&mut self, run: MismatchRun<DataOrigin>, before: &[u8], pattern: Pattern) -> bool {
        match self.runs.last_mut() {
            Some(last) if last.granules.end != run.granules.start => {}
            Some(last) if is_unknown(last) && is_unknown(&run) => {
                last.granules.end = run.granules.end;
                return false;
            }
            Some(last) => {
                let new = is_flipped(last);
                if let Some(spliced) = spliced(last, &run, before, pattern) {
                    *last = spliced;
                    return new;
                }
            }
            None => {}
        }
        self.runs.push(run);
        true
    }
}

fn is_unknown(run: &MismatchRun<DataOrigin>) -> bool {
    run.origin == DataOrigin::Unknown
}

fn is_flipped(run: &MismatchRun<DataOrigin>) -> bool {
    matches!(run.origin, DataOrigin::Flipped(_))
}

/// A beat that starts right and continues like `run` is torn inside: both are one run.
fn spliced(
    last: &MismatchRun<DataOrigin>,
    run: &MismatchRun<DataOrigin>,
    before: &[u8],
    pattern: Pattern,
) -> Option<MismatchRun<DataOrigin>> {
    let first = last.granules.start;
    let single = last.granules.end.checked_sub(first) == Some(1);
    if !single || !(is_unknown(last) || is_flipped(last)) {
        return None;
    }
    let found = before.last_chunk::<BEAT_BYTES>()?;
    let right = pattern.beat(first).to_le_bytes();
    let (earlier, origin) = one_earlier(run.origin, run.granules.start, pattern)?;
    let tear = |at: usize| found[..at] == right[..at] && found[at..] == earlier[at..];
    (1..BEAT_BYTES).any(tear).then_some(MismatchRun { granules: first..run.granules.end, origin })
}

/// The beat before one of this origin, and its origin.
fn one_earlier(
    origin: DataOrigin,
    beat: u64,
    pattern: Pattern,
) -> Option<([u8; BEAT_BYTES], DataOrigin)> {
    let of = |pattern: Pattern, beat: u64| pattern.beat(beat).to_le_bytes();
    Some(match origin {
        DataOrigin::Seed(seed) => (of(Pattern::new(seed), beat.checked_sub(1)?), origin),
        DataOrigin::Place(beat) => {
            let beat = beat.checked_sub(1)?;
            (of(pattern, beat), DataOrigin::Place(beat))
        }
        DataOrigin::SeedElsewhere { seed, beat } => {
            let beat = beat.checked_sub(1)?;
            let origin = DataOrigin::SeedElsewhere { seed, beat };
            (of(Pattern::new(seed), beat), origin)
        }
        DataOrigin::Shifted(byte) => {
            let byte = byte.checked_sub(BEAT_BYTES as u64)?;
            let mut two = [0; 2 * BEAT_BYTES];
            pattern.at(byte / BEAT_BYTES as u64).fill(&mut two);
            let from = (byte % BEAT_BYTES as u64) as usize;
            let earlier = *two.get(from..)?.first_chunk()?;
            (earlier, DataOrigin::Shifted(byte))
        }
        DataOrigin::Zero => ([0; BEAT_BYTES], origin),
        DataOrigin::Ones => ([0xff; BEAT_BYTES], origin),
        DataOrigin::Flipped(_) | DataOrigin::Unknown => return None,
    })
}

/// Origin of a wrong beat, the first of `rest`; `searches` elsewhere are left.
fn origin(
    context: &DiagnosisContext,
    searches: &mut u32,
    wrong: &Mismatch,
    rest: &[u8],
) -> DataOrigin {
    let flipped = wrong.expected ^ wrong.found;
    if wrong.found == 0 {
        DataOrigin::Zero
    } else if wrong.found == u128::MAX {
        DataOrigin::Ones
    } else if flipped.count_ones() <= MAX_FLIPPED_BITS {
        DataOrigin::Flipped(flipped)
    } else if rest.len() < BEAT_BYTES {
        DataOrigin::Unknown
    } else if let Some(pattern) = Pattern::of_beat(wrong.beat, wrong.found) {
        let seed = pattern.seed();
        DataOrigin::Seed(seed)
    } else if let Some(left) = searches.checked_sub(1) {
        *searches = left;
        elsewhere(context, wrong, rest).unwrap_or(DataOrigin::Unknown)
    } else {
        DataOrigin::Unknown
    }
}

fn elsewhere(context: &DiagnosisContext, wrong: &Mismatch, rest: &[u8]) -> Option<DataOrigin> {
    let chunk_beats = context.chunk_bytes / BEAT_BYTES as u64;
    let beats = chunk_beats.saturating_mul(context.chunks).min(MAX_BEATS);
    let chunks = context.chunks.min(MAX_CHUNKS);
    let far = |unit, most| search::distance(wrong.expected, wrong.found, unit, most);
    let distance = far(chunk_beats, chunks).or_else(|| far(1, beats));
    if let Some(beat) = distance.and_then(|d| wrong.beat.checked_add_signed(d)) {
        return Some(DataOrigin::Place(beat));
    }
    if let Some(byte) = search::shifted(wrong.expected, wrong.beat, rest) {
        return Some(DataOrigin::Shifted(byte));
    }
    let (pattern, beat) = search::elsewhere(wrong.found, wrong.beat, chunk_beats, chunks)?;
    let seed = pattern.seed();
    Some(DataOrigin::SeedElsewhere { seed, beat })
}

/// Bytes from a wrong beat on that are of its origin.
fn extent(origin: DataOrigin, wrong: &Mismatch, rest: &[u8], pattern: Pattern) -> usize {
    let follow = |mut checker: PatternRegister| match checker.check(rest) {
        Ok(()) => rest.len(),
        Err(end) => end.offset_bytes as usize,
    };
    let same = |byte: u8| {
        let beats = rest.chunks(BEAT_BYTES);
        let of_it = beats.take_while(|beat| beat.iter().all(|&b| b == byte));
        of_it.map(<[u8]>::len).sum()
    };
    let bytes: usize = match origin {
        DataOrigin::Seed(seed) => follow(Pattern::new(seed).at(wrong.beat)),
        DataOrigin::Place(beat) => follow(pattern.at(beat)),
        DataOrigin::SeedElsewhere { seed, beat } => follow(Pattern::new(seed).at(beat)),
        DataOrigin::Shifted(byte) => shifted_extent(pattern, byte, rest),
        DataOrigin::Zero => same(0),
        DataOrigin::Ones => same(0xff),
        DataOrigin::Flipped(_) | DataOrigin::Unknown => 0,
    };
    // At least the beat itself, so that the loop ends.
    bytes.max(BEAT_BYTES.min(rest.len()))
}

/// The first two beats, where the shift may start, are not compared.
fn shifted_extent(pattern: Pattern, byte: u64, rest: &[u8]) -> usize {
    let beat_bytes = BEAT_BYTES as u64;
    let first = byte.div_ceil(beat_bytes) + 1;
    let skipped = (first * beat_bytes - byte) as usize;
    let Some(shifted) = rest.get(skipped..) else {
        return rest.len();
    };
    match pattern.at(first).check(shifted) {
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
