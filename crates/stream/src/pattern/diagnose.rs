//! From wrong bytes to what happened.
//!
//! The bytes are taken apart into pieces: right ones, and wrong ones each with one origin, from the first wrong beat on as far as that
//! origin explains them. A piece's origin is told by its first beat: zeroes and ones; few bits off the expected beat; the stream of
//! another seed (the beat taken back to beat 0 gives a genuine register, see the module's head); the same stream elsewhere, or another
//! one elsewhere (`search`). The pieces then make the diagnosis.
//!
//! # What it cannot tell
//! - *Lost write or later overwrite by an old copy*: both leave stale data. Equally a stream that was recorded shorter than expected
//!   leaves what was there before, which is [`Diagnosis::Stale`] or [`Diagnosis::Torn`]; [`Shape::check_end`](super::Shape::check_end)
//!   tells where the length is known.
//! - *Wrong seed or a lost first write*, when the first chunk is all there is to see: show another chunk.
//! - *A misdirected write or a misdirected read*: look whether the place that the data belongs to holds them as well.
//! - *A write of the same seed before this one*: its bytes are the right ones. Take a new seed for each recording.
//! - Data that is shifted by other than whole beats, or that is of another seed and from another place of its chunk, is of unknown
//!   origin; so is a beat that is torn inside, or a flipped bit in stale data. Of unknown beats only [`MAX_SEARCHES`] are searched for
//!   elsewhere.
//! - Random bytes pass for another seed's once in 2^64 beats, for those of another seed elsewhere once in 2^64 / chunks: at 2^24 chunks
//!   once in 2^40.
//!
//! # Key constants
//! [`MAX_FLIPPED_BITS`], [`MAX_PIECES`], [`MAX_SEARCHES`], [`MAX_UNKNOWN_BEATS`].

use super::search::{self, MAX_BEATS, MAX_CHUNKS};
use super::{BEAT_BYTES, Checker, Diagnosis, Mismatch, Origin, Pattern, Piece};

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
pub struct Scene {
    /// The pattern that should be there.
    pub pattern: Pattern,
    /// Length of a chunk in bytes: what lies elsewhere is looked for at distances of chunks first.
    pub chunk_bytes: u64,
    /// How many chunks the range has that was written.
    pub chunks: u64,
}

/// Bytes that were read, usually a chunk.
#[derive(Clone, Copy, Debug)]
pub struct Suspect<'a> {
    /// The beat that they should begin with.
    pub first_beat: u64,
    /// The bytes, at least from the first wrong beat on to the end of the chunk.
    pub bytes: &'a [u8],
}

/// What is wrong with the bytes of `suspect`; none: they are right. It reads them a few times, and in the worst case searches for
/// seconds.
///
/// `other` is a chunk elsewhere in the stream, right or wrong, if there is one to see: only that tells a stream of another seed
/// from a first chunk that was not written. Without it, a first chunk wholly of another seed counts as [`Diagnosis::WrongSeed`].
pub fn diagnose(scene: &Scene, suspect: &Suspect, other: Option<&Suspect>) -> Option<Diagnosis> {
    let apart = Apart::take(scene, suspect);
    let first = *apart.pieces.first()?;
    let end_beat = suspect
        .first_beat
        .saturating_add(suspect.bytes.len().div_ceil(BEAT_BYTES) as u64);
    let unknown = |piece: &Piece| piece.origin == Origin::Unknown;
    let flipped = |piece: &Piece| matches!(piece.origin, Origin::Flipped { .. });
    let corrupt = Diagnosis::Corrupt {
        first_beat: first.first_beat,
        beats: apart.wrong_beats,
    };
    Some(match (apart.pieces.as_slice(), first.origin) {
        _ if apart.gave_up || apart.pieces.iter().all(unknown) => corrupt,
        (pieces, Origin::Flipped { mask }) if pieces.iter().all(flipped) => Diagnosis::BitFlip {
            beat: first.first_beat,
            mask,
            beats: apart.wrong_beats,
        },
        ([piece], origin)
            if piece.first_beat == suspect.first_beat && piece.end_beat == end_beat =>
        {
            match origin {
                Origin::Seed { seed } if is_whole_stream(seed, suspect, other) => {
                    Diagnosis::WrongSeed { seed }
                }
                Origin::Seed { seed } => Diagnosis::Stale { seed },
                Origin::SeedElsewhere { seed, beat } => Diagnosis::StaleElsewhere { seed, beat },
                Origin::Place { beat } => Diagnosis::Misplaced { beat },
                Origin::Zero => Diagnosis::Zero,
                Origin::Ones => Diagnosis::Ones,
                Origin::Flipped { .. } | Origin::Unknown => corrupt,
            }
        }
        ([piece], origin) => Diagnosis::Torn {
            first_beat: piece.first_beat,
            end_beat: piece.end_beat,
            origin,
        },
        (pieces, _) if pieces.len() <= MAX_PIECES => Diagnosis::Patchwork {
            pieces: pieces.to_vec(),
        },
        _ => corrupt,
    })
}

/// Is all that is seen of the stream of this seed, its beginning included?
fn is_whole_stream(seed: u64, suspect: &Suspect, other: Option<&Suspect>) -> bool {
    let of_seed = |seen: &Suspect| {
        let mut checker = Pattern::new(seed).checker(seen.first_beat);
        checker.check(seen.bytes).is_ok()
    };
    let begins = |seen: &Suspect| seen.first_beat == 0;
    (begins(suspect) || other.is_some_and(begins)) && other.is_none_or(of_seed)
}

