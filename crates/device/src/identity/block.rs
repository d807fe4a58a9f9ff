use std::io;
use std::path::{Path, PathBuf};

use super::root::{entries, is_numbered, read_attribute};
use super::zones::Zones;
use super::{DeviceNumber, DriveInfo, DriveKind, PcieLink, SystemRoot};

/// Unit of `size` and `start`, whatever the logical block (Documentation/ABI/stable/sysfs-block).
pub(crate) const SYSFS_SECTOR_BYTES: u64 = 512;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockNode {
    /// Canonical: the parent directory of a partition is its drive.
    pub dir: PathBuf,
    /// Kernel name, with `!` where the name in /dev has `/`.
    pub name: String,
    pub device: DeviceNumber,
}

pub(crate) fn block_node(root: &SystemRoot, device: DeviceNumber) -> io::Result<BlockNode> {
    BlockNode::in_dir(&root.sys(format!("dev/block/{device}")))
}

/// The block device of a drive; of a file, the one under it.
pub(crate) fn node_of(root: &SystemRoot, info: &DriveInfo) -> Option<BlockNode> {
    match info.kind {
        DriveKind::Block => block_node(root, info.device?).ok(),
        DriveKind::File => {
            let backing = info.filesystem.as_ref()?.backing.as_ref()?;
            let name = backing.replace('/', "!");
            BlockNode::in_dir(&root.sys(format!("class/block/{name}"))).ok()
        }
        DriveKind::Null | DriveKind::Simulated => None,
    }
}

impl BlockNode {
    /// `dir` may be a link to the directory of the device.
    pub fn in_dir(dir: &Path) -> io::Result<Self> {
        let dir = dir.canonicalize()?;
        let number = std::fs::read_to_string(dir.join("dev"))?;
        let number = number.trim();
        let device = parse_device_number(number)
            .ok_or_else(|| io::Error::other(format!("{number}: not MAJOR:MINOR")))?;
        let name = dir.file_name().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        Ok(Self { dir, name, device })
    }

    pub fn attribute(&self, name: &str) -> Option<String> {
        read_attribute(&self.dir.join(name))
    }

    pub fn number<T: std::str::FromStr>(&self, name: &str) -> Option<T> {
        self.attribute(name)?.parse().ok()
    }

    pub fn kib(&self, name: &str) -> Option<u64> {
        self.number(name).map(|kib: u64| kib.saturating_mul(1024))
    }

    /// The attribute is in sectors; 0 without it. Saturates: sysfs may have any number.
    fn sectors(&self, name: &str) -> u64 {
        let sectors: u64 = self.number(name).unwrap_or(0);
        sectors.saturating_mul(SYSFS_SECTOR_BYTES)
    }

    pub fn dev_name(&self) -> String {
        self.name.replace('!', "/")
    }

    pub fn is_partition(&self) -> bool {
        self.dir.join("partition").exists()
    }

    pub fn parent(&self) -> Option<BlockNode> {
        if !self.is_partition() {
            return None;
        }
        Self::in_dir(self.dir.parent()?).ok()
    }

    pub fn partitions(&self) -> io::Result<Vec<BlockNode>> {
        let mut found = Vec::new();
        for entry in std::fs::read_dir(&self.dir)? {
            let path = entry?.path();
            if path.join("partition").exists() {
                found.push(Self::in_dir(&path)?);
            }
        }
        found.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(found)
    }

