//! What can be wrong with a stream, in words.

use std::fmt;

use crate::mismatch::{ClassifiedRun, MismatchClass, OriginClass, classify};

/// Where wrong beats come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataOrigin {
    /// This very place in the stream of another seed.
    Seed {
        /// Which.
        seed: u64,
    },
    /// Another place of the same stream.
    Place {
        /// The beat that the first of them is.
        beat: u64,
    },
    /// Another place of the same stream, shifted by other than whole beats.
    Shifted {
        /// The byte of the stream that the first of them begins with; of the first beat some bytes may be right instead.
        byte: u64,
    },
    /// Another place in the stream of another seed.
    SeedElsewhere {
        /// Which.
        seed: u64,
        /// The beat of that stream that the first of them is.
        beat: u64,
    },
    /// All bits 0.
    Zero,
    /// All bits 1.
    Ones,
    /// The right beat with few bits wrong.
    Flipped {
        /// The wrong bits.
        mask: u128,
    },
    /// None of these.
    Unknown,
}

/// Wrong beats that lie together and come from one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MismatchRun {
    /// The first of them: its number in the stream that should be there.
    pub first_beat: u64,
    /// The beat after the last of them.
    pub end_beat: u64,
    /// Where they come from.
    pub origin: DataOrigin,
}

/// What is wrong, as far as the bytes tell. Beats are numbered as in the stream that should be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Diagnosis {
    /// The stream is of another seed from its beginning: somebody else's recording, or the wrong seed was asked for.
    WrongSeed {
        /// Its seed.
        seed: u64,
    },
    /// The chunk holds what an earlier stream left at this place: the write of this one was lost.
    Stale {
        /// The earlier stream's seed.
        seed: u64,
    },
    /// The chunk holds what an earlier stream had elsewhere: this write was lost, and that stream lay elsewhere or was misdirected.
    StaleElsewhere {
        /// The earlier stream's seed.
        seed: u64,
        /// The beat of it that the chunk begins with.
        beat: u64,
    },
    /// The chunk is one of this stream that belongs elsewhere: a misdirected write or read, or the stream lost or gained beats before.
    Misplaced {
        /// The beat that the chunk begins with.
        beat: u64,
    },
    /// The chunk holds this stream shifted by other than whole beats: bytes were lost or doubled on the way.
    Shifted {
        /// The byte of the stream that the chunk begins with.
        byte: u64,
    },
    /// A part of the chunk is right and one part, at the end, the beginning or in between, is not.
    Torn {
        /// First beat of the wrong part.
        first_beat: u64,
        /// The beat after its last.
        end_beat: u64,
        /// What it holds.
        origin: DataOrigin,
    },
    /// Right but for few bits of single beats.
    BitFlip {
        /// The first such beat.
        beat: u64,
        /// Its wrong bits; bit *i* is bit *i* % 8 of byte *i* / 8.
        mask: u128,
        /// How many beats of the chunk are like that.
        beats: u64,
    },
    /// Reads as zeroes: never written, discarded, or not in the map any more.
    Zero,
    /// Reads as ones: erased flash.
    Ones,
    /// The packet or the stream ended early.
    Short {
        /// Beats there were.
        beats: u64,
        /// Beats there should be.
        expected: u64,
    },
    /// The packet or the stream did not end where it should.
    Long {
        /// Beats there were, at least.
        beats: u64,
        /// Beats there should be.
        expected: u64,
    },
    /// The stream has as many beats as it should, but its last one has a wrong number of bytes.
    Partial {
        /// Bytes it has.
        bytes: usize,
        /// Bytes it should have.
        expected: usize,
    },
    /// Several wrong parts, some of them of known origin.
    Patchwork {
        /// The wrong parts, in order.
        pieces: Vec<MismatchRun>,
    },
    /// Wrong, and like nothing known.
    Corrupt {
        /// The first wrong beat.
        first_beat: u64,
        /// Wrong beats of the chunk.
        beats: u64,
    },
}

impl DataOrigin {
    /// What the class of a mismatch depends on.
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
    /// As [`classify`] takes it.
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

    /// Which bits of the beat are wrong, lowest first; none but for [`Diagnosis::BitFlip`].
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
                write!(f, "this stream's data from beat {beat} on, misplaced")
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
                "stale: the chunk still holds what the stream of seed {seed:#x} wrote here; this stream's write never arrived"
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
                "shifted: the chunk holds this stream from byte {byte} on, which is inside a beat; bytes were lost or doubled before"
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
