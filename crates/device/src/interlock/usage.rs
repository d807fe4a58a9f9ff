use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use crate::identity::{
    BlockNode, DeviceNumber, FileLock, Mount, SystemRoot, block_node, parse_locks, parse_mountinfo,
    parse_mounts, parse_swaps,
};

use super::exclusive_open::{dev_path, open_node, subject_at};
use super::loops::{Loop, attached_loops};
use super::overlay::{Overlay, other_paths};
use super::{RefusalReason, Subject, locks};

/// Loop devices on loop devices below this depth are not followed; the drive then counts as
/// unchecked.
const MAX_LAYERS: usize = 8;

type Open<'a> = &'a dyn Fn(&BlockNode) -> io::Result<(OwnedFd, bool)>;

/// Snapshot of the tables of the kernel.
struct Tables<'a> {
    root: &'a SystemRoot,
    open: Open<'a>,
    mounts: Vec<Mount>,
    overlays: Vec<Overlay>,
    /// Source, mount point, type.
    mount_sources: Vec<(String, String, String)>,
    swaps: Vec<PathBuf>,
    locks: Vec<FileLock>,
    loops: Vec<Loop>,
}

/// The user names `subject` as `label`. Other paths to it and devices under a loop device are
/// claimed too, into `claims`.
pub(super) fn examine(
    root: &SystemRoot,
    subject: &Subject,
    label: &str,
    claims: &mut Vec<OwnedFd>,
) -> Vec<RefusalReason> {
    examine_with(root, &open_node, subject, label, claims)
}

fn examine_with(
    root: &SystemRoot,
    open: Open<'_>,
    subject: &Subject,
    label: &str,
    claims: &mut Vec<OwnedFd>,
) -> Vec<RefusalReason> {
    let mut reasons = Vec::new();
    let tables = Tables::read(root, open, &mut reasons);
    let mut examination = Examination { tables: &tables, reasons: &mut reasons, claims };
    examination.examine(subject, label, None, 0);
    let mut distinct: Vec<RefusalReason> = Vec::with_capacity(reasons.len());
    for reason in reasons {
        if !distinct.contains(&reason) {
            distinct.push(reason);
        }
    }
    distinct
}

struct Examination<'a> {
    tables: &'a Tables<'a>,
    reasons: &'a mut Vec<RefusalReason>,
    claims: &'a mut Vec<OwnedFd>,
}

/// A block device and the devices whose use is a use of it.
struct Family {
    node: BlockNode,
    /// Includes the device itself.
    members: Vec<BlockNode>,
    /// Other paths to the same blocks, to be claimed too: drives, or of a partition the overlapping
    /// ones.
    by_other_paths: Vec<BlockNode>,
}

impl<'a> Tables<'a> {
    fn read(root: &'a SystemRoot, open: Open<'a>, reasons: &mut Vec<RefusalReason>) -> Self {
        let mut table = |file: &str, may_be_absent: bool| match std::fs::read(root.proc(file)) {
            // Mount points may contain any bytes.
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            // A kernel built without swap or file locking has no such table.
            Err(e) if may_be_absent && e.kind() == io::ErrorKind::NotFound => String::new(),
            Err(e) => {
                reasons.push(RefusalReason::unchecked(format!("reading /proc/{file}"), e));
                String::new()
            }
        };
        let mounts = parse_mountinfo(&table("self/mountinfo", false));
        let overlays = mounts.iter().filter_map(Overlay::new).collect();
        let mount_sources = parse_mounts(&table("mounts", false));
        let swaps = parse_swaps(&table("swaps", true));
        let locks = parse_locks(&table("locks", true));
        let loops = attached_loops(root).unwrap_or_else(|e| {
            reasons.push(RefusalReason::unchecked("listing loop devices", e));
            Vec::new()
        });
        Self { root, open, mounts, overlays, mount_sources, swaps, locks, loops }
    }

    /// Whether a file may have one of these device numbers in an overlay, the other in a layer of
    /// it that was given by a relative path. Overlays have anonymous numbers (major 0), and show
    /// the inode numbers of their layers.
    fn may_be_layer(&self, one: DeviceNumber, other: DeviceNumber) -> bool {
        (one.major == 0 || other.major == 0)
            && self.overlays.iter().any(|overlay| overlay.has_relative_layers)
    }

    /// A drive's partitions, or a partition's drive, on every path; not sibling partitions.
    fn family(&self, device: DeviceNumber) -> io::Result<Family> {
        let node = block_node(self.root, device)?;
        let mut members = vec![node.clone()];
        if node.is_partition() {
            let gone = || io::Error::other("the drive of this partition is not in sysfs");
            members.push(node.parent().ok_or_else(gone)?);
        } else {
            members.extend(node.partitions()?);
        }
        let mut family = Family { node, members, by_other_paths: Vec::new() };
        self.extend_by_other_paths(&mut family)?;
        Ok(family)
    }