    /// Kernel names of holders (LVM, dm, md, bcache). A device without the directory has none.
    pub fn holders(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        match std::fs::read_dir(self.dir.join("holders")) {
            Ok(entries) => {
                for entry in entries {
                    names.push(entry?.file_name().to_string_lossy().into_owned());
                }
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(e),
        }
        names.sort();
        Ok(names)
    }

    /// First byte of a partition on its drive; zero for a drive.
    pub fn start_bytes(&self) -> u64 {
        self.sectors("start")
    }

    pub fn size_bytes(&self) -> u64 {
        self.sectors("size")
    }

    /// Directory of the controller for NVMe, else the target of `device`.
    pub fn hardware_dir(&self) -> Option<PathBuf> {
        let drive = self.parent().map_or_else(|| self.dir.clone(), |p| p.dir);
        let hardware = drive.join("device").canonicalize().ok()?;
        // A multipath NVMe namespace belongs to a subsystem, which lists its controllers.
        let is_subsystem =
            hardware.file_name().is_some_and(|n| n.to_string_lossy().starts_with("nvme-subsys"));
        if is_subsystem && let Some(controller) = first_nvme_controller(&hardware) {
            return Some(controller);
        }
        Some(hardware)
    }
}

/// E.g. `nvme0`, not `nvme0n1` or `nvme0c0n1`.
fn first_nvme_controller(subsystem: &Path) -> Option<PathBuf> {
    let is_controller = |dir: &PathBuf| dir.file_name().is_some_and(|n| is_numbered(n, "nvme"));
    let first = entries(subsystem).filter(is_controller).min()?;
    first.canonicalize().ok()
}

/// `259:0`.
pub(crate) fn parse_device_number(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.split_once(':')?;
    Some(DeviceNumber { major: major.parse().ok()?, minor: minor.parse().ok()? })
}

pub(super) fn describe_block(
    root: &SystemRoot,
    node: &BlockNode,
    spec: &str,
    path: &Path,
) -> DriveInfo {
    let drive = node.parent();
    let whole = drive.as_ref().unwrap_or(node);
    let hardware = node.hardware_dir();
    let hardware_attribute = |name: &str| read_attribute(&hardware.as_ref()?.join(name));
    let queue = |name: &str| whole.attribute(&format!("queue/{name}"));
    let queue_number = |name: &str| queue(name)?.parse::<u32>().ok();
    let transport = transport(whole, hardware.as_deref());
    let is_nvme = transport.as_deref().is_some_and(|t| t.starts_with("nvme"));

    let dev_name = node.dev_name();
    let mut info = DriveInfo::new(DriveKind::Block, spec, &dev_name, node.size_bytes());
    info.path = Some(path.to_path_buf());
    info.serial = serial(root, whole, hardware.as_deref()).unwrap_or(dev_name);
    info.model =
        hardware_attribute("model").or_else(|| whole.attribute("dm/name")).or_else(|| match whole
            .name
            .starts_with("mmcblk")
        {
            true => hardware_attribute("name"),
            false => whole.attribute("md/level"),
        });
    info.firmware = hardware_attribute("firmware_rev")
        .or_else(|| hardware_attribute("rev"))
        .or_else(|| hardware_attribute("fwrev"));
    info.logical_block_bytes = queue_number("logical_block_size").filter(|&b| b > 0).unwrap_or(512);
    info.physical_block_bytes =
        queue_number("physical_block_size").unwrap_or(0).max(info.logical_block_bytes);
    info.min_io_bytes = info.logical_block_bytes;
    info.memory_align_bytes = info.logical_block_bytes;
    info.max_io_bytes = whole.kib("queue/max_sectors_kb");
    info.rotational = queue("rotational").map(|t| t == "1");
    info.read_only = node.attribute("ro").as_deref() == Some("1");
    info.scheduler = queue("scheduler").map(|text| active_scheduler(&text));
    info.hardware_queues = hardware_queue_count(&whole.dir);
    info.nr_requests = queue_number("nr_requests");
    info.io_poll = queue("io_poll").map(|t| t == "1");
    info.write_cache = queue("write_cache");
    // The kernel writes -1 for "no node", which does not parse as u32.
    info.numa_node = hardware_attribute("numa_node")
        .or_else(|| hardware_attribute("device/numa_node"))
        .and_then(|t| t.parse().ok());
    info.pcie = hardware.as_deref().filter(|_| is_nvme).and_then(pcie_link);
    info.nvme = crate::nvme::location::of_block(root, whole, hardware.as_deref());
    info.zones = Zones::read(whole);
    info.unusable = unsupported_format(whole);
    info.partition_of = drive.as_ref().map(BlockNode::dev_name);
    info.device = Some(node.device);
    // The count includes the admin queue (drivers/nvme/host/sysfs.c, `queue_count`).
    info.queue_pairs = hardware_attribute("queue_count")
        .filter(|_| is_nvme)
        .and_then(|t| t.parse::<u16>().ok())
        .and_then(|n| n.checked_sub(1));
    info.transport = transport;
    info
}

/// Why an NVMe namespace of a controller that works has a block device of size 0: the kernel's
/// driver supports no metadata but protection information, and metadata in a buffer of its own
/// (Linux, drivers/nvme/host/core.c, `nvme_init_integrity`).
pub(super) fn unsupported_format(whole: &BlockNode) -> Option<String> {
    let number = whole.name.strip_prefix("nvme")?;
    let state = read_attribute(&whole.hardware_dir()?.join("state"));
    if whole.size_bytes() > 0 || state.as_deref() != Some("live") {
        return None;
    }
    // Since Linux 6.9.
    let metadata = match whole.number::<u32>("metadata_bytes") {
        Some(bytes) if bytes > 0 => format!(" (its blocks have {bytes} bytes of metadata)"),
        _ => String::new(),
    };
    Some(format!(
        "the kernel's driver does not support its format{metadata}, so that only NVMe passthrough \
         commands reach it (/dev/ng{number}); `nvme format` with an --lbaf without metadata makes \
         a drive of it, without its data"
    ))
}

/// `none [mq-deadline] kyber` gives `mq-deadline`; a list without brackets is returned as it is.
fn active_scheduler(text: &str) -> String {
    let bracketed = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    bracketed.map_or(text, |(active, _)| active).to_owned()
}

fn hardware_queue_count(dir: &Path) -> Option<u32> {
    let count = std::fs::read_dir(dir.join("mq")).ok()?.flatten().count();
    u32::try_from(count).ok().filter(|&n| n > 0)
}

fn transport(whole: &BlockNode, hardware: Option<&Path>) -> Option<String> {
    let name = whole.name.as_str();
    if name.starts_with("nvme") {
        let over = hardware.and_then(|dir| read_attribute(&dir.join("transport")));
        return Some(match over.as_deref() {
            None | Some("pcie") => "nvme".to_owned(),
            Some(other) => format!("nvme-{other}"),
        });
    }
    if name.starts_with("sd") || name.starts_with("sr") {
        // Directories on the way to the device show the bus: .../ata1/host0/..., .../usb2/2-1/...
        const BY_HOST: [(&str, &str); 4] =
            [("usb", "usb"), ("ata", "sata"), ("session", "iscsi"), ("virtio", "virtio-scsi")];
        let path = hardware.unwrap_or(Path::new("")).to_string_lossy();
        let passes = |(prefix, _): &&(&str, &str)| {
            let numbers = path.split('/').filter_map(|dir| dir.strip_prefix(prefix));
            numbers.into_iter().any(|n| n.starts_with(|d: char| d.is_ascii_digit()))
        };
        let bus = BY_HOST.iter().find(passes).map_or("scsi", |(_, bus)| bus);
        return Some(bus.to_owned());
    }
    const BY_PREFIX: [(&str, &str); 15] = [
        ("vd", "virtio"),
        ("loop", "loop"),
        ("zram", "zram"),
        ("zd", "zvol"),
        ("md", "md"),
        ("dm-", "dm"),
        ("mmcblk", "mmc"),
        ("nbd", "nbd"),
        ("xvd", "xen"),
        ("pmem", "pmem"),
        ("nullb", "null_blk"),
        ("ublkb", "ublk"),
        ("ram", "ram"),
        ("rbd", "rbd"),
        ("bcache", "bcache"),
    ];
    let found = BY_PREFIX.iter().find(|(prefix, _)| name.starts_with(prefix))?;
    Some(found.1.to_owned())
}

fn serial(root: &SystemRoot, whole: &BlockNode, hardware: Option<&Path>) -> Option<String> {
    let vital_product_data =
        |dir: &Path| unit_serial_number(&std::fs::read(dir.join("vpd_pg80")).ok()?);
    let from_udev = || {
        let database = root.run(format!("udev/data/b{}", whole.device));
        let database = std::fs::read_to_string(database).ok()?;
        let mut lines = database.lines();
        let serial = lines.find_map(|line| line.strip_prefix("E:ID_SERIAL_SHORT="))?;
        Some(serial.trim().to_owned())
    };
    hardware
        .and_then(|dir| read_attribute(&dir.join("serial")).or_else(|| vital_product_data(dir)))
        // virtio-blk has it at the block device; udev has others (ATA behind old bridges, USB).
        .or_else(|| whole.attribute("serial"))
        .or_else(from_udev)
        .filter(|text| !text.is_empty())
}

/// SCSI page 80h, "Unit Serial Number" (SPC-4, 7.8.15): four bytes of header that end with the
/// length, then ASCII.
fn unit_serial_number(page: &[u8]) -> Option<String> {
    let header = page.get(..4)?;
    let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
    let text = page.get(4..)?;
    let text = String::from_utf8_lossy(&text[..length.min(text.len())]);
    let text = text.trim_matches(|c: char| c.is_whitespace() || c.is_control());
    (header[1] == 0x80 && !text.is_empty()).then(|| text.to_owned())
}

/// Width of a function without link (Linux, include/linux/pci.h, `PCIE_LNK_WIDTH_UNKNOWN`).
const NO_LINK: u32 = 0xff;

/// `None` for root-complex integrated endpoints, such as the drives of most virtual machines.
fn pcie_link(controller: &Path) -> Option<PcieLink> {
    let function = controller.join("device").canonicalize().ok()?;
    let attribute = |name: &str| read_attribute(&function.join(name));
    let number = |name: &str| attribute(name).and_then(|t| t.parse().ok());
    let link = PcieLink {
        address: function.file_name()?.to_string_lossy().into_owned(),
        speed: attribute("current_link_speed"),
        width: number("current_link_width"),
        max_speed: attribute("max_link_speed"),
        max_width: number("max_link_width"),
    };
    let known = link.speed.is_some() || link.max_speed.is_some();
    (known && link.max_width != Some(NO_LINK)).then_some(link)
}
