//! Synthetic tables: stacks that the kernel of the test host cannot build (LVM, RAID, LUKS,
//! multipath), and damaged ones.

use std::cell::RefCell;
use std::fs::{self, File};
use std::os::unix::fs::symlink;

use tempfile::TempDir;

use super::*;

struct Tree {
    dir: TempDir,
}

impl Tree {
    /// One drive `sdz` (8:400) with partitions 1 and 2 (8:401, 8:402), everything free.
    fn new() -> Self {
        let tree = Self { dir: TempDir::new().unwrap() };
        let drive = "sys/devices/x/block/sdz";
        tree.node(drive, "8:400");
        for part in [1, 2] {
            tree.node(&format!("{drive}/sdz{part}"), &format!("8:40{part}"));
            tree.file(&format!("{drive}/sdz{part}/partition"), "1");
        }
        tree.link("sys/block/sdz", drive);
        for table in ["mounts", "swaps", "locks", "self/mountinfo"] {
            tree.file(&format!("proc/{table}"), "");
        }
        tree
    }

    fn node(&self, dir: &str, number: &str) {
        self.file(&format!("{dir}/dev"), number);
        self.link(&format!("sys/dev/block/{number}"), dir);
        fs::create_dir_all(self.dir.path().join(dir).join("holders")).unwrap();
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn link(&self, path: &str, target: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.dir.path().join(target), path).unwrap();
    }

    fn reasons(&self, minor: u32) -> Vec<RefusalReason> {
        self.claimed(minor, &[]).0
    }

    /// The reasons and the claimed devices, if these devices are claimed by another process.
    fn claimed(&self, minor: u32, busy: &[&str]) -> (Vec<RefusalReason>, Vec<String>) {
        let root = SystemRoot::at(self.dir.path());
        let asked = RefCell::default();
        let open = |node: &BlockNode| {
            let name = node.dev_name();
            let busy = busy.contains(&name.as_str());
            if !busy {
                RefCell::<Vec<String>>::borrow_mut(&asked).push(name);
            }
            Ok((OwnedFd::from(File::open("/dev/null")?), busy))
        };
        let mut claims = Vec::new();
        let subject = Subject::Block(DeviceNumber { major: 8, minor });
        let reasons = examine_with(&root, &open, &subject, "it", &mut claims);
        let claimed = asked.into_inner();
        assert_eq!(claims.len(), claimed.len(), "a claim is kept");
        (reasons, claimed)
    }
}

#[test]
fn a_free_drive_has_no_reasons() {
    let tree = Tree::new();
    for minor in 400..403 {
        assert_eq!(tree.reasons(minor), []);
    }
}

#[test]
fn a_mounted_partition_blocks_its_drive_but_not_its_siblings() {
    for table in ["self/mountinfo", "mounts"] {
        let tree = Tree::new();
        let text = match table {
            "mounts" => "/dev/sdz1 /mnt/a\\040b ext4 rw 0 0\n",
            _ => "30 1 8:401 / /mnt/a\\040b rw - ext4 /dev/whatever rw\n",
        };
        tree.file(&format!("proc/{table}"), text);
        let mounted = |device: &str| {
            vec![RefusalReason::Mounted {
                device: device.into(),
                mount_point: "/mnt/a b".into(),
                fs_type: "ext4".into(),
            }]
        };
        assert_eq!(tree.reasons(400), mounted("/dev/sdz1"), "{table}");
        assert_eq!(tree.reasons(401), mounted("it"), "{table}");
        assert_eq!(tree.reasons(402), [], "{table}");
    }
}

/// A namespace that two controllers reach, with `nvme_core.multipath=N`: two block devices, each
/// with partitions at the same places.
fn two_paths(wwid_of_the_second: &str, wwid_file: &str) -> Tree {
    let tree = Tree::new();
    let drive = "sys/devices/y/block/sdy";
    tree.node(drive, "8:500");
    tree.link("sys/block/sdy", drive);
    tree.file(&format!("sys/devices/x/block/sdz/{wwid_file}"), "eui.01\n");
    tree.file(&format!("{drive}/{wwid_file}"), wwid_of_the_second);
    for part in [1, 2] {
        let of_second = format!("{drive}/sdy{part}");
        tree.node(&of_second, &format!("8:50{part}"));
        tree.file(&format!("{of_second}/partition"), "1");
        for dir in [of_second, format!("sys/devices/x/block/sdz/sdz{part}")] {
            tree.file(&format!("{dir}/start"), &format!("{}", part * 2048));
            tree.file(&format!("{dir}/size"), "2048");
        }
    }
    tree
}

