use std::cmp::Ordering;
use std::fmt;

use super::BEAT_BYTES;
use crate::mismatch::{MismatchRun, OriginClass};

/// Origin of wrong beats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataOrigin {
    /// The same location in the stream of this other seed.
    #[error("stale data of seed {0:#x}")]
    Seed(u64),
    /// Another location of the same stream, from this beat on.
    #[error("misplaced data of this stream from beat {0} on")]
    Place(u64),
    /// Not at a beat boundary; some bytes of the first beat may be right.
    #[error("this stream's data from byte {0} on, shifted by part of a beat")]
    Shifted(u64),
    /// Another location in the stream of another seed.
    #[error("stale data of seed {seed:#x} from its beat {beat} on")]
    SeedElsewhere {
        seed: u64,
        /// First beat found.
        beat: u64,
    },
    #[error("zeroes")]
    Zero,
    /// Ones.
    #[error("ones")]
    Ones,
    /// The right beat with few bits wrong, these.
    #[error("{} flipped bits", .0.count_ones())]
    Flipped(u128),
    #[error("data of unknown origin")]
    Unknown,
}

/// Beats are numbered as in the expected stream.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Diagnosis {
    /// The whole stream is of this other seed: another recording, or the wrong seed was given.
    #[error("wrong seed: the stream was written with seed {0:#x} from its beginning on")]
    WrongSeed(u64),
    #[error("{}", whole(.0))]
    Whole(DataOrigin),
    /// One part of the chunk is wrong.
    #[error(
        "torn: beats {} to {} of the chunk are {}; the rest is right",
        .0.granules.start, .0.granules.end - 1, .0.origin
    )]
    Torn(MismatchRun<DataOrigin>),
    /// Few wrong bits in single beats.
    #[error("flipped bits: beat {beat} is wrong in {}{}", bits(*.mask), others(*.beats))]
    BitFlip {
        beat: u64,
        /// Wrong bits; bit *i* is bit *i* % 8 of byte *i* / 8.
        mask: u128,
        /// Number of such beats.
        beats: u64,
    },
    #[error("short: the end came after {beats} beats instead of {expected}")]
    Short {
        /// Beats found.
        beats: u64,
        expected: u64,
    },
    /// The stream did not end in time.
    #[error("long: the end had not come after {expected} beats; there were {beats} or more")]
    Long {
        /// Minimum number of beats.
        beats: u64,
        expected: u64,
    },
    /// The right number of beats, but a wrong number of bytes in the last one.
    #[error("wrong end: the last beat has {bytes} bytes instead of {expected}")]
    Partial {
        /// Bytes found.
        bytes: usize,
        expected: usize,
    },
    /// Several wrong parts, in order, some of known origin.
    #[error("patchwork: {}; the rest is right", joined(.0, "; "))]
    Patchwork(Vec<MismatchRun<DataOrigin>>),
    /// Wrong, of unknown origin.
    #[error(
        "corrupt: {beats} beats are wrong, the first is beat {first_beat}, and they are of no \
         known origin"
    )]
    Corrupt {
        /// The first wrong beat.
        first_beat: u64,
        /// Wrong beats of the chunk.
        beats: u64,
    },
}

impl Diagnosis {
    pub fn check_length(length_bytes: u64, expected_bytes: u64) -> Result<(), Diagnosis> {
        const BEAT: u64 = BEAT_BYTES as u64;
        let (beats, expected) = (length_bytes.div_ceil(BEAT), expected_bytes.div_ceil(BEAT));
        let in_last = |bytes: u64| (bytes - (beats - 1) * BEAT) as usize;
        match beats.cmp(&expected) {
            Ordering::Less => Err(Diagnosis::Short { beats, expected }),
            Ordering::Greater => Err(Diagnosis::Long { beats, expected }),
            Ordering::Equal if length_bytes == expected_bytes => Ok(()),
            Ordering::Equal => Err(Diagnosis::Partial {
                bytes: in_last(length_bytes),
                expected: in_last(expected_bytes),
            }),
        }
    }
}

impl From<DataOrigin> for OriginClass {
    fn from(origin: DataOrigin) -> OriginClass {
        match origin {
            DataOrigin::Seed(_) | DataOrigin::SeedElsewhere { .. } => OriginClass::Earlier,
            DataOrigin::Place(_) | DataOrigin::Shifted(_) => OriginClass::Elsewhere,
            DataOrigin::Zero | DataOrigin::Ones => OriginClass::Blank,
            DataOrigin::Flipped(_) => OriginClass::Damaged,
            DataOrigin::Unknown => OriginClass::Unknown,
        }
    }
}

impl fmt::Display for MismatchRun<DataOrigin> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (self.granules.start, self.granules.end - 1);
        match last - first {
            0 => write!(f, "beat {first}: {}", self.origin),
            _ => write!(f, "beats {first} to {last}: {}", self.origin),
        }
    }
}

fn whole(origin: &DataOrigin) -> String {
    match origin {
        DataOrigin::Seed(seed) => format!(
            "stale: the chunk still holds what the stream of seed {seed:#x} wrote here; this \
             stream's write was lost"
        ),
        DataOrigin::SeedElsewhere { seed, beat } => format!(
            "stale and from elsewhere: the chunk holds the stream of seed {seed:#x} from its beat \
             {beat} on"
        ),
        DataOrigin::Place(beat) => format!(
            "misplaced: the chunk holds this stream from beat {beat} on, which belongs elsewhere"
        ),
        DataOrigin::Shifted(byte) => format!(
            "shifted: the chunk holds this stream from byte {byte} on, which is inside a beat; \
             bytes were lost or duplicated before"
        ),
        DataOrigin::Zero => "zero: the chunk reads as zeroes, as if it was never written or was \
                             discarded since"
            .to_owned(),
        DataOrigin::Ones => "ones: the chunk reads as ones, as erased flash does".to_owned(),
        DataOrigin::Flipped(_) | DataOrigin::Unknown => {
            format!("corrupt: the chunk holds {origin}")
        }
    }
}

/// The wrong bits, lowest first.
fn bits(mask: u128) -> String {
    let bits: Vec<u32> = (0..128).filter(|&bit| mask >> bit & 1 == 1).collect();
    let unit = if bits.len() == 1 { "bit" } else { "bits" };
    format!("{unit} {}", joined(&bits, ", "))
}

fn others(beats: u64) -> String {
    match beats {
        0 | 1 => " and nothing else of the chunk is".to_owned(),
        _ => format!(", and {} more beats of the chunk in few bits", beats - 1),
    }
}

fn joined(parts: &[impl fmt::Display], separator: &str) -> String {
    let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
    parts.join(separator)
}

#[cfg(test)]
#[path = "../../tests/unit/pattern/diagnosis.rs"]
mod tests;
