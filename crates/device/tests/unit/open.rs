use std::os::unix::fs::symlink;

use super::*;

/// A sysfs in which block device 259:0 is `nvme0n1` of controller `nvme0`, and the character device
/// 240:0 is `generic`.
fn sysfs(generic: &str) -> (tempfile::TempDir, SystemRoot) {
    let folder = tempfile::tempdir().unwrap();
    let root = SystemRoot::at(folder.path());
    for (class, number, node) in [("block", "259:0", "nvme0/nvme0n1"), ("char", "240:0", generic)] {
        let node = root.sys(format!("devices/nvme/{node}"));
        std::fs::create_dir_all(&node).unwrap();
        let links = root.sys(format!("dev/{class}"));
        std::fs::create_dir_all(&links).unwrap();
        symlink(node, links.join(number)).unwrap();
    }
    (folder, root)
}

fn check(generic: &str) -> io::Result<()> {
    let (_folder, root) = sysfs(generic);
    let number = |major, minor| DeviceNumber { major, minor };
    check_same_sysfs_parent(&root, number(259, 0), number(240, 0))
}

/// Namespace identifiers agree in all of these cases: most drives have one namespace, and its
/// identifier is 1.
#[test]
fn a_generic_device_of_another_controller_or_namespace_is_refused() {
    check("nvme0/ng0n1").unwrap();
    for other in ["nvme1/ng0n1", "nvme1/ng1n1", "nvme0/ng0n2"] {
        let error = check(other).unwrap_err().to_string();
        assert!(error.contains("assay list"), "{other}: {error}");
    }
}

#[test]
fn a_device_without_sysfs_node_is_refused() {
    let (_folder, root) = sysfs("nvme0/ng0n1");
    let number = |major, minor| DeviceNumber { major, minor };
    check_same_sysfs_parent(&root, number(259, 0), number(240, 1)).unwrap_err();
}

#[test]
fn a_device_that_is_no_nvme_namespace_is_refused() {
    let null = File::open("/dev/null").unwrap();
    check_same_namespace(&SystemRoot::host(), &null, &null, 1).unwrap_err();
}