    /// Without multipathing in the kernel (`nvme_core.multipath=N`, SCSI) each path is a block
    /// device of its own, and a mount of one does not show on another. Their `wwid` is equal: it
    /// names the namespace or logical unit.
    fn extend_by_other_paths(&self, family: &mut Family) -> io::Result<()> {
        let node = &family.node;
        let whole = node.parent().unwrap_or_else(|| node.clone());
        let Some(wwid) = wwid(&whole) else {
            return Ok(());
        };
        let range = |node: &BlockNode| {
            let start = node.start_bytes();
            start..start.saturating_add(node.size_bytes())
        };
        let own = range(node);
        for entry in std::fs::read_dir(self.root.sys("block"))? {
            let Ok(other) = BlockNode::in_dir(&entry?.path()) else {
                continue;
            };
            if other.device == whole.device || self::wwid(&other).as_ref() != Some(&wwid) {
                continue;
            }
            let parts = other.partitions()?;
            // Only overlapping partitions on the other path are the same blocks.
            let same = |part: &BlockNode| {
                let part = range(part);
                !node.is_partition() || (part.start < own.end && own.start < part.end)
            };
            let parts: Vec<BlockNode> = parts.into_iter().filter(same).collect();
            if node.is_partition() {
                family.by_other_paths.extend(parts.iter().cloned());
            } else if other.attribute("hidden").as_deref() != Some("1") {
                // A path that is hidden under a multipath device cannot be opened.
                family.by_other_paths.push(other.clone());
            }
            family.members.extend(parts);
            family.members.push(other);
        }
        Ok(())
    }

    /// The name and the prefix of the device-mapper UUID tell the kind.
    fn describe_holder(&self, holder: &str) -> String {
        if holder.starts_with("md") {
            return "a software RAID, md".to_owned();
        } else if holder.starts_with("bcache") {
            return "a bcache device".to_owned();
        }
        let Ok(node) = BlockNode::in_dir(&self.root.sys(format!("class/block/{holder}"))) else {
            return "a device stacked on it".to_owned();
        };
        let name = node.attribute("dm/name").unwrap_or_default();
        let what = match node.attribute("dm/uuid").unwrap_or_default() {
            uuid if uuid.starts_with("LVM-") => "LVM volume",
            uuid if uuid.starts_with("CRYPT-") => "encrypted device",
            uuid if uuid.starts_with("mpath-") => "multipath device",
            uuid if uuid.starts_with("part") => "partition mapping",
            _ => "device-mapper device",
        };
        format!("{what} {name}").trim_end().to_owned()
    }
}

