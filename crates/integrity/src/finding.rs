//! Findings of block verification, in bounded memory.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::mismatch::MismatchClass;

/// Expected content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// This generation: its write was acknowledged and none followed.
    Generation(u64),
    /// A write of this generation failed: the block may hold it, an older one, a mixture, or its content before the
    /// job.
    Uncertain {
        /// The newest generation submitted.
        newest: u64,
    },
    /// Some generation of this seed: written, with unknown count (verification of an earlier run).
    AnyOfSeed,
    /// Not written by this job: anything but a block of this seed that belongs elsewhere.
    Unwritten,
}

/// Content found in place of a lost write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundInstead {
    /// Zeroes.
    Zeroes,
    /// Bytes without a valid header.
    ForeignBytes,
    /// An intact header of a job with another seed.
    OtherSeed {
        /// That seed.
        seed: u64,
    },
    /// An intact block of the same seed and offset with a generation not written yet: an earlier run with the same
    /// seed.
    FutureGeneration {
        /// That generation.
        generation: u64,
    },
    /// A valid header of the same seed and offset, with another block length or data pattern: an earlier run with
    /// other options.
    OtherLayout {
        /// Its block length in bytes.
        len_bytes: u32,
    },
}

/// Mismatch of a block; decision table in [`crate::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FindingKind {
    /// The block was written by this job and has wrong bytes.
    Corrupt {
        /// First wrong byte, from the block's start.
        first_bad_byte: u32,
        /// Number of wrong bits, if at most [`crate::blocks::MAX_COUNTED_FLIPS`].
        flipped_bits: Option<u32>,
    },
    /// Sectors of two writes: the newer one is incomplete.
    Torn {
        /// Generation of the newer part.
        newer: u64,
        /// Generation of the older part; `None`: content before the first write.
        older: Option<u64>,
        /// First sector (512 bytes, from the block's start) that is not of the newer write.
        first_old_sector: u32,
    },
    /// An intact block of this seed for another offset.
    Misplaced {
        /// Byte offset it was written for.
        belongs_to_bytes: u64,
        /// Its generation.
        found_generation: u64,
    },
    /// An intact, older block of this offset.
    Stale {
        /// Generation found.
        found_generation: u64,
        /// Expected generation; `None` if only the seed was known.
        expected: Option<u64>,
        /// Seed found, if not this job's.
        found_seed: Option<u64>,
    },
    /// No trace of this job's writes.
    Lost {
        /// Content found.
        instead: FoundInstead,
    },
}

/// A mismatched block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The mismatch.
    pub kind: FindingKind,
    /// Byte offset on the target.
    pub offset_bytes: u64,
    /// Length, bytes.
    pub len_bytes: u32,
    /// Expected content.
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
    /// First wrong byte on the target.
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
                    None => write!(f, "the content before it"),
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
                write!(f, "lost: the write is missing; there ")?;
                match instead {
                    FoundInstead::Zeroes => write!(f, "are zeroes"),
                    FoundInstead::ForeignBytes => write!(f, "are bytes that assay did not write"),
                    FoundInstead::OtherSeed { seed } => {
                        write!(f, "is a block of an earlier job (seed {seed:#x})")
                    }
                    FoundInstead::FutureGeneration { generation } => write!(
                        f,
                        "is write {generation}, not yet issued: an earlier run with the same seed"
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

/// Number of findings by class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingCounts {
    /// Wrong bytes.
    pub corrupt: u64,
    /// Incomplete writes.
    pub torn: u64,
    /// Blocks of another offset.
    pub misplaced: u64,
    /// Older blocks.
    pub stale: u64,
    /// Missing writes.
    pub lost: u64,
}

impl FindingCounts {
    /// Sum over all classes.
    pub fn total(&self) -> u64 {
        self.corrupt + self.torn + self.misplaced + self.stale + self.lost
    }
}

/// Counts all findings and keeps the first [`Findings::KEPT`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// Blocks checked.
    pub blocks_checked: u64,
    /// Findings by class.
    pub counts: FindingCounts,
    /// The first findings.
    pub first: Vec<Finding>,
}

impl Findings {
    /// Number of findings kept.
    pub const KEPT: usize = 100;

    /// No findings.
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

    /// Add another worker's findings.
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

    /// No finding.
    pub fn is_clean(&self) -> bool {
        self.counts.total() == 0
    }
}
