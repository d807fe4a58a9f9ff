//! Locks that other programs hold on a file, from `/proc/locks`. `flock disk.img assay job disk.img
//! ...` locks the file around the run of this program: such a lock shows in `/proc/PID/fdinfo`
//! (proc_pid_fdinfo(5)) of this process or of an ancestor, and does not count. btrfs and overlays
//! give files another device number than `/proc/locks` does (both anonymous, major 0). There an
//! equal inode is only a suspicion, and flock(2) and fcntl(2) `F_GETLK` on the file decide.

use std::fs::{self, File};
use std::os::fd::OwnedFd;
use std::path::Path;

use assay_io::system_calls::is_open_elsewhere;
use rustix::fs::{FlockOperation, flock, fstat};
use rustix::io::Errno;
use rustix::process::{Flock, FlockType, fcntl_getlk};

use crate::identity::{DeviceNumber, FileLock, SystemRoot, parse_locks};
use crate::open::open_file;

use super::confirmation::OnDevice;
use super::{ExclusiveOpen, RefusalReason, Subject};

/// More ancestors are not followed.
const MAX_ANCESTORS: usize = 64;

/// Processes that hold locks on the file; `None` for a lock without a process.
pub(super) fn holders(
    root: &SystemRoot,
    locks: &[FileLock],
    (device, inode): (DeviceNumber, u64),
    path: &Path,
) -> Vec<Option<u32>> {
    let own = std::process::id();
    let of_callers = locks_of_callers(root, own);
    let is_suspect = |lock: &&FileLock| {
        lock.inode == inode
            && (lock.device == device || (lock.device.major == 0 && device.major == 0))
            && (lock.is_whole_file || lock.pid != Some(own))
            && !of_callers.contains(lock)
    };
    // Its own lock, or a caller's, says nothing about others.
    let is_callers = has_inode(&of_callers, inode);
    let held = locks.iter().filter(is_suspect);
    let held = held.filter(|lock| lock.device == device || is_locked(path, inode, is_callers));
    let mut held: Vec<Option<u32>> = held.map(|lock| lock.pid).collect();
    // /proc/locks does not show the locks of other PID namespaces; the file does.
    if held.is_empty() && is_locked(path, inode, is_callers) {
        held.push(None);
    }
    held
}

/// A shared lock; see [`super::lock_for_reading`].
pub(super) fn share(root: &SystemRoot, path: &Path) -> Result<Option<OwnedFd>, Option<u32>> {
    let Ok(file) = open_file(path, false, libc::O_NONBLOCK) else {
        return Ok(None);
    };
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Ok(()) => Ok(Some(file.into())),
        Err(Errno::WOULDBLOCK) => {
            let inode = fstat(&file).map_or(0, |stat| stat.st_ino);
            if has_inode(&locks_of_callers(root, std::process::id()), inode) {
                return Ok(None);
            }
            let table = fs::read_to_string(root.proc("locks")).unwrap_or_default();
            let own = std::process::id();
            let holder = parse_locks(&table)
                .into_iter()
                .find(|lock| lock.is_whole_file && lock.inode == inode && lock.pid != Some(own));
            Err(holder.and_then(|lock| lock.pid))
        }
        Err(_) => Ok(None),
    }
}

/// An exclusive flock(2) on the claimed file or device, for as long as the claim is held. A lock of
/// a caller (`flock FILE assay ...`) stands for it, and so does a file system without locks.
pub(super) fn take(root: &SystemRoot, claim: &ExclusiveOpen, drive: &str) -> Option<RefusalReason> {
    let inode = match claim.subject {
        Subject::File { inode, .. } => inode,
        Subject::Block(_) => fstat(&claim.file).map_or(0, |stat| stat.st_ino),
        Subject::Nothing => return None,
    };
    let taken = flock(&claim.file, FlockOperation::NonBlockingLockExclusive);
    let is_callers = || has_inode(&locks_of_callers(root, std::process::id()), inode);
    let is_foreign = taken == Err(Errno::WOULDBLOCK) && !is_callers();
    is_foreign.then(|| RefusalReason::Locked { device: drive.to_owned(), pid: None })
}

/// EROFS is mounted from a file without a loop device (Linux 6.12): the table of mounts has the
/// name that was given to mount(2), which may be relative, gone, or in another mount namespace.
/// Nothing else has such a file open, but for a caller that holds its lock (`flock FILE assay`).
pub(super) fn open_elsewhere(
    root: &SystemRoot,
    claim: &ExclusiveOpen,
    signatures: &[OnDevice],
) -> Option<RefusalReason> {
    let Subject::File { inode, .. } = claim.subject else {
        return None;
    };
    let found = signatures.iter().find(|s| s.signature.word == "erofs")?;
    let is_callers = has_inode(&locks_of_callers(root, std::process::id()), inode);
    (!is_callers && is_open_elsewhere(&claim.file)).then(|| RefusalReason::OpenElsewhere {
        device: claim.path.display().to_string(),
        what: found.signature.what.clone(),
    })
}

/// An exclusive flock(2) on another path to the claimed file; `None` where it cannot be had, which
/// [`holders`] reports.
pub(super) fn claim(path: &Path) -> Option<OwnedFd> {
    let file = File::open(path).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(file.into())
}

fn has_inode(locks: &[FileLock], inode: u64) -> bool {
    locks.iter().any(|lock| lock.inode == inode)
}

fn locks_of_callers(root: &SystemRoot, own: u32) -> Vec<FileLock> {
    let mut found = Vec::new();
    let mut process = own;
    for _ in 0..MAX_ANCESTORS {
        let infos = fs::read_dir(root.proc(format!("{process}/fdinfo")));
        for info in infos.into_iter().flatten().flatten() {
            // A descriptor may be closed meanwhile.
            let text = fs::read_to_string(info.path()).unwrap_or_default();
            let lines = text.lines().filter_map(|line| line.strip_prefix("lock:"));
            let locks = lines.flat_map(parse_locks);
            found.extend(locks.filter(|lock| lock.is_whole_file));
        }
        match parent(root, process) {
            Some(parent) if parent > 0 => process = parent,
            _ => break,
        }
    }
    found
}

/// proc_pid_stat(5): the fourth field, after a name in parentheses that may have any characters.
fn parent(root: &SystemRoot, process: u32) -> Option<u32> {
    let stat = fs::read_to_string(root.proc(format!("{process}/stat"))).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

/// Whether another open file description holds a lock; takes one for an instant, unless a lock of
/// this process or of a caller would answer.
fn is_locked(path: &Path, inode: u64, is_callers: bool) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    if fstat(&file).map(|stat| stat.st_ino) != Ok(inode) {
        return false;
    }
    if !is_callers
        && flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
    {
        return true;
    }
    let whole = Flock::from(FlockType::WriteLock);
    matches!(fcntl_getlk(&file, &whole), Ok(Some(_)))
}

#[cfg(test)]
#[path = "../../tests/unit/interlock/locks.rs"]
mod tests;
