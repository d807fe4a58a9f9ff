//! What the file systems of the tests have in common.

use std::path::Path;
use std::time::UNIX_EPOCH;

use fuser::{BackgroundSession, FileAttr, FileType, Filesystem, MountOption};

pub const EIO: i32 = 5;
pub const ENOENT: i32 = 2;

/// Mounts a file system of this process at a folder; `None`, with a message, where nothing can be
/// mounted.
pub fn mount(files: impl Filesystem + Send + 'static, at: &Path) -> Option<BackgroundSession> {
    let options = [MountOption::FSName("assay-tests".into()), MountOption::RW];
    match fuser::spawn_mount2(files, at, &options) {
        Ok(session) => Some(session),
        Err(error) => {
            println!("skipped: no FUSE file system can be mounted here: {error}");
            None
        }
    }
}

/// Attributes of a file or folder of root.
pub fn attributes(inode: u64, kind: FileType, size_bytes: u64, links: u32) -> FileAttr {
    FileAttr {
        ino: inode,
        size: size_bytes,
        blocks: size_bytes.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind,
        perm: match kind {
            FileType::Directory => 0o755,
            _ => 0o644,
        },
        nlink: links,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}
