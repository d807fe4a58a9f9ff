//! Drive identification from statx and sysfs. All reads go through [`SystemRoot`], so that tests
//! supply their own `/sys` and `/proc`. The **serial** of a [`DriveInfo`] is what `--destroy` must
//! name: the serial number; of a device without one, its kernel name (`zram0`); of a regular file,
//! its file name. All namespaces and partitions of a drive share it. Sources: Linux
//! Documentation/ABI/stable/sysfs-block, Documentation/ABI/testing/sysfs-class-hwmon, statx(2).

use std::path::{Path, PathBuf};

use assay_sim_host::host::NamedHost;
use assay_units::text::did_you_mean;
use serde::{Deserialize, Serialize};

mod allocation;
mod block;
mod block_cache;
mod file;
mod layers;
mod mounts;
pub(crate) mod root;
mod temperature;
mod write_trace;
mod zones;

pub use allocation::{Allocation, allocation};
pub use file::{identify_at, list_drives_at};
pub use root::SystemRoot;
pub(crate) use temperature::power_milliwatts_at;
pub use temperature::{temperature_celsius, temperature_celsius_at};
pub use write_trace::{NoWriteTrace, WriteTrace, write_trace_at};

pub use zones::{Zones, zone_conditions};

pub(crate) use block::{BlockNode, block_node, node_of};
pub(crate) use block_cache::block_cache_at;
pub(crate) use file::split_device_number;
pub(crate) use mounts::{
    FileLock, Mount, parse_locks, parse_mountinfo, parse_mounts, parse_swaps, unescape,
};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DriveKind {
    Block,
    File,
    #[default]
    Null,
    Simulated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceNumber {
    pub major: u32,
    pub minor: u32,
}

impl std::fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// Speeds as in sysfs (`8.0 GT/s PCIe`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PcieLink {
    /// For example `0000:01:00.0`.
    pub address: String,
    pub speed: Option<String>,
    /// Current link width, lanes.
    pub width: Option<u32>,
    pub max_speed: Option<String>,
    /// Lanes.
    pub max_width: Option<u32>,
}

pub fn gt_per_s(speed: &str) -> Option<f64> {
    speed.split_whitespace().next()?.parse().ok()
}

