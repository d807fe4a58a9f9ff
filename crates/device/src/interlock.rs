//! Destruction interlock. [`authorise`] is the only constructor of a [`WritePermit`]; code that
//! opens a drive for writing [`check`](WritePermit::check)s the descriptor with it. The rules:
//! 1. Null and simulated drives need no authorisation: they hold no user data.
//! 2. A real drive must be **named**: `--destroy SERIAL` equal to [`DriveInfo::serial`].
//! 3. A drive **in use** is always refused: it, one of its partitions, or the drive of a partition
//!    is mounted, has holders (LVM, md, dm, bcache), is active swap, backs a loop device, or cannot
//!    be claimed exclusively; also by another path to it (a block device with an equal `wwid`; for
//!    a partition, its partitions that overlap); a file likewise (loop, swap, locked), also by its
//!    path in a layer of an overlay. The file or device under a loop device too.
//! 4. Every **signature** on it (filesystem, partition table, RAID, LVM, LUKS, swap), also inside
//!    its partitions, must be named as well: `--destroy ext4`. A word counts once: a file called
//!    `ext4` that holds an ext4 filesystem needs it twice.
//! 5. A failed check counts as a refusal.
//!
//! A permit of a block device *holds* the exclusive claim (`O_EXCL`, open(2)) on every path:
//! meanwhile the kernel rejects mounts, swapon and RAID assembly. The named path is claimed before
//! the checks, so that nothing changes in between. Drop the permit before `losetup -d` or a zram
//! reset. A permit of a file holds an exclusive flock(2), which keeps other instances of this
//! program away; the kernel attaches a loop device regardless, so that the users of a file are
//! examined again whenever it is opened for writing.
//!
//! # Not detected
//! A program that has a file or device open without claiming or locking it: a virtual machine
//! without image locking, a database on the raw device, an iSCSI or NVMe export. A partition that
//! is missing on another path cannot be claimed there.
//! Data without a signature (a raw recording) is protected by rule 2 alone.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::identity::{DeviceNumber, DriveInfo, DriveKind, SystemRoot, parse_mountinfo};

mod confirmation;
mod exclusive_open;
mod locks;
mod loops;
mod overlay;
mod refusal;
mod usage;

pub use refusal::{NearMiss, Refusal, RefusalReason};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Subject {
    /// A null or simulated drive: there is no descriptor to write to.
    Nothing,
    Block(DeviceNumber),
    File {
        device: DeviceNumber,
        inode: u64,
    },
}

/// Proof that one drive may be overwritten. While it exists, a block device stays claimed.
#[derive(Debug)]
#[must_use = "a block device stays claimed only while its permit exists"]
pub struct WritePermit {
    drive: String,
    subject: Subject,
    /// The descriptors are the claim, and keep a file's inode number from being reused.
    _claims: Vec<OwnedFd>,
}

#[derive(Debug, thiserror::Error)]
pub enum PermitError {
    #[error(
        "the permit is for {0}, but another file or device was opened; nothing was written. The \
         path was replaced meanwhile: run again"
    )]
    OtherDrive(String),
    #[error("{drive} has come into use since it was checked; nothing more was written: {reason}")]
    InUse { drive: String, reason: Box<RefusalReason> },
    #[error("{permitted}: cannot check whether the opened file is the permitted one: {source}")]
    Io { permitted: String, source: std::io::Error },
}

impl WritePermit {
    pub fn drive(&self) -> &str {
        &self.drive
    }

    /// Checks that `opened` is the drive of this permit; call it on every descriptor opened for
    /// writing, before the first write. Fails always for a permit of a null or simulated drive.
    pub fn check(&self, opened: impl AsFd) -> Result<(), PermitError> {
        let stat = rustix::fs::fstat(opened).map_err(|e| PermitError::Io {
            permitted: self.drive.clone(),
            source: std::io::Error::from(e),
        })?;
        if self.subject != exclusive_open::subject_of(&stat) {
            return Err(PermitError::OtherDrive(self.drive.clone()));
        }
        if let Subject::File { .. } = self.subject {
            let root = &SystemRoot::host();
            let found = usage::examine(root, &self.subject, &self.drive, &mut Vec::new());
            if let Some(reason) = found.into_iter().next() {
                let drive = self.drive.clone();
                let reason = Box::new(reason);
                return Err(PermitError::InUse { drive, reason });
            }
        }
        Ok(())
    }
}

