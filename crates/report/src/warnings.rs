//! Names of the runs, drives and cells that a warning is about.

use assay_analysis::warnings::Cause;

use crate::drive_set::DriveSet;
use crate::format::{joined, plural};

/// Cells named of a warning; of the others the number.
const NAMED_CELLS: usize = 3;
/// Drives named of a warning; of the others the number.
const NAMED_DRIVES: usize = 8;

/// One drive with its cells, the first three by name, or each of several with the number of its
/// cells; empty for a warning about the only run.
pub fn subject(set: &DriveSet<'_>, cause: &Cause<'_>) -> String {
    let mut drives: Vec<(String, usize)> = Vec::new();
    for (run, warning) in &cause.warnings {
        let position = warning.drive.and_then(|d| set.position(*run, d));
        let name = match position {
            Some(position) => set.full_name(position),
            None if set.runs.len() > 1 => format!("run {}", run + 1),
            None => String::new(),
        };
        match drives.iter_mut().find(|(other, _)| *other == name) {
            Some((_, count)) => *count += 1,
            None => drives.push((name, 1)),
        }
    }
    let cells: Vec<&str> = cause.cells().collect();
    if let [(drive, _)] = drives.as_slice() {
        return joined([drive.clone(), listed(&cells, NAMED_CELLS, "more cell")], ", ");
    }
    let of_drive = |(name, count): &(String, usize)| match cells.is_empty() {
        true => name.clone(),
        false => format!("{name} in {}", plural(*count, "cell")),
    };
    let drives: Vec<String> = drives.iter().map(of_drive).collect();
    listed(&drives, NAMED_DRIVES, "other")
}

/// The first names, and the number of the others.
fn listed(names: &[impl AsRef<str>], most: usize, others: &str) -> String {
    let shown = names.iter().take(most).map(AsRef::as_ref);
    let mut text = shown.collect::<Vec<&str>>().join(", ");
    if names.len() > most {
        text += &format!(" and {}", plural(names.len() - most, others));
    }
    text
}
