//! Cells that are under way: noted before they write, so that a run that was cut off can answer for its own bytes when it is resumed.
//!
//! So are purges: whoever is cut off in one has left a drive of which nothing is known.
//!
//! Only the run that was cut off knows how much it had written, from its journal, and only its resumption may claim that. To everybody else
//! a drive that was written meanwhile is changed. And what was written beyond what the run can have written, or later, was written by others.

use assay_device::identity::{DriveInfo, Trace, trace_at};
use assay_units::Nanos;
use serde::{Deserialize, Serialize};

use super::{DriveStateCache, Found, Record, SLACK_BYTES, StateCacheError, add_written, load};

/// A cell that writes, or was cut off while it did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CellInProgress {
    pub(super) run: String,
    pub(super) cell: String,
    began_unix_s: u64,
}

/// What a cell that was cut off can have done to a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterruptedWrites {
    /// What its journal says was written, bytes.
    pub written_bytes: u64,
    /// What can have been written beside that, after the last line of the journal.
    pub unseen_bytes: u64,
    /// How long after its start the last write can have ended.
    pub lasted: Nanos,
}

impl DriveStateCache {
    /// A cell of a run begins now, and will write to the drive. Nothing happens where nothing is remembered of it.
    ///
    /// # Errors
    /// [`StateCacheError`] when that cannot be stored.
    pub fn begin(&self, info: &DriveInfo, run: &str, cell: &str) -> Result<(), StateCacheError> {
        self.change(info, 0, false, |record| {
            record.under_way = Some(CellInProgress {
                run: run.to_owned(),
                cell: cell.to_owned(),
                began_unix_s: assay_device::host::unix_seconds(),
            });
        })
    }

    /// A purge begins now. Until it is over ([`DriveStateCache::record_purge`]) nothing is known of what the drive holds: a controller may erase on when
    /// the program that asked for it is gone, and the kernel counts none of it as written.
    ///
    /// # Errors
    /// [`StateCacheError`] when that cannot be stored.
    pub fn record_purge_start(&self, info: &DriveInfo) -> Result<(), StateCacheError> {
        self.change(info, 0, false, |record| {
            record.conditionings.clear();
            record.purge = None;
            record.lost = Some("a purge of it was begun that did not come to its end".to_owned());
        })
    }

    /// This run goes on after it was cut off: what it wrote in the cell that was under way, if there was one, is its own. `cut_off` says what
    /// that cell can have done.
    ///
    /// # Errors
    /// [`StateCacheError`] when that cannot be stored.
    pub fn claim(
        &self,
        info: &DriveInfo,
        run: &str,
        cut_off: impl FnOnce(&str) -> InterruptedWrites,
    ) -> Result<(), StateCacheError> {
        let found = self.path(info).map(|path| load(&path));
        let Some(Found::Record(record)) = found else {
            return Ok(());
        };
        let Some(under_way) = record.under_way.as_ref().filter(|u| u.run == run) else {
            return Ok(());
        };
        let cut_off = cut_off(&under_way.cell);
        let Ok(now) = trace_at(&self.root, info) else {
            return Ok(());
        };
        if changed_later(&now, under_way, cut_off.lasted) {
            return self.change(info, 0, false, |_| {});
        }
        let most = cut_off.written_bytes.saturating_add(cut_off.unseen_bytes);
        let written = written_between(&record, &now).unwrap_or(most);
        // At least a byte: to have written none is to be told by an unchanged trace.
        self.change(info, most.max(1), false, |record| {
            add_written(record, written.min(most.saturating_add(SLACK_BYTES)));
        })
    }
}

/// Bytes that a block device counted since; a file counts none.
fn written_between(record: &Record, now: &Trace) -> Option<u64> {
    match (&record.trace, now) {
        (
            Trace::Block {
                written_bytes: before,
                ..
            },
            Trace::Block { written_bytes, .. },
        ) => Some(written_bytes.saturating_sub(*before)),
        _ => None,
    }
}

/// Was a file changed when the cell was over for certain? A block device tells by its bytes.
fn changed_later(now: &Trace, under_way: &CellInProgress, lasted: Nanos) -> bool {
    match now {
        Trace::File { modified, .. } => {
            let latest = under_way
                .began_unix_s
                .saturating_add(lasted.0.div_ceil(1_000_000_000));
            u64::try_from(modified.0).is_ok_and(|modified_s| modified_s > latest)
        }
        Trace::Block { .. } => false,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/drive_state_cache/in_progress.rs"]
mod tests;
