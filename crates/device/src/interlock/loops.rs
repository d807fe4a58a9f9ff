use std::io;
use std::path::PathBuf;

use assay_io::system_calls::loop_backing;

use crate::identity::{BlockNode, DeviceNumber, SystemRoot, split_device_number};
use crate::open::open_file;

use super::Subject;
use super::exclusive_open::subject_at;

#[derive(Debug, Clone)]
pub(super) struct Loop {
    pub name: String,
    pub device: DeviceNumber,
    pub backing_path: PathBuf,
    /// `None` when neither the ioctl nor the path gives it.
    pub backing: Option<Subject>,
}

pub(super) fn attached_loops(root: &SystemRoot) -> io::Result<Vec<Loop>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(root.sys("block"))? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with("loop") {
            continue;
        }
        // Detached meanwhile.
        let Ok(node) = BlockNode::in_dir(&entry.path()) else {
            continue;
        };
        let Some(backing_path) = node.attribute("loop/backing_file") else {
            continue;
        };
        let backing = backing_by_ioctl(root, &node).or_else(|| subject_at(backing_path.as_ref()));
        found.push(Loop {
            name: node.name,
            device: node.device,
            backing_path: backing_path.into(),
            backing,
        });
    }
    Ok(found)
}

/// The ioctl is correct also for files that were renamed, deleted or are in another mount
/// namespace, where the path in sysfs is not. Needs permission to open the loop device.
fn backing_by_ioctl(root: &SystemRoot, node: &BlockNode) -> Option<Subject> {
    let path = root.dev(node.dev_name());
    if subject_at(&path) != Some(Subject::Block(node.device)) {
        return None;
    }
    let info = loop_backing(&open_file(&path, false, libc::O_NONBLOCK).ok()?)?;
    Some(match info.rdevice {
        0 => Subject::File { device: split_device_number(info.device), inode: info.inode },
        number => Subject::Block(split_device_number(number)),
    })
}
