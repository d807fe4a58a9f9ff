//! What verification found, and the collector that keeps it bounded.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::mismatch::MismatchClass;

/// What a block must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// Exactly this generation: its write was acknowledged and none came after.
    Generation(u64),
    /// A write of this generation failed or was abandoned: it, any older one, a mixture of them, or what stood before.
    Uncertain {
        /// The newest generation that was ever submitted.
        newest: u64,
    },
    /// Some generation of this seed: the block is known to have been written, but not how often (verifying what an earlier
    /// run wrote).
    AnyOfSeed,
    /// This job has not written here: anything, but for a block of this seed that belongs elsewhere.
    Unwritten,
}

/// What was found in place of a write that never arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundInstead {
    /// Nothing but zeroes.
    Zeroes,
    /// Bytes that no job of this tool wrote.
    ForeignBytes,
    /// An intact header of a job with another seed.
    OtherSeed {
        /// That seed.
        seed: u64,
    },
    /// An intact block for this place of the same seed but with a generation that was not written yet: an earlier run with
    /// the same seed.
    FutureGeneration {
        /// That generation.
        generation: u64,
    },
    /// An intact header of the same seed and place, but of another block length or data pattern: an earlier run with the same
    /// seed and other options.
    OtherLayout {
        /// Its block length in bytes.
        len_bytes: u32,
    },
}

/// What is wrong with a block. See the decision table in [`crate::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// Our block, but with bytes that we did not write.
    Corrupt {
        /// The first byte that differs from what was written, counted from the block's start.
        first_bad_byte: u32,
        /// How many bits differ, when at most [`crate::blocks::MAX_COUNTED_FLIPS`].
        flipped_bits: Option<u32>,
    },
    /// Sectors of two writes: the newer one arrived in part.
    Torn {
        /// Generation of the newer part.
        newer: u64,
        /// Generation of the older part; none when it is what stood before the first write.
        older: Option<u64>,
        /// The first sector (512 bytes, counted from the block's start) that is not of the newer write.
        first_old_sector: u32,
    },
    /// An intact block of this seed that belongs elsewhere.
    Misplaced {
        /// Byte offset it was written for.
        belongs_to_bytes: u64,
        /// Its generation.
        found_generation: u64,
    },
    /// An intact block for this place, but an older one.
    Stale {
        /// The generation that is there.
        found_generation: u64,
        /// The generation that should be; none when only the seed was known.
        expected: Option<u64>,
        /// The seed that is there, when it is not this job's.
        found_seed: Option<u64>,
    },
    /// What stood here before this job: none of its writes arrived.
    Lost {
        /// What is there.
        instead: FoundInstead,
    },
}

/// One bad block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// Byte offset of the block on the target.
    pub offset_bytes: u64,
    /// Length of the block in bytes.
    pub len_bytes: u32,
    /// What should have been there.
    pub expected: Expected,
}

impl FindingKind {
    /// Class of the mismatch.
    pub fn class(&self) -> MismatchClass {
        match self {
            FindingKind::Corrupt { .. } => MismatchClass::Corrupt,
            FindingKind::Torn { .. } => MismatchClass::Torn,
            FindingKind::Misplaced { .. } => MismatchClass::Misplaced,
            FindingKind::Stale { .. } => MismatchClass::Stale,
            FindingKind::Lost { .. } => MismatchClass::Lost,
        }
    }
}

impl Finding {
    /// The first byte on the target that is not what was written, in bytes from its start.
    pub fn first_bad_byte(&self) -> u64 {
        self.offset_bytes
            + match self.kind {
                FindingKind::Corrupt { first_bad_byte, .. } => u64::from(first_bad_byte),
                FindingKind::Torn {
                    first_old_sector, ..
                } => u64::from(first_old_sector) * assay_units::SECTOR_BYTES,
                _ => 0,
            }
    }
}

