use std::collections::BTreeMap;
use std::fmt;

use crate::mismatch::MismatchClass;

/// Expected content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This generation: its write was acknowledged and none followed.
    Generation(u64),
    /// A write of this generation failed: the block may hold it, an older one, a mixture, or its
    /// content before the job.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoundInstead {
    #[error("are zeroes")]
    Zeroes,
    /// Bytes without a valid header.
    #[error("are bytes that assay did not write")]
    ForeignBytes,
    /// An intact header of a job with this other seed.
    #[error("is a block of an earlier job (seed {0:#x})")]
    OtherSeed(u64),
    /// An intact block of the same seed and offset with this generation, not written yet.
    #[error("is write {0}, not yet issued: an earlier run with the same seed")]
    FutureGeneration(u64),
    /// A valid header of the same seed and offset, with this block length, or with another data
    /// pattern.
    #[error("is a block of {0} bytes of an earlier run with the same seed and other options")]
    OtherLayout(u32),
}

/// Mismatch of a block; decision table in [`crate::blocks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingKind {
    /// The block was written by this job and has wrong bytes.
    Corrupt {
        first_bad_byte: u32,
        /// Number of wrong bits, if at most [`crate::blocks::MAX_COUNTED_FLIPS`].
        flipped_bits: Option<u32>,
    },
    Torn {
        newer: u64,
        /// Generation of the older part; `None`: content before the first write.
        older: Option<u64>,
        /// First sector (512 bytes, from the block's start) that is not of the newer write.
        first_old_sector: u32,
    },
    Misplaced {
        belongs_to_bytes: u64,
        found_generation: u64,
    },
    /// An intact, older block of this offset.
    Stale {
        found_generation: u64,
        /// Seed found, if not this job's.
        found_seed: Option<u64>,
    },
    /// No trace of this job's writes, but this.
    Lost(FoundInstead),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    pub offset_bytes: u64,
    pub len_bytes: u32,
    pub expected: Expected,
}

impl Finding {
    pub fn class(&self) -> MismatchClass {
        match self.kind {
            FindingKind::Corrupt { .. } => MismatchClass::Corrupt,
            FindingKind::Torn { .. } => MismatchClass::Torn,
            FindingKind::Misplaced { .. } => MismatchClass::Misplaced,
            FindingKind::Stale { .. } => MismatchClass::Stale,
            FindingKind::Lost(_) => MismatchClass::Lost,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (len, offset) = (self.len_bytes, self.offset_bytes);
        write!(f, "block of {len} bytes at byte {offset}: ")?;
        match self.kind {
            FindingKind::Corrupt {
                first_bad_byte,
                flipped_bits,
            } => {
                let at = offset + u64::from(first_bad_byte);
                write!(
                    f,
                    "corrupt from its byte {first_bad_byte} (byte {at} of the drive), "
                )?;
                match flipped_bits {
                    Some(1) => write!(f, "1 bit flipped"),
                    Some(bits) => write!(f, "{bits} bits flipped"),
                    None => write!(f, "many bits differ"),
                }
            }
            FindingKind::Torn {
                newer,
                older,
                first_old_sector: sector,
            } => {
                let other =
                    older.map_or("the content before it".to_owned(), |g| format!("write {g}"));
                write!(
                    f,
                    "torn: write {newer} arrived in part; from sector {sector} of the block on \
                     there is {other}"
                )
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
                found_seed,
            } => {
                write!(f, "stale: holds write {found_generation}")?;
                if let Some(seed) = found_seed {
                    write!(f, " of an earlier job (seed {seed:#x})")?;
                }
                match self.expected {
                    Expected::Generation(g) => write!(f, ", the last one acknowledged was {g}"),
                    _ => Ok(()),
                }
            }
            FindingKind::Lost(instead) => {
                write!(f, "lost: the write is missing; there {instead}")
            }
        }
    }
}

/// Result of verification by one worker or, merged, of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    pub blocks_checked: u64,
    pub counts: BTreeMap<MismatchClass, u64>,
    pub first: Vec<Finding>,
    pub unreadable_blocks: u64,
    /// Seed of the blocks, needed to verify them again later.
    pub seed: Option<u64>,
}

impl VerifyReport {
    /// Number of findings kept.
    pub const KEPT: usize = 100;

    /// Count a finding, and keep it if it is among the first.
    #[cold]
    pub fn push(&mut self, finding: Finding) {
        *self.counts.entry(finding.class()).or_default() += 1;
        if self.first.len() < VerifyReport::KEPT {
            self.first.push(finding);
        }
    }

    pub fn merge(&mut self, other: &VerifyReport) {
        self.blocks_checked += other.blocks_checked;
        for (&class, count) in &other.counts {
            *self.counts.entry(class).or_default() += count;
        }
        self.first.extend_from_slice(&other.first);
        self.first.truncate(VerifyReport::KEPT);
        self.unreadable_blocks += other.unreadable_blocks;
        self.seed = self.seed.or(other.seed);
    }

    pub fn count(&self, class: MismatchClass) -> u64 {
        self.counts.get(&class).copied().unwrap_or(0)
    }

    pub fn findings(&self) -> u64 {
        self.counts.values().sum()
    }

    /// No finding and no unreadable block.
    pub fn is_clean(&self) -> bool {
        self.findings() + self.unreadable_blocks == 0
    }
}
