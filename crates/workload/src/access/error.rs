use super::block_sizes::MAX_MIX_ENTRIES;
use super::zipf::MAX_THETA;
use super::{Region, StridedZones};

pub(super) const BLOCK_SIZES: &str = "block sizes";

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AccessError {
    #[error("block size {0} bytes is not from 1 byte to 4 MiB; choose one that is")]
    BadBlockSize(u64),
    #[error("{what} {text:?}: {reason}; write {form}")]
    BadText { what: &'static str, text: String, reason: String, form: &'static str },
    #[error("block-size weight {0} is not zero or a positive number")]
    BadWeight(f64),
    #[error("the block-size mix is empty: give at least one size a weight over zero")]
    EmptyMix,
    #[error("the block-size mix names {0} sizes; name at most {MAX_MIX_ENTRIES}")]
    MixTooLong(usize),
    #[error("zipf exponent {0} is outside (0, {MAX_THETA}]; 0.9 to 1.2 is usual")]
    BadTheta(f64),
    #[error(
        "pareto power {0} is not between 0 and 1; 0.2 sends 80 % of the I/Os to 20 % of the area"
    )]
    BadPareto(f64),
    #[error("normal deviation {0} % is not over 0 and below 100; it is in percent of the area")]
    BadDeviation(f64),
    #[error(
        "zone {zone} has no room for an I/O in an area of {area_bytes} bytes with I/Os at \
         multiples of {align_bytes}; use a larger area"
    )]
    EmptyZone { zone: usize, area_bytes: u64, align_bytes: u64 },
    #[error(
        "alignment {0} bytes is not a multiple of 512; use the block size or the drive's block \
         size"
    )]
    BadAlign(u64),
    #[error(
        "the area from byte {}, {} bytes long, does not start on a multiple of 512 or ends beyond \
         2^63; correct the offset or the size",
        .0.offset_bytes,
        .0.size_bytes
    )]
    BadRegion(Region),
    #[error(
        "a block of {block_bytes} bytes does not fit into an area of {area_bytes} bytes; use a \
         smaller block or a larger area"
    )]
    BlockLargerThanArea { block_bytes: u32, area_bytes: u64 },
    #[error(
        "a pass that covers every block once needs one block size, not the mix {0}; use one size, \
         or random without a map (norandommap)"
    )]
    CoverWithMix(String),
    #[error(
        "a gap of {gap_bytes} bytes between I/Os is no multiple of 512 bytes that leaves room for \
         an I/O in an area of {area_bytes} bytes"
    )]
    BadGap { gap_bytes: i64, area_bytes: u64 },
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
