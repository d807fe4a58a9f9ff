use std::path::PathBuf;

use super::DeviceNumber;
use super::block::parse_device_number;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// `stx_mnt_id` of statx(2).
    pub id: u64,
    /// Major 0 for btrfs, tmpfs, overlay and others.
    pub device: DeviceNumber,
    /// The folder of the file system that shows at the mount point.
    pub root: String,
    pub mount_point: String,
    pub fs_type: String,
    pub source: String,
    /// Of the superblock, separated by commas, as the kernel writes them.
    pub options: String,
}

/// Fields of `/proc/self/mountinfo` (proc_pid_mountinfo(5)): id, parent, major:minor, root, mount
/// point, options, optional fields, `-`, type, source, superblock options. Malformed lines are
/// skipped.
pub(crate) fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split(' ');
            let id = fields.next()?.parse().ok()?;
            let device = parse_device_number(fields.nth(1)?)?;
            let root = unescape(fields.next()?);
            let mount_point = unescape(fields.next()?);
            fields.find(|field| *field == "-")?;
            let fs_type = fields.next()?.to_owned();
            let source = unescape(fields.next()?);
            Some(Mount {
                id,
                device,
                root,
                mount_point,
                fs_type,
                source,
                options: fields.next().unwrap_or_default().to_owned(),
            })
        })
        .collect()
}

/// `(source, mount point, type)` of `/proc/mounts` (fstab(5)).
pub(crate) fn parse_mounts(text: &str) -> Vec<(String, String, String)> {
    let parse = |line: &str| {
        let mut fields = line.split_whitespace();
        let (source, mount_point) = (unescape(fields.next()?), unescape(fields.next()?));
        Some((source, mount_point, fields.next()?.to_owned()))
    };
    text.lines().filter_map(parse).collect()
}

/// The first line of `/proc/swaps` is a heading.
pub(crate) fn parse_swaps(text: &str) -> Vec<PathBuf> {
    let parse = |line: &str| {
        let path = unescape(line.split_whitespace().next()?);
        // mm/swapfile.c marks the path of an unlinked file.
        Some(path.strip_suffix(" (deleted)").unwrap_or(&path).into())
    };
    text.lines().skip(1).filter_map(parse).collect()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileLock {
    pub device: DeviceNumber,
    pub inode: u64,
    /// `None` for an open-file-description lock.
    pub pid: Option<u32>,
    /// flock(2): of an open file description, which child processes inherit.
    pub is_whole_file: bool,
}

/// `/proc/locks` (proc_locks(5)): `1: POSIX ADVISORY WRITE 1234 fe:00:5678 0 EOF`; device numbers
/// are hexadecimal, `->` precedes the kind of a waiting lock. Leases are no locks.
pub(crate) fn parse_locks(text: &str) -> Vec<FileLock> {
    text.lines()
        .filter_map(|line| {
            let mut fields = line.split_whitespace().skip(1).filter(|f| *f != "->");
            let is_whole_file = match fields.next()? {
                "POSIX" | "OFDLCK" => false,
                "FLOCK" => true,
                _ => return None,
            };
            let pid = fields.nth(2)?.parse().ok();
            let mut place = fields.next()?.split(':');
            let major = u32::from_str_radix(place.next()?, 16).ok()?;
            let minor = u32::from_str_radix(place.next()?, 16).ok()?;
            let inode = place.next()?.parse().ok()?;
            Some(FileLock { device: DeviceNumber { major, minor }, inode, pid, is_whole_file })
        })
        .collect()
}

/// The kernel writes blank, tab, newline and backslash as three octal digits (fs/seq_file.c,
/// `mangle_path`).
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
                let digits = d.iter().map(|digit| u32::from(digit - b'0'));
                out.push(digits.fold(0, |value, digit| value * 8 + digit) as u8);
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
#[path = "../../tests/unit/identity/mounts.rs"]
mod tests;
