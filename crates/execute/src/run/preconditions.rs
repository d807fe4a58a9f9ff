//! Figures of a fresh drive must not be reported as those of a preconditioned one.

use assay_store::model::NOT_NEEDED;
use assay_units::text::format_size;

use assay_suite::expand::Cell;

#[derive(Clone, Debug, Default)]
struct DriveCondition {
    /// Its preconditioning, and the start of that state if an earlier run left it.
    state: Option<(String, Option<String>)>,
    /// The step that is preconditioning it, and whether all its cells succeeded so far.
    in_progress: Option<(String, bool)>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Preconditions {
    drives: Vec<DriveCondition>,
}

impl Preconditions {
    pub(super) fn new(drives: usize) -> Preconditions {
        Preconditions { drives: vec![DriveCondition::default(); drives] }
    }

    pub(super) fn merge(&mut self, drive: usize, mut of_drive: Preconditions) {
        self.drives[drive] = std::mem::take(&mut of_drive.drives[drive]);
    }

    pub(super) fn restore(&mut self, drive: usize, name: &str, since: &str) {
        self.drives[drive].state = Some((name.to_owned(), Some(since.to_owned())));
    }

    pub(super) fn is_restored(&self, drive: usize) -> bool {
        matches!(&self.drives[drive].state, Some((_, Some(_))))
    }

    pub(super) fn skip_reason(&self, cell: &Cell) -> Option<String> {
        let drive = &self.drives[*cell.plan.drives.first()?];
        let state = drive.state.as_ref();
        if let Some(set) = &cell.sets_state
            && let Some((name, since)) = state
            && *name == set.name
        {
            let what = match set.steady_block_bytes {
                Some(bytes) => format!("steady for {} random writes", format_size(bytes)),
                None => format!("preconditioned ({name})"),
            };
            return Some(match since {
                Some(since) => format!(
                    "{NOT_NEEDED}: {what}, written {since}, and nothing has been written since"
                ),
                None => format!("{NOT_NEEDED}: the drive is {what} already"),
            });
        }
        if let Some(needed) = &cell.needs_state
            && state.is_none_or(|(name, _)| name != needed)
        {
            return Some(format!(
                "the drive has not been preconditioned ({needed}): its figures would be those of a \
                 fresh drive, or of one in an unknown state; run the step that preconditions it \
                 (needs --destroy)"
            ));
        }
        None
    }

    pub(super) fn cell_started(&mut self, cell: &Cell) {
        let Some(drive) = self.drive_of(cell) else {
            return;
        };
        if cell.sets_state.is_some() {
            let step = &cell.plan.step;
            let current = drive.in_progress.as_ref();
            if current.is_none_or(|(current, _)| current != step) {
                drive.in_progress = Some((step.clone(), true));
            }
            drive.state = None;
        }
    }

    /// A cell ended. Returns whether it and all cells before it preconditioned the drive as far as
    /// they are to.
    pub(super) fn cell_ended(&mut self, cell: &Cell, succeeded: bool) -> bool {
        let purge = cell.plan.kind == assay_store::model::CellKind::Purge;
        let Some(drive) = self.drive_of(cell) else {
            return false;
        };
        if purge {
            // A failed purge changes the drive too.
            drive.state = None;
        }
        let Some(set) = &cell.sets_state else {
            return false;
        };
        let preconditioned = drive.in_progress.as_mut().is_some_and(|(_, all_succeeded)| {
            *all_succeeded &= succeeded;
            *all_succeeded
        });
        if set.last {
            drive.in_progress = None;
            drive.state = preconditioned.then(|| (set.name.clone(), None));
        }
        preconditioned
    }

    fn drive_of(&mut self, cell: &Cell) -> Option<&mut DriveCondition> {
        match cell.plan.drives.as_slice() {
            [drive] => self.drives.get_mut(*drive),
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "../../tests/unit/run/preconditions.rs"]
mod tests;
