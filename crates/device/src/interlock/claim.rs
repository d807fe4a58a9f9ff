//! Opening a drive for the checks: the exclusive claim, that it is still the same drive, and its signatures.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags, Stat};

use crate::identity::{
    BlockNode, DriveInfo, DriveKind, SystemRoot, block_node, identify_at, split_device_number,
};
use crate::signature;

use super::words::OnDevice;
use super::{Claim, Reason, Subject};

/// What a descriptor leads to.
pub(super) fn subject_of(stat: &Stat) -> Subject {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => Subject::Block(split_device_number(stat.st_rdev)),
        FileType::RegularFile => Subject::File {
            device: split_device_number(stat.st_dev),
            inode: stat.st_ino,
        },
        _ => Subject::Nothing,
    }
}

/// What a path leads to, symbolic links followed; `None` for what is no drive, or when it cannot be looked at.
pub(super) fn subject_at(path: &Path) -> Option<Subject> {
    let stat = rustix::fs::stat(path).ok()?;
    Some(subject_of(&stat)).filter(|subject| *subject != Subject::Nothing)
}

/// Opens a block device read-only, exclusively if possible; the flag says whether somebody else holds the claim.
pub(super) fn open_block(path: &Path) -> io::Result<(File, bool)> {
    let open = |flags: OFlags| {
        File::options()
            .read(true)
            .custom_flags((flags | OFlags::NONBLOCK).bits() as i32)
            .open(path)
    };
    match open(OFlags::EXCL) {
        Ok(file) => Ok((file, false)),
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::BUSY.raw_os_error()) => {
            Ok((open(OFlags::empty())?, true))
        }
        Err(e) => Err(e),
    }
}

/// Where a block device's file is.
pub(super) fn dev_path(node: &BlockNode) -> PathBuf {
    Path::new("/dev").join(node.dev_name())
}

/// [`open_block`] of a device that sysfs told of, if its file leads to it.
pub(super) fn open_node(node: &BlockNode) -> io::Result<(OwnedFd, bool)> {
    let path = dev_path(node);
    let (file, busy) = open_block(&path)?;
    if subject_of(&rustix::fs::fstat(&file)?) != Subject::Block(node.device) {
        return Err(io::Error::other(format!(
            "{} leads to another device",
            path.display()
        )));
    }
    Ok((OwnedFd::from(file), busy))
}

/// Opens and claims the drive, and makes sure that it is the one that was identified.
pub(super) fn take(root: &SystemRoot, info: &DriveInfo) -> Result<Claim, Reason> {
    let changed = |what: String| Reason::Changed {
        drive: info.spec.clone(),
        what,
    };
    let unchecked = |what: &str, error: String| Reason::Unchecked {
        what: what.to_owned(),
        error,
    };
    let Some(path) = info.path.clone() else {
        return Err(unchecked(
            "which device it is",
            "its record has no path".to_owned(),
        ));
    };
    let now =
        identify_at(root, &path).map_err(|e| unchecked("which drive it is", e.to_string()))?;
    if now.kind != info.kind || now.device != info.device || now.inode != info.inode {
        return Err(changed(
            "the path leads to another device or file".to_owned(),
        ));
    }
    if now.capacity_bytes != info.capacity_bytes {
        return Err(changed(format!(
            "it holds {} bytes, not {}",
            now.capacity_bytes, info.capacity_bytes
        )));
    }
    if now.serial != info.serial {
        return Err(changed(format!(
            "its serial is {}, not {}",
            now.serial, info.serial
        )));
    }
    let opened = match info.kind {
        DriveKind::Block => open_block(&path),
        // O_EXCL means nothing for an existing file (open(2)).
        _ => File::open(&path).map(|file| (file, false)),
    };
    let (file, busy) = opened.map_err(|e| unchecked("opening it", e.to_string()))?;
    let stat = rustix::fs::fstat(&file).map_err(|e| unchecked("examining it", e.to_string()))?;
    let subject = subject_of(&stat);
    let expected = match (info.kind, info.device, info.inode) {
        (DriveKind::Block, Some(device), _) => Subject::Block(device),
        (DriveKind::File, Some(device), Some(inode)) => Subject::File { device, inode },
        _ => Subject::Nothing,
    };
    if subject != expected || subject == Subject::Nothing {
        return Err(changed(
            "the path leads to another device or file".to_owned(),
        ));
    }
    Ok(Claim {
        file,
        path,
        subject,
        busy,
    })
}

/// Every signature on the drive and in the partitions of it that the kernel knows. What cannot be read becomes a reason.
pub(super) fn signatures(
    root: &SystemRoot,
    info: &DriveInfo,
    claim: &Claim,
    reasons: &mut Vec<Reason>,
) -> Vec<OnDevice> {
    let mut regions: Vec<(PathBuf, u64, u64)> = vec![(claim.path.clone(), 0, info.capacity_bytes)];
    if let Subject::Block(device) = claim.subject {
        match block_node(root, device).and_then(|node| node.partitions()) {
            Ok(partitions) => regions.extend(
                partitions
                    .iter()
                    .map(|p| (dev_path(p), p.start_bytes(), p.size_bytes())),
            ),
            Err(e) => reasons.push(Reason::Unchecked {
                what: format!("the partitions of {}", info.spec),
                error: e.to_string(),
            }),
        }
    }
    let mut found = Vec::new();
    for (path, start_bytes, size_bytes) in regions {
        let device = if start_bytes == 0 && path == claim.path {
            info.spec.clone()
        } else {
            path.display().to_string()
        };
        let window = match signature::Window::read(&claim.file, start_bytes, size_bytes) {
            Ok(window) => window,
            Err(e) => {
                reasons.push(Reason::Unchecked {
                    what: format!("what {device} holds"),
                    error: e.to_string(),
                });
                continue;
            }
        };
        let own = signature::detect(&window);
        // A partition's node may not exist (no udev); then our own eyes must do.
        let known =
            std::fs::metadata(&path).is_ok_and(|m| m.file_type().is_block_device() || m.is_file());
        let all = if known {
            signature::union(own, signature::wipefs(&path))
        } else {
            own
        };
        found.extend(all.into_iter().map(|signature| OnDevice {
            device: device.clone(),
            signature,
        }));
    }
    found
}
