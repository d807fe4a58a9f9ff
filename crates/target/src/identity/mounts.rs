//! The kernel's lists of mounts, active swap and file locks, parsed.

use std::path::PathBuf;

use super::DeviceNumber;
use super::block::parse_device_number;

/// One line of `/proc/PID/mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Mount id, as statx gives it in `stx_mnt_id`.
    pub id: u64,
    /// Number of the device as `stat` of a file on it shows it (major 0 for btrfs, tmpfs, overlay, ...).
    pub device: DeviceNumber,
    /// Where it is mounted.
    pub mount_point: String,
    /// Filesystem type.
    pub fs_type: String,
    /// What was mounted: usually a path in /dev.
    pub source: String,
}

/// Parses `/proc/self/mountinfo` (proc_pid_mountinfo(5)): id, parent, major:minor, root, mount point, options, any number of
/// optional fields, a lone `-`, type, source, superblock options. Lines of another shape are skipped.
pub(crate) fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split(' ');
            let id = fields.next()?.parse().ok()?;
            let device = parse_device_number(fields.nth(1)?)?;
            let mount_point = unescape(fields.nth(1)?);
            fields.find(|field| *field == "-")?;
            let fs_type = fields.next()?.to_owned();
            let source = unescape(fields.next()?);
            Some(Mount {
                id,
                device,
                mount_point,
                fs_type,
                source,
            })
        })
        .collect()
}

/// `(source, mount point, type)` of every line of `/proc/mounts` (fstab(5) layout).
pub(crate) fn parse_mounts(text: &str) -> Vec<(String, String, String)> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace();
            Some((
                unescape(fields.next()?),
                unescape(fields.next()?),
                fields.next()?.to_owned(),
            ))
        })
        .collect()
}

/// Paths of active swap devices and files in `/proc/swaps`; the first line is a heading.
pub(crate) fn parse_swaps(text: &str) -> Vec<PathBuf> {
    text.lines()
        .skip(1)
        .filter_map(|line| {
            let path = unescape(line.split_whitespace().next()?);
            // mm/swapfile.c prints the path with seq_file_path, which marks an unlinked file.
            let path = path
                .strip_suffix(" (deleted)")
                .map(str::to_owned)
                .unwrap_or(path);
            Some(PathBuf::from(path))
        })
        .collect()
}

/// A POSIX or open-file-description lock in `/proc/locks`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileLock {
    /// Filesystem of the locked file.
    pub device: DeviceNumber,
    /// Inode of the locked file.
    pub inode: u64,
    /// Its owner; `None` for an open-file-description lock, which belongs to no process in particular.
    pub pid: Option<u32>,
}

/// Parses `/proc/locks` (proc_locks(5)): `1: POSIX  ADVISORY  WRITE 1234 fe:00:5678 0 EOF`; device numbers in hexadecimal, and
/// `->` before the kind of one that waits. flock(2) locks are left out: they are a convention among scripts (and the one
/// around a run of this very program would refuse it), while record locks are how QEMU marks an image in use.
pub(crate) fn parse_locks(text: &str) -> Vec<FileLock> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace().skip(1).filter(|f| *f != "->");
            if !matches!(fields.next()?, "POSIX" | "OFDLCK") {
                return None;
            }
            let pid = fields.nth(2)?.parse().ok();
            let mut place = fields.next()?.split(':');
            let major = u32::from_str_radix(place.next()?, 16).ok()?;
            let minor = u32::from_str_radix(place.next()?, 16).ok()?;
            let inode = place.next()?.parse().ok()?;
            Some(FileLock {
                device: DeviceNumber { major, minor },
                inode,
                pid,
            })
        })
        .collect()
}

/// The kernel writes blank, tab, newline and backslash in paths as three octal digits (fs/seq_file.c, `mangle_path`).
pub(crate) fn unescape(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let octal = bytes
            .get(i + 1..i + 4)
            .filter(|d| bytes[i] == b'\\' && d.iter().all(|b| (b'0'..=b'7').contains(b)));
        match octal {
            Some(d) => {
                let value = d
                    .iter()
                    .fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                out.push(value as u8);
                i += 4;
            }
            None => {
                out.push(bytes[i]);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mountinfo_with_and_without_optional_fields() {
        let text = "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
                    36 35 98:0 /mnt1 /mnt\\0402 rw,noatime master:1 shared:2 - ext3 /dev/my\\040disk rw,errors=continue\n\
                    garbage\n40 39 x:y / / rw - a b c\n";
        let mounts = parse_mountinfo(text);
        assert_eq!(mounts.len(), 2);
        assert_eq!(
            mounts[0].device,
            DeviceNumber {
                major: 254,
                minor: 0
            }
        );
        assert_eq!(mounts[1].mount_point, "/mnt 2");
        assert_eq!(mounts[1].source, "/dev/my disk");
        assert_eq!(mounts[1].fs_type, "ext3");
        assert_eq!(mounts[1].id, 36);
    }

    #[test]
    fn swaps_and_mounts() {
        let text = "Filename\t\t\t\tType\t\tSize\n/dev/zram0                              partition\t1\n/a\\040b\\040(deleted)  file 3\n";
        assert_eq!(
            parse_swaps(text),
            [PathBuf::from("/dev/zram0"), PathBuf::from("/a b")]
        );
        assert_eq!(parse_swaps(""), Vec::<PathBuf>::new());
        assert_eq!(
            parse_mounts("/dev/a /b\\0112 ext4 rw 0 0\n"),
            [("/dev/a".into(), "/b\t2".into(), "ext4".into())]
        );
    }

    #[test]
    fn locks_of_records_only() {
        let text = "1: POSIX  ADVISORY  WRITE 3568 fe:01:2531452 0 EOF\n\
                    2: OFDLCK ADVISORY  READ -1 00:1c:77 100 101\n\
                    3: FLOCK  ADVISORY  WRITE 1 08:02:5 0 EOF\n\
                    1: -> POSIX  ADVISORY  WRITE 12 fe:01:2531452 0 EOF\n";
        let locks = parse_locks(text);
        assert_eq!(locks.len(), 3);
        assert_eq!(
            locks[0],
            FileLock {
                device: DeviceNumber {
                    major: 254,
                    minor: 1
                },
                inode: 2_531_452,
                pid: Some(3568)
            }
        );
        assert_eq!(
            locks[1],
            FileLock {
                device: DeviceNumber {
                    major: 0,
                    minor: 28
                },
                inode: 77,
                pid: None
            }
        );
        assert_eq!(locks[2].pid, Some(12));
    }

    proptest! {
        #[test]
        fn no_text_makes_them_panic(text in "[\\x00-\\x7f\u{e9}]{0,200}") {
            parse_mountinfo(&text);
            parse_mounts(&text);
            parse_swaps(&text);
            parse_locks(&text);
            unescape(&text);
        }
    }
}
