//! What lies between a measured file or device and a drive.

use super::{DriveInfo, DriveKind};

/// In words, the nearest layer first; none for a drive itself.
pub(super) fn layers(info: &DriveInfo, backing: Option<&DriveInfo>) -> Vec<String> {
    let mut layers = Vec::new();
    match info.kind {
        DriveKind::Block => {
            layers.extend(of_device(info).map(str::to_owned));
        }
        DriveKind::File => {
            let fs_type = info.filesystem.as_ref().map(|fs| fs.fs_type.as_str());
            layers.push(of_file_system(fs_type.unwrap_or("an unknown file system")));
            if let Some(backing) = backing
                && let Some(device) = of_device(backing)
            {
                layers.push(format!("{device} ({})", backing.name));
            }
        }
        DriveKind::Null | DriveKind::Simulated => {}
    }
    layers
}

/// Of block devices that are no drive.
fn of_device(info: &DriveInfo) -> Option<&'static str> {
    const OF_TRANSPORT: [(&str, &str); 18] = [
        ("zram", "a compressed device in this host's memory"),
        ("ram", "a device in this host's memory"),
        ("null_blk", "a device without storage"),
        ("loop", "a loop device over a file"),
        ("virtio", "a virtual disk"),
        ("virtio-scsi", "a virtual disk"),
        ("xen", "a virtual disk"),
        ("nbd", "a device over a network"),
        ("rbd", "a device over a network"),
        ("iscsi", "a device over a network"),
        ("nvme-tcp", "a drive over a network"),
        ("nvme-rdma", "a drive over a network"),
        ("nvme-fc", "a drive over a network"),
        ("ublk", "a device of a program"),
        ("dm", "a device-mapper device"),
        ("md", "a software RAID"),
        ("bcache", "a block cache"),
        ("zvol", "a ZFS volume"),
    ];
    /// In the model, of drives that hypervisors emulate.
    const EMULATED: [&str; 6] = ["qemu", "vbox", "vmware", "virtual", "amazon elastic", "google"];
    let transport = info.transport.as_deref().unwrap_or_default();
    let known = OF_TRANSPORT.iter().find(|(name, _)| *name == transport);
    known.map(|(_, text)| *text).or_else(|| {
        let model = info.model.as_deref().unwrap_or_default().to_lowercase();
        let is_emulated = EMULATED.iter().any(|word| model.contains(word));
        is_emulated.then_some("a virtual disk")
    })
}

fn of_file_system(fs_type: &str) -> String {
    let network = ["nfs", "cifs", "smb", "9p", "ceph", "afs", "gluster", "lustre", "virtiofs"];
    let is = |prefixes: &[&str]| prefixes.iter().any(|prefix| fs_type.starts_with(prefix));
    let what = if is(&["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"]) {
        "a file in this host's memory"
    } else if is(&network) {
        "a file over a network"
    } else if is(&["fuse"]) {
        "a file of a program"
    } else if is(&["overlay"]) {
        "a file in layers, copied when it is first written"
    } else if is(&["btrfs", "zfs", "bcachefs"]) {
        "a file that is copied on write"
    } else {
        "a file"
    };
    format!("{what} ({fs_type})")
}

#[cfg(test)]
#[path = "../../tests/unit/identity/layers.rs"]
mod tests;
