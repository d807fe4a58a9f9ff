use assay_analysis::verified::is_unverified;
use assay_device::session::SessionError;
use assay_store::StoreError;
use assay_store::model::CellResult;

use super::cell::CellOutcome;
use super::results::bad_blocks;
use super::{ExecutionState, Executor};
use crate::ExecuteError;
use crate::events::RunEvent;
use crate::warn;
use assay_suite::expand::Cell;

/// Lost drives, each with the evidence.
pub(super) type LostDrives = Vec<(usize, String)>;

impl Executor<'_, '_> {
    pub(super) fn drives_lost_during(&mut self, done: &CellOutcome) -> LostDrives {
        let mut lost = LostDrives::new();
        if !self.is_resumable() {
            return lost;
        }
        for (&drive, &ios) in &done.unanswered {
            // No presence check: the drive does not complete I/Os, and the check is one.
            lost.push((drive, format!("{ios} of its I/Os did not complete")));
        }
        for result in &done.results {
            let drive = result.drive;
            let given_up = done.given_up.get(&drive).copied().unwrap_or(0);
            let errors = result.errors().max(given_up);
            // Few errors suffice: the drive may have disappeared near the end of the cell.
            if errors > 0
                && !done.unanswered.contains_key(&drive)
                && !self.drives[drive].is_present()
            {
                let why = format!("{errors} of its I/Os failed, and it can no longer be read");
                lost.push((drive, why));
            }
        }
        lost
    }

    /// The drives lost before a cell could run.
    pub(super) fn drives_lost_by_error(&mut self, cell: &Cell, error: &ExecuteError) -> LostDrives {
        let from_drive = matches!(error, ExecuteError::Session(_) | ExecuteError::Run(_));
        if !from_drive || !self.is_resumable() {
            return LostDrives::new();
        }
        let why = error.to_string();
        let of_cell = cell.plan.drives.iter().copied();
        let absent = |drive: &usize| !self.drives[*drive].is_present();
        let absent: Vec<usize> = of_cell.clone().filter(absent).collect();
        let not_opened = matches!(
            error,
            ExecuteError::Session(SessionError::Open(_) | SessionError::Identity(_))
        );
        let lost = match absent.is_empty() && not_opened {
            true => of_cell.collect(),
            false => absent,
        };
        lost.into_iter().map(|drive| (drive, why.clone())).collect()
    }

    /// `assay job` has one cell: its partial result is the result.
    fn is_resumable(&self) -> bool {
        !self.plan.suite.text.is_empty()
    }

    /// Leave a cell unfinished, as a kill would, and record why.
    pub(super) fn give_up_drives(
        &mut self,
        index: usize,
        cell: &Cell,
        lost: LostDrives,
        state: &mut ExecutionState,
    ) -> Result<(), StoreError> {
        for (drive, why) in lost {
            let message = format!(
                "{} is gone: {why}; the cell is left unfinished, and no further cell starts on \
                 that drive",
                self.drives[drive].info().spec
            );
            self.events.emit(&RunEvent::DriveLost { index, message: message.into() });
            self.warn_cell(cell, drive, warn::drive_lost(&why))?;
            state.summary.lost_drives.insert(drive);
        }
        self.log.sync()
    }

    /// Add a cell's failures to the run's; returns its failed I/Os.
    pub(super) fn count_failures(done: &CellOutcome, state: &mut ExecutionState) -> u64 {
        let errors: u64 = done.results.iter().map(CellResult::errors).sum();
        // Errors of workers that gave up during the ramp are in no result.
        let errors = errors.max(done.given_up.values().sum());
        let errors = errors + done.unanswered.values().sum::<u64>();
        state.summary.io_errors += errors;
        state.summary.bad_blocks += done.results.iter().map(bad_blocks).sum::<u64>();
        let verified = done.results.iter().filter_map(|r| r.verify.as_ref());
        state.summary.unverified += verified.filter(|v| is_unverified(v)).count();
        errors
    }
}