impl PcieLink {
    /// Largest rate of the link in one direction, bytes per second, packet headers included: line
    /// rate less the line code, 8b/10b up to 5 GT/s and 128b/130b above (PCI Express Base
    /// Specification 5.0, 4.2.1 and 4.2.2).
    pub fn max_bytes_per_s(&self) -> Option<u64> {
        let gt_per_s = gt_per_s(self.speed.as_ref()?)?;
        let code = if gt_per_s <= 5.0 { 0.8 } else { 128.0 / 130.0 };
        let rate = gt_per_s * 1e9 * code / 8.0 * f64::from(self.width?);
        (rate.is_finite() && rate > 0.0).then_some(rate as u64)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filesystem {
    /// For example `ext4`.
    pub fs_type: String,
    pub mount_point: String,
    /// Kernel name of the block device under it.
    pub backing: Option<String>,
    pub backing_model: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveInfo {
    /// Text of the command line: a path, `null:...` or `sim:...`.
    pub spec: String,
    pub kind: DriveKind,
    /// Path to open, symbolic links resolved.
    #[serde(serialize_with = "path_as_text")]
    pub path: Option<PathBuf>,
    /// Kernel name (`nvme0n1`), file name, or profile name.
    pub name: String,
    /// What `--destroy` must name, see the module head; never empty.
    pub serial: String,
    pub model: Option<String>,
    pub firmware: Option<String>,
    /// `nvme`, `sata`, `usb`, `scsi`, `virtio`, `mmc`, `loop`, `zram`, `md`, `dm`, ...
    pub transport: Option<String>,
    pub capacity_bytes: u64,
    pub logical_block_bytes: u32,
    pub physical_block_bytes: u32,
    /// Alignment of offsets and lengths of direct I/O.
    pub min_io_bytes: u32,
    /// Alignment of buffers of direct I/O.
    pub memory_align_bytes: u32,
    /// Some filesystems reject O_DIRECT.
    pub direct_io: bool,
    /// Larger requests are split.
    pub max_io_bytes: Option<u64>,
    pub rotational: Option<bool>,
    pub read_only: bool,
    pub scheduler: Option<String>,
    pub hardware_queues: Option<u32>,
    pub nr_requests: Option<u32>,
    /// The device has polled queues (IOPOLL).
    pub io_poll: Option<bool>,
    /// `write back` or `write through`.
    pub write_cache: Option<String>,
    /// `None` also on hosts with one node.
    pub numa_node: Option<u32>,
    pub pcie: Option<PcieLink>,
    pub partition_of: Option<String>,
    pub filesystem: Option<Filesystem>,
    /// What lies between it and a drive, in words; none for a drive itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<String>,
    pub device: Option<DeviceNumber>,
    pub inode: Option<u64>,
    /// Every result on such a drive must carry the word "simulated".
    pub simulated: bool,
    #[serde(default)]
    pub nvme: Option<crate::nvme::location::NvmeLocation>,
    pub queue_pairs: Option<u16>,
    /// Lengths that the kernel writes as a whole or not at all (RWF_ATOMIC), also when power fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub atomic_writes: Option<AtomicWrites>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zones: Option<Zones>,
    /// Why it is listed and cannot be measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    pub profile: Option<String>,
    /// Of a profile fitted to a run: spread of the fit by kind of figure
    /// (`assay_ssd::profile::FitProfile`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fit_spreads: Vec<(String, f64)>,
    /// A simulated drive with `shrink=N`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shrunk: Option<Shrunk>,
    /// Payload that the link of a simulated drive carries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_second: Option<u64>,
    /// Of `files:A:B`; the other fields are of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<JoinedPart>,
    /// The computer that uses a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<NamedHost>,
}

/// An Nth of a simulated drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shrunk {
    /// The N.
    pub times: u32,
    /// As large as that of the whole drive.
    pub write_buffer_bytes: u64,
}

/// One of several files or block devices that are one address space.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinedPart {
    /// As named.
    pub name: String,
    /// What `--destroy` must name.
    pub serial: String,
    /// Where it begins.
    pub start_bytes: u64,
    pub len_bytes: u64,
}

/// Powers of two from the first to the second, at multiples of themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AtomicWrites {
    pub min_bytes: u32,
    pub max_bytes: u32,
}

/// Bytes that are not UTF-8 are replaced, because JSON cannot hold them.
fn path_as_text<S: serde::Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    path.as_ref().map(|path| path.to_string_lossy()).serialize(serializer)
}

impl DriveInfo {
    /// True for two names of one device or file: paths, hard links, bind mounts, the path in an
    /// overlay and that in its layer.
    pub fn is_same_storage(&self, other: &DriveInfo) -> bool {
        let node = |info: &DriveInfo| Some((info.kind, info.device?, info.inode));
        let (Some(path), Some(other_path)) = (&self.path, &other.path) else {
            return false;
        };
        path == other_path
            || node(self).is_some_and(|n| node(other) == Some(n))
            || self.kind == DriveKind::File
                && other.kind == DriveKind::File
                && crate::interlock::is_same_in_overlay(path, other_path)
    }

    /// The name is also the serial; blocks are 512 bytes.
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
            serial: name.clone(),
            name,
            capacity_bytes,
            logical_block_bytes: 512,
            physical_block_bytes: 512,
            min_io_bytes: 512,
            memory_align_bytes: 512,
            direct_io: true,
            simulated: kind == DriveKind::Simulated,
            ..Self::default()
        }
    }

    /// The active I/O scheduler of a solid-state drive: it costs processor time and a lock per I/O
    /// for an order of requests that only rotating media gain from (Linux,
    /// Documentation/block/switching-sched.rst and blk-mq.rst; `noop` is the name of `none` before
    /// blk-mq).
    pub fn costly_scheduler(&self) -> Option<&str> {
        let is_solid_state =
            self.transport.as_deref() == Some("nvme") || self.rotational == Some(false);
        let active = self.scheduler.as_deref().filter(|_| is_solid_state);
        active.filter(|name| !matches!(*name, "none" | "noop" | ""))
    }
}

