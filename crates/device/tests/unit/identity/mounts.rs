use super::*;
use proptest::prelude::*;

#[test]
fn mountinfo_with_and_without_optional_fields() {
    let text = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n36 35 98:0 /mnt1 /mnt\\0402 \
                rw,noatime master:1 shared:2 - ext3 /dev/my\\040disk \
                rw,errors=continue\ngarbage\n40 39 x:y / / rw - a b c\n";
    let mounts = parse_mountinfo(text);
    assert_eq!(mounts.len(), 2);
    assert_eq!(mounts[0].device, DeviceNumber { major: 254, minor: 0 });
    assert_eq!(mounts[1].mount_point, "/mnt 2");
    assert_eq!(mounts[1].source, "/dev/my disk");
    assert_eq!(mounts[1].fs_type, "ext3");
    assert_eq!(mounts[1].id, 36);
}

#[test]
fn swaps_and_mounts() {
    let text = "Filename\t\t\t\tType\t\tSize\n/dev/zram0                              \
                partition\t1\n/a\\040b\\040(deleted)  file 3\n";
    assert_eq!(parse_swaps(text), [PathBuf::from("/dev/zram0"), PathBuf::from("/a b")]);
    assert_eq!(parse_swaps(""), Vec::<PathBuf>::new());
    assert_eq!(
        parse_mounts("/dev/a /b\\0112 ext4 rw 0 0\n"),
        [("/dev/a".into(), "/b\t2".into(), "ext4".into())]
    );
}

#[test]
fn locks_of_records_and_whole_files() {
    let text = "1: POSIX  ADVISORY  WRITE 3568 fe:01:2531452 0 EOF\n2: OFDLCK ADVISORY  READ -1 \
                00:1c:77 100 101\n3: FLOCK  ADVISORY  WRITE 1 08:02:5 0 EOF\n1: -> POSIX  \
                ADVISORY  WRITE 12 fe:01:2531452 0 EOF\n";
    let locks = parse_locks(text);
    let whole: Vec<bool> = locks.iter().map(|lock| lock.is_whole_file).collect();
    assert_eq!(whole, [false, false, true, false]);
    assert_eq!(
        locks[0],
        FileLock {
            device: DeviceNumber { major: 254, minor: 1 },
            inode: 2_531_452,
            pid: Some(3568),
            is_whole_file: false,
        }
    );
    assert_eq!(
        locks[1],
        FileLock {
            device: DeviceNumber { major: 0, minor: 28 },
            inode: 77,
            pid: None,
            is_whole_file: false,
        }
    );
    assert_eq!((locks[2].pid, locks[3].pid), (Some(1), Some(12)));
    assert_eq!(parse_locks("4: LEASE  ACTIVE    READ 12 fe:01:2 0 EOF\n"), []);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in "[\\x00-\\x7f\u{e9}]{0,200}") {
        parse_mountinfo(&text);
        parse_mounts(&text);
        parse_swaps(&text);
        parse_locks(&text);
        unescape(&text);
    }
}
