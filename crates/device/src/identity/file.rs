use std::io;
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};

use super::block::{BlockNode, block_node, describe_block, unsupported_format};
use super::layers::layers;
use super::mounts::{Mount, parse_mountinfo};
use super::root::entries;
use super::{
    AtomicWrites, DeviceNumber, DriveInfo, DriveKind, Filesystem, IdentityError, SystemRoot,
};
use crate::open::open_file;

/// Every direct I/O implementation in Linux accepts it: none requires more than a page of 4 KiB.
const SAFE_ALIGN_BYTES: u32 = 4096;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DirectIo {
    supported: bool,
    offset_align_bytes: u32,
    memory_align_bytes: u32,
}

/// [`super::identify`] with another sysfs and procfs; `path` is resolved on the running system.
pub fn identify_at(root: &SystemRoot, given: &Path) -> Result<DriveInfo, IdentityError> {
    let fail = |doing, source| io_error(given, doing, source);
    let path = given.canonicalize().map_err(|e| match fail("find it", e) {
        IdentityError::Missing(path) if node_of_name(root, given).is_some() => {
            IdentityError::NoNode(path)
        }
        other => other,
    })?;
    let metadata = std::fs::metadata(&path).map_err(|e| fail("look at it", e))?;
    let file_type = metadata.file_type();
    let not_a_drive = |what| Err(IdentityError::NotADrive { path: given.to_path_buf(), what });
    if file_type.is_dir() {
        return Err(IdentityError::Directory(given.to_path_buf()));
    } else if file_type.is_char_device() {
        let name = path.file_name().and_then(|n| n.to_str());
        return match name.and_then(crate::spec::nvme_generic_block_name) {
            Some(block) => Err(IdentityError::NvmeGeneric {
                path: given.to_path_buf(),
                block: path.with_file_name(block),
            }),
            None => not_a_drive("character device"),
        };
    } else if file_type.is_fifo() {
        return not_a_drive("FIFO");
    } else if file_type.is_socket() {
        return not_a_drive("socket");
    }
    // Checks the permission to read; O_NONBLOCK so that a drive without a medium does not block.
    open_file(&path, false, libc::O_NONBLOCK).map_err(|e| fail("open it for reading", e))?;
    match file_type.is_block_device() {
        true => identify_block(root, given, &path, split_device_number(metadata.rdev())),
        false => identify_file(root, given, &path, &metadata),
    }
}

/// The block device of which a path in /dev would be the node.
fn node_of_name(root: &SystemRoot, path: &Path) -> Option<BlockNode> {
    let name = path.strip_prefix("/dev").ok()?.to_str()?.replace('/', "!");
    BlockNode::in_dir(&root.sys(format!("class/block/{name}"))).ok()
}

/// [`super::identify_unopened`] with another sysfs.
pub(crate) fn identify_unopened_at(root: &SystemRoot, path: &Path) -> Option<DriveInfo> {
    let node = match std::fs::metadata(path) {
        Ok(there) if there.file_type().is_block_device() => {
            block_node(root, split_device_number(there.rdev())).ok()?
        }
        Ok(_) => return None,
        Err(_) => node_of_name(root, path)?,
    };
    Some(describe_block(root, &node, &path.display().to_string(), path))
}

fn io_error(path: &Path, doing: &'static str, source: io::Error) -> IdentityError {
    let path = path.to_path_buf();
    match source.kind() {
        // ENOTDIR: a component of the path is a file.
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => IdentityError::Missing(path),
        io::ErrorKind::PermissionDenied => IdentityError::PermissionDenied(path),
        _ => IdentityError::Io { path, doing, source },
    }
}

pub(crate) fn split_device_number(number: u64) -> DeviceNumber {
    DeviceNumber { major: rustix::fs::major(number), minor: rustix::fs::minor(number) }
}

