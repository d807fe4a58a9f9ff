//! What the cache and the disk behind it have to do.

use assay_ssd::{Command, Status};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheMode {
    /// A write completes when the cache has it.
    WriteBack,
    /// A write completes when the disk has it too.
    WriteThrough,
    /// Reads and writes are those of the disk.
    None,
}

impl CacheMode {
    /// With the names of bcache.
    pub const ALL: [(CacheMode, &str); 3] = [
        (CacheMode::WriteBack, "writeback"),
        (CacheMode::WriteThrough, "writethrough"),
        (CacheMode::None, "none"),
    ];

    pub fn name(self) -> &'static str {
        let known = CacheMode::ALL.iter().find(|(mode, _)| *mode == self);
        known.map_or("", |(_, name)| name)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheCounters {
    pub reads: u64,
    /// Reads that needed nothing of the disk.
    pub read_hits: u64,
    pub writes: u64,
    /// Blocks written into the cache after a read of the disk.
    pub promotions: u64,
    /// Blocks written to the disk because their slot was needed.
    pub evictions_written: u64,
    /// Blocks written to the disk while it was idle.
    pub cleaned: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct HostCommand {
    /// Parts that have not completed.
    pub(super) left: u32,
    pub(super) status: Status,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum CacheJob {
    Host(u32),
    Promote,
    /// Dirty pages on their way to the disk: place there, bytes, and their write-back.
    WriteBack {
        offset_bytes: u64,
        len_bytes: u64,
        write_back: u64,
    },
}

#[derive(Clone, Copy, Debug)]
pub(super) enum DiskJob {
    /// The block is promoted afterwards.
    HostRead(u32, u64),
    /// A write in write-through mode, or any command without a cache.
    Host(u32),
    WriteBack(u64),
}

/// The dirty pages of a block on their way to the disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteBack {
    /// Runs of pages that the disk does not have yet.
    pub(super) left: u32,
    /// The command of the cache device that waits for the slot.
    pub(super) waiting: Option<Command>,
}
