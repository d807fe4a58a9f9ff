//! Errors of address generation.

use super::block_sizes::MAX_MIX_ENTRIES;
use super::zipf::MAX_THETA;
use super::{Region, StridedZones};

/// What a malformed mix of block sizes is called.
pub(super) const BLOCK_SIZES: &str = "block sizes";

/// Why a workload's addresses cannot be generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AccessError {
    /// A size no I/O can have.
    #[error(
        "block size {0} bytes is not a multiple of 512 from 512 bytes to 4 MiB; choose one that is"
    )]
    BadBlockSize(u64),
    /// A text is malformed.
    #[error("{what} {text:?}: {reason}; write {form}")]
    BadText {
        /// What it describes.
        what: &'static str,
        /// What was given.
        text: String,
        /// What is wrong with it.
        reason: String,
        /// The correct form.
        form: &'static str,
    },
    /// A negative or infinite weight.
    #[error("block-size weight {0} is not zero or a positive number")]
    BadWeight(f64),
    /// No size has any weight.
    #[error("the block-size mix is empty: give at least one size a weight over zero")]
    EmptyMix,
    /// More sizes than the table takes.
    #[error("the block-size mix names {0} sizes; name at most {MAX_MIX_ENTRIES}")]
    MixTooLong(usize),
    /// Zipf's exponent.
    #[error("zipf exponent {0} is outside (0, {MAX_THETA}]; 0.9 to 1.2 is usual")]
    BadTheta(f64),
    /// Pareto's parameter.
    #[error(
        "pareto power {0} is not between 0 and 1; 0.2 sends 80 % of the I/Os to 20 % of the area"
    )]
    BadPareto(f64),
    /// The deviation of a normal distribution.
    #[error("normal deviation {0} % is not over 0 and below 100; it is in percent of the area")]
    BadDeviation(f64),
    /// A zone to visit in which no I/O may start.
    #[error(
        "zone {zone} has no room for an I/O in an area of {area_bytes} bytes with I/Os at \
         multiples of {align_bytes}; use a larger area"
    )]
    EmptyZone {
        /// Which, from 1.
        zone: usize,
        area_bytes: u64,
        /// The alignment.
        align_bytes: u64,
    },
    /// An invalid alignment.
    #[error(
        "alignment {0} bytes is not a multiple of 512; use the block size or the drive's block \
         size"
    )]
    BadAlign(u64),
    /// An invalid region.
    #[error(
        "the area from byte {}, {} bytes long, does not start on a multiple of 512 or ends beyond 2^63; \
         correct the offset or the size",
        .0.offset_bytes,
        .0.size_bytes
    )]
    BadRegion(Region),
    /// The area is smaller than one I/O.
    #[error(
        "a block of {block_bytes} bytes does not fit into an area of {area_bytes} bytes; use a \
         smaller block or a larger area"
    )]
    BlockLargerThanArea {
        /// The largest block of the mix.
        block_bytes: u32,
        /// The region, or the zone range.
        area_bytes: u64,
    },
    /// Covering exactly once is defined for equal blocks only.
    #[error(
        "a pass that covers every block once needs one block size, not the mix {0}; use one size, \
         or random without a map (norandommap)"
    )]
    CoverWithMix(String),
    /// A gap that the area has no room for.
    #[error(
        "a gap of {gap_bytes} bytes between I/Os is no multiple of 512 bytes that leaves room for \
         an I/O in an area of {area_bytes} bytes"
    )]
    BadGap { gap_bytes: i64, area_bytes: u64 },
    /// Invalid strided zones.
    #[error(
        "strided zones of {} bytes over ranges of {} bytes with {} skipped: size and \
         range must be over zero, and range and skip multiples of 512 that fit the area",
        .0.size_bytes,
        .0.range_bytes,
        .0.skip_bytes
    )]
    BadZones(StridedZones),
}

impl AccessError {
    /// The options of a job that it is about, the first one first.
    pub fn options(&self) -> Vec<&'static str> {
        match self {
            AccessError::BadText { what, .. } if *what == BLOCK_SIZES => vec!["bs"],
            AccessError::BadBlockSize(_)
            | AccessError::BadWeight(_)
            | AccessError::EmptyMix
            | AccessError::MixTooLong(_) => vec!["bs"],
            AccessError::BadText { .. }
            | AccessError::BadTheta(_)
            | AccessError::BadPareto(_)
            | AccessError::BadDeviation(_) => vec!["random_distribution"],
            AccessError::EmptyZone { .. } => vec!["random_distribution", "size"],
            AccessError::CoverWithMix(_) => vec!["random_distribution", "bs"],
            AccessError::BadAlign(_) => vec!["blockalign"],
            AccessError::BadRegion(_) => vec!["offset", "size"],
            AccessError::BlockLargerThanArea { .. } => vec!["bs", "zonerange", "zonesize", "size"],
            AccessError::BadGap { .. } => vec!["rw"],
            AccessError::BadZones(_) => vec!["zonesize", "zonerange", "zoneskip"],
        }
    }
}
