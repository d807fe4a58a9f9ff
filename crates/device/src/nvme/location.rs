//! Controller and namespace of a drive in sysfs.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::identity::{BlockNode, SystemRoot};

/// Controller and namespace of a drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvmeLocation {
    /// Device file of the controller (`/dev/nvme0`).
    pub controller: PathBuf,
    /// The namespace's generic character device (`/dev/ng0n1`), where the kernel creates one.
    pub generic: Option<PathBuf>,
    /// Namespace identifier.
    pub nsid: u32,
    /// Largest transfer of one command, bytes (limit of controller and kernel).
    pub max_command_bytes: Option<u64>,
    /// Directory of the controller in sysfs.
    pub sysfs: PathBuf,
    /// MSI-X vectors allocated by the kernel.
    pub interrupt_vectors: Option<u32>,
    /// Block devices of all namespaces of the controller, sorted.
    pub namespaces: Vec<String>,
}

/// The location of a block device; `None` where it is not NVMe or sysfs is incomplete.
pub(crate) fn of_block(
    root: &SystemRoot,
    whole: &BlockNode,
    hardware: Option<&Path>,
) -> Option<NvmeLocation> {
    let hardware = hardware?;
    let controller = hardware.file_name()?.to_str()?;
    let digits = controller.strip_prefix("nvme")?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let nsid = whole.attribute("nsid")?.parse().ok()?;
    let generic = whole
        .name
        .strip_prefix("nvme")
        .map(|rest| format!("ng{rest}"));
    let generic = generic
        .map(|name| root.dev(name))
        .filter(|path| path.exists());
    Some(NvmeLocation {
        controller: root.dev(controller),
        generic,
        nsid,
        max_command_bytes: whole
            .attribute("queue/max_hw_sectors_kb")
            .and_then(|kib| kib.parse::<u64>().ok())
            .map(|kib| kib.saturating_mul(1024)),
        interrupt_vectors: std::fs::read_dir(hardware.join("device/msi_irqs"))
            .ok()
            .map(|entries| entries.count() as u32),
        namespaces: namespaces(root, hardware),
        sysfs: hardware.to_path_buf(),
    })
}

/// Block devices of this controller, multipath heads included.
fn namespaces(root: &SystemRoot, hardware: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root.sys("class/block")) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("nvme"))
        .filter_map(|entry| BlockNode::in_dir(&entry.path()).ok())
        .filter(|node| !node.is_partition() && node.hardware_dir().as_deref() == Some(hardware))
        .map(|node| node.name)
        .collect();
    names.sort();
    names
}

/// The block device of a generic character device (`/dev/ng0n1`: `/dev/nvme0n1`), where there is one.
pub fn block_beside(generic: &Path) -> Option<PathBuf> {
    let name = generic.file_name()?.to_str()?;
    let rest = name.strip_prefix("ng")?;
    let beside = generic.with_file_name(format!("nvme{rest}"));
    beside.exists().then_some(beside)
}
