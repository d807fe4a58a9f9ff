//! Traces that writing leaves: how to see, later, whether a drive was written to since.
//!
//! The kernel counts, for every block device and partition, the sectors written and discarded since it has the device
//! (`/sys/class/block/NAME/stat`, Documentation/ABI/stable/sysfs-block: the seventh and the fourteenth number, in units of 512 bytes
//! whatever the device's own). The counts begin anew with a boot (`boot_id`), and with another medium in the device (`diskseq`). A file's
//! inode keeps when its bytes and its record were last changed (statx(2): mtime, ctime).
//!
//! # What it cannot see
//! Writes from another machine or before a reboot, and writes to a file's blocks beside its file system. Pages written to a file or a
//! buffered device that are still in memory count when they reach the device: sync first.

use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

use super::root::read_attribute;
use super::{DriveInfo, DriveKind, SystemRoot, block_node};

/// Sector of the kernel's statistics, in bytes.
const STAT_SECTOR_BYTES: u64 = 512;

/// The traces of all writing to a drive up to some moment. Two that are equal have no writing between them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trace {
    /// A block device or partition.
    Block {
        /// Which boot of the machine the counts belong to.
        boot_id: String,
        /// Which medium in the device, where the kernel counts them.
        diskseq: Option<String>,
        /// Bytes written since.
        written_bytes: u64,
        /// Bytes discarded since.
        discarded_bytes: u64,
    },
    /// A regular file.
    File {
        /// Device number of its file system.
        device: u64,
        /// Inode.
        inode: u64,
        /// Length, bytes.
        len_bytes: u64,
        /// Last change of its bytes: seconds and nanoseconds.
        modified: (i64, i64),
        /// Last change of its record: seconds and nanoseconds.
        changed: (i64, i64),
    },
}

/// Why there are no traces to go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoTrace {
    /// A simulated drive or the null target: begins anew each time.
    NothingLasts,
    /// The kernel keeps no statistics of it.
    NotCounted,
}

/// The traces of all writing up to now.
///
/// # Errors
/// [`NoTrace`] where there are none to be had.
pub fn trace(info: &DriveInfo) -> Result<Trace, NoTrace> {
    trace_at(&SystemRoot::host(), info)
}

/// [`trace`] with the kernel's tables below another directory.
///
/// # Errors
/// As [`trace`].
pub fn trace_at(root: &SystemRoot, info: &DriveInfo) -> Result<Trace, NoTrace> {
    match info.kind {
        DriveKind::Null | DriveKind::Simulated => Err(NoTrace::NothingLasts),
        DriveKind::File => of_file(info).ok_or(NoTrace::NotCounted),
        DriveKind::Block => of_device(root, info).ok_or(NoTrace::NotCounted),
    }
}

fn of_file(info: &DriveInfo) -> Option<Trace> {
    let metadata = std::fs::metadata(info.path.as_ref()?).ok()?;
    Some(Trace::File {
        device: metadata.dev(),
        inode: metadata.ino(),
        len_bytes: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

fn of_device(root: &SystemRoot, info: &DriveInfo) -> Option<Trace> {
    let node = block_node(root, info.device?).ok()?;
    let disk = node.parent();
    let disk = disk.as_ref().unwrap_or(&node);
    // Accounting can be switched off.
    if disk.attribute("queue/iostats").as_deref() == Some("0") {
        return None;
    }
    let stat = node.attribute("stat")?;
    let numbers: Vec<u64> = stat
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .ok()?;
    Some(Trace::Block {
        boot_id: read_attribute(&root.proc("sys/kernel/random/boot_id"))?,
        diskseq: disk.attribute("diskseq"),
        written_bytes: numbers.get(6)?.saturating_mul(STAT_SECTOR_BYTES),
        // Kernels before 4.18 do not count discards; they cannot be seen there.
        discarded_bytes: numbers
            .get(13)
            .map_or(0, |sectors| sectors.saturating_mul(STAT_SECTOR_BYTES)),
    })
}
