//! Drives that go away in the middle: their cell is left unfinished for `--resume`, and no other is begun on them.

use assay_device::session::SessionError;
use assay_store::StoreError;
use assay_store::model::CellResult;

use super::cell::Done;
use super::{Course, Runner};
use crate::SuiteError;
use crate::expand::Cell;
use crate::warn::RunWarning;

/// Drives that are gone, and how that showed.
pub(super) type LostDrives = Vec<(usize, String)>;

impl Runner<'_> {
    /// The drives that went away in a cell that measured something.
    pub(super) fn lost_in(&mut self, done: &Done) -> LostDrives {
        let mut lost = LostDrives::new();
        if !self.is_resumable() {
            return lost;
        }
        for (&drive, &ios) in &done.unanswered {
            // Not asked again: a drive that swallows I/Os would swallow the question.
            lost.push((drive, format!("{ios} of its I/Os never came back")));
        }
        for result in &done.results {
            let drive = result.drive;
            let given_up = done.given_up.get(&drive).copied().unwrap_or(0);
            let errors = result.errors().max(given_up);
            // Also a few errors can be the end of a drive, when the cell was nearly over.
            if errors > 0 && !done.unanswered.contains_key(&drive) && !self.drives[drive].answers()
            {
                let why = format!("{errors} of its I/Os failed, and it cannot be read any more");
                lost.push((drive, why));
            }
        }
        lost
    }

    /// The drives for which a cell could not be run at all.
    pub(super) fn lost_by(&mut self, cell: &Cell, error: &SuiteError) -> LostDrives {
        let told_by_drive = matches!(error, SuiteError::Session(_) | SuiteError::Run(_));
        if !told_by_drive || !self.is_resumable() {
            return LostDrives::new();
        }
        let why = error.to_string();
        let of_cell = cell.plan.drives.iter().copied();
        let silent: Vec<usize> = of_cell
            .clone()
            .filter(|&drive| !self.drives[drive].answers())
            .collect();
        let not_opened = matches!(
            error,
            SuiteError::Session(SessionError::Open(_) | SessionError::Identity(_))
        );
        let lost = match silent.is_empty() && not_opened {
            true => of_cell.collect(),
            false => silent,
        };
        lost.into_iter().map(|drive| (drive, why.clone())).collect()
    }

    /// A single job has no cells left to go on with: what it came to is its result.
    fn is_resumable(&self) -> bool {
        !self.plan.suite.text.is_empty()
    }

    /// Leave a cell as a kill would have left it, and say so.
    pub(super) fn give_up_drives(
        &mut self,
        cell: &Cell,
        lost: LostDrives,
        course: &mut Course,
    ) -> Result<(), StoreError> {
        for (drive, why) in lost {
            let message = format!(
                "{} is gone: {why}; the cell is left unfinished, and no other is begun on that drive",
                self.drives[drive].info().spec
            );
            self.progress.cell_failed(&cell.plan, &message);
            let warning = RunWarning::DriveLost { why };
            self.warn(&warning, Some(&cell.plan.id), Some(drive))?;
            course.ending.lost_drives.insert(drive);
        }
        self.writer.sync()
    }

    /// Count what failed in a cell; how many I/Os did.
    pub(super) fn count_failures(done: &Done, course: &mut Course) -> u64 {
        let errors: u64 = done.results.iter().map(CellResult::errors).sum();
        // Errors of parts that gave up before measuring had begun are in no result.
        let errors = errors.max(done.given_up.values().sum());
        let errors = errors + done.unanswered.values().sum::<u64>();
        course.ending.io_errors += errors;
        course.ending.bad_blocks += done.bad_blocks;
        errors
    }
}
