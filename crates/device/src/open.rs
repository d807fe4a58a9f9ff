//! Opening drives: for writing only with a permit of the interlock.

use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use assay_io::drive_handle::{DriveHandle, PassthruNode};
use assay_io::system_calls;
use rustix::fs::FallocateFlags;

use crate::files_below::files_below;
use crate::identity::{
    DeviceNumber, DriveInfo, DriveKind, SystemRoot, access_advice, split_device_number,
};
use crate::interlock::{PermitError, WritePermit};
use crate::nvme::commands::Commands;
use crate::nvme::device::ControllerDevice;
use crate::nvme::metadata::{self, FormatError};

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{drive}: cannot open it {how}: {source}{advice}")]
    System { drive: String, how: &'static str, source: io::Error, advice: String },
    #[error(transparent)]
    Permit(#[from] PermitError),
    #[error("{0} is not a file or block device")]
    NoFile(String),
    #[error("{drive}: {source}")]
    Format { drive: String, source: Box<FormatError> },
}

impl OpenError {
    /// The same command can succeed when the process that has the device open exclusively (EBUSY)
    /// ends.
    pub fn is_temporary(&self) -> bool {
        matches!(self, OpenError::System { source, .. }
            if source.kind() == io::ErrorKind::ResourceBusy)
    }
}

/// Opens for writing when a permit is given, with which the descriptor is checked. `direct`
/// bypasses the page cache (O_DIRECT). The permit holds a block device's exclusive claim (O_EXCL)
/// until it is dropped.
#[allow(
    clippy::disallowed_methods,
    reason = "the one place that opens drives, where the permit is checked"
)]
pub fn open_drive(
    info: &DriveInfo,
    direct: bool,
    permit: Option<&WritePermit>,
) -> Result<DriveHandle, OpenError> {
    let path = match (&info.path, info.kind) {
        (Some(path), DriveKind::Block | DriveKind::File) => path,
        _ => return Err(OpenError::NoFile(info.spec.clone())),
    };
    let failed = |source: io::Error| OpenError::System {
        drive: info.spec.clone(),
        how: match (permit.is_some(), direct) {
            (true, true) => "for writing with O_DIRECT",
            (true, false) => "for writing",
            (false, true) => "for reading with O_DIRECT",
            (false, false) => "for reading",
        },
        advice: advice(path, &source, direct),
        source,
    };
    let flags = if direct { libc::O_DIRECT } else { 0 };
    let file = open_file(path, permit.is_some(), flags).map_err(failed)?;
    if let Some(permit) = permit {
        permit.check(&file)?;
    }
    let handle = DriveHandle::new(&info.spec, file, info.logical_block_bytes.max(1));
    let below = files_below(&SystemRoot::host(), info);
    Ok(handle.map_err(failed)?.with_files_below(below))
}

/// Allocates the space of a new file without writing it. Fails when the file exists.
pub fn make_file(path: &Path, bytes: u64) -> io::Result<()> {
    let file = File::options().write(true).create_new(true).open(path)?;
    let allocated = match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        // A file system without fallocate: only the length.
        Err(rustix::io::Errno::OPNOTSUPP) => file.set_len(bytes),
        other => other.map_err(io::Error::from),
    };
    allocated.inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })
}

/// Adds the generic character device of the namespace, with the same rights. A partition is not a
/// whole namespace, so its addresses would be wrong.
/// Fails where its format has metadata that the commands would not write.
pub fn with_passthru(info: &DriveInfo, drive: DriveHandle) -> Result<DriveHandle, OpenError> {
    let nvme = info.nvme.as_ref().filter(|_| info.partition_of.is_none());
    let Some((nvme, path)) = nvme.and_then(|nvme| Some((nvme, nvme.generic.as_ref()?))) else {
        return Ok(drive);
    };
    let open = || {
        let file = open_file(path, drive.is_writable(), 0)?;
        check_same_namespace(&SystemRoot::host(), drive.file(), &file, nvme.nsid)?;
        let mut device = ControllerDevice::over(path, file.try_clone()?);
        let protection = metadata::protection(&mut Commands::to(&mut device), nvme.nsid);
        Ok((file, protection))
    };
    let node = match open() {
        Ok((file, Ok(protection))) => Ok(PassthruNode {
            file,
            nsid: nvme.nsid,
            max_command_bytes: nvme.max_command_bytes,
            protection,
        }),
        Ok((_, Err(FormatError::Command(error)))) => Err(io::Error::other(error)),
        Ok((_, Err(source))) => {
            return Err(OpenError::Format { drive: info.spec.clone(), source: Box::new(source) });
        }
        Err(error) => Err(error),
    };
    Ok(drive.with_passthru(node))
}

/// Same controller or subsystem in sysfs, same name but for its prefix, same namespace identifier.
/// The device numbers are those of open descriptors, which the kernel does not reuse meanwhile, so
/// that a renumbering of drives between two openings is found.
fn check_same_namespace(
    root: &SystemRoot,
    block: &File,
    generic: &File,
    nsid: u32,
) -> io::Result<()> {
    let device = |file: &File| -> io::Result<DeviceNumber> {
        Ok(split_device_number(rustix::fs::fstat(file)?.st_rdev))
    };
    let found = system_calls::nvme_namespace_id(generic)?;
    if found != nsid {
        return Err(renumbered(format!("its namespace identifier is {found}, not {nsid}")));
    }
    check_same_sysfs_parent(root, device(block)?, device(generic)?)
}

/// Both device nodes of a namespace, `nvme0n1` and `ng0n1`, lie in the directory of one controller
/// (of one subsystem, with multipath).
fn check_same_sysfs_parent(
    root: &SystemRoot,
    block: DeviceNumber,
    generic: DeviceNumber,
) -> io::Result<()> {
    let node = |class: &str, device: DeviceNumber| {
        let link = format!("dev/{class}/{}:{}", device.major, device.minor);
        std::fs::canonicalize(root.sys(link))
    };
    let (block, generic) = (node("block", block)?, node("char", generic)?);
    let name = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    };
    let expected = name(&block).replacen("nvme", "ng", 1);
    if block.parent() != generic.parent() || name(&generic) != expected {
        return Err(renumbered(format!(
            "sysfs has {} and {} as different namespaces",
            block.display(),
            generic.display()
        )));
    }
    Ok(())
}

fn renumbered(what: String) -> io::Error {
    io::Error::other(format!(
        "the generic device is not this namespace: {what}; drives are renumbered when one is \
         removed or added: check `assay list` and run again"
    ))
}

pub(crate) fn open_file(path: &Path, write: bool, flags: i32) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(write).custom_flags(flags);
    options.open(path)
}

fn advice(path: &Path, error: &io::Error, direct: bool) -> String {
    let advice = match error.kind() {
        io::ErrorKind::PermissionDenied => return format!("; {}", access_advice(path)),
        io::ErrorKind::NotFound => "; `assay list` shows the drives of this machine",
        io::ErrorKind::ResourceBusy => {
            "; it is in use on this machine: unmount it or stop its user first"
        }
        io::ErrorKind::InvalidInput if direct => {
            "; its file system does not support O_DIRECT: use --direct 0 and state that with the \
             result"
        }
        _ => "",
    };
    advice.to_owned()
}

#[cfg(test)]
#[path = "../tests/unit/open.rs"]
mod tests;
