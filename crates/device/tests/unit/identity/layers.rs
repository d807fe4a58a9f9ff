use super::super::Filesystem;
use super::*;

fn block(transport: &str, model: &str) -> DriveInfo {
    DriveInfo {
        transport: Some(transport.to_owned()),
        model: Some(model.to_owned()),
        ..DriveInfo::new(DriveKind::Block, "/dev/x", "x", 1 << 30)
    }
}

#[test]
fn a_drive_has_no_layers_and_what_stands_for_one_has() {
    for (transport, model, expected) in [
        ("nvme", "Samsung SSD 990 PRO 2TB", None),
        ("sata", "Samsung SSD 870", None),
        ("nvme", "QEMU NVMe Ctrl", Some("a virtual disk")),
        ("sata", "VBOX HARDDISK", Some("a virtual disk")),
        ("virtio", "", Some("a virtual disk")),
        ("zram", "", Some("a compressed device in this host's memory")),
        ("nvme-tcp", "Linux", Some("a drive over a network")),
    ] {
        let found = layers(&block(transport, model), None);
        assert_eq!(found.first().map(String::as_str), expected, "{transport} {model}");
    }
}

#[test]
fn a_file_names_its_file_system_and_what_is_under_it() {
    let file = |fs_type: &str| DriveInfo {
        filesystem: Some(Filesystem {
            fs_type: fs_type.to_owned(),
            mount_point: "/".to_owned(),
            backing: None,
            backing_model: None,
        }),
        ..DriveInfo::new(DriveKind::File, "f", "f", 1 << 20)
    };
    let under = block("virtio", "");
    assert_eq!(layers(&file("ext4"), Some(&under)), ["a file (ext4)", "a virtual disk (x)"]);
    assert_eq!(layers(&file("xfs"), Some(&block("nvme", ""))), ["a file (xfs)"]);
    assert_eq!(layers(&file("tmpfs"), None), ["a file in this host's memory (tmpfs)"]);
    assert_eq!(layers(&file("nfs4"), None), ["a file over a network (nfs4)"]);
}