#[test]
fn use_through_one_path_blocks_the_other() {
    for wwid_file in ["wwid", "device/wwid"] {
        let tree = two_paths("eui.01\n", wwid_file);
        assert_eq!(tree.reasons(400), []);
        tree.file("proc/self/mountinfo", "30 1 8:501 / /data rw - ext4 /dev/sdy1 rw\n");
        tree.file("sys/devices/y/block/sdy/sdy1/holders/md7", "");
        let expected = |device: &str| {
            vec![
                RefusalReason::Mounted {
                    device: device.into(),
                    mount_point: "/data".into(),
                    fs_type: "ext4".into(),
                },
                RefusalReason::Held {
                    device: device.into(),
                    holder: "md7".into(),
                    what: "a software RAID, md".into(),
                },
            ]
        };
        // The drive and its first partition, by either path; not the second partition.
        for (minor, label) in
            [(400, "/dev/sdy1"), (401, "/dev/sdy1"), (500, "/dev/sdy1"), (501, "it")]
        {
            assert_eq!(tree.reasons(minor), expected(label), "{minor}");
        }
        assert_eq!(tree.reasons(402), []);
        assert_eq!(tree.reasons(502), []);
        // A mount of the whole drive by the other path is a use of every partition.
        tree.file("proc/self/mountinfo", "30 1 8:500 / /data rw - xfs /dev/sdy rw\n");
        assert!(matches!(
            &tree.reasons(402)[..],
            [RefusalReason::Mounted { device, .. }] if device == "/dev/sdy"
        ));
    }
}

#[test]
fn a_permit_claims_every_path() {
    let tree = two_paths("eui.01\n", "wwid");
    // The whole drive, or the partition at the same offset; not its sibling.
    for (minor, beside) in [(400, "sdy"), (500, "sdz"), (401, "sdy1"), (402, "sdy2"), (501, "sdz1")]
    {
        assert_eq!(tree.claimed(minor, &[]), (vec![], vec![beside.to_owned()]), "{minor}");
        // A program that holds the other path and is in no table.
        let elsewhere = RefusalReason::ClaimedElsewhere { device: format!("/dev/{beside}") };
        assert_eq!(tree.claimed(minor, &[beside]), (vec![elsewhere], vec![]), "{minor}");
    }
    // A known mount is listed once.
    tree.file("proc/self/mountinfo", "30 1 8:500 / /data rw - ext4 /dev/sdy rw\n");
    let (reasons, _) = tree.claimed(400, &["sdy"]);
    assert!(matches!(&reasons[..], [RefusalReason::Mounted { .. }]), "{reasons:?}");
    // A path of native NVMe multipathing has no device node.
    tree.file("proc/self/mountinfo", "");
    tree.file("sys/devices/y/block/sdy/hidden", "1\n");
    assert_eq!(tree.claimed(400, &["sdy"]), (vec![], vec![]));
    // Otherwise a path that cannot be opened blocks the drive.
    fs::remove_file(tree.dir.path().join("sys/devices/y/block/sdy/hidden")).unwrap();
    let root = SystemRoot::at(tree.dir.path());
    let subject = Subject::Block(DeviceNumber { major: 8, minor: 400 });
    let reasons = examine(&root, &subject, "it", &mut Vec::new());
    assert!(
        matches!(&reasons[..], [RefusalReason::Unchecked { what, .. }] if what.contains("/dev/sdy")),
        "{reasons:?}"
    );
}

#[test]
fn other_drives_are_not_paths() {
    for wwid in ["eui.02\n", "\n"] {
        let tree = two_paths(wwid, "wwid");
        tree.file("proc/self/mountinfo", "30 1 8:500 / /data rw - ext4 /dev/sdy rw\n");
        assert_eq!(tree.reasons(400), [], "{wwid:?}");
    }
}

#[test]
fn a_file_system_on_the_whole_drive_blocks_its_partitions() {
    let tree = Tree::new();
    // As in btrfs: a separate device number, and the device as source.
    tree.file("proc/self/mountinfo", "30 1 0:55 / /data rw - btrfs /dev/sdz rw\n");
    for (minor, device) in [(400, "it"), (401, "/dev/sdz"), (402, "/dev/sdz")] {
        let expected = RefusalReason::Mounted {
            device: device.into(),
            mount_point: "/data".into(),
            fs_type: "btrfs".into(),
        };
        assert_eq!(tree.reasons(minor), [expected]);
    }
}

