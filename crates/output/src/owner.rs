//! Files for the user who called assay through sudo(8): root makes them, and the user must be able
//! to read, move and remove them.

use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Gid, Uid, chownat, fchown};

/// The user and group that sudo(8) names (SUDO_UID, SUDO_GID), if this process is root's through
/// it.
fn caller() -> Option<(Uid, Gid)> {
    let id = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    let (user, group) = (id("SUDO_UID")?, id("SUDO_GID")?);
    let is_root = rustix::process::geteuid().is_root();
    // All ones is "no change" (chown(2)).
    let is_id = user != u32::MAX && group != u32::MAX;
    (is_root && is_id && user != 0).then(|| (Uid::from_raw(user), Gid::from_raw(group)))
}

/// Gives a file that this process has just made to the caller of sudo(8), where the file system
/// permits.
pub fn chown_file_to_sudo_user(file: impl AsFd) {
    if let Some((user, group)) = caller() {
        let _ = fchown(file, Some(user), Some(group));
    }
}

/// The same of a folder or a temporary file by its path.
pub fn chown_to_sudo_user(path: &Path) {
    if let Some((user, group)) = caller() {
        let _ = chownat(CWD, path, Some(user), Some(group), AtFlags::SYMLINK_NOFOLLOW);
    }
}

/// Makes a folder and those above it that are missing, each for the caller of sudo(8).
pub fn create_folders(path: &Path) -> io::Result<()> {
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<PathBuf> =
        path.ancestors().take_while(is_missing).map(Path::to_owned).collect();
    fs::create_dir_all(path)?;
    missing.iter().for_each(|folder| chown_to_sudo_user(folder));
    Ok(())
}
