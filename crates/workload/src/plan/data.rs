//! What a job writes.

use assay_integrity::data::{DataPattern, RepeatedData};

use super::PlanError;
use super::values::{invalid, out_of_range};
use crate::access::fio::{FioAccess, FioPart};
use crate::options::JobOptions;

pub(super) fn data(options: &JobOptions) -> Result<DataPattern, PlanError> {
    let data = options.data.as_deref();
    let data = data.map_or(Ok(DataPattern::Incompressible), str::parse)?;
    if matches!(data, DataPattern::Repeated(_)) && options.verify.unwrap_or(false) {
        return Err(invalid("--data pattern=HEX and --verify both say what is written; use one"));
    }
    Ok(data)
}

pub(super) fn repeated(options: &JobOptions) -> Result<RepeatedData, PlanError> {
    Ok(RepeatedData { percent: repeated_percent(options)?, blocks: repeated_blocks(options)? })
}

fn repeated_percent(options: &JobOptions) -> Result<u32, PlanError> {
    match options.dedupe_percentage.unwrap_or(0) {
        percent if percent > 100 => {
            Err(out_of_range("dedupe_percentage", percent, "from 0 to 100"))
        }
        percent if percent > 0 && options.verify.unwrap_or(false) => {
            Err(invalid("--dedupe_percentage and --verify both say what is written; use one"))
        }
        percent => Ok(percent),
    }
}

fn repeated_blocks(options: &JobOptions) -> Result<u32, PlanError> {
    match options.dedupe_working_set {
        Some(0) => Err(out_of_range("dedupe_working_set", 0, "at least 1")),
        Some(_) if options.dedupe_percentage.unwrap_or(0) == 0 => {
            Err(invalid("--dedupe_working_set needs --dedupe_percentage"))
        }
        blocks => Ok(blocks.unwrap_or(0)),
    }
}

/// `distance` is that of the first bytes of two threads.
pub(super) fn check_verified(
    access: &FioAccess,
    distance: u64,
    first: FioPart,
) -> Result<(), PlanError> {
    if !access.verifies {
        return Ok(());
    }
    if access.unaligned {
        return Err(invalid(
            "bs_unaligned with verify: blocks that are verified are whole sectors; use bssplit, or \
             bsrange without bs_unaligned",
        ));
    }
    if access.writes && distance > 0 && distance < first.area_bytes {
        return Err(invalid(
            "--verify needs threads that do not overwrite one another: make --offset_increment at \
             least --size",
        ));
    }
    Ok(())
}
