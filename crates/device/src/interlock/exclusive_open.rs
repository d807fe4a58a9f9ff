use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use assay_io::system_calls::nvme_read_unchecked;
use rustix::fs::{FileType, Stat};

use crate::identity::{
    BlockNode, DriveInfo, DriveKind, SystemRoot, block_node, identify_at, split_device_number,
};
use crate::nvme::commands::Commands;
use crate::nvme::device::ControllerDevice;
use crate::nvme::metadata;
use crate::open::open_file;
use crate::signature;

use super::confirmation::OnDevice;
use super::{ExclusiveOpen, RefusalReason, Subject};

pub(super) fn subject_of(stat: &Stat) -> Subject {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => Subject::Block(split_device_number(stat.st_rdev)),
        FileType::RegularFile => {
            Subject::File { device: split_device_number(stat.st_dev), inode: stat.st_ino }
        }
        _ => Subject::Nothing,
    }
}

impl DriveInfo {
    /// Whether this descriptor is of the drive itself, of one of its partitions, or of the drive
    /// whose partition it is.
    pub fn shares_data_with(&self, opened: impl AsFd) -> io::Result<bool> {
        let subject = subject_of(&rustix::fs::fstat(opened)?);
        Ok(match (self.kind, self.device, subject) {
            (DriveKind::Block, Some(own), Subject::Block(opened)) => {
                let root = &SystemRoot::host();
                let whole = |device| Some(block_node(root, device).ok()?.parent()?.device);
                own == opened || whole(own) == Some(opened) || whole(opened) == Some(own)
            }
            (DriveKind::File, Some(own), Subject::File { device, inode }) => {
                own == device && self.inode == Some(inode)
            }
            _ => false,
        })
    }
}

/// Symbolic links are followed; `None` for other file types and on errors.
pub(super) fn subject_at(path: &Path) -> Option<Subject> {
    let stat = rustix::fs::stat(path).ok()?;
    Some(subject_of(&stat)).filter(|subject| *subject != Subject::Nothing)
}

/// Read-only, exclusively if possible; the flag is set when the claim is held elsewhere.
pub(super) fn open_block(path: &Path) -> io::Result<(File, bool)> {
    match open_file(path, false, libc::O_EXCL | libc::O_NONBLOCK) {
        Ok(file) => Ok((file, false)),
        Err(e) if e.kind() == io::ErrorKind::ResourceBusy => {
            Ok((open_file(path, false, libc::O_NONBLOCK)?, true))
        }
        Err(e) => Err(e),
    }
}

pub(super) fn dev_path(node: &BlockNode) -> PathBuf {
    Path::new("/dev").join(node.dev_name())
}

/// [`open_block`] of a device in sysfs; fails if the device file has another number.
pub(super) fn open_node(node: &BlockNode) -> io::Result<(OwnedFd, bool)> {
    let path = dev_path(node);
    let (file, busy) = open_block(&path)?;
    if subject_of(&rustix::fs::fstat(&file)?) != Subject::Block(node.device) {
        return Err(io::Error::other(format!("{} is another device", path.display())));
    }
    Ok((OwnedFd::from(file), busy))
}

pub(super) fn take(root: &SystemRoot, info: &DriveInfo) -> Result<ExclusiveOpen, RefusalReason> {
    let changed = |what: String| RefusalReason::Changed { drive: info.spec.clone(), what };
    let no_path = || RefusalReason::unchecked("which device it is", "its record has no path");
    let path = info.path.clone().ok_or_else(no_path)?;
    let now =
        identify_at(root, &path).map_err(|e| RefusalReason::unchecked("which drive it is", e))?;
    if now.kind != info.kind || now.device != info.device || now.inode != info.inode {
        return Err(changed("the path is now another device or file".to_owned()));
    }
    if now.capacity_bytes != info.capacity_bytes {
        return Err(changed(format!(
            "it holds {} bytes, not {}",
            now.capacity_bytes, info.capacity_bytes
        )));
    }
    if now.serial != info.serial {
        return Err(changed(format!("its serial is {}, not {}", now.serial, info.serial)));
    }
    let opened = match info.kind {
        DriveKind::Block => open_block(&path),
        // O_EXCL has no meaning for an existing file (open(2)).
        _ => File::open(&path).map(|file| (file, false)),
    };
    let (file, busy) = opened.map_err(|e| RefusalReason::unchecked("opening it", e))?;
    let stat = rustix::fs::fstat(&file).map_err(|e| RefusalReason::unchecked("examining it", e))?;
    let subject = subject_of(&stat);
    let expected = match (info.kind, info.device, info.inode) {
        (DriveKind::Block, Some(device), _) => Subject::Block(device),
        (DriveKind::File, Some(device), Some(inode)) => Subject::File { device, inode },
        _ => Subject::Nothing,
    };
    if subject != expected || subject == Subject::Nothing {
        return Err(changed("the path is now another device or file".to_owned()));
    }
    Ok(ExclusiveOpen { file, path, subject, busy })
}

