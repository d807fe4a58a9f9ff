//! Names of the drives and cells that a warning is about.

use assay_analysis::warnings::Cause;

use crate::drive_set::DriveSet;
use crate::format::{joined, plural};

/// Cells named of a warning; of the others the number.
const NAMED_CELLS: usize = 3;

/// One drive with its cells, the first three by name, or each of several with the number of its
/// cells; empty for a warning about a run.
pub fn subject(set: &DriveSet<'_>, run: usize, cause: &Cause<'_>) -> String {
    let name = |drive: Option<usize>| {
        let position = drive.and_then(|d| set.position(run, d));
        position.map_or_else(String::new, |p| set.full_name(p))
    };
    let cells: Vec<&str> = cause.cells().collect();
    if let [(drive, _)] = cause.drives()[..] {
        let named = cells.len().min(NAMED_CELLS);
        let mut text = cells[..named].join(", ");
        if cells.len() > named {
            text += &format!(" and {}", plural(cells.len() - named, "more cell"));
        }
        return joined([name(drive), text], ", ");
    }
    let of_drive = |(drive, count): (Option<usize>, usize)| match cells.is_empty() {
        true => name(drive),
        false => joined([name(drive), plural(count, "cell")], " in "),
    };
    let drives = cause.drives();
    drives
        .into_iter()
        .map(of_drive)
        .collect::<Vec<_>>()
        .join(", ")
}
