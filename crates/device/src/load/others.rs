//! I/O of other programs on the devices of a measurement, from the counters of the kernel.

use std::fs::File;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;

use crate::identity::{BlockNode, SystemRoot, block_node, split_device_number};

/// Sector of `/sys/block/*/stat` (Documentation/block/stat.rst).
const STAT_SECTOR_BYTES: u64 = 512;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Moved {
    read_bytes: u64,
    written_bytes: u64,
}

impl Moved {
    fn since(self, before: Moved) -> Moved {
        Moved {
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            written_bytes: self.written_bytes.saturating_sub(before.written_bytes),
        }
    }

    fn plus(self, other: Moved) -> Moved {
        Moved {
            read_bytes: self.read_bytes.saturating_add(other.read_bytes),
            written_bytes: self.written_bytes.saturating_add(other.written_bytes),
        }
    }
}

/// What other programs moved while something was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OthersIo {
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Of everything that the devices moved.
    pub share_pct: u32,
}

/// Counters of the devices and of this process at the start of a measurement by direct I/O: what
/// passes the page cache is counted when the kernel moves it.
#[derive(Debug)]
pub struct OthersWatch {
    stats: Vec<PathBuf>,
    before: (Moved, Moved),
}

impl OthersWatch {
    /// Of the devices that these files are, or are on; `None` where the kernel does not count.
    pub fn start<'a>(root: &SystemRoot, files: impl Iterator<Item = &'a File>) -> Option<Self> {
        let mut stats: Vec<PathBuf> = Vec::new();
        for file in files {
            let path = whole_device(root, file)?.dir.join("stat");
            if !stats.contains(&path) {
                stats.push(path);
            }
        }
        let before = (moved_on(&stats)?, own(root)?);
        Some(OthersWatch { stats, before })
    }

    /// `None` where it is too little to tell from metadata of file systems and of this program.
    pub fn end(&self, root: &SystemRoot) -> Option<OthersIo> {
        const LEAST_BYTES: u64 = 8 << 20;
        const LEAST_PCT: u32 = 2;
        let all = moved_on(&self.stats)?.since(self.before.0);
        let others = all.since(own(root)?.since(self.before.1));
        let sum = |moved: Moved| moved.read_bytes.saturating_add(moved.written_bytes);
        let share_pct = sum(others).saturating_mul(100) / sum(all).max(1);
        let found = OthersIo {
            read_bytes: others.read_bytes,
            written_bytes: others.written_bytes,
            share_pct: u32::try_from(share_pct).unwrap_or(100),
        };
        (sum(others) >= LEAST_BYTES && found.share_pct >= LEAST_PCT).then_some(found)
    }
}

/// A partition's neighbours load the same drive.
fn whole_device(root: &SystemRoot, file: &File) -> Option<BlockNode> {
    let metadata = file.metadata().ok()?;
    let number = match metadata.file_type().is_block_device() {
        true => metadata.rdev(),
        false => metadata.dev(),
    };
    let node = block_node(root, split_device_number(number)).ok()?;
    Some(node.parent().unwrap_or(node))
}

/// The third and seventh number of each device.
fn moved_on(stats: &[PathBuf]) -> Option<Moved> {
    let mut sum = Moved::default();
    for path in stats {
        let text = std::fs::read_to_string(path).ok()?;
        let numbers: Vec<u64> = text.split_whitespace().map_while(|n| n.parse().ok()).collect();
        sum = sum.plus(Moved {
            read_bytes: numbers.get(2)?.saturating_mul(STAT_SECTOR_BYTES),
            written_bytes: numbers.get(6)?.saturating_mul(STAT_SECTOR_BYTES),
        });
    }
    Some(sum)
}

/// Of this process, threads of io_uring included (proc_pid_io(5)).
fn own(root: &SystemRoot) -> Option<Moved> {
    let text = std::fs::read_to_string(root.proc("self/io")).ok()?;
    let value = |key: &str| -> Option<u64> {
        let mut lines = text.lines();
        lines.find_map(|line| line.strip_prefix(key))?.trim().parse().ok()
    };
    Some(Moved { read_bytes: value("read_bytes:")?, written_bytes: value("write_bytes:")? })
}

#[cfg(test)]
#[path = "../../tests/unit/load/others.rs"]
mod tests;
