//! Diagnoses of a mismatched stream, and their text.

use std::fmt;

use crate::mismatch::{ClassifiedRun, MismatchClass, OriginClass, classify};

/// Origin of wrong beats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataOrigin {
    /// The same location in the stream of another seed.
    Seed {
        /// The seed.
        seed: u64,
    },
    /// Another location of the same stream.
    Place {
        /// First beat found.
        beat: u64,
    },
    /// Another location of the same stream, not at a beat boundary.
    Shifted {
        /// First byte found; some bytes of the first beat may be right.
        byte: u64,
    },
    /// Another location in the stream of another seed.
    SeedElsewhere {
        /// The seed.
        seed: u64,
        /// First beat found.
        beat: u64,
    },
    /// Zeroes.
    Zero,
    /// Ones.
    Ones,
    /// The right beat with few bits wrong.
    Flipped {
        /// The wrong bits.
        mask: u128,
    },
    /// Unknown.
    Unknown,
}

/// Consecutive wrong beats of one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MismatchRun {
    /// First beat, numbered as in the expected stream.
    pub first_beat: u64,
    /// End of the run.
    pub end_beat: u64,
    /// Origin of the data found.
    pub origin: DataOrigin,
}

/// What is wrong, as far as the bytes show. Beats are numbered as in the expected stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// The whole stream is of another seed: another recording, or the wrong seed was given.
    WrongSeed {
        /// Its seed.
        seed: u64,
    },
    /// The chunk holds an earlier stream's data of this location: the write was lost.
    Stale {
        /// Seed of the earlier stream.
        seed: u64,
    },
    /// The chunk holds an earlier stream's data of another location: the write was lost, and the earlier stream
    /// started elsewhere or was misdirected.
    StaleElsewhere {
        /// Seed of the earlier stream.
        seed: u64,
        /// First beat found.
        beat: u64,
    },
    /// The chunk holds another chunk of this stream: a misdirected write or read, or beats were lost or duplicated
    /// before.
    Misplaced {
        /// First beat found.
        beat: u64,
    },
    /// The chunk holds this stream shifted by partial beats: bytes were lost or duplicated.
    Shifted {
        /// First byte found.
        byte: u64,
    },
    /// One part of the chunk is wrong.
    Torn {
        /// First beat of the wrong part.
        first_beat: u64,
        /// End of the wrong part.
        end_beat: u64,
        /// Its origin.
        origin: DataOrigin,
    },
    /// Few wrong bits in single beats.
    BitFlip {
        /// The first such beat.
        beat: u64,
        /// Wrong bits; bit *i* is bit *i* % 8 of byte *i* / 8.
        mask: u128,
        /// Number of such beats.
        beats: u64,
    },
    /// Zeroes: never written, discarded, or unmapped.
    Zero,
    /// Ones: erased flash.
    Ones,
    /// The packet or the stream ended early.
    Short {
        /// Beats found.
        beats: u64,
        /// Beats expected.
        expected: u64,
    },
    /// The packet or the stream did not end in time.
    Long {
        /// Minimum number of beats.
        beats: u64,
        /// Beats expected.
        expected: u64,
    },
    /// The right number of beats, but a wrong number of bytes in the last one.
    Partial {
        /// Bytes found.
        bytes: usize,
        /// Bytes expected.
        expected: usize,
    },
    /// Several wrong parts, some of known origin.
    Patchwork {
        /// The wrong parts, in order.
        pieces: Vec<MismatchRun>,
    },
    /// Wrong, of unknown origin.
    Corrupt {
        /// The first wrong beat.
        first_beat: u64,
        /// Wrong beats of the chunk.
        beats: u64,
    },
}

impl DataOrigin {
    /// Class of the origin.
    pub fn class(&self) -> OriginClass {
        match self {
            DataOrigin::Seed { .. } | DataOrigin::SeedElsewhere { .. } => OriginClass::Earlier,
            DataOrigin::Place { .. } | DataOrigin::Shifted { .. } => OriginClass::Elsewhere,
            DataOrigin::Zero | DataOrigin::Ones => OriginClass::Blank,
            DataOrigin::Flipped { .. } => OriginClass::Damaged,
            DataOrigin::Unknown => OriginClass::Unknown,
        }
    }
}

impl MismatchRun {
    /// Argument of [`classify`].
    pub fn classified(&self) -> ClassifiedRun {
        ClassifiedRun {
            granules: self.first_beat..self.end_beat,
            origin: self.origin.class(),
        }
    }
}

