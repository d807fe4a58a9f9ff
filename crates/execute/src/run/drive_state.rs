use assay_device::identity::DriveInfo;
use assay_store::model::CellKind;
use assay_workload::access::Region;

use super::cell::CellOutcome;
use super::lost_drives::LostDrives;
use super::preconditions::Preconditions;
use super::{Executor, Resume};
use crate::ExecuteError;
use crate::drive_state_cache::{
    DriveStateCache, PreconditioningRecord, StateCacheError, StateValidity,
};
use crate::warn;
use assay_suite::expand::{Cell, Preconditioning};

/// One percent changes steady-state figures by less than their own variation.
const MAX_WRITTEN_SINCE_PCT: f64 = 1.0;

/// Key of a state in the cache: procedures of one name with different workloads are different
/// states.
fn state_key(state: &Preconditioning) -> String {
    format!("{}: {}", state.name, state.workload)
}

/// Of the state that one cell leaves: that of its step, or of a part of it.
fn cell_key(cell: &Cell, state: &Preconditioning) -> String {
    let key = state_key(state);
    match state.last {
        true => key,
        false => format!("{key}, up to {}", cell.plan.id),
    }
}

/// What a preparation leaves that does not reach its state: a later run prepares the drive again, a
/// resumed one goes on with it.
fn not_reached(key: &str) -> String {
    format!("{key}, not reached")
}

fn area_of(cell: &Cell) -> Region {
    Region {
        offset_bytes: cell.plan.workload.offset_bytes,
        size_bytes: cell.plan.workload.span_bytes,
    }
}

impl Executor<'_, '_> {
    pub(super) fn restore_preconditions(&self, preconditions: &mut Preconditions) {
        for cell in &self.plan.cells {
            if let (Some(state), &[drive]) = (&cell.sets_state, cell.plan.drives.as_slice())
                && !preconditions.is_restored(drive)
                && let Some(since) = self.unchanged_since(cell, state, drive)
            {
                preconditions.restore(drive, &state.name, &since);
            }
        }
    }

    /// Start of the state, if at most [`MAX_WRITTEN_SINCE_PCT`] was written since.
    fn unchanged_since(
        &self,
        cell: &Cell,
        state: &Preconditioning,
        drive: usize,
    ) -> Option<String> {
        let info = self.drives[drive].info();
        let area = area_of(cell);
        let (states, key) = (self.drive_states, state_key(state));
        let (validity, allowed_pct) = match cell.plan.kind {
            CellKind::Purge => (states.lookup_purge(info), 0.0),
            _ => (states.lookup(info, &key, area), MAX_WRITTEN_SINCE_PCT),
        };
        let StateValidity::Valid { since, written_since_bytes } = validity else {
            return None;
        };
        let allowed = area.size_bytes as f64 * allowed_pct;
        (written_since_bytes as f64 * 100.0 <= allowed).then_some(since)
    }

    /// Later writes of the run itself are part of its procedure; writes of other programs are not.
    pub(super) fn still_preconditioned(
        &mut self,
        cell: &Cell,
        resume: &Resume,
    ) -> Result<bool, ExecuteError> {
        let latest = resume.last_of_preparation(&self.plan.cells, cell);
        let latest = latest.unwrap_or(cell);
        let (Some(state), [drive]) = (&latest.sets_state, cell.plan.drives.as_slice()) else {
            return Ok(true);
        };
        let (drive, info) = (*drive, self.drives[*drive].info());
        if info.simulated || cell.plan.kind == CellKind::Purge {
            return Ok(true);
        }
        let (states, key) = (self.drive_states, cell_key(latest, state));
        let lookup = |key: &str| states.lookup(info, key, area_of(cell));
        if let StateValidity::Valid { .. } = lookup(&not_reached(&key)) {
            return Ok(true);
        }
        let (valid, warning) = match lookup(&key) {
            StateValidity::Valid { .. } => return Ok(true),
            StateValidity::Stale(why) => (false, warn::preconditioned_again(&why)),
            StateValidity::Unknown(why) => (true, warn::state_in_doubt(&why)),
        };
        self.warn_cell(cell, drive, warning)?;
        Ok(valid)
    }

    pub(super) fn claim_interrupted_writes(&mut self, resume: &Resume) {
        let run = self.log.run_id().to_owned();
        for drive in 0..self.drives.len() {
            let writes_of = |cell: &str| resume.writes_of(cell, drive);
            self.record_state(drive, |states, info| {
                states.claim_interrupted_writes(info, &run, writes_of)
            });
        }
    }

    pub(super) fn record_purge_start(&mut self, drive: usize) {
        self.record_state(drive, DriveStateCache::record_purge_start);
    }

    /// So that its writes can be attributed if it is interrupted.
    pub(super) fn record_cell_start(&mut self, cell: &Cell) {
        let run = self.log.run_id().to_owned();
        for &drive in cell.plan.drives.iter().filter(|_| cell.writes()) {
            self.record_state(drive, |states, info| {
                states.record_cell_start(info, &run, &cell.plan.id)
            });
        }
    }

    /// Those of a lost drive are claimed by the resumed run, when the drive is back.
    pub(super) fn record_partial_writes(&mut self, done: &CellOutcome, lost: &LostDrives) {
        let is_lost = |drive: usize| lost.iter().any(|(gone, _)| *gone == drive);
        for (&drive, &written) in &done.written_bytes {
            if written > 0 && !is_lost(drive) {
                self.record_state(drive, |states, info| states.record_writes(info, written));
            }
        }
    }

    pub(super) fn record_drive_state(
        &mut self,
        cell: &Cell,
        done: &CellOutcome,
        preconditioned: bool,
    ) {
        for &drive in &cell.plan.drives {
            let bytes = done.written_bytes.get(&drive).copied().unwrap_or(0);
            let state = cell.sets_state.as_ref().filter(|_| preconditioned);
            let Region { offset_bytes, size_bytes } = area_of(cell);
            self.record_state(drive, |states, info| match (state, cell.plan.kind) {
                _ if info.simulated => Ok(()),
                (_, CellKind::Purge) => states.record_purge(info, "by a suite", false),
                (Some(state), _) => {
                    let key = cell_key(cell, state);
                    let name = match done.not_steady.contains(&drive) {
                        true => not_reached(&key),
                        false => key,
                    };
                    let record = PreconditioningRecord {
                        name,
                        offset_bytes,
                        size_bytes,
                        block_sizes: cell.plan.workload.bs_bytes.to_string(),
                        bytes,
                    };
                    states.record_preconditioning(info, record)
                }
                _ if bytes > 0 => states.record_writes(info, bytes),
                _ => Ok(()),
            });
        }
    }

    /// An error is reported and does not end the run: the next run repeats the preconditioning.
    fn record_state(
        &mut self,
        drive: usize,
        record: impl FnOnce(&DriveStateCache, &DriveInfo) -> Result<(), StateCacheError>,
    ) {
        if let Err(error) = record(self.drive_states, self.drives[drive].info()) {
            self.events.problem(&error.to_string());
        }
    }
}
