//! Which controller and which namespace a drive is, in sysfs.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::identity::{BlockNode, SystemRoot};

/// Where a drive is in the world of NVMe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvmePlace {
    /// Device file of its controller (`/dev/nvme0`): takes admin commands.
    pub controller: PathBuf,
    /// The namespace's generic character device (`/dev/ng0n1`), where the kernel makes one: takes commands as they are.
    pub generic: Option<PathBuf>,
    /// Namespace identifier.
    pub nsid: u32,
    /// Most bytes that one command moves (the controller's limit, and the kernel's).
    pub max_command_bytes: Option<u64>,
    /// The controller in sysfs.
    pub sysfs: PathBuf,
    /// Interrupt vectors (MSI-X) that the kernel holds for it.
    pub interrupt_vectors: Option<u32>,
    /// Block devices of the controller's namespaces, this one's too, in order.
    pub namespaces: Vec<String>,
}

/// The place of a block device's drive; `None` where it is not NVMe, or sysfs does not say enough.
pub(crate) fn of_block(
    root: &SystemRoot,
    whole: &BlockNode,
    hardware: Option<&Path>,
) -> Option<NvmePlace> {
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
    Some(NvmePlace {
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

/// Block devices whose controller this is. A multipath head counts: it is where I/O goes.
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

/// The block device beside a generic character device (`/dev/ng0n1`: `/dev/nvme0n1`), where there is one.
pub fn block_beside(generic: &Path) -> Option<PathBuf> {
    let name = generic.file_name()?.to_str()?;
    let rest = name.strip_prefix("ng")?;
    let beside = generic.with_file_name(format!("nvme{rest}"));
    beside.exists().then_some(beside)
}