/// A sentence for people.
impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "block of {} bytes at byte {}: ",
            self.len_bytes, self.offset_bytes
        )?;
        match self.kind {
            FindingKind::Corrupt {
                first_bad_byte,
                flipped_bits,
            } => {
                let at = self.offset_bytes + u64::from(first_bad_byte);
                write!(
                    f,
                    "corrupt from its byte {first_bad_byte} (byte {at} of the drive)"
                )?;
                match flipped_bits {
                    Some(1) => write!(f, ", 1 bit flipped"),
                    Some(bits) => write!(f, ", {bits} bits flipped"),
                    None => write!(f, ", many bits differ"),
                }
            }
            FindingKind::Torn {
                newer,
                older,
                first_old_sector,
            } => {
                write!(
                    f,
                    "torn: write {newer} arrived in part; from sector {first_old_sector} of the block on there is "
                )?;
                match older {
                    Some(older) => write!(f, "write {older}"),
                    None => write!(f, "what stood there before"),
                }
            }
            FindingKind::Misplaced {
                belongs_to_bytes,
                found_generation,
            } => write!(
                f,
                "misplaced: holds write {found_generation} of the block at byte {belongs_to_bytes}"
            ),
            FindingKind::Stale {
                found_generation,
                expected,
                found_seed,
            } => {
                write!(f, "stale: holds write {found_generation}")?;
                if let Some(seed) = found_seed {
                    write!(f, " of an earlier job (seed {seed:#x})")?;
                }
                match expected {
                    Some(expected) => write!(f, ", the last one acknowledged was {expected}"),
                    None => Ok(()),
                }
            }
            FindingKind::Lost { instead } => {
                write!(f, "lost: the write never arrived; there ")?;
                match instead {
                    FoundInstead::Zeroes => write!(f, "are zeroes"),
                    FoundInstead::ForeignBytes => write!(f, "are bytes this tool did not write"),
                    FoundInstead::OtherSeed { seed } => {
                        write!(f, "is a block of an earlier job (seed {seed:#x})")
                    }
                    FoundInstead::FutureGeneration { generation } => write!(
                        f,
                        "is write {generation}, not made yet: an earlier run with the same seed"
                    ),
                    FoundInstead::OtherLayout { len_bytes } => write!(
                        f,
                        "is a block of {len_bytes} bytes of an earlier run with the same seed and other options"
                    ),
                }
            }
        }
    }
}

/// How many findings there were of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingCounts {
    /// Our block, damaged.
    pub corrupt: u64,
    /// Parts of two writes.
    pub torn: u64,
    /// Intact, but belongs elsewhere.
    pub misplaced: u64,
    /// Intact, but old.
    pub stale: u64,
    /// Never arrived.
    pub lost: u64,
}

impl FindingCounts {
    /// All kinds together.
    pub fn total(&self) -> u64 {
        self.corrupt + self.torn + self.misplaced + self.stale + self.lost
    }
}

/// Counts every finding and keeps the first [`Findings::KEPT`] in full, so that a drive that fails every block does not fill the
/// memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// How many blocks were checked.
    pub blocks_checked: u64,
    /// How many findings of each kind.
    pub counts: FindingCounts,
    /// The first ones.
    pub first: Vec<Finding>,
}

impl Findings {
    /// How many are kept in full.
    pub const KEPT: usize = 100;

    /// None yet.
    pub fn new() -> Findings {
        Findings::default()
    }

    /// Count a finding, and keep it if it is among the first.
    #[cold]
    pub fn push(&mut self, finding: Finding) {
        let counts = &mut self.counts;
        *match finding.kind.class() {
            MismatchClass::Corrupt => &mut counts.corrupt,
            MismatchClass::Torn => &mut counts.torn,
            MismatchClass::Misplaced => &mut counts.misplaced,
            MismatchClass::Stale => &mut counts.stale,
            MismatchClass::Lost => &mut counts.lost,
        } += 1;
        if self.first.len() < Findings::KEPT {
            self.first.push(finding);
        }
    }

    /// Add what another worker found.
    pub fn merge(&mut self, other: &Findings) {
        self.blocks_checked += other.blocks_checked;
        self.counts.corrupt += other.counts.corrupt;
        self.counts.torn += other.counts.torn;
        self.counts.misplaced += other.counts.misplaced;
        self.counts.stale += other.counts.stale;
        self.counts.lost += other.counts.lost;
        let room = Findings::KEPT - self.first.len().min(Findings::KEPT);
        self.first.extend(other.first.iter().take(room));
    }

    /// Was anything found?
    pub fn is_clean(&self) -> bool {
        self.counts.total() == 0
    }
}