/// Bytes taken apart.
struct Apart {
    /// The wrong pieces in order, up to one more than [`MAX_PIECES`] but for flipped ones.
    pieces: Vec<Piece>,
    wrong_beats: u64,
    /// Too much of it is of unknown origin.
    gave_up: bool,
}

impl Apart {
    fn take(scene: &Scene, suspect: &Suspect) -> Apart {
        let counted = scene
            .pattern
            .checker(suspect.first_beat)
            .count_wrong(suspect.bytes);
        let mut apart = Apart {
            pieces: Vec::new(),
            wrong_beats: counted.beats,
            gave_up: false,
        };
        let mut tracer = Tracer {
            scene,
            searches: MAX_SEARCHES,
        };
        let mut checker = scene.pattern.checker(suspect.first_beat);
        let (mut unknown, mut patches) = (0, 0);
        let mut rest = suspect.bytes;
        while let Err(mismatch) = checker.check(rest) {
            rest = rest
                .get(mismatch.offset_bytes as usize..)
                .unwrap_or_default();
            let origin = tracer.origin(&mismatch, rest.len() >= BEAT_BYTES);
            let bytes = extent(origin, &mismatch, rest, scene.pattern);
            let end_beat = mismatch
                .beat
                .saturating_add(bytes.div_ceil(BEAT_BYTES) as u64);
            rest = rest.get(bytes..).unwrap_or_default();
            unknown += u64::from(origin == Origin::Unknown);
            match apart.pieces.last_mut() {
                Some(last)
                    if last.origin == origin
                        && origin == Origin::Unknown
                        && last.end_beat == mismatch.beat =>
                {
                    last.end_beat = end_beat;
                }
                _ => {
                    patches += usize::from(!matches!(origin, Origin::Flipped { .. }));
                    apart.pieces.push(Piece {
                        first_beat: mismatch.beat,
                        end_beat,
                        origin,
                    });
                }
            }
            if unknown > MAX_UNKNOWN_BEATS || patches > MAX_PIECES {
                apart.gave_up = true;
                break;
            }
            checker.skip_to(end_beat);
        }
        apart
    }
}

/// Finds origins.
struct Tracer<'a> {
    scene: &'a Scene,
    searches: u32,
}

impl Tracer<'_> {
    fn origin(&mut self, wrong: &Mismatch, whole_beat: bool) -> Origin {
        let flipped = wrong.wrong_bits();
        if wrong.found == 0 {
            Origin::Zero
        } else if wrong.found == u128::MAX {
            Origin::Ones
        } else if flipped.count_ones() <= MAX_FLIPPED_BITS {
            Origin::Flipped { mask: flipped }
        } else if !whole_beat {
            Origin::Unknown
        } else if let Some(pattern) = Pattern::of_beat(wrong.beat, wrong.found) {
            Origin::Seed {
                seed: pattern.seed(),
            }
        } else {
            self.elsewhere(wrong).unwrap_or(Origin::Unknown)
        }
    }

    fn elsewhere(&mut self, wrong: &Mismatch) -> Option<Origin> {
        self.searches = self.searches.checked_sub(1)?;
        let chunk_beats = self.scene.chunk_bytes / BEAT_BYTES as u64;
        let beats = chunk_beats.saturating_mul(self.scene.chunks).min(MAX_BEATS);
        let chunks = self.scene.chunks.min(MAX_CHUNKS);
        let far = |unit, most| search::distance(wrong.expected, wrong.found, unit, most);
        let distance = far(chunk_beats, chunks).or_else(|| far(1, beats));
        if let Some(beat) = distance.and_then(|d| wrong.beat.checked_add_signed(d)) {
            return Some(Origin::Place { beat });
        }
        let (pattern, beat) = search::elsewhere(wrong.found, wrong.beat, chunk_beats, chunks)?;
        Some(Origin::SeedElsewhere {
            seed: pattern.seed(),
            beat,
        })
    }
}

/// How many bytes, from a wrong beat on, are of its origin.
fn extent(origin: Origin, wrong: &Mismatch, rest: &[u8], pattern: Pattern) -> usize {
    let follow = |mut checker: Checker| match checker.check(rest) {
        Ok(()) => rest.len(),
        Err(end) => end.offset_bytes as usize,
    };
    let same = |byte: u8| {
        let beats = rest.chunks(BEAT_BYTES);
        let of_it = beats.take_while(|beat| beat.iter().all(|&b| b == byte));
        of_it.map(<[u8]>::len).sum()
    };
    let bytes: usize = match origin {
        Origin::Seed { seed } => follow(Pattern::new(seed).checker(wrong.beat)),
        Origin::Place { beat } => follow(pattern.checker(beat)),
        Origin::SeedElsewhere { seed, beat } => follow(Pattern::new(seed).checker(beat)),
        Origin::Zero => same(0),
        Origin::Ones => same(0xff),
        Origin::Flipped { .. } | Origin::Unknown => 0,
    };
    // At least the beat itself, so that there is an end.
    bytes.max(BEAT_BYTES.min(rest.len()))
}