fn identify_block(
    root: &SystemRoot,
    given: &Path,
    path: &Path,
    device: DeviceNumber,
) -> Result<DriveInfo, IdentityError> {
    let node = block_node(root, device).map_err(|_| IdentityError::NotInSysfs {
        path: given.to_path_buf(),
        device,
        sysfs: root.sys(format!("dev/block/{device}")),
    })?;
    let mut info = describe_block(root, &node, &given.display().to_string(), path);
    if info.capacity_bytes == 0 {
        let advice = match (&info.unusable, info.transport.as_deref()) {
            (Some(why), _) => why,
            (_, Some("loop")) => {
                "no file is attached to it (`losetup --find --show FILE` attaches one)"
            }
            (_, Some("zram")) => "give it a size first (`echo 1G > /sys/block/zram0/disksize`)",
            // The kernel reports size 0 for a dead controller (nvme_mark_namespaces_dead).
            (_, Some(nvme)) if nvme.starts_with("nvme") => {
                "its controller no longer responds, for which the kernel reports size 0: see \
                 `dmesg`; a reset or a power cycle is needed"
            }
            _ => "it may have no medium, or its size has not been set",
        };
        return Err(IdentityError::ZeroSize {
            path: given.to_path_buf(),
            advice: advice.to_owned(),
        });
    }
    if let Some(zones) = info.zones {
        let device = open_file(path, false, libc::O_NONBLOCK);
        info.zones = Some(device.map_or(zones, |device| zones.with_report(&device)));
    }
    apply_direct_io(&mut info, path);
    info.atomic_writes = statx_atomic_writes(path);
    info.layers = layers(&info, None);
    Ok(info)
}

/// Block devices take O_DIRECT aligned to the logical block; statx (Linux 6.1) may report a smaller
/// memory alignment.
fn apply_direct_io(info: &mut DriveInfo, path: &Path) {
    if let Some(direct) = statx_direct_io(path).filter(|d| d.supported) {
        info.min_io_bytes = direct.offset_align_bytes.max(info.logical_block_bytes);
        info.memory_align_bytes = direct.memory_align_bytes;
    }
}

fn identify_file(
    root: &SystemRoot,
    given: &Path,
    path: &Path,
    metadata: &std::fs::Metadata,
) -> Result<DriveInfo, IdentityError> {
    if metadata.len() == 0 {
        let advice = "write data to it first (`head -c 1G /dev/urandom > FILE`)";
        return Err(IdentityError::ZeroSize {
            path: given.to_path_buf(),
            advice: advice.to_owned(),
        });
    }
    let device = split_device_number(metadata.dev());
    let mount_id = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID)
        .ok()
        .filter(|s| s.stx_mask & StatxFlags::MNT_ID.bits() != 0)
        .map(|s| s.stx_mnt_id);
    let mounts = std::fs::read_to_string(root.proc("self/mountinfo"))
        .map(|t| parse_mountinfo(&t))
        .unwrap_or_default();
    let mount = mount_of(&mounts, mount_id, device, path);
    let backing = backing_device(root, mount, device);

    let spec = given.display().to_string();
    let backing_info = backing.as_ref().map(|node| {
        let path = PathBuf::from("/dev").join(node.dev_name());
        describe_block(root, node, &spec, &path)
    });
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let direct = statx_direct_io(path).unwrap_or_else(|| probe_direct_io(path));
    let mut info = DriveInfo {
        path: Some(path.to_path_buf()),
        device: Some(device),
        inode: Some(metadata.ino()),
        transport: Some("file".to_owned()),
        read_only: metadata.permissions().readonly(),
        direct_io: direct.supported,
        min_io_bytes: direct.offset_align_bytes,
        memory_align_bytes: direct.memory_align_bytes,
        atomic_writes: statx_atomic_writes(path),
        ..DriveInfo::new(DriveKind::File, spec, name, metadata.len())
    };
    if let Some(under) = &backing_info {
        info.logical_block_bytes = under.logical_block_bytes;
        info.physical_block_bytes = under.physical_block_bytes;
        info.rotational = under.rotational;
        info.numa_node = under.numa_node;
    }
    info.filesystem = mount.map(|mount| Filesystem {
        fs_type: mount.fs_type.clone(),
        mount_point: mount.mount_point.clone(),
        backing: backing.as_ref().map(BlockNode::dev_name),
        backing_model: backing_info.as_ref().and_then(|i| i.model.clone()),
    });
    info.layers = layers(&info, backing_info.as_ref());
    Ok(info)
}

/// Finds the mount by id where statx has it (Linux 5.8), else by path and device number.
fn mount_of<'a>(
    mounts: &'a [Mount],
    id: Option<u64>,
    device: DeviceNumber,
    path: &Path,
) -> Option<&'a Mount> {
    let by_id = id.and_then(|id| mounts.iter().find(|m| m.id == id));
    by_id.or_else(|| {
        mounts
            .iter()
            .filter(|m| m.device == device && path.starts_with(&m.mount_point))
            .max_by_key(|m| m.mount_point.len())
    })
}

/// Finds the device by number, or (btrfs, with anonymous numbers) by the mount's source.
fn backing_device(
    root: &SystemRoot,
    mount: Option<&Mount>,
    device: DeviceNumber,
) -> Option<BlockNode> {
    if device.major != 0 {
        return block_node(root, device).ok();
    }
    let metadata = std::fs::metadata(&mount?.source).ok()?;
    if !metadata.file_type().is_block_device() {
        return None;
    }
    block_node(root, split_device_number(metadata.rdev())).ok()
}

