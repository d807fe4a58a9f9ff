//! Only the interrupted run has a journal of its writes, so only its resumption may claim them.
//! Writes beyond the journal's bound, or after the latest possible end of the cell, are foreign.

use assay_device::identity::{DriveInfo, WriteTrace, write_trace_at};
use assay_units::Nanos;
use serde::{Deserialize, Serialize};

use super::{
    DriveStateCache, LoadOutcome, SLACK_BYTES, StateCacheError, StateRecord, add_written, load,
};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CellInProgress {
    pub(super) run: String,
    pub(super) cell: String,
    began_unix_s: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptedWrites {
    pub journaled_bytes: u64,
    /// Possible writes after the last journal entry, bytes.
    pub unjournaled_bytes: u64,
    /// Latest possible end of the last write, from the start of the cell.
    pub max_duration: Nanos,
}

impl DriveStateCache {
    /// No effect without a record of the drive.
    pub fn record_cell_start(
        &self,
        info: &DriveInfo,
        run: &str,
        cell: &str,
    ) -> Result<(), StateCacheError> {
        self.update(info, 0, false, |record| {
            record.in_progress = Some(CellInProgress {
                run: run.to_owned(),
                cell: cell.to_owned(),
                began_unix_s: assay_device::host::unix_seconds(),
            });
        })
    }

    /// Until its end ([`DriveStateCache::record_purge`]) the drive's contents are unknown: a
    /// controller may continue to erase after the process exits, and the kernel counts none of it
    /// as written.
    pub fn record_purge_start(&self, info: &DriveInfo) -> Result<(), StateCacheError> {
        self.update(info, 0, false, |record| {
            record.preconditionings.clear();
            record.purge = None;
            record.invalidated = Some("a purge of it was started and did not complete".to_owned());
        })
    }

    /// `bounds` gives that cell's possible writes.
    pub fn claim_interrupted_writes(
        &self,
        info: &DriveInfo,
        run: &str,
        bounds: impl FnOnce(&str) -> InterruptedWrites,
    ) -> Result<(), StateCacheError> {
        let found = self.path(info).map(|path| load(&path));
        let Some(LoadOutcome::Loaded(record)) = found else {
            return Ok(());
        };
        let own = record.in_progress.as_ref().filter(|u| u.run == run);
        let (Some(in_progress), Ok(now)) = (own, write_trace_at(&self.root, info)) else {
            return Ok(());
        };
        let bounds = bounds(&in_progress.cell);
        if changed_later(&now, in_progress, bounds.max_duration) {
            return self.update(info, 0, false, |_| {});
        }
        // An upper bound, from a run folder: an overflow bounds nothing.
        let (journaled, others) = (bounds.journaled_bytes, bounds.unjournaled_bytes);
        let most = journaled.saturating_add(others);
        let written = written_between(&record, &now).unwrap_or(most);
        // At least one byte: 0 would mean "no own writes", which an unchanged trace shows already.
        self.update(info, most.max(1), false, |record| {
            add_written(record, written.min(most.saturating_add(SLACK_BYTES)));
        })
    }
}

/// Bytes that the block device counted since; none for a file.
fn written_between(record: &StateRecord, now: &WriteTrace) -> Option<u64> {
    match (&record.trace, now) {
        (
            WriteTrace::Block { written_bytes: before, .. },
            WriteTrace::Block { written_bytes, .. },
        ) => Some(written_bytes.saturating_sub(*before)),
        _ => None,
    }
}

/// Whether a file was modified after the latest possible end of the cell. Block devices are checked
/// by byte count.
fn changed_later(now: &WriteTrace, in_progress: &CellInProgress, lasted: Nanos) -> bool {
    match now {
        WriteTrace::File { modified, .. } => {
            let lasted_s = lasted.0.div_ceil(1_000_000_000);
            let latest = in_progress.began_unix_s.saturating_add(lasted_s);
            u64::try_from(modified.0).is_ok_and(|modified_s| modified_s > latest)
        }
        WriteTrace::Block { .. } => false,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/drive_state_cache/in_progress.rs"]
mod tests;
