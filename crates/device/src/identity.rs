//! Which drive a path leads to, and everything about it that a report must state.
//!
//! # Architecture
//! - [`DriveInfo`]: one plain record per drive, real or simulated, stored in every run's manifest.
//! - [`identify`] / [`list_drives`]: build it from statx and sysfs. Reading goes through [`SystemRoot`], so that tests put
//!   a made-up `/sys` and `/proc` in its place and a machine without an NVMe drive can still test NVMe.
//! - [`temperature_celsius`]: the drive's hwmon sensor.
//!
//! The **serial** in a [`DriveInfo`] is what `--destroy` must name: the drive's own serial number; for a device that has
//! none, its kernel name (`zram0`, `loop3`); for a regular file, its file name. All namespaces and partitions of a
//! drive share its serial: `--destroy` confirms the drive, the path on the command line says which part is meant.
//!
//! # Non-goals
//! No NVMe admin command is sent here (health and log pages are the passthrough target's matter); nothing is written.
//!
//! # Sources
//! Linux Documentation/ABI/stable/sysfs-block, Documentation/ABI/testing/sysfs-class-hwmon, statx(2).

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

mod block;
mod file;
mod mounts;
pub(crate) mod root;
mod temperature;
mod trace;

pub use root::SystemRoot;
pub use temperature::{
    power_milliwatts, power_milliwatts_at, temperature_celsius, temperature_celsius_at,
};
pub use trace::{NoTrace, Trace, trace, trace_at};

pub(crate) use block::{BlockNode, block_node};
pub(crate) use file::split_device_number;
pub(crate) use mounts::{FileLock, Mount, parse_locks, parse_mountinfo, parse_mounts, parse_swaps};

/// What a drive is made of, as far as the target is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveKind {
    /// A block device: whole drive or partition.
    Block,
    /// A regular file on a filesystem.
    File,
    /// The target that completes every I/O at once.
    Null,
    /// A simulated drive.
    Simulated,
}

/// The numbers by which the kernel knows a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceNumber {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// A PCIe link as sysfs words it (`8.0 GT/s PCIe`), now and at most.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PcieLink {
    /// PCI address, e.g. `0000:01:00.0`.
    pub address: String,
    /// Speed now.
    pub speed: Option<String>,
    /// Lanes in use now.
    pub width: Option<u32>,
    /// Highest speed of the drive's port.
    pub max_speed: Option<String>,
    /// Most lanes of the drive's port.
    pub max_width: Option<u32>,
}

/// The filesystem under a regular file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// Its type, e.g. `ext4`, `tmpfs`.
    pub fs_type: String,
    /// Where it is mounted.
    pub mount_point: String,
    /// Kernel name of the block device under it, where there is one.
    pub backing: Option<String>,
    /// Model of that device, where known.
    pub backing_model: Option<String>,
}

/// Everything that identifies a drive and bounds the I/O it takes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriveInfo {
    /// The text that named it: a path, `null:...` or `sim:...`.
    pub spec: String,
    /// What it is.
    pub kind: DriveKind,
    /// Path to open, symbolic links resolved; none for null and simulated drives.
    #[serde(serialize_with = "path_as_text")]
    pub path: Option<PathBuf>,
    /// Kernel name (`nvme0n1`), file name, or profile name.
    pub name: String,
    /// What `--destroy` must name; see the module head. Never empty.
    pub serial: String,
    /// Model as the drive states it.
    pub model: Option<String>,
    /// Firmware revision.
    pub firmware: Option<String>,
    /// How it is attached: `nvme`, `sata`, `usb`, `scsi`, `virtio`, `mmc`, `loop`, `zram`, `md`, `dm`, ...
    pub transport: Option<String>,
    /// Usable bytes.
    pub capacity_bytes: u64,
    /// Logical block, bytes.
    pub logical_block_bytes: u32,
    /// Physical block, bytes.
    pub physical_block_bytes: u32,
    /// Offsets and lengths of direct I/O must be multiples of this, bytes.
    pub min_io_bytes: u32,
    /// Buffers of direct I/O must lie at multiples of this, bytes.
    pub memory_align_bytes: u32,
    /// Whether O_DIRECT can be used; some filesystems refuse it.
    pub direct_io: bool,
    /// Largest single request the device takes without splitting, bytes.
    pub max_io_bytes: Option<u64>,
    /// Whether it spins.
    pub rotational: Option<bool>,
    /// Whether the kernel has it set read-only.
    pub read_only: bool,
    /// I/O scheduler in force.
    pub scheduler: Option<String>,
    /// Hardware queues that blk-mq uses.
    pub hardware_queues: Option<u32>,
    /// Requests per hardware queue.
    pub nr_requests: Option<u32>,
    /// Whether the device has polled queues (IOPOLL).
    pub io_poll: Option<bool>,
    /// Volatile write cache: `write back` or `write through`.
    pub write_cache: Option<String>,
    /// NUMA node it hangs on; none when there is only one or it is unknown.
    pub numa_node: Option<u32>,
    /// PCIe link, for a drive that has one.
    pub pcie: Option<PcieLink>,
    /// For a partition: the kernel name of its drive.
    pub partition_of: Option<String>,
    /// For a regular file: what it lies on.
    pub filesystem: Option<Filesystem>,
    /// Block device: its number. File: the number of the filesystem it lies on.
    pub device: Option<DeviceNumber>,
    /// For a regular file: its inode number.
    pub inode: Option<u64>,
    /// Whether every result on it must carry the word "simulated".
    pub simulated: bool,
    /// Its controller and namespace, for an NVMe drive.
    #[serde(default)]
    pub nvme: Option<crate::nvme::place::NvmePlace>,
    /// I/O queue pairs, where the drive or model states them.
    pub queue_pairs: Option<u16>,
    /// Profile of a simulated drive.
    pub profile: Option<String>,
}

