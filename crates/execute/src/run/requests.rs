//! Requests to a run in progress: a pause before a cell, a cell that is skipped, no further cell.

use std::sync::atomic::Ordering;

use assay_device::host::{unix_seconds, wall_clock};
use assay_store::StoreError;
use assay_store::model::Entry;

use super::{ExecutionState, Executor};
use crate::events::RunEvent;
use crate::live::Phase;
use crate::warn;
use assay_suite::expand::Cell;

/// Reason of a cell that a person skipped while it ran; [`super::Resume`] recognises it.
pub(super) const SKIPPED_BY_USER: &str = "skipped by the user while it ran";

impl Executor<'_, '_> {
    /// Record that a cell does not run, or not to its end.
    pub(super) fn skip(
        &mut self,
        index: usize,
        cell: &Cell,
        reason: String,
    ) -> Result<(), StoreError> {
        self.events.emit(&RunEvent::CellSkipped { index });
        self.log.append(&Entry::CellSkipped {
            cell: cell.plan.id.clone(),
            at: wall_clock(),
            reason,
        })
    }

    /// Not after a stop, the request to end, or when one could end after the run's date.
    pub(super) fn may_begin(&self, cells: &[Cell], state: &mut ExecutionState) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return false;
        }
        let Some(longest) = cells.iter().max_by_key(|cell| cell.longest_span()) else {
            return true;
        };
        let control = &self.events.live.control;
        let reason = control.not_begun(longest.longest_span(), unix_seconds());
        state.summary.not_begun = reason.map(|reason| (longest.plan.id.clone(), reason));
        reason.is_none()
    }

    /// A real drive idles meanwhile, which the run records.
    pub(super) fn pause_if_asked(&mut self, cell: &Cell) -> Result<(), StoreError> {
        if !self.events.live.control.is_paused() {
            return Ok(());
        }
        self.events.phase(&cell.plan.drives, Phase::Paused);
        let began = self.events.live.elapsed();
        self.events.live.control.wait_while_paused(self.stop);
        let span = self.events.live.elapsed() - began;
        self.events.phase(&cell.plan.drives, Phase::Waiting);
        for &drive in &cell.plan.drives {
            if !self.drives[drive].info().simulated && !self.stop.load(Ordering::Relaxed) {
                self.warn_cell(cell, drive, warn::paused(span))?;
            }
        }
        Ok(())
    }
}
