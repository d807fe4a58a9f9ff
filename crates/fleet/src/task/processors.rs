//! Processors of each drive when several are measured at once: those of its NUMA node, divided
//! among the node's drives.

use assay_device::identity::SystemRoot;
use rustix::thread::CpuSet;

use crate::inventory::InventoryDrive;

/// `None` where the drive's node is unknown or has fewer processors than drives.
pub(super) fn processors_of_drive<'a>(
    drive: &InventoryDrive,
    all: impl Iterator<Item = &'a InventoryDrive>,
) -> Option<CpuSet> {
    let node = drive.numa_node?;
    let path = SystemRoot::host().sys(format!("devices/system/node/node{node}/cpulist"));
    let processors = parse_list(&std::fs::read_to_string(path).ok()?)?;
    let of_node: Vec<&InventoryDrive> = all.filter(|d| d.numa_node == Some(node)).collect();
    let position = of_node.iter().position(|d| d.serial == drive.serial)?;
    let share = share(&processors, position, of_node.len())?;
    let mut set = CpuSet::new();
    for &processor in share {
        set.set(processor);
    }
    Some(set)
}

fn share(processors: &[usize], position: usize, parts: usize) -> Option<&[usize]> {
    let len = processors.len();
    let part = processors.get(len * position / parts..len * (position + 1) / parts)?;
    (!part.is_empty()).then_some(part)
}

/// `0-3,8` (Documentation/admin-guide/cputopology.rst).
fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut processors = Vec::new();
    for range in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last >= CpuSet::MAX_CPU {
            return None;
        }
        processors.extend(first..=last);
    }
    Some(processors)
}

#[cfg(test)]
#[path = "../../tests/unit/task_processors.rs"]
mod tests;
