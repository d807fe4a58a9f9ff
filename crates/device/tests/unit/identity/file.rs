use super::*;

#[test]
fn names_are_sorted_in_natural_order() {
    let mut names = ["nvme10n1", "sda", "nvme2n1", "nvme2n10", "zram0", "nvme2n2"];
    names.sort_by_cached_key(|n| natural_key(n));
    assert_eq!(names, ["nvme2n1", "nvme2n2", "nvme2n10", "nvme10n1", "sda", "zram0"]);
}

#[test]
fn the_mount_of_a_file_is_by_id_then_by_longest_prefix() {
    let text = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 8:1 / /data rw - ext4 /dev/sda1 rw\n3 1 \
                0:40 / /b rw - btrfs /dev/sdb rw\n";
    let mounts = parse_mountinfo(text);
    let device = DeviceNumber { major: 8, minor: 1 };
    let found = |id, path: &str| mount_of(&mounts, id, device, Path::new(path)).map(|m| m.id);
    assert_eq!(found(None, "/data/x"), Some(2));
    assert_eq!(found(None, "/database/x"), Some(1));
    assert_eq!(found(Some(3), "/data/x"), Some(3));
    assert_eq!(found(Some(99), "/data/x"), Some(2));
}

#[test]
fn probing_agrees_with_statx_where_both_answer() {
    let file = tempfile::NamedTempFile::new().unwrap();
    file.as_file().set_len(1 << 20).unwrap();
    let probed = probe_direct_io(file.path());
    if let Some(reported) = statx_direct_io(file.path()) {
        assert_eq!(probed.supported, reported.supported);
        assert_eq!(probed.offset_align_bytes, reported.offset_align_bytes);
        assert!(probed.memory_align_bytes >= reported.memory_align_bytes);
    }
    assert!(probed.offset_align_bytes == 512 || probed.offset_align_bytes == 4096);
}
