//! Drive properties for job planning.

/// Drive properties for job planning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetProperties {
    /// As named on the command line, for messages.
    pub name: String,
    pub capacity_bytes: u64,
    /// Alignment of offsets and lengths, bytes: the logical block size under O_DIRECT.
    pub min_io_bytes: u32,
    /// Kind, which determines the engines.
    pub kind: TargetKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A block device: sync or uring.
    Block {
        /// The device has polling queues.
        io_poll: bool,
        /// NVMe passthrough.
        passthru: PassthruSupport,
    },
    /// A regular file: sync or uring.
    File,
    Null,
    /// A simulated drive.
    Simulated,
}

/// Support of NVMe passthrough.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassthruSupport {
    /// Not a whole NVMe namespace, or no generic character device.
    #[default]
    No,
    /// On request.
    Possible,
    /// The generic device was named: passthrough only.
    Named,
}
