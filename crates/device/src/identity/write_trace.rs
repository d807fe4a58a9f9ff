//! Detection of writes between runs. `/sys/class/block/NAME/stat` counts sectors written and
//! discarded, its seventh and fourteenth number, in units of 512 bytes
//! (Documentation/ABI/stable/sysfs-block); the counters restart with a boot (`boot_id`) and a
//! change of medium (`diskseq`). Of a file, mtime and ctime are used (statx(2)). Not detected:
//! writes by another machine or before a reboot, and writes to a file's blocks that bypass its file
//! system. Dirty pages count when they are written back: sync first.

use std::os::unix::fs::MetadataExt;

use serde::{Deserialize, Serialize};

use super::root::read_attribute;
use super::{DriveInfo, DriveKind, SystemRoot, block_node};

const STAT_SECTOR_BYTES: u64 = 512;

/// Equal values mean that nothing was written in between.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteTrace {
    Block {
        boot_id: String,
        diskseq: Option<String>,
        written_bytes: u64,
        discarded_bytes: u64,
    },
    File {
        device: u64,
        inode: u64,
        len_bytes: u64,
        /// Seconds and nanoseconds.
        modified: (i64, i64),
        /// Seconds and nanoseconds.
        changed: (i64, i64),
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoWriteTrace {
    /// A simulated drive or the null target is new in each process.
    NothingLasts,
    NotCounted,
}

/// Errors: [`NoWriteTrace`] where there are none.
pub fn write_trace_at(root: &SystemRoot, info: &DriveInfo) -> Result<WriteTrace, NoWriteTrace> {
    match info.kind {
        DriveKind::Null | DriveKind::Simulated => Err(NoWriteTrace::NothingLasts),
        DriveKind::File => of_file(info).ok_or(NoWriteTrace::NotCounted),
        DriveKind::Block => of_device(root, info).ok_or(NoWriteTrace::NotCounted),
    }
}

fn of_file(info: &DriveInfo) -> Option<WriteTrace> {
    let metadata = std::fs::metadata(info.path.as_ref()?).ok()?;
    Some(WriteTrace::File {
        device: metadata.dev(),
        inode: metadata.ino(),
        len_bytes: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

fn of_device(root: &SystemRoot, info: &DriveInfo) -> Option<WriteTrace> {
    let node = block_node(root, info.device?).ok()?;
    let disk = node.parent();
    let disk = disk.as_ref().unwrap_or(&node);
    // Accounting can be switched off.
    if disk.attribute("queue/iostats").as_deref() == Some("0") {
        return None;
    }
    let stat = node.attribute("stat")?;
    let numbers = stat.split_whitespace().map(str::parse);
    let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().ok()?;
    let bytes = |sectors: &u64| sectors.saturating_mul(STAT_SECTOR_BYTES);
    Some(WriteTrace::Block {
        boot_id: read_attribute(&root.proc("sys/kernel/random/boot_id"))?,
        diskseq: disk.attribute("diskseq"),
        written_bytes: numbers.get(6).map(bytes)?,
        // Kernels before 4.18 do not count discards.
        discarded_bytes: numbers.get(13).map_or(0, bytes),
    })
}