#[test]
fn holders_are_named_by_kind() {
    let kinds = [
        ("md0", None, "a software RAID, md"),
        ("bcache0", None, "a bcache device"),
        ("dm-3", Some("LVM-abcdef"), "LVM volume name"),
        ("dm-3", Some("CRYPT-LUKS2-0-x"), "encrypted device name"),
        ("dm-3", Some("mpath-360"), "multipath device name"),
        ("dm-3", Some(""), "device-mapper device name"),
        ("weird0", None, "a device stacked on it"),
    ];
    for (holder, uuid, what) in kinds {
        let tree = Tree::new();
        tree.file(&format!("sys/devices/x/block/sdz/sdz2/holders/{holder}"), "");
        if let Some(uuid) = uuid {
            let dir = format!("sys/devices/virtual/block/{holder}");
            tree.file(&format!("{dir}/dev"), "252:3");
            tree.file(&format!("{dir}/dm/uuid"), uuid);
            tree.file(&format!("{dir}/dm/name"), "name");
            tree.link(&format!("sys/class/block/{holder}"), &dir);
        }
        let held = |device: &str| {
            vec![RefusalReason::Held {
                device: device.into(),
                holder: holder.into(),
                what: what.into(),
            }]
        };
        assert_eq!(tree.reasons(400), held("/dev/sdz2"));
        assert_eq!(tree.reasons(402), held("it"));
        assert_eq!(tree.reasons(401), []);
    }
}

#[test]
fn swap_and_loops_count_through_the_drive_and_its_partitions() {
    let tree = Tree::new();
    tree.file("proc/swaps", "Filename Type Size Used Priority\n/dev/sdz2 partition 1 0 -2\n");
    let loop_dir = "sys/devices/virtual/block/loop9";
    tree.node(loop_dir, "7:9");
    tree.file(&format!("{loop_dir}/loop/backing_file"), "/dev/sdz1\n");
    tree.link("sys/block/loop9", loop_dir);
    let drive = tree.reasons(400);
    assert!(drive.contains(&RefusalReason::Swap { device: "/dev/sdz2".into() }), "{drive:?}");
    assert!(
        drive.contains(&RefusalReason::BacksLoop {
            device: "/dev/sdz1".into(),
            loop_device: "loop9".into()
        }),
        "{drive:?}"
    );
    assert_eq!(
        tree.reasons(401),
        [RefusalReason::BacksLoop { device: "it".into(), loop_device: "loop9".into() }]
    );
    assert_eq!(tree.reasons(402), [RefusalReason::Swap { device: "it".into() }]);
}

#[test]
fn a_loop_device_over_something_unknown_counts_as_unchecked() {
    let tree = Tree::new();
    let loop_dir = "sys/devices/virtual/block/loop9";
    tree.node(loop_dir, "7:9");
    tree.file(&format!("{loop_dir}/loop/backing_file"), "/nowhere/at/all (deleted)\n");
    tree.link("sys/block/loop9", loop_dir);
    let root = SystemRoot::at(tree.dir.path());
    let reasons =
        examine(&root, &Subject::Block(DeviceNumber { major: 7, minor: 9 }), "it", &mut Vec::new());
    assert!(matches!(&reasons[..], [RefusalReason::Unchecked { .. }]), "{reasons:?}");
}

#[test]
fn locks_and_swap_on_a_file() {
    let tree = Tree::new();
    fs::create_dir_all(tree.dir.path().join("sys/block")).unwrap();
    let image = tree.dir.path().join("image");
    fs::write(&image, "x").unwrap();
    let Some(Subject::File { device, inode }) = subject_at(&image) else { panic!("not a file") };
    let root = SystemRoot::at(tree.dir.path());
    let reasons = || examine(&root, &Subject::File { device, inode }, "it", &mut Vec::new());
    assert_eq!(reasons(), []);
    let place = format!("{:02x}:{:02x}:{inode}", device.major, device.minor);
    tree.file(
        "proc/locks",
        &format!("1: POSIX ADVISORY WRITE {} {place} 0 EOF\n", std::process::id()),
    );
    assert_eq!(reasons(), [], "our own lock");
    tree.file(
        "proc/locks",
        &format!(
            "1: OFDLCK ADVISORY READ -1 {place} 100 101\n2: OFDLCK ADVISORY READ -1 {place} 103 \
             103\n"
        ),
    );
    assert_eq!(reasons(), [RefusalReason::Locked { device: "it".into(), pid: None }]);
    tree.file("proc/locks", "");
    tree.file("proc/swaps", &format!("Filename\n{} file 1 0 -2\n", image.display()));
    assert_eq!(reasons(), [RefusalReason::Swap { device: "it".into() }]);
}

#[test]
fn unreadable_state_blocks_the_drive() {
    for missing in ["proc/self/mountinfo", "proc/mounts", "sys/block", "sys/dev/block/8:400"] {
        let tree = Tree::new();
        let path = tree.dir.path().join(missing);
        if path.is_dir() && !path.is_symlink() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        }
        .unwrap();
        let reasons = tree.reasons(400);
        assert!(
            matches!(&reasons[..], [RefusalReason::Unchecked { .. }]),
            "without {missing}: {reasons:?}"
        );
    }
    for optional in ["proc/swaps", "proc/locks"] {
        let tree = Tree::new();
        fs::remove_file(tree.dir.path().join(optional)).unwrap();
        assert_eq!(tree.reasons(400), [], "a kernel without {optional}");
    }
}
