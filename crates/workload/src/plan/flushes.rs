use std::num::NonZeroU32;

use super::values::{invalid, not_a_choice, out_of_range};
use super::{FlushEvery, PlanError, SynchronousWrites};
use crate::options::JobOptions;

pub(super) fn flush_every(
    options: &JobOptions,
    writes: bool,
) -> Result<Option<FlushEvery>, PlanError> {
    let every = |option: &'static str, given: Option<u32>| {
        let Some(ios) = given else { return Ok(None) };
        let ios = NonZeroU32::new(ios).ok_or_else(|| out_of_range(option, ios, "at least 1"))?;
        match writes {
            true => Ok(Some(ios)),
            false => Err(invalid(format!(
                "--{option} needs a job that writes; use --rw write, randwrite, rw or randrw"
            ))),
        }
    };
    match (every("fsync", options.fsync)?, every("fdatasync", options.fdatasync)?) {
        (Some(_), Some(_)) => {
            Err(invalid("--fsync and --fdatasync both say when to flush; use one"))
        }
        (Some(writes), None) => Ok(Some(FlushEvery { writes, metadata: true })),
        (None, Some(writes)) => Ok(Some(FlushEvery { writes, metadata: false })),
        (None, None) => Ok(None),
    }
}

pub(super) fn synchronous_writes(
    options: &JobOptions,
    writes: bool,
) -> Result<Option<SynchronousWrites>, PlanError> {
    let Some(kind) = options.sync.as_deref() else {
        return Ok(None);
    };
    let metadata = match kind.trim() {
        "none" | "0" => return Ok(None),
        "dsync" => false,
        "sync" | "1" => true,
        _ => return Err(not_a_choice("sync", kind, "none, dsync, sync")),
    };
    match writes {
        true => Ok(Some(SynchronousWrites { metadata })),
        false => {
            Err(invalid("--sync needs a job that writes; use --rw write, randwrite, rw or randrw"))
        }
    }
}

pub(super) fn end_flush(options: &JobOptions, writes: bool) -> Result<bool, PlanError> {
    match options.end_fsync.unwrap_or(false) {
        true if !writes => Err(invalid(
            "--end_fsync needs a job that writes; use --rw write, randwrite, rw or randrw",
        )),
        end => Ok(end),
    }
}

pub(super) fn verify_backlog(
    options: &JobOptions,
    writes: bool,
) -> Result<Option<NonZeroU32>, PlanError> {
    let Some(ios) = options.verify_backlog else {
        return Ok(None);
    };
    if !options.verify.unwrap_or(false) || !writes || options.do_verify == Some(false) {
        return Err(invalid(
            "--verify_backlog needs --verify, a job that writes, and --do_verify true",
        ));
    }
    let ios = NonZeroU32::new(ios)
        .filter(|ios| ios.get() <= MAX_BACKLOG)
        .ok_or_else(|| out_of_range("verify_backlog", ios, "from 1 to 16777216 writes"))?;
    Ok(Some(ios))
}

/// Most writes that are remembered until they are read back; 16 bytes each.
const MAX_BACKLOG: u32 = 1 << 24;
