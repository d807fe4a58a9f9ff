//! The destruction interlock: whether a drive's bytes may be lost.
//!
//! # Architecture
//! [`authorise`] is the only way to a [`WritePermit`], and everything that opens a drive for writing asks for one and lets it
//! [`check`](WritePermit::check) the descriptor it opened. The rules:
//! 1. Null and simulated drives need nothing: nobody's data is there.
//! 2. A real drive must be **named**: `--destroy SERIAL` equal to [`DriveInfo::serial`].
//! 3. A drive **in use** is refused and nothing overrides that: it, one of its partitions, or the drive of a partition is
//!    mounted, has holders (LVM, md, dm, bcache), is active swap, backs a loop device, or cannot be claimed exclusively;
//!    the same on any other path to it (a block device with an equal `wwid`; for a partition, the partitions of that which
//!    overlap it are claimed, not the whole); a file likewise (loop, swap, locked). For a loop device, the same holds for the
//!    file or device under it.
//! 4. Every **signature** on it (filesystem, partition table, RAID, LVM, LUKS, swap), also inside its partitions, must be named
//!    as well: `--destroy ext4`. A word counts once: a file called `ext4` that holds an ext4 filesystem needs it twice.
//! 5. What cannot be checked counts as against it.
//!
//! On a block device the permit *holds* the exclusive claim (`O_EXCL`, see open(2)) it was given under, on every path: as long as
//! it lives, the kernel lets nobody mount the drive, swap to it or put it into a RAID. That of the drive as it was named is taken before the checks, so nothing slips in
//! between. Drop the permit when the run is over, before `losetup -d` or a zram reset.
//!
//! # What it cannot see
//! A program that has a file or device open without claiming or locking it: a virtual machine started without image locking, a
//! database on the raw device, an iSCSI or NVMe export. QEMU's own image locks on *files* are seen (`/proc/locks`). Programs in
//! other PID namespaces hide their locks. A partition at whose place another path shows none (its table was read at another time)
//! cannot be claimed by that path. Data without any signature (a raw recording) is protected by rule 2 alone.
//!
//! # Non-goals
//! Nothing is unmounted, wiped or written here. Secure erase and format commands will ask for the same permit.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use crate::identity::{DeviceNumber, DriveInfo, DriveKind, SystemRoot};

mod claim;
mod loops;
mod refusal;
mod usage;
mod words;

pub use refusal::{NearMiss, Reason, Refusal};

/// What a permit was given for.
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

/// Proof that a drive may be overwritten. It cannot be made but by [`authorise`], and is good for that one drive.
/// While it lives, a block device stays claimed (see the module head). Share it by reference.
#[derive(Debug)]
#[must_use = "a block device stays claimed only as long as its permit lives"]
pub struct WritePermit {
    drive: String,
    subject: Subject,
    /// Never read from again; open descriptors are the claim (and keep a file's inode number from being reused).
    _claims: Vec<OwnedFd>,
}

/// A descriptor that is not the drive its permit is for.
#[derive(Debug, thiserror::Error)]
pub enum PermitError {
    /// Another drive or file.
    #[error(
        "the permit is for {permitted}, and what was opened is another file or device; nothing was written. Has the path been replaced meanwhile?"
    )]
    OtherDrive {
        /// The drive of the permit.
        permitted: String,
    },
    /// fstat failed.
    #[error("{permitted}: cannot tell whether the opened file is the permitted one: {source}")]
    Io {
        /// The drive of the permit.
        permitted: String,
        /// What the kernel said.
        source: std::io::Error,
    },
}

impl WritePermit {
    /// The drive as its user named it.
    pub fn drive(&self) -> &str {
        &self.drive
    }

    /// Makes sure that `opened` is the very drive this permit was given for. To be called on every descriptor opened for
    /// writing, before the first write.
    ///
    /// # Errors
    /// [`PermitError`] when it is another drive (always, for a permit of a null or simulated one) or cannot be examined.
    pub fn check(&self, opened: impl AsFd) -> Result<(), PermitError> {
        let stat = rustix::fs::fstat(opened).map_err(|e| PermitError::Io {
            permitted: self.drive.clone(),
            source: std::io::Error::from(e),
        })?;
        if self.subject == claim::subject_of(&stat) {
            Ok(())
        } else {
            Err(PermitError::OtherDrive {
                permitted: self.drive.clone(),
            })
        }
    }
}

/// Decides whether `info`'s drive may be overwritten, given the words of `--destroy`.
///
/// # Errors
/// [`Refusal`] with every reason found and the words that would lift those that can be lifted.
pub fn authorise(info: &DriveInfo, destroy: &[String]) -> Result<WritePermit, Refusal> {
    authorise_at(&SystemRoot::host(), info, destroy)
}

/// [`authorise`] with the kernel's tables below another directory.
///
/// # Errors
/// As [`authorise`].
pub fn authorise_at(
    root: &SystemRoot,
    info: &DriveInfo,
    destroy: &[String],
) -> Result<WritePermit, Refusal> {
    let drive = info.spec.clone();
    if matches!(info.kind, DriveKind::Null | DriveKind::Simulated) {
        return Ok(WritePermit {
            drive,
            subject: Subject::Nothing,
            _claims: Vec::new(),
        });
    }
    let mut reasons = Vec::new();
    let claim = match claim::take(root, info) {
        Ok(claim) => claim,
        Err(reason) => {
            reasons.push(reason);
            reasons.extend(words::not_named(info, destroy));
            return Err(Refusal::new(info, reasons));
        }
    };
    if info.read_only {
        reasons.push(Reason::ReadOnly {
            drive: drive.clone(),
        });
    }
    let mut claims = Vec::new();
    let usage = usage::examine(root, &claim.subject, &drive, &mut claims);
    // EBUSY says the same as a mount or holder that has been named already, only less clearly.
    if claim.busy && usage.is_empty() {
        reasons.push(Reason::ClaimedElsewhere {
            device: drive.clone(),
        });
    }
    reasons.extend(usage);
    let signatures = claim::signatures(root, info, &claim, &mut reasons);
    reasons.extend(words::missing(info, &signatures, destroy));
    if !reasons.is_empty() {
        return Err(Refusal::new(info, reasons));
    }
    let subject = claim.subject.clone();
    claims.push(OwnedFd::from(claim.file));
    Ok(WritePermit {
        drive,
        subject,
        _claims: claims,
    })
}

/// A drive opened for looking, and claimed if nobody else had.
struct Claim {
    file: File,
    path: PathBuf,
    subject: Subject,
    /// Whether somebody else holds the claim.
    busy: bool,
}
