use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::identity::root::{entries, is_numbered};
use crate::identity::{BlockNode, SystemRoot};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NvmeLocation {
    /// Device file (`/dev/nvme0`).
    pub controller: PathBuf,
    /// Generic character device (`/dev/ng0n1`), where the kernel creates one.
    pub generic: Option<PathBuf>,
    pub nsid: u32,
    /// Limit of controller and kernel.
    pub max_command_bytes: Option<u64>,
    pub sysfs: PathBuf,
    /// MSI-X vectors that the kernel allocated.
    pub interrupt_vectors: Option<u32>,
    /// Block devices of all namespaces of the controller, sorted.
    pub namespaces: Vec<String>,
}

/// `None` where it is not NVMe or sysfs is incomplete.
pub(crate) fn of_block(
    root: &SystemRoot,
    whole: &BlockNode,
    hardware: Option<&Path>,
) -> Option<NvmeLocation> {
    let hardware = hardware?;
    let controller = hardware.file_name().filter(|name| is_numbered(name, "nvme"))?;
    let nsid = whole.number("nsid")?;
    let number = whole.name.strip_prefix("nvme");
    let generic = number.map(|number| root.dev(format!("ng{number}")));
    Some(NvmeLocation {
        controller: root.dev(controller),
        generic: generic.filter(|path| path.exists()),
        nsid,
        max_command_bytes: whole.kib("queue/max_hw_sectors_kb"),
        interrupt_vectors: std::fs::read_dir(hardware.join("device/msi_irqs"))
            .ok()
            .map(|entries| entries.count() as u32),
        namespaces: namespaces(root, hardware),
        sysfs: hardware.to_path_buf(),
    })
}

/// Includes multipath heads.
fn namespaces(root: &SystemRoot, hardware: &Path) -> Vec<String> {
    let nodes = entries(&root.sys("class/block")).filter_map(|dir| BlockNode::in_dir(&dir).ok());
    let own = |node: &BlockNode| {
        node.name.starts_with("nvme")
            && !node.is_partition()
            && node.hardware_dir().as_deref() == Some(hardware)
    };
    let mut names: Vec<String> = nodes.filter(own).map(|node| node.name).collect();
    names.sort();
    names
}

/// `/dev/ng0n1` gives `/dev/nvme0n1`.
pub fn block_beside(generic: &Path) -> Option<PathBuf> {
    let name = generic.file_name()?.to_str()?;
    let rest = name.strip_prefix("ng")?;
    let beside = generic.with_file_name(format!("nvme{rest}"));
    beside.exists().then_some(beside)
}