/// Of a partition: its offset on the drive.
pub fn partition_start_bytes(info: &DriveInfo) -> Option<u64> {
    info.partition_of.as_ref()?;
    Some(block::node_of(&SystemRoot::host(), info)?.start_bytes())
}

/// What a container lacks for a drive of its host.
fn container_advice(path: &Path) -> String {
    let path = path.display();
    format!(
        "a container has only the devices that it was started with: start it with `--device \
         {path}` (docker, podman), or the unit with DeviceAllow={path} (systemd)"
    )
}

/// What gives access to a drive that may not be opened.
pub(crate) fn access_advice(path: &Path) -> String {
    let is_device = std::fs::metadata(path).is_ok_and(|m| !m.is_file());
    match (rustix::process::geteuid().is_root(), is_device) {
        (false, true) => "run as root, or add yourself to the group that owns the device (often \
                          `disk`)"
            .to_owned(),
        (false, false) => "run as root, or grant access to it".to_owned(),
        // EPERM of the device policy of its control group, or EACCES of a mount without devices.
        (true, true) => format!("root may not open it here: {}", container_advice(path)),
        (true, false) => "root may not open it here: a user namespace or a network file system \
                          denies it"
            .to_owned(),
    }
}

fn simulated_name(path: &Path) -> String {
    let drives = assay_ssd::Profile::names().into_iter();
    let drives: Vec<String> = drives.map(|name| format!("sim:{name}")).collect();
    let given = path.to_string_lossy();
    // A name with a slash is meant as a path.
    if given.contains('/') {
        return String::new();
    }
    did_you_mean(&format!("sim:{given}"), &drives.join(", "))
}

#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    #[error(
        "{path}: no such file or device{similar}; `assay list` shows the drives here, and a file \
         must exist, with data in it, before it is measured (e.g. `head -c 1G /dev/urandom > \
         FILE`)",
        path = .0.display(),
        similar = simulated_name(.0)
    )]
    Missing(PathBuf),
    #[error("{0} is a directory; name a file in it or the block device under it")]
    Directory(PathBuf),
    #[error(
        "{path} is the NVMe generic device of {block}, which does not exist; check that the \
         namespace is attached and has a format that the kernel supports"
    )]
    NvmeGeneric {
        path: PathBuf,
        /// Its block device.
        block: PathBuf,
    },
    #[error(
        "{path} is a {what}, not a drive; name a block device such as /dev/nvme0n1 or a regular \
         file"
    )]
    NotADrive {
        path: PathBuf,
        /// Kind.
        what: &'static str,
    },
    #[error("{path} has zero size; {advice}")]
    ZeroSize { path: PathBuf, advice: String },
    #[error("{0}: permission denied; {advice}", advice = access_advice(.0))]
    PermissionDenied(PathBuf),
    #[error(
        "{0}: the kernel has this drive, but /dev has no device node of it; {advice}",
        advice = container_advice(.0)
    )]
    NoNode(PathBuf),
    #[error(
        "{path} is block device {device}, but {sysfs} does not exist; check that /sys is mounted \
         and the device still attached"
    )]
    NotInSysfs { path: PathBuf, device: DeviceNumber, sysfs: PathBuf },
    #[error("{path}: cannot {doing}: {source}")]
    Io { path: PathBuf, doing: &'static str, source: std::io::Error },
}

/// Symbolic links such as `/dev/disk/by-id/...` are followed.
pub fn identify(path: &Path) -> Result<DriveInfo, IdentityError> {
    identify_at(&SystemRoot::host(), path)
}

/// What sysfs has of a block device that cannot be opened, or of which /dev has no node.
pub fn identify_unopened(path: &Path) -> Option<DriveInfo> {
    file::identify_unopened_at(&SystemRoot::host(), path)
}

/// Whole drives of non-zero size, without RAM disks, and NVMe namespaces whose format the kernel
/// does not support ([`DriveInfo::unusable`]); drives that cannot be identified are left out.
pub fn list_drives() -> Vec<DriveInfo> {
    list_drives_at(&SystemRoot::host())
}
