use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::mismatch::MismatchClass;

/// Expected content of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// This generation: its write was acknowledged and none followed.
    Generation(u64),
    /// A write of this generation failed: the block may hold anything, and is not judged.
    Uncertain {
        /// The newest generation submitted.
        newest: u64,
    },
    /// An atomic write of this generation failed: the block holds all of it, or what was there
    /// before.
    WholeOrAbsent {
        /// The newest generation submitted.
        newest: u64,
    },
    /// Some generation of this seed: a block of an earlier job, which identifies itself.
    AnyGeneration,
    /// Not written by this job: anything but a block of this seed that belongs elsewhere.
    Unwritten,
}

/// Why a block is neither right nor wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unjudged {
    /// Read before this job wrote it.
    NotWritten,
    WriteFailed,
    /// Its content is as written, but the host's page cache may have supplied it.
    HostMemory,
    Zeroes,
    /// Bytes without a valid header.
    OtherData,
    /// An intact block of another seed than that asked for.
    OtherJob,
    /// An intact block of another address, of a job none of whose blocks is at its own address.
    OtherAddress,
    /// Whole sectors of the block are those of another write.
    PartlyOverwritten,
    /// A block longer than the read.
    LongerThanRead,
}

impl Unjudged {
    pub const ALL: [Unjudged; 9] = [
        Unjudged::NotWritten,
        Unjudged::WriteFailed,
        Unjudged::HostMemory,
        Unjudged::Zeroes,
        Unjudged::OtherData,
        Unjudged::OtherJob,
        Unjudged::OtherAddress,
        Unjudged::PartlyOverwritten,
        Unjudged::LongerThanRead,
    ];

    /// Of a key in JSON.
    pub fn of_name(name: &str) -> Option<Unjudged> {
        Unjudged::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// In words, after the number of blocks.
    pub fn text(self) -> &'static str {
        match self {
            Unjudged::NotWritten => "read before the job wrote them",
            Unjudged::WriteFailed => "their write failed",
            Unjudged::HostMemory => "read from the host's memory, not from the drive",
            Unjudged::Zeroes => "zeroes: never written, deallocated, or lost",
            Unjudged::OtherData => "not written by a verifying job, or overwritten since",
            Unjudged::OtherJob => "written by a job with another seed",
            Unjudged::OtherAddress => {
                "of a job that addressed them differently: a copy, or another partition"
            }
            Unjudged::PartlyOverwritten => {
                "overwritten in part since, or their last write was interrupted"
            }
            Unjudged::LongerThanRead => "longer than one read: use a larger --bs",
        }
    }

    /// Key in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Unjudged::NotWritten => "not_written",
            Unjudged::WriteFailed => "write_failed",
            Unjudged::HostMemory => "host_memory",
            Unjudged::Zeroes => "zeroes",
            Unjudged::OtherData => "other_data",
            Unjudged::OtherJob => "other_job",
            Unjudged::OtherAddress => "other_address",
            Unjudged::PartlyOverwritten => "partly_overwritten",
            Unjudged::LongerThanRead => "longer_than_read",
        }
    }
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

/// Mismatch of a block.
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
            FindingKind::Corrupt { first_bad_byte, flipped_bits } => {
                let at = offset + u64::from(first_bad_byte);
                write!(f, "corrupt from its byte {first_bad_byte} (byte {at} of the drive), ")?;
                match flipped_bits {
                    Some(1) => write!(f, "1 bit flipped"),
                    Some(bits) => write!(f, "{bits} bits flipped"),
                    None => write!(f, "many bits differ"),
                }
            }
            FindingKind::Torn { newer, older, first_old_sector: sector } => {
                let other =
                    older.map_or("the content before it".to_owned(), |g| format!("write {g}"));
                write!(
                    f,
                    "torn: write {newer} arrived in part; from sector {sector} of the block on \
                     there is {other}"
                )
            }
            FindingKind::Misplaced { belongs_to_bytes, found_generation } => write!(
                f,
                "misplaced: holds write {found_generation} of the block at byte {belongs_to_bytes}"
            ),
            FindingKind::Stale { found_generation } => {
                write!(f, "stale: holds write {found_generation}")?;
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

/// Intact blocks of one seed at addresses that are not theirs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Displaced {
    blocks: u64,
    first: Vec<Finding>,
}

/// Result of verification by one worker or, merged, of a job. A block is intact, a finding, or not
/// judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Blocks as they were written.
    pub intact_blocks: u64,
    pub unreadable_blocks: u64,
    counts: BTreeMap<MismatchClass, u64>,
    first: Vec<Finding>,
    unjudged: BTreeMap<Unjudged, u64>,
    /// Seeds of jobs of which a block is at its own address, and so all should be.
    seeds: BTreeSet<u64>,
    /// By seed; findings where the seed is one of those above.
    displaced: BTreeMap<u64, Displaced>,
}