/// STATX_DIOALIGN of statx(2): both alignments are zero without direct I/O; `None` when the
/// filesystem reports none.
fn statx_direct_io(path: &Path) -> Option<DirectIo> {
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), StatxFlags::DIOALIGN).ok()?;
    if stat.stx_mask & StatxFlags::DIOALIGN.bits() == 0 {
        return None;
    }
    let supported = stat.stx_dio_offset_align != 0 && stat.stx_dio_mem_align != 0;
    let or_safe = |align: u32| if supported { align } else { SAFE_ALIGN_BYTES };
    Some(DirectIo {
        supported,
        offset_align_bytes: or_safe(stat.stx_dio_offset_align),
        memory_align_bytes: or_safe(stat.stx_dio_mem_align),
    })
}

/// STATX_WRITE_ATOMIC of statx(2), since Linux 6.11.
fn statx_atomic_writes(path: &Path) -> Option<AtomicWrites> {
    const STATX_WRITE_ATOMIC: u32 = 0x0001_0000;
    let asked = StatxFlags::from_bits_retain(STATX_WRITE_ATOMIC);
    let stat = rustix::fs::statx(CWD, path, AtFlags::empty(), asked).ok()?;
    let known = stat.stx_mask & STATX_WRITE_ATOMIC != 0 && stat.stx_atomic_write_unit_max > 0;
    known.then_some(AtomicWrites {
        min_bytes: stat.stx_atomic_write_unit_min,
        max_bytes: stat.stx_atomic_write_unit_max,
    })
}

/// Reads 512 bytes, and if that fails a page.
fn probe_direct_io(path: &Path) -> DirectIo {
    let direct = |supported, offset_align_bytes, memory_align_bytes| DirectIo {
        supported,
        offset_align_bytes,
        memory_align_bytes,
    };
    let Ok(file) = open_file(path, false, libc::O_DIRECT) else {
        return direct(false, SAFE_ALIGN_BYTES, SAFE_ALIGN_BYTES);
    };
    let page = SAFE_ALIGN_BYTES as usize;
    let mut space = vec![0u8; 3 * page];
    let start = space.as_ptr().align_offset(page);
    let mut reads = |length: usize, shift: usize| {
        // Not the first block: offset zero is aligned to everything.
        let buffer = space.get_mut(start + shift..start + shift + length);
        buffer.is_some_and(|buffer| file.read_at(buffer, length as u64).is_ok())
    };
    match () {
        () if reads(512, 512) => direct(true, 512, 512),
        () if reads(512, 0) => direct(true, 512, SAFE_ALIGN_BYTES),
        () => direct(reads(page, 0), SAFE_ALIGN_BYTES, SAFE_ALIGN_BYTES),
    }
}

/// In natural order of names, without drives of zero size (unconfigured loop and zram devices,
/// empty readers) but those of a format that the kernel does not support, RAM disks and hidden NVMe
/// paths.
pub fn list_drives_at(root: &SystemRoot) -> Vec<DriveInfo> {
    let nodes = entries(&root.sys("block")).filter_map(|dir| BlockNode::in_dir(&dir).ok());
    let is_listed = |node: &BlockNode| {
        !node.name.starts_with("ram")
            && node.attribute("hidden").as_deref() != Some("1")
            && (node.size_bytes() > 0 || unsupported_format(node).is_some())
    };
    let describe = |node: BlockNode| {
        let path = PathBuf::from("/dev").join(node.dev_name());
        let mut info = describe_block(root, &node, &path.display().to_string(), &path);
        apply_direct_io(&mut info, &path);
        info
    };
    let mut drives: Vec<DriveInfo> = nodes.filter(is_listed).map(describe).collect();
    drives.sort_by_cached_key(|info| natural_key(&info.name));
    drives
}

/// `nvme10n1` follows `nvme2n1`.
fn natural_key(name: &str) -> Vec<(String, u64)> {
    let mut key = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let tail = rest.trim_start_matches(|c: char| !c.is_ascii_digit());
        let text = &rest[..rest.len() - tail.len()];
        rest = tail.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = &tail[..tail.len() - rest.len()];
        key.push((text.to_owned(), number.parse().unwrap_or(u64::MAX)));
    }
    key
}

#[cfg(test)]
#[path = "../../tests/unit/identity/file.rs"]
mod tests;
