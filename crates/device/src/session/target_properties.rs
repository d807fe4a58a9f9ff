//! What job planning needs of a drive.

/// What a plan must know of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetProperties {
    /// As named by the user, for messages.
    pub name: String,
    /// Capacity.
    pub capacity_bytes: u64,
    /// What offsets and lengths must be multiples of: the device's logical block under O_DIRECT.
    pub min_io_bytes: u32,
    /// Which engines it has.
    pub kind: TargetKind,
}

/// Whether a drive is driven by an engine of choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetKind {
    /// A block device: sync or uring.
    Block {
        /// The device has polling queues.
        io_poll: bool,
        /// Commands can be passed through to it.
        passthru: PassthruSupport,
    },
    /// A regular file: sync or uring.
    File,
    /// The null target.
    Null,
    /// A simulated drive.
    Simulated,
}

/// Can NVMe commands be passed through to a drive?
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PassthruSupport {
    /// No: it is not a whole NVMe namespace, or the kernel makes no generic device for it.
    #[default]
    No,
    /// If that is asked for.
    Possible,
    /// Its generic device was named: nothing else can be meant.
    Named,
}
