//! Exclusive use of a lake, and the exchange of a whole partition.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, RenameFlags, flock, renameat_with};
use rustix::io::Errno;

use crate::ExportError;
use crate::lake::partition::names;

/// Readers take `plan=*/month=*`.
const STAGING: &str = ".staging";
const LOCK: &str = ".lock";

/// Holds the lock until the file is closed.
pub(crate) fn lock(root: &Path) -> Result<File, ExportError> {
    let path = root.join(LOCK);
    let file = assay_output::open_log(&path);
    let file = file.map_err(|e| ExportError::lake("open", &path, e))?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => Err(ExportError::Busy(root.to_owned())),
        Err(error) => Err(ExportError::lake("lock", &path, error.into())),
    }
}

/// A killed process may have left it behind.
pub(crate) fn clear_staging(root: &Path) -> Result<(), ExportError> {
    let path = root.join(STAGING);
    match fs::remove_dir_all(&path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(ExportError::lake("remove", &path, error))
        }
        _ => Ok(()),
    }
}

pub(crate) fn staging(root: &Path) -> Result<PathBuf, ExportError> {
    clear_staging(root)?;
    let path = root.join(STAGING);
    fs::create_dir(&path).map_err(|e| ExportError::lake("create the folder", &path, e))?;
    Ok(path)
}

/// Replaces the partition at `target`, if there is one.
pub(crate) fn install(root: &Path, target: &Path) -> Result<(), ExportError> {
    let staged = root.join(STAGING);
    sync(&staged)?;
    let parent = target.parent().unwrap_or(root);
    fs::create_dir_all(parent).map_err(|e| ExportError::lake("create the folder", parent, e))?;
    if target.exists() {
        match renameat_with(CWD, &staged, CWD, target, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            // File systems without it, NFS among them: each file is replaced as a whole, the set of
            // them is not.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => replace_each(&staged, target)?,
            Err(error) => return Err(ExportError::lake("replace", target, error.into())),
        }
    } else {
        fs::rename(&staged, target).map_err(|e| ExportError::lake("create", target, e))?;
    }
    sync(parent)?;
    clear_staging(root)
}

/// Removes the directory of the plan too if the partition was its last one.
pub(crate) fn remove(root: &Path, target: &Path) -> Result<(), ExportError> {
    clear_staging(root)?;
    // First out of the way of readers, then file by file.
    let away = root.join(STAGING);
    fs::rename(target, &away).map_err(|e| ExportError::lake("remove", target, e))?;
    if let Some(parent) = target.parent() {
        // The directory stays where other months are in it.
        let _ = fs::remove_dir(parent);
    }
    clear_staging(root)
}

fn replace_each(staged: &Path, target: &Path) -> Result<(), ExportError> {
    let new = names(staged)?;
    for name in &new {
        let to = target.join(name);
        fs::rename(staged.join(name), &to).map_err(|e| ExportError::lake("replace", &to, e))?;
    }
    for name in names(target)?.iter().filter(|name| !new.contains(name)) {
        let path = target.join(name);
        fs::remove_file(&path).map_err(|e| ExportError::lake("remove", &path, e))?;
    }
    sync(target)
}

fn sync(folder: &Path) -> Result<(), ExportError> {
    let synced = File::open(folder).and_then(|file| file.sync_all());
    synced.map_err(|e| ExportError::lake("flush the folder", folder, e))
}

#[cfg(test)]
#[path = "../../tests/unit/lake/swap.rs"]
mod tests;
