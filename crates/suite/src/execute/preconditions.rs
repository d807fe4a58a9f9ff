//! What state each drive is in, as far as the steps of this run (and earlier ones, where that is remembered) have brought it.
//!
//! A figure of a fresh drive must never pass for one of a steady drive. So a step says what preconditioning it *leaves*, another what it
//! *wants*; cells that want what is not there are skipped with the reason, and preconditioning that is still valid is not done twice.

use crate::expand::Cell;

/// How the reason begins why a preparation is not done.
pub(super) const NOT_NEEDED: &str = "not needed";

/// The state of one drive.
#[derive(Clone, Debug, Default)]
struct Condition {
    /// The preconditioning it is in, and since when, where known.
    is: Option<(String, Option<String>)>,
    /// The step that is preconditioning it, and whether all went well so far.
    making: Option<(String, bool)>,
}

/// The state of every drive of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Preconditions {
    drives: Vec<Condition>,
}

impl Preconditions {
    /// Nothing is known of `drives` drives.
    pub(super) fn new(drives: usize) -> Preconditions {
        Preconditions {
            drives: vec![Condition::default(); drives],
        }
    }

    /// An earlier run left this drive preconditioned, and nothing has changed since.
    pub(super) fn remembered(&mut self, drive: usize, name: &str, since: &str) {
        self.drives[drive].is = Some((name.to_owned(), Some(since.to_owned())));
    }

    /// Is the drive in the state that an earlier run left it in?
    pub(super) fn is_remembered(&self, drive: usize) -> bool {
        matches!(&self.drives[drive].is, Some((_, Some(_))))
    }

    /// Why this cell is not to be run now.
    pub(super) fn objection(&self, cell: &Cell) -> Option<String> {
        let drive = &self.drives[*cell.plan.drives.first()?];
        let is = drive.is.as_ref();
        if let Some(leaves) = &cell.leaves
            && let Some((name, since)) = is
            && *name == leaves.name
        {
            return Some(match since {
                Some(since) => format!(
                    "{NOT_NEEDED}: preconditioned ({name}) on {since}, and nothing has been written since"
                ),
                None => format!("{NOT_NEEDED}: the drive is preconditioned ({name}) already"),
            });
        }
        if let Some(wants) = &cell.wants
            && is.is_none_or(|(name, _)| name != wants)
        {
            return Some(format!(
                "the drive has not been preconditioned ({wants}): its figures would be those of a fresh drive, or of one in an unknown state; let the step that preconditions it run (it needs --destroy)"
            ));
        }
        None
    }

    /// A cell is about to run.
    pub(super) fn begins(&mut self, cell: &Cell) {
        let Some(drive) = self.drive_of(cell) else {
            return;
        };
        if cell.leaves.is_some() {
            let step = &cell.plan.step;
            if drive
                .making
                .as_ref()
                .is_none_or(|(making, _)| making != step)
            {
                drive.making = Some((step.clone(), true));
            }
            drive.is = None;
        }
    }

    /// A cell is done, well or not. Says whether the drive is preconditioned now, and was not before.
    pub(super) fn ends(&mut self, cell: &Cell, well: bool) -> bool {
        let purge = cell.plan.kind == assay_store::model::CellKind::Purge;
        let Some(drive) = self.drive_of(cell) else {
            return false;
        };
        if purge {
            // Also one that failed half-way has changed the drive.
            drive.is = None;
        }
        let Some(leaves) = &cell.leaves else {
            return false;
        };
        if let Some((_, all_well)) = &mut drive.making {
            *all_well &= well;
        }
        if !leaves.last {
            return false;
        }
        let made = drive.making.take().is_some_and(|(_, all_well)| all_well);
        drive.is = made.then(|| (leaves.name.clone(), None));
        made
    }

    fn drive_of(&mut self, cell: &Cell) -> Option<&mut Condition> {
        match cell.plan.drives.as_slice() {
            [drive] => self.drives.get_mut(*drive),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/execute/preconditions.rs"]
mod tests;
