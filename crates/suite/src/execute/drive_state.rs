//! What is remembered of real drives from run to run, and what of it still holds.

use assay_store::model::CellKind;
use assay_workload::access::Region;
use assay_workload::plan::Workload;

use super::cell::Done;
use super::lost_drives::LostDrives;
use super::preconditions::Preconditions;
use super::{Resume, Runner};
use crate::SuiteError;
use crate::drive_state_cache::{PreconditioningRecord, StateCacheError, StateValidity};
use crate::expand::{Cell, Preconditioning};
use crate::warn::RunWarning;

/// Share of the area that may have been written since for a state to count as the same, percent. A hundredth moves a steady drive's figures by less
/// than they vary.
const WRITTEN_SINCE_PCT: f64 = 1.0;

/// What a state is remembered as: two procedures of one name but different workloads are different states.
fn remembered_name(leaves: &Preconditioning) -> String {
    format!("{}: {}", leaves.name, leaves.workload)
}

fn area_of(cell: &Cell) -> Region {
    Region {
        offset_bytes: cell.plan.workload.offset_bytes,
        size_bytes: cell.plan.workload.span_bytes,
    }
}

impl Runner<'_> {
    /// The states that earlier runs left drives in.
    pub(super) fn recall(&self, preconditions: &mut Preconditions) {
        for cell in &self.plan.cells {
            let (Some(leaves), [drive]) = (&cell.leaves, cell.plan.drives.as_slice()) else {
                continue;
            };
            if preconditions.is_remembered(*drive) {
                continue;
            }
            if let Some(since) = self.since(cell, leaves, *drive) {
                preconditions.remembered(*drive, &leaves.name, &since);
            }
        }
    }

    /// Since when the drive has been in this state, as good as unchanged.
    fn since(&self, cell: &Cell, leaves: &Preconditioning, drive: usize) -> Option<String> {
        let info = self.drives[drive].info();
        let area = area_of(cell);
        let validity = match cell.plan.kind {
            CellKind::Purge => self.memory.lookup_purge(info),
            _ => self.memory.ask(info, &remembered_name(leaves), area),
        };
        let StateValidity::Valid {
            since,
            written_since_bytes,
        } = validity
        else {
            return None;
        };
        let little = match cell.plan.kind {
            CellKind::Purge => written_since_bytes == 0,
            _ => written_since_bytes as f64 * 100.0 <= area.size_bytes as f64 * WRITTEN_SINCE_PCT,
        };
        little.then_some(since)
    }

    /// Does what a finished cell of a resumed run did to the drive still hold?
    ///
    /// What the run itself wrote afterwards is part of its procedure; what others wrote is not.
    pub(super) fn still_holds(&mut self, cell: &Cell) -> Result<bool, SuiteError> {
        let (Some(leaves), [drive]) = (&cell.leaves, cell.plan.drives.as_slice()) else {
            return Ok(true);
        };
        let (drive, info) = (*drive, self.drives[*drive].info());
        if info.simulated || cell.plan.kind == CellKind::Purge {
            return Ok(true);
        }
        let (why, again) = match self
            .memory
            .ask(info, &remembered_name(leaves), area_of(cell))
        {
            StateValidity::Valid { .. } => return Ok(true),
            StateValidity::Stale(why) => (why, true),
            StateValidity::Unknown(why) => (why, false),
        };
        let warning = RunWarning::DriveStateUnknown { why, again };
        self.warn(&warning, Some(&cell.plan.id), Some(drive))?;
        Ok(!again)
    }

    /// What the cell that was cut off wrote, in the run that is resumed, was written by nobody else.
    pub(super) fn claim(&mut self, resume: &Resume) {
        for drive in 0..self.drives.len() {
            let wrote = |cell: &str| resume.wrote(cell, drive);
            let info = self.drives[drive].info();
            let claimed = self.memory.claim(info, self.writer.run_id(), wrote);
            self.tell(claimed);
        }
    }

    /// Write down that a drive is about to be erased.
    pub(super) fn note_purge(&mut self, drive: usize) {
        let info = self.drives[drive].info();
        let noted = self.memory.record_purge_start(info);
        self.tell(noted);
    }

    /// Write down that a cell is about to write, so that what it wrote can be told from what others did when it is cut off.
    pub(super) fn note_begin(&mut self, cell: &Cell) {
        if !cell.workloads.iter().any(Workload::writes) {
            return;
        }
        for &drive in &cell.plan.drives {
            let info = self.drives[drive].info();
            let noted = self.memory.begin(info, self.writer.run_id(), &cell.plan.id);
            self.tell(noted);
        }
    }

    /// Write down what a cell wrote that was ended before its time. Of a drive that is gone nothing can be asked: it is claimed when it is back.
    pub(super) fn remember_part(&mut self, cell: &Cell, done: &Done, lost: &LostDrives) {
        for &drive in &cell.plan.drives {
            let written = done.written_bytes.get(&drive).copied().unwrap_or(0);
            if written > 0 && !lost.iter().any(|(gone, _)| *gone == drive) {
                let noted = self
                    .memory
                    .record_writes(self.drives[drive].info(), written);
                self.tell(noted);
            }
        }
    }

    fn tell(&mut self, remembered: Result<(), StateCacheError>) {
        if let Err(error) = remembered {
            self.progress.problem(&error.to_string());
        }
    }

    /// Write down what a cell did to its drives. What cannot be remembered is done again by the next run, which is no reason to end this
    /// one.
    pub(super) fn remember(&mut self, cell: &Cell, done: &Done, made: bool) {
        for &drive in &cell.plan.drives {
            let info = self.drives[drive].info();
            if info.simulated {
                continue;
            }
            let written = done.written_bytes.get(&drive).copied().unwrap_or(0);
            let remembered = match (&cell.leaves, cell.plan.kind) {
                (_, CellKind::Purge) => self.memory.record_purge(info, "by a suite", false),
                (Some(leaves), _) if made => {
                    let area = area_of(cell);
                    let conditioning = PreconditioningRecord {
                        name: remembered_name(leaves),
                        offset_bytes: area.offset_bytes,
                        size_bytes: area.size_bytes,
                        block_sizes: cell.plan.workload.bs_bytes.to_string(),
                        bytes: written,
                    };
                    self.memory.record_preconditioning(info, conditioning)
                }
                _ if written > 0 => self.memory.record_writes(info, written),
                _ => Ok(()),
            };
            self.tell(remembered);
        }
    }
}
