//! Files under a drive whose page cache can answer its reads: those of loop devices.

use std::fs::File;
use std::io;
use std::path::Path;

use assay_io::page_cache::FileBelow;
use assay_io::system_calls::loop_backing;

use crate::identity::{
    BlockNode, DriveInfo, DriveKind, SystemRoot, block_node, node_of, split_device_number,
};
use crate::open::open_file;

/// Loop devices over files on loop devices, at most.
const MAX_LEVELS: usize = 8;

/// A loop device with direct I/O has no page cache of its file, but its file may be on another one.
pub(crate) fn files_below(root: &SystemRoot, info: &DriveInfo) -> Vec<FileBelow> {
    let mut found = Vec::new();
    let mut node = node_of(root, info);
    let mut drive_at_bytes = (info.kind == DriveKind::Block).then_some(0_u64);
    while let Some(current) = node.take()
        && found.len() < MAX_LEVELS
    {
        let start_bytes = current.start_bytes();
        let whole = current.parent().unwrap_or(current);
        let Some(path) = whole.attribute("loop/backing_file") else {
            break;
        };
        let loop_offset_bytes = whole.number::<u64>("loop/offset");
        let at = drive_at_bytes.zip(loop_offset_bytes);
        drive_at_bytes =
            at.map(|(at, offset)| at.saturating_add(start_bytes).saturating_add(offset));
        let opened = backing_file(root, &whole, path.as_ref());
        node = (opened.as_ref().ok()).and_then(|file| device_under(root, file));
        // A file on a file system has unknown places on the device below.
        let file_at_bytes = drive_at_bytes.take();
        if whole.number("loop/dio") != Some(1_u8) {
            found.push(FileBelow { file: opened, drive_at_bytes: file_at_bytes });
        }
    }
    found
}

/// The path in sysfs may lead to another file: renamed, or of another mount namespace.
fn backing_file(root: &SystemRoot, whole: &BlockNode, path: &Path) -> io::Result<File> {
    let file = open_file(path, false, libc::O_NONBLOCK)?;
    let device = open_file(&root.dev(whole.dev_name()), false, libc::O_NONBLOCK)?;
    let found = rustix::fs::fstat(&file)?;
    let wanted = loop_backing(&device).ok_or(io::ErrorKind::NotFound)?;
    if found.st_ino != wanted.inode || found.st_rdev != wanted.rdevice {
        return Err(io::Error::other(format!(
            "{} is not the file under /dev/{}",
            path.display(),
            whole.dev_name()
        )));
    }
    Ok(file)
}

fn device_under(root: &SystemRoot, file: &File) -> Option<BlockNode> {
    let device = rustix::fs::fstat(file).ok()?.st_dev;
    block_node(root, split_device_number(device)).ok()
}
