//! Run folders below a folder.

use std::io;
use std::path::Path;

use crate::run::MANIFEST_FILE;

/// Levels below the folder that is searched.
pub const MOST_LEVELS: usize = 8;

/// Visits folders in the order of their names, run folders and others, until `levels` below `at`;
/// nothing below a run folder. Links are not followed.
///
/// # Errors
/// When a folder cannot be read.
pub fn folders(at: &Path, levels: usize, visit: &mut dyn FnMut(&Path, bool)) -> io::Result<()> {
    let is_run = at.join(MANIFEST_FILE).is_file();
    visit(at, is_run);
    if is_run || levels == 0 {
        return Ok(());
    }
    let mut below = Vec::new();
    for entry in std::fs::read_dir(at)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            below.push(entry.path());
        }
    }
    below.sort();
    below.iter().try_for_each(|folder| folders(folder, levels - 1, visit))
}