/// Blocks that were written without their protection information cannot be read through the block
/// device until they are written anew or formatted, for which their signatures have to be known:
/// the drive gives their data without a check of it. `None` of other drives.
fn read_unprotected(
    info: &DriveInfo,
    claim: &ExclusiveOpen,
    start_bytes: u64,
    size_bytes: u64,
) -> Option<signature::Window> {
    let whole = info.nvme.as_ref().filter(|_| info.partition_of.is_none());
    let (place, file) = (whole?, &claim.file);
    let mut device = ControllerDevice::over(&claim.path, file.try_clone().ok()?);
    metadata::protection(&mut Commands::to(&mut device), place.nsid).ok()??;
    let block = info.logical_block_bytes.max(1);
    let most = place.max_command_bytes.unwrap_or(u64::MAX).min(64 << 10) as usize;
    let step = (most / block as usize).max(1) * block as usize;
    let read = |bytes: &mut [u8], at: u64| {
        for (chunk, start) in bytes.chunks_mut(step).zip((at..).step_by(step)) {
            let first = start / u64::from(block);
            let read = nvme_read_unchecked(file, place.nsid, first, block, chunk);
            read.map_err(|_| io::Error::from_raw_os_error(libc::EIO))?;
        }
        Ok(())
    };
    signature::Window::read_by(&read, start_bytes, size_bytes).ok()
}

/// A region of a drive as the user knows it: path, start, length.
type Region = (PathBuf, u64, u64);

/// Reads a region, by start and length.
type ReadRegion<'a> = &'a dyn Fn(u64, u64) -> io::Result<signature::Window>;

/// The drive and its partitions: those that the kernel has, then those of its tables. The kernel
/// may not have scanned a block device, and does not look into partitions.
fn regions(
    root: &SystemRoot,
    info: &DriveInfo,
    claim: &ExclusiveOpen,
    read: ReadRegion<'_>,
    reasons: &mut Vec<RefusalReason>,
) -> Vec<Region> {
    let mut regions: Vec<Region> = vec![(claim.path.clone(), 0, info.capacity_bytes)];
    let unchecked =
        |e: io::Error| RefusalReason::unchecked(format!("the partitions of {}", info.spec), e);
    if let Subject::Block(device) = claim.subject {
        match block_node(root, device).and_then(|node| node.partitions()) {
            Ok(partitions) => regions
                .extend(partitions.iter().map(|p| (dev_path(p), p.start_bytes(), p.size_bytes()))),
            Err(e) => reasons.push(unchecked(e)),
        }
    }
    match signature::partitions(read, info.capacity_bytes) {
        Ok(partitions) => {
            for (n, (start, size)) in (1..).zip(partitions) {
                let name = PathBuf::from(format!("partition {n} of {}", info.spec));
                let is_known = regions.iter().any(|(_, at, _)| *at == start);
                regions.extend((!is_known).then_some((name, start, size)));
            }
        }
        // The caller reports it.
        Err(_) if read(0, info.capacity_bytes).is_err() => {}
        Err(e) => reasons.push(unchecked(e)),
    }
    regions
}

/// Includes those in its partitions. A read error becomes a reason.
pub(super) fn signatures(
    root: &SystemRoot,
    info: &DriveInfo,
    claim: &ExclusiveOpen,
    reasons: &mut Vec<RefusalReason>,
) -> Vec<OnDevice> {
    let read = |start_bytes: u64, size_bytes: u64| {
        signature::Window::read(&claim.file, start_bytes, size_bytes)
            .or_else(|error| read_unprotected(info, claim, start_bytes, size_bytes).ok_or(error))
    };
    let regions = regions(root, info, claim, &read, reasons);
    let mut found = Vec::new();
    for (path, start_bytes, size_bytes) in regions {
        let device = if start_bytes == 0 && path == claim.path {
            info.spec.clone()
        } else {
            path.display().to_string()
        };
        let window = match read(start_bytes, size_bytes) {
            Ok(window) => window,
            Err(e) => {
                reasons.push(RefusalReason::unchecked(format!("the signatures of {device}"), e));
                continue;
            }
        };
        let mut all = signature::detect(&window);
        // Without udev a partition may have no device file; then only the built-in detection is
        // used.
        if std::fs::metadata(&path).is_ok_and(|m| m.file_type().is_block_device() || m.is_file()) {
            let mut by_wipefs = signature::wipefs(&path);
            by_wipefs.retain(|found| signature::is_plausible(&window, found));
            all = signature::union(all, by_wipefs);
        }
        found.extend(
            all.into_iter().map(|signature| OnDevice { device: device.clone(), signature }),
        );
    }
    found
}
