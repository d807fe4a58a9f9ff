//! Classification of mismatches: one decision table for both data formats.
//!
//! A format divides the data it read (a block, a chunk) into runs of granules (sectors, beats) that
//! differ from what was written, and names the origin of each run. [`classify`] derives the class
//! from these:
//!
//! | runs | class |
//! |---|---|
//! | none | none: the data are as written |
//! | one over the whole unit, earlier data of this location | **stale** |
//! | one over the whole unit, data of another location | **misplaced** |
//! | one over the whole unit, blank or foreign | **lost** |
//! | any run damaged, foreign or of unknown origin | **corrupt** |
//! | otherwise: part of the unit is other data | **torn** |

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MismatchClass {
    Corrupt,
    Torn,
    /// Intact data of another location.
    Misplaced,
    /// Intact earlier data of this location.
    Stale,
    /// No trace of the write.
    Lost,
}

impl MismatchClass {
    pub fn name(self) -> &'static str {
        match self {
            MismatchClass::Corrupt => "corrupt",
            MismatchClass::Torn => "torn",
            MismatchClass::Misplaced => "misplaced",
            MismatchClass::Stale => "stale",
            MismatchClass::Lost => "lost",
        }
    }
}

/// Origin of a run of mismatched granules, as far as the class depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginClass {
    /// What this location held before the write.
    Earlier,
    /// Data that belong to another location.
    Elsewhere,
    /// Zeroes or ones.
    Blank,
    /// The written data with few wrong bits.
    Damaged,
    /// Certainly not written by this job.
    Foreign,
    /// Not attributable; may be damaged data.
    Unknown,
}

/// Consecutive mismatched granules of one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MismatchRun<O> {
    /// The granules; beats are numbered as in the expected stream.
    pub granules: Range<u64>,
    /// Their origin.
    pub origin: O,
}

/// The class of a unit of these granules; `None` where nothing differs.
pub fn classify<T: Copy + Into<OriginClass>>(
    runs: &[MismatchRun<T>],
    unit: &Range<u64>,
) -> Option<MismatchClass> {
    use OriginClass as O;
    let first = runs.first()?;
    if runs.len() == 1 && first.granules == *unit {
        return Some(match first.origin.into() {
            O::Earlier => MismatchClass::Stale,
            O::Elsewhere => MismatchClass::Misplaced,
            O::Blank | O::Foreign => MismatchClass::Lost,
            O::Damaged | O::Unknown => MismatchClass::Corrupt,
        });
    }
    let corrupted =
        |run: &MismatchRun<T>| matches!(run.origin.into(), O::Damaged | O::Foreign | O::Unknown);
    Some(if runs.iter().any(corrupted) { MismatchClass::Corrupt } else { MismatchClass::Torn })
}

#[cfg(test)]
#[path = "../tests/unit/mismatch.rs"]
mod tests;