impl Examination<'_> {
    /// `via` is the loop device that led here, which does not count as a user.
    fn examine(&mut self, subject: &Subject, label: &str, via: Option<&str>, layer: usize) {
        if layer > MAX_LAYERS {
            let error = format!("more than {MAX_LAYERS} loop devices on top of each other");
            return self.reasons.push(users_unchecked(label, error));
        }
        match subject {
            Subject::Nothing => {}
            Subject::File { device, inode } => {
                self.examine_file(*device, *inode, label, via);
                for path in other_paths(&self.tables.overlays, Path::new(label)) {
                    if let Some(Subject::File { device, inode }) = subject_at(&path) {
                        let label = path.display().to_string();
                        self.examine_file(device, inode, &label, via);
                        self.claims.extend(locks::claim(&path));
                    }
                }
            }
            Subject::Block(device) => match self.tables.family(*device) {
                Ok(family) => self.examine_family(&family, label, via, layer),
                Err(e) => self.reasons.push(users_unchecked(label, e)),
            },
        }
    }

    fn examine_family(&mut self, family: &Family, label: &str, via: Option<&str>, layer: usize) {
        let before = self.reasons.len();
        for member in &family.members {
            let name = match member.device == family.node.device {
                true => label.to_owned(),
                false => dev_path(member).display().to_string(),
            };
            self.examine_member(member, &name, via);
        }
        // A failed claim would repeat a mount or holder that is reported already.
        let explained = self.reasons.len() > before;
        if layer > 0 {
            // The loop driver itself leaves it unclaimed.
            self.claim(&family.node, label, explained);
        }
        for other in &family.by_other_paths {
            let name = dev_path(other).display().to_string();
            self.claim(other, &name, explained);
        }
        // The device under a loop device is overwritten as well.
        let is_loop = |l: &&Loop| family.members.iter().any(|m| m.device == l.device);
        for lower in self.tables.loops.iter().filter(is_loop) {
            let path = lower.backing_path.display().to_string();
            let name = &lower.name;
            match &lower.backing {
                Some(backing) => self.examine(backing, &path, Some(name), layer + 1),
                None => self.reasons.push(RefusalReason::unchecked(
                    format!("the backing of /dev/{name}"),
                    format!("{path} cannot be examined"),
                )),
            }
        }
    }

    /// `explained`: the reason why it may be claimed already is reported.
    fn claim(&mut self, node: &BlockNode, label: &str, explained: bool) {
        match (self.tables.open)(node) {
            Ok((claim, false)) => self.claims.push(claim),
            Ok((_, true)) if explained => {}
            Ok((_, true)) => {
                self.reasons.push(RefusalReason::ClaimedElsewhere { device: label.to_owned() })
            }
            Err(e) => self.reasons.push(users_unchecked(label, e)),
        }
    }

    fn examine_member(&mut self, node: &BlockNode, label: &str, via: Option<&str>) {
        let path = dev_path(node);
        let subject = Subject::Block(node.device);
        let is_it = |named: &Path| {
            named == path || (named.is_absolute() && subject_at(named).as_ref() == Some(&subject))
        };
        let own = |mount: &&Mount| mount.device == node.device || is_it(Path::new(&mount.source));
        let mounted = self.tables.mounts.iter().filter(own);
        let mut mounted: Vec<(&str, &str)> =
            mounted.map(|mount| (mount.mount_point.as_str(), mount.fs_type.as_str())).collect();
        for (source, mount_point, fs_type) in &self.tables.mount_sources {
            if is_it(Path::new(source)) && !mounted.iter().any(|(known, _)| known == mount_point) {
                mounted.push((mount_point, fs_type));
            }
        }
        let reason = |(mount_point, fs_type): (&str, &str)| RefusalReason::Mounted {
            device: label.to_owned(),
            mount_point: mount_point.to_owned(),
            fs_type: fs_type.to_owned(),
        };
        self.reasons.extend(mounted.into_iter().map(reason));
        if self.tables.swaps.iter().any(|swap| is_it(swap)) {
            self.reasons.push(RefusalReason::Swap { device: label.to_owned() });
        }
        let tables = self.tables;
        match node.holders() {
            Ok(holders) => {
                let held = |holder: String| RefusalReason::Held {
                    device: label.to_owned(),
                    what: tables.describe_holder(&holder),
                    holder,
                };
                self.reasons.extend(holders.into_iter().map(held));
            }
            Err(e) => {
                let what = format!("the holders of {label}");
                self.reasons.push(RefusalReason::unchecked(what, e));
            }
        }
        self.examine_loops(&subject, &path, label, via);
    }

    fn examine_file(&mut self, device: DeviceNumber, inode: u64, label: &str, via: Option<&str>) {
        let subject = Subject::File { device, inode };
        let is_it = |named: &Path| subject_at(named).as_ref() == Some(&subject);
        // EROFS (Linux 6.12) is mounted from a file without a loop device.
        let sources = self.tables.mounts.iter();
        let mounted = sources.filter(|m| m.source.starts_with('/') && is_it(Path::new(&m.source)));
        self.reasons.extend(mounted.map(|mount| RefusalReason::Mounted {
            device: label.to_owned(),
            mount_point: mount.mount_point.clone(),
            fs_type: mount.fs_type.clone(),
        }));
        if self.tables.swaps.iter().any(|swap| is_it(swap)) {
            self.reasons.push(RefusalReason::Swap { device: label.to_owned() });
        }
        let tables = self.tables;
        let held = locks::holders(tables.root, &tables.locks, (device, inode), Path::new(label));
        self.reasons.extend(
            held.into_iter().map(|pid| RefusalReason::Locked { device: label.to_owned(), pid }),
        );
        self.examine_suspected_locks(device, inode, label);
        self.examine_loops(&subject, Path::new(label), label, via);
    }

    /// Where the layers of an overlay cannot be found, a lock on the file's other path shows only
    /// as one on an equal inode.
    fn examine_suspected_locks(&mut self, device: DeviceNumber, inode: u64, label: &str) {
        let own = Some(std::process::id());
        let is_other = |lock: &&FileLock| {
            (lock.inode, lock.pid != own) == (inode, true)
                && lock.device != device
                && self.tables.may_be_layer(lock.device, device)
        };
        let held = self.tables.locks.iter().filter(is_other);
        self.reasons.extend(
            held.map(|lock| RefusalReason::Locked { device: label.to_owned(), pid: lock.pid }),
        );
    }

    fn examine_loops(&mut self, subject: &Subject, path: &Path, label: &str, via: Option<&str>) {
        let tables = self.tables;
        let shows = |l: &&Loop| match (&l.backing, subject) {
            (Some(backing), _) if backing == subject => true,
            (
                Some(Subject::File { device, inode }),
                Subject::File { device: own, inode: own_inode },
            ) => inode == own_inode && tables.may_be_layer(*device, *own),
            (Some(_), _) => false,
            (None, _) => l.backing_path == path,
        };
        let loops = self.tables.loops.iter();
        let others = loops.filter(|l| via != Some(l.name.as_str())).filter(shows);
        self.reasons.extend(others.map(|l| RefusalReason::BacksLoop {
            device: label.to_owned(),
            loop_device: l.name.clone(),
        }));
    }
}

fn users_unchecked(label: &str, error: impl ToString) -> RefusalReason {
    RefusalReason::unchecked(format!("the users of {label}"), error)
}

/// Equal on every path: an attribute of the block device (NVMe) or of the logical unit (SCSI).
fn wwid(whole: &BlockNode) -> Option<String> {
    whole.attribute("wwid").or_else(|| whole.attribute("device/wwid"))
}

#[cfg(test)]
#[path = "../../tests/unit/interlock/usage.rs"]
mod tests;