/// Paths may be any bytes, JSON may not: what is not UTF-8 is replaced rather than failing a whole manifest.
fn path_as_text<S: serde::Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    path.as_ref()
        .map(|path| path.to_string_lossy())
        .serialize(serializer)
}

impl DriveInfo {
    /// A record with everything unknown but its kind, the text that named it, its name (also its serial) and its size in
    /// bytes; blocks are 512 bytes. Null and simulated targets fill in the rest.
    pub fn new(
        kind: DriveKind,
        spec: impl Into<String>,
        name: impl Into<String>,
        capacity_bytes: u64,
    ) -> Self {
        let name = name.into();
        Self {
            spec: spec.into(),
            kind,
            path: None,
            serial: name.clone(),
            name,
            model: None,
            firmware: None,
            transport: None,
            capacity_bytes,
            logical_block_bytes: 512,
            physical_block_bytes: 512,
            min_io_bytes: 512,
            memory_align_bytes: 512,
            direct_io: true,
            max_io_bytes: None,
            rotational: None,
            read_only: false,
            scheduler: None,
            hardware_queues: None,
            nr_requests: None,
            io_poll: None,
            write_cache: None,
            numa_node: None,
            pcie: None,
            partition_of: None,
            filesystem: None,
            device: None,
            inode: None,
            simulated: kind == DriveKind::Simulated,
            nvme: None,
            queue_pairs: None,
            profile: None,
        }
    }
}

/// Why a path cannot be used as a drive.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// Nothing there.
    #[error(
        "{path}: no such file or device; `assay list` shows the drives here, and a file must exist before it is measured (e.g. `fallocate -l 1G FILE`)"
    )]
    Missing {
        /// The path given.
        path: PathBuf,
    },
    /// A directory.
    #[error("{path} is a directory; name a file in it or the block device under it")]
    Directory {
        /// The path given.
        path: PathBuf,
    },
    /// An NVMe generic node: right drive, wrong door.
    #[error(
        "{path} is the NVMe generic device of {block}, which is not there; is the namespace attached, and has it a format that the kernel knows?"
    )]
    NvmeGeneric {
        /// The path given.
        path: PathBuf,
        /// The block device beside it.
        block: PathBuf,
    },
    /// A character device, FIFO or socket.
    #[error(
        "{path} is a {what}, not a drive; name a block device such as /dev/nvme0n1 or a regular file"
    )]
    NotADrive {
        /// The path given.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// No bytes to measure.
    #[error("{path} has zero size; {advice}")]
    ZeroSize {
        /// The path given.
        path: PathBuf,
        /// What to do.
        advice: &'static str,
    },
    /// Not allowed to look.
    #[error(
        "{path}: permission denied; run as root, or add yourself to the group that owns the device (often `disk`)"
    )]
    PermissionDenied {
        /// The path given.
        path: PathBuf,
    },
    /// A block device of which sysfs knows nothing.
    #[error(
        "{path} is block device {device}, but {sysfs} does not exist; is /sys mounted, and the device still there?"
    )]
    NotInSysfs {
        /// The path given.
        path: PathBuf,
        /// Its number.
        device: DeviceNumber,
        /// The place looked at.
        sysfs: PathBuf,
    },
    /// Anything else the kernel says.
    #[error("{path}: cannot {doing}: {source}")]
    Io {
        /// The path concerned.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        source: std::io::Error,
    },
}

/// Finds out which drive `path` leads to; symbolic links such as `/dev/disk/by-id/...` are followed.
///
/// # Errors
/// [`IdentityError`], one variant per reason, each with advice.
pub fn identify(path: &Path) -> Result<DriveInfo, IdentityError> {
    identify_at(&SystemRoot::host(), path)
}

/// [`identify`] with the kernel's tables below another directory; `path` itself is always looked up on the running system.
///
/// # Errors
/// As [`identify`].
pub fn identify_at(root: &SystemRoot, path: &Path) -> Result<DriveInfo, IdentityError> {
    file::identify_at(root, path)
}

/// The drives of this machine, for `assay list`: whole drives (no partitions) that hold bytes, without RAM disks.
/// A drive that cannot be read is left out.
pub fn list_drives() -> Vec<DriveInfo> {
    list_drives_at(&SystemRoot::host())
}

/// [`list_drives`] from another sysfs.
pub fn list_drives_at(root: &SystemRoot) -> Vec<DriveInfo> {
    file::list_drives_at(root)
}