/// `destroy` has the values of `--destroy`. The [`Refusal`] has every reason, and the values that
/// would resolve those that can be resolved.
pub fn authorise(info: &DriveInfo, destroy: &[String]) -> Result<WritePermit, Refusal> {
    let decided = decide(info, destroy);
    let DriveInfo { spec, serial, .. } = info;
    match &decided {
        Ok(permit) => {
            let claims = permit._claims.len();
            tracing::info!(drive = ?spec, ?serial, ?destroy, claims, "may be overwritten");
        }
        Err(refusal) => {
            for reason in &refusal.reasons {
                let reason = reason.to_string();
                tracing::info!(drive = ?spec, ?serial, ?destroy, ?reason, "may not be overwritten");
            }
        }
    }
    decided
}

fn decide(info: &DriveInfo, destroy: &[String]) -> Result<WritePermit, Refusal> {
    let root = &SystemRoot::host();
    let drive = info.spec.clone();
    if matches!(info.kind, DriveKind::Null | DriveKind::Simulated) {
        return Ok(WritePermit { drive, subject: Subject::Nothing, _claims: Vec::new() });
    }
    let mut reasons = Vec::new();
    let claim = match exclusive_open::take(root, info) {
        Ok(claim) => claim,
        Err(reason) => {
            reasons.push(reason);
            reasons.extend(confirmation::not_named(info, destroy));
            return Err(Refusal::new(info, reasons));
        }
    };
    if info.read_only {
        let drive = drive.clone();
        reasons.push(RefusalReason::ReadOnly { drive });
    }
    let mut claims = Vec::new();
    let usage = usage::examine(root, &claim.subject, &drive, &mut claims);
    let in_use = usage.len();
    // EBUSY repeats a mount or holder that is reported already.
    if claim.busy && usage.is_empty() {
        let device = drive.clone();
        reasons.push(RefusalReason::ClaimedElsewhere { device });
    }
    reasons.extend(usage);
    let signatures = exclusive_open::signatures(root, info, &claim, &mut reasons);
    let words: Vec<&str> = (signatures.iter()).map(|found| found.signature.word.as_str()).collect();
    let (read_only, busy) = (info.read_only, claim.busy);
    tracing::info!(
        drive = ?info.spec, read_only, busy, in_use, signatures = ?words,
        "checked: write protection, exclusive claim, use, signatures"
    );
    if in_use == 0 {
        reasons.extend(locks::open_elsewhere(root, &claim, &signatures));
    }
    reasons.extend(confirmation::missing(info, &signatures, destroy));
    if reasons.is_empty() {
        reasons.extend(locks::take(root, &claim, &drive));
    }
    if !reasons.is_empty() {
        return Err(Refusal::new(info, reasons));
    }
    claims.push(OwnedFd::from(claim.file));
    Ok(WritePermit { drive, subject: claim.subject, _claims: claims })
}

/// A shared flock(2), held until it is dropped: several may read a drive, none while one writes.
/// `None` where locks are not possible, or a caller holds one (`flock FILE assay ...`). Fails with
/// the process that has it, where that is known.
pub(crate) fn lock_for_reading(info: &DriveInfo) -> Result<Option<OwnedFd>, Option<u32>> {
    let Some(path) = &info.path else {
        return Ok(None);
    };
    locks::share(&SystemRoot::host(), path)
}

/// Whether one of two files is the other in a layer of an overlay.
pub(crate) fn is_same_in_overlay(path: &Path, other: &Path) -> bool {
    let Ok(table) = std::fs::read(SystemRoot::host().proc("self/mountinfo")) else {
        return false;
    };
    let mounts = parse_mountinfo(&String::from_utf8_lossy(&table));
    let overlays: Vec<_> = mounts.iter().filter_map(overlay::Overlay::new).collect();
    let other = other.canonicalize().ok();
    other.is_some_and(|other| overlay::other_paths(&overlays, path).contains(&other))
}

struct ExclusiveOpen {
    file: File,
    path: PathBuf,
    subject: Subject,
    /// The claim is held elsewhere.
    busy: bool,
}