impl VerifyReport {
    /// Number of findings kept.
    pub const KEPT: usize = 100;
    /// Seeds told apart; an area holds the blocks of a few jobs.
    const MOST_SEEDS: usize = 4096;

    /// Count a finding, and keep it if it is among the first.
    #[cold]
    pub fn push(&mut self, finding: Finding) {
        *self.counts.entry(finding.class()).or_default() += 1;
        if self.first.len() < VerifyReport::KEPT {
            self.first.push(finding);
        }
    }

    pub fn add_unjudged(&mut self, reason: Unjudged, blocks: u64) {
        if blocks > 0 {
            *self.unjudged.entry(reason).or_default() += blocks;
        }
    }

    /// One block less for this reason: it can be judged now.
    pub(crate) fn take_unjudged(&mut self, reason: Unjudged) {
        if let Some(blocks) = self.unjudged.get_mut(&reason) {
            *blocks -= 1;
            if *blocks == 0 {
                self.unjudged.remove(&reason);
            }
        }
    }

    pub(crate) fn add_seed(&mut self, seed: u64) {
        if self.seeds.len() < VerifyReport::MOST_SEEDS {
            self.seeds.insert(seed);
        }
    }

    /// An intact block of this seed that belongs elsewhere.
    #[cold]
    pub(crate) fn push_displaced(&mut self, seed: u64, finding: Finding) {
        let is_known = self.displaced.contains_key(&seed);
        if !is_known && self.displaced.len() >= VerifyReport::MOST_SEEDS {
            self.add_unjudged(Unjudged::OtherAddress, 1);
            return;
        }
        let displaced = self.displaced.entry(seed).or_default();
        displaced.blocks += 1;
        if displaced.first.len() < VerifyReport::KEPT {
            displaced.first.push(finding);
        }
    }

    pub fn merge(&mut self, other: &VerifyReport) {
        self.intact_blocks += other.intact_blocks;
        self.unreadable_blocks += other.unreadable_blocks;
        for (&class, count) in &other.counts {
            *self.counts.entry(class).or_default() += count;
        }
        self.first.extend_from_slice(&other.first);
        self.first.truncate(VerifyReport::KEPT);
        for (&reason, &blocks) in &other.unjudged {
            self.add_unjudged(reason, blocks);
        }
        for &seed in &other.seeds {
            self.add_seed(seed);
        }
        for (&seed, displaced) in &other.displaced {
            let own = self.displaced.entry(seed).or_default();
            own.blocks += displaced.blocks;
            own.first.extend_from_slice(&displaced.first);
            own.first.truncate(VerifyReport::KEPT);
        }
    }

    /// Findings by class.
    pub fn found(&self) -> BTreeMap<MismatchClass, u64> {
        let mut found = self.counts.clone();
        for displaced in self.displaced_of(true) {
            *found.entry(MismatchClass::Misplaced).or_default() += displaced.blocks;
        }
        found
    }

    /// The first findings.
    pub fn first_findings(&self) -> Vec<Finding> {
        let displaced = self.displaced_of(true).flat_map(|displaced| &displaced.first);
        let all = self.first.iter().chain(displaced);
        all.take(VerifyReport::KEPT).copied().collect()
    }

    /// Blocks that are neither right nor wrong, by reason.
    pub fn not_judged(&self) -> BTreeMap<Unjudged, u64> {
        let mut unjudged = self.unjudged.clone();
        for displaced in self.displaced_of(false) {
            *unjudged.entry(Unjudged::OtherAddress).or_default() += displaced.blocks;
        }
        unjudged
    }

    /// Blocks found right or wrong.
    pub fn judged_blocks(&self) -> u64 {
        self.intact_blocks + self.findings()
    }

    fn displaced_of(&self, is_at_home: bool) -> impl Iterator<Item = &Displaced> {
        let of_seed = move |(seed, _): &(&u64, &Displaced)| self.seeds.contains(seed) == is_at_home;
        self.displaced.iter().filter(of_seed).map(|(_, displaced)| displaced)
    }

    /// Seed of the blocks, needed to verify them again later; `None` for several.
    pub fn seed(&self) -> Option<u64> {
        let only = self.seeds.first().copied();
        only.filter(|_| self.seeds.len() == 1)
    }

    pub fn count(&self, class: MismatchClass) -> u64 {
        self.found().get(&class).copied().unwrap_or(0)
    }

    pub fn findings(&self) -> u64 {
        self.found().values().sum()
    }

    /// No finding and no unreadable block.
    pub fn is_clean(&self) -> bool {
        self.findings() + self.unreadable_blocks == 0
    }
}