impl Diagnosis {
    /// Class of the mismatch; `None` for a wrong length.
    pub fn class(&self) -> Option<MismatchClass> {
        Some(match self {
            Diagnosis::WrongSeed { .. }
            | Diagnosis::Stale { .. }
            | Diagnosis::StaleElsewhere { .. } => MismatchClass::Stale,
            Diagnosis::Misplaced { .. } | Diagnosis::Shifted { .. } => MismatchClass::Misplaced,
            Diagnosis::Zero | Diagnosis::Ones => MismatchClass::Lost,
            Diagnosis::Torn { .. } => MismatchClass::Torn,
            Diagnosis::BitFlip { .. } | Diagnosis::Corrupt { .. } => MismatchClass::Corrupt,
            Diagnosis::Patchwork { pieces } => {
                let runs: Vec<_> = pieces.iter().map(MismatchRun::classified).collect();
                return classify(&runs, &(0..u64::MAX));
            }
            Diagnosis::Short { .. } | Diagnosis::Long { .. } | Diagnosis::Partial { .. } => {
                return None;
            }
        })
    }

    /// Wrong bits of the beat, lowest first; only for [`Diagnosis::BitFlip`].
    pub fn bits(&self) -> Vec<u32> {
        match self {
            Diagnosis::BitFlip { mask, .. } => {
                (0..128).filter(|&bit| mask >> bit & 1 == 1).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl fmt::Display for DataOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataOrigin::Seed { seed } => write!(f, "stale data of seed {seed:#x}"),
            DataOrigin::Place { beat } => {
                write!(f, "misplaced data of this stream from beat {beat} on")
            }
            DataOrigin::Shifted { byte } => write!(
                f,
                "this stream's data from byte {byte} on, shifted by part of a beat"
            ),
            DataOrigin::SeedElsewhere { seed, beat } => {
                write!(f, "stale data of seed {seed:#x} from its beat {beat} on")
            }
            DataOrigin::Zero => f.write_str("zeroes"),
            DataOrigin::Ones => f.write_str("ones"),
            DataOrigin::Flipped { mask } => write!(f, "{} flipped bits", mask.count_ones()),
            DataOrigin::Unknown => f.write_str("data of unknown origin"),
        }
    }
}

impl fmt::Display for MismatchRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.end_beat - self.first_beat {
            1 => write!(f, "beat {}: {}", self.first_beat, self.origin),
            _ => write!(
                f,
                "beats {} to {}: {}",
                self.first_beat,
                self.end_beat - 1,
                self.origin
            ),
        }
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Diagnosis::WrongSeed { seed } => write!(
                f,
                "wrong seed: the stream was written with seed {seed:#x} from its beginning on"
            ),
            Diagnosis::Stale { seed } => write!(
                f,
                "stale: the chunk still holds what the stream of seed {seed:#x} wrote here; this stream's write was lost"
            ),
            Diagnosis::StaleElsewhere { seed, beat } => write!(
                f,
                "stale and from elsewhere: the chunk holds the stream of seed {seed:#x} from its beat {beat} on"
            ),
            Diagnosis::Misplaced { beat } => write!(
                f,
                "misplaced: the chunk holds this stream from beat {beat} on, which belongs elsewhere"
            ),
            Diagnosis::Shifted { byte } => write!(
                f,
                "shifted: the chunk holds this stream from byte {byte} on, which is inside a beat; bytes were lost or duplicated before"
            ),
            Diagnosis::Torn {
                first_beat,
                end_beat,
                origin,
            } => write!(
                f,
                "torn: beats {first_beat} to {} of the chunk are {origin}; the rest is right",
                end_beat - 1
            ),
            Diagnosis::BitFlip { beat, mask, beats } => {
                let bits: Vec<String> = self.bits().iter().map(u32::to_string).collect();
                let (word, bits) = (if mask.count_ones() == 1 { "bit" } else { "bits" }, bits.join(", "));
                write!(f, "flipped bits: beat {beat} is wrong in {word} {bits}")?;
                match beats {
                    0 | 1 => f.write_str(" and nothing else of the chunk is"),
                    _ => write!(f, ", and {} more beats of the chunk in few bits", beats - 1),
                }
            }
            Diagnosis::Zero => f.write_str(
                "zero: the chunk reads as zeroes, as if it was never written or was discarded since",
            ),
            Diagnosis::Ones => f.write_str("ones: the chunk reads as ones, as erased flash does"),
            Diagnosis::Short { beats, expected } => {
                write!(f, "short: the end came after {beats} beats instead of {expected}")
            }
            Diagnosis::Long { beats, expected } => write!(
                f,
                "long: the end had not come after {expected} beats; there were {beats} or more"
            ),
            Diagnosis::Partial { bytes, expected } => write!(
                f,
                "wrong end: the last beat has {bytes} bytes instead of {expected}"
            ),
            Diagnosis::Patchwork { pieces } => {
                f.write_str("patchwork: ")?;
                for (n, piece) in pieces.iter().enumerate() {
                    let comma = if n == 0 { "" } else { "; " };
                    write!(f, "{comma}{piece}")?;
                }
                f.write_str("; the rest is right")
            }
            Diagnosis::Corrupt { first_beat, beats } => write!(
                f,
                "corrupt: {beats} beats are wrong, the first is beat {first_beat}, and they are of no known origin"
            ),
        }
    }
}
