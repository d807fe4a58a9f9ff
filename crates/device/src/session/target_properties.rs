use crate::identity::{AtomicWrites, JoinedPart};

/// Drive properties for job planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetProperties {
    pub name: String,
    pub capacity_bytes: u64,
    /// Of several files that are one address space; empty of one.
    pub files: Vec<JoinedPart>,
    /// Alignment of offsets and lengths: the logical block size under O_DIRECT.
    pub min_io_bytes: u32,
    pub kind: TargetKind,
    /// Placement identifiers of writes, from 0 on (Flexible Data Placement); 0 without them.
    pub placement_handles: u16,
    /// What kernel and drive, or the simulated drive, promise of single writes.
    pub atomic: Option<AtomicWrites>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// Engines: sync or uring.
    Block {
        /// It has polling queues.
        io_poll: bool,
        passthru: PassthruSupport,
        /// Of a drive whose zones take writes at their write pointers only.
        zones: Option<WriteZones>,
    },
    /// Engines: sync or uring.
    File,
    Null,
    Simulated,
}

/// Zones that are written from their start on, and emptied as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriteZones {
    pub zone_bytes: u64,
    /// What can be written of a zone.
    pub capacity_bytes: u64,
    /// Conventional zones, whose writes go anywhere, take so much at its begin.
    pub conventional_bytes: u64,
    /// Zones that can be written at once; `None`: no limit.
    pub most_at_once: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassthruSupport {
    /// Not a whole NVMe namespace, or no generic character device.
    #[default]
    No,
    Possible,
    /// The generic device was named: passthrough only.
    Named,
}
