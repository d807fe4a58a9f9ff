//! Identity and temperature from synthetic sysfs trees, for hardware that test hosts lack.
#![allow(clippy::unwrap_used, reason = "a test whose fixture cannot be set up panics")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use assay_device::identity::{
    DriveInfo, DriveKind, SystemRoot, list_drives_at, temperature_celsius_at,
};
use tempfile::TempDir;

/// A sysfs tree in a temporary folder.
struct Tree {
    dir: TempDir,
}

impl Tree {
    fn new() -> Self {
        let tree = Self { dir: TempDir::new().unwrap() };
        fs::create_dir_all(tree.dir.path().join("sys/block")).unwrap();
        fs::create_dir_all(tree.dir.path().join("sys/dev/block")).unwrap();
        tree
    }

    fn root(&self) -> SystemRoot {
        SystemRoot::at(self.dir.path())
    }

    fn file(&self, path: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    /// A link with an absolute target inside the tree; the real sysfs uses relative ones, which
    /// resolve alike.
    fn link(&self, path: &str, target: &str) -> &Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(self.dir.path().join(target), path).unwrap();
        self
    }

    /// A whole block device at `devices` with the links that lead to it.
    fn block(&self, devices: &str, number: &str, sectors: u64) -> &Self {
        let name = Path::new(devices).file_name().unwrap().to_str().unwrap();
        self.file(&format!("{devices}/dev"), format!("{number}\n"))
            .file(&format!("{devices}/size"), format!("{sectors}\n"))
            .link(&format!("sys/block/{name}"), devices)
            .link(&format!("sys/class/block/{name}"), devices)
            .link(&format!("sys/dev/block/{number}"), devices)
    }

    fn only_drive(&self) -> DriveInfo {
        let mut drives = list_drives_at(&self.root());
        assert_eq!(drives.len(), 1, "{drives:?}");
        drives.remove(0)
    }
}

const CONTROLLER: &str = "sys/devices/pci0000:00/0000:01:00.0/nvme/nvme0";

fn nvme_controller(tree: &Tree) {
    let function = "sys/devices/pci0000:00/0000:01:00.0";
    tree.file(&format!("{CONTROLLER}/serial"), "S3W8NX0J700123      \n")
        .file(&format!("{CONTROLLER}/model"), "SAMSUNG MZVPV512HDGL-00000              \n")
        .file(&format!("{CONTROLLER}/firmware_rev"), "BXW7300Q\n")
        .file(&format!("{CONTROLLER}/transport"), "pcie\n")
        .file(&format!("{CONTROLLER}/queue_count"), "9\n")
        .file(&format!("{CONTROLLER}/numa_node"), "-1\n")
        .link(&format!("{CONTROLLER}/device"), function)
        .file(&format!("{function}/current_link_speed"), "8.0 GT/s PCIe\n")
        .file(&format!("{function}/current_link_width"), "2\n")
        .file(&format!("{function}/max_link_speed"), "8.0 GT/s PCIe\n")
        .file(&format!("{function}/max_link_width"), "4\n");
}

fn nvme_queue(tree: &Tree, namespace: &str) {
    tree.file(&format!("{namespace}/queue/logical_block_size"), "512\n")
        .file(&format!("{namespace}/queue/physical_block_size"), "4096\n")
        .file(&format!("{namespace}/queue/rotational"), "0\n")
        .file(&format!("{namespace}/queue/scheduler"), "[none] mq-deadline kyber\n")
        .file(&format!("{namespace}/queue/nr_requests"), "1023\n")
        .file(&format!("{namespace}/queue/io_poll"), "1\n")
        .file(&format!("{namespace}/queue/max_sectors_kb"), "128\n")
        .file(&format!("{namespace}/queue/write_cache"), "write back\n")
        .file(&format!("{namespace}/mq/0/cpu_list"), "0")
        .file(&format!("{namespace}/mq/1/cpu_list"), "1");
}

#[test]
fn an_nvme_drive() {
    let tree = Tree::new();
    let namespace = format!("{CONTROLLER}/nvme0n1");
    nvme_controller(&tree);
    tree.block(&namespace, "259:0", 1_000_215_216).link(&format!("{namespace}/device"), CONTROLLER);
    nvme_queue(&tree, &namespace);
    let info = tree.only_drive();
    assert_eq!(info.kind, DriveKind::Block);
    assert_eq!((info.name.as_str(), info.serial.as_str()), ("nvme0n1", "S3W8NX0J700123"));
    assert_eq!(info.spec, "/dev/nvme0n1");
    assert_eq!(info.model.as_deref(), Some("SAMSUNG MZVPV512HDGL-00000"));
    assert_eq!(info.firmware.as_deref(), Some("BXW7300Q"));
    assert_eq!(info.transport.as_deref(), Some("nvme"));
    assert_eq!(info.capacity_bytes, 512_110_190_592);
    assert_eq!(
        (info.logical_block_bytes, info.physical_block_bytes, info.min_io_bytes),
        (512, 4096, 512)
    );
    assert_eq!(info.max_io_bytes, Some(128 << 10));
    assert_eq!((info.rotational, info.io_poll, info.read_only), (Some(false), Some(true), false));
    assert_eq!(info.scheduler.as_deref(), Some("none"));
    assert_eq!(
        (info.hardware_queues, info.nr_requests, info.queue_pairs),
        (Some(2), Some(1023), Some(8))
    );
    assert_eq!(info.numa_node, None);
    let link = info.pcie.clone().unwrap();
    assert_eq!(
        (link.address.as_str(), link.width, link.max_width),
        ("0000:01:00.0", Some(2), Some(4))
    );
    assert_eq!(link.speed.as_deref(), Some("8.0 GT/s PCIe"));
    assert!(!info.simulated);
    // The record survives a run's manifest.
    let json = serde_json::to_string(&info).unwrap();
    assert_eq!(serde_json::from_str::<DriveInfo>(&json).unwrap(), info);
}

#[test]
fn a_scheduler_counts_only_where_one_is_active_for_a_solid_state_drive() {
    let scheduler = |of_list: &str, rotational: &str| {
        let tree = Tree::new();
        tree.block("sys/devices/pci0000:00/ata1/block/sda", "8:0", 2048)
            .file("sys/devices/pci0000:00/ata1/block/sda/queue/scheduler", of_list)
            .file("sys/devices/pci0000:00/ata1/block/sda/queue/rotational", rotational);
        let info = tree.only_drive();
        info.costly_scheduler().map(str::to_owned)
    };
    let active = |list: &str| scheduler(list, "0\n");
    assert_eq!(active("none [mq-deadline] kyber bfq\n").as_deref(), Some("mq-deadline"));
    assert_eq!(active("mq-deadline kyber [bfq] none\n").as_deref(), Some("bfq"));
    assert_eq!(active("[none] mq-deadline kyber bfq\n"), None);
    assert_eq!(active("[noop] deadline cfq\n"), None, "before blk-mq");
    assert_eq!(active("none\n"), None, "a driver that has no other");
    assert_eq!(scheduler("none [mq-deadline]\n", "1\n"), None, "a hard disk");
    // NVMe, also where the kernel does not say whether it rotates.
    let tree = Tree::new();
    let namespace = format!("{CONTROLLER}/nvme0n1");
    nvme_controller(&tree);
    tree.block(&namespace, "259:0", 2048)
        .link(&format!("{namespace}/device"), CONTROLLER)
        .file(&format!("{namespace}/queue/scheduler"), "none [kyber]\n");
    assert_eq!(tree.only_drive().costly_scheduler(), Some("kyber"));
}

#[test]
fn the_numa_node_is_the_controllers_or_that_of_its_pci_function() {
    let namespace = format!("{CONTROLLER}/nvme0n1");
    let function = "sys/devices/pci0000:00/0000:01:00.0";
    let node = |of_controller: Option<&str>, of_function: &str| {
        let tree = Tree::new();
        nvme_controller(&tree);
        fs::remove_file(tree.dir.path().join(format!("{CONTROLLER}/numa_node"))).unwrap();
        if let Some(text) = of_controller {
            tree.file(&format!("{CONTROLLER}/numa_node"), text);
        }
        tree.file(&format!("{function}/numa_node"), of_function)
            .block(&namespace, "259:0", 2048)
            .link(&format!("{namespace}/device"), CONTROLLER);
        tree.only_drive().numa_node
    };
    assert_eq!(node(Some("1\n"), "0\n"), Some(1));
    assert_eq!(node(None, "3\n"), Some(3), "before Linux 5.9");
    assert_eq!(node(None, "-1\n"), None, "a machine with one");
}

#[test]
fn a_drive_inside_the_root_complex_has_no_link() {
    let tree = Tree::new();
    let namespace = format!("{CONTROLLER}/nvme0n1");
    let function = "sys/devices/pci0000:00/0000:01:00.0";
    nvme_controller(&tree);
    // The text of Linux for NVMe controllers of QEMU without a port.
    tree.file(&format!("{function}/current_link_speed"), "Unknown\n")
        .file(&format!("{function}/current_link_width"), "0\n")
        .file(&format!("{function}/max_link_speed"), "Unknown\n")
        .file(&format!("{function}/max_link_width"), "255\n")
        .block(&namespace, "259:0", 1_000_215_216)
        .link(&format!("{namespace}/device"), CONTROLLER);
    assert_eq!(tree.only_drive().pcie, None);
}

#[test]
fn a_multipath_nvme_drive_takes_its_identity_from_a_controller_and_hides_its_paths() {
    let tree = Tree::new();
    let subsystem = "sys/devices/virtual/nvme-subsystem/nvme-subsys0";
    let namespace = format!("{subsystem}/nvme0n1");
    nvme_controller(&tree);
    tree.block(&namespace, "259:1", 2048)
        .link(&format!("{namespace}/device"), subsystem)
        .link(&format!("{subsystem}/nvme0"), CONTROLLER)
        .block(&format!("{CONTROLLER}/nvme0c0n1"), "259:2", 2048)
        .file(&format!("{CONTROLLER}/nvme0c0n1/hidden"), "1\n");
    let info = tree.only_drive();
    assert_eq!((info.name.as_str(), info.serial.as_str()), ("nvme0n1", "S3W8NX0J700123"));
    assert_eq!(info.pcie.unwrap().width, Some(2));
}

#[test]
fn sata_and_usb_serials_come_from_vpd_or_udev() {
    let tree = Tree::new();
    let disk = "sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0";
    let mut page = vec![0, 0x80, 0, 20];
    page.extend_from_slice(b"      WD-WCC4E123456");
    tree.block(&format!("{disk}/block/sda"), "8:0", 100)
        .link(&format!("{disk}/block/sda/device"), disk)
        .file(&format!("{disk}/model"), "WDC WD40EFRX-68W\n")
        .file(&format!("{disk}/rev"), "0A82\n")
        .file(&format!("{disk}/vpd_pg80"), page);
    let stick = "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/host6/target6:0:0/6:0:0:0";
    tree.block(&format!("{stick}/block/sdb"), "8:16", 100)
        .link(&format!("{stick}/block/sdb/device"), stick)
        .file(
            "run/udev/data/b8:16",
            "S:disk/by-id/usb-x\nE:ID_SERIAL=Vendor_Stick_0401\nE:ID_SERIAL_SHORT=0401\n",
        );
    let drives = list_drives_at(&tree.root());
    let summary: Vec<_> = drives
        .iter()
        .map(|d| (d.name.as_str(), d.transport.as_deref(), d.serial.as_str()))
        .collect();
    assert_eq!(summary, [("sda", Some("sata"), "WD-WCC4E123456"), ("sdb", Some("usb"), "0401")]);
    assert_eq!(drives[0].firmware.as_deref(), Some("0A82"));
}

#[test]
fn zones_and_formats_that_the_kernel_does_not_support_are_listed() {
    let tree = Tree::new();
    nvme_controller(&tree);
    for (name, number, sectors) in [("nvme0n1", "259:0", 65_536), ("nvme0n2", "259:1", 0)] {
        let namespace = format!("{CONTROLLER}/{name}");
        tree.block(&namespace, number, sectors).link(&format!("{namespace}/device"), CONTROLLER);
    }
    let zoned = format!("{CONTROLLER}/nvme0n1/queue");
    for (name, value) in [
        ("zoned", "host-managed"),
        ("chunk_sectors", "4096"),
        ("nr_zones", "16"),
        ("max_open_zones", "3"),
        ("max_active_zones", "0"),
    ] {
        tree.file(&format!("{zoned}/{name}"), format!("{value}\n"));
    }
    // Of a controller that is gone nothing is known.
    assert_eq!(tree.only_drive().name, "nvme0n1");
    tree.file(&format!("{CONTROLLER}/state"), "live\n")
        .file(&format!("{CONTROLLER}/nvme0n2/metadata_bytes"), "8\n");
    let [zoned, unusable] = &list_drives_at(&tree.root())[..] else { panic!() };
    let zones = zoned.zones.unwrap();
    assert!(zones.host_managed && zoned.unusable.is_none());
    assert_eq!((zones.count, zones.zone_bytes), (16, 2 << 20));
    assert_eq!((zones.max_open, zones.max_active), (Some(3), None));
    let why = unusable.unusable.as_deref().unwrap();
    for part in ["8 bytes of metadata", "/dev/ng0n2", "nvme format"] {
        assert!(why.contains(part), "{why}");
    }
}

#[test]
fn devices_without_a_serial_use_their_kernel_name() {
    let tree = Tree::new();
    let virtio = "sys/devices/pci0000:00/0000:00:02.0/virtio1/block/vda";
    tree.block(virtio, "254:0", 8).file(&format!("{virtio}/serial"), "disk-of-a-guest\n");
    for (name, number) in [
        ("zram0", "253:0"),
        ("loop3", "7:3"),
        ("md127", "9:127"),
        ("dm-0", "252:0"),
        ("cciss!c0d0", "104:0"),
    ] {
        tree.block(&format!("sys/devices/virtual/block/{name}"), number, 8);
    }
    tree.file("sys/devices/virtual/block/dm-0/dm/name", "vg-home\n");
    let drives = list_drives_at(&tree.root());
    let serial = |name: &str| drives.iter().find(|d| d.name == name).map(|d| d.serial.clone());
    for name in ["zram0", "loop3", "md127", "dm-0", "cciss/c0d0"] {
        assert_eq!(serial(name).as_deref(), Some(name));
    }
    assert_eq!(serial("vda").as_deref(), Some("disk-of-a-guest"));
    assert_eq!(drives.iter().find(|d| d.name == "dm-0").unwrap().model.as_deref(), Some("vg-home"));
}

#[test]
fn the_list_skips_empty_devices_and_tolerates_unreadable_attributes() {
    let tree = Tree::new();
    tree.block("sys/devices/virtual/block/loop0", "7:0", 0)
        .block("sys/devices/virtual/block/ram0", "1:0", 8192)
        .block("sys/devices/virtual/block/zram1", "253:1", 8)
        .link("sys/block/gone", "sys/devices/nowhere")
        .file("sys/devices/virtual/block/odd/dev", "not a number\n")
        .link("sys/block/odd", "sys/devices/virtual/block/odd");
    assert_eq!(tree.only_drive().name, "zram1");
    assert_eq!(list_drives_at(&SystemRoot::at("/nonexistent")), []);
}

/// Every layout of hwmon nodes of drives in Linux.
#[test]
fn temperatures() {
    for place in ["hwmon4", "hwmon/hwmon4", "device/hwmon/hwmon4"] {
        let tree = Tree::new();
        let device = "sys/devices/pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0";
        tree.block(&format!("{device}/block/sda"), "8:0", 100)
            .link(&format!("{device}/block/sda/device"), device);
        let info = tree.only_drive();
        assert_eq!(temperature_celsius_at(&tree.root(), &info), None);
        // temp1 is the composite temperature of an NVMe drive; hotter single sensors are ignored.
        tree.file(&format!("{device}/{place}/temp10_input"), "90000\n")
            .file(&format!("{device}/{place}/temp2_input"), "71000\n")
            .file(&format!("{device}/{place}/temp1_input"), "38850\n")
            .file(&format!("{device}/{place}/temp1_crit"), "84850\n");
        assert_eq!(temperature_celsius_at(&tree.root(), &info), Some(38.85), "{place}");
        tree.file(&format!("{device}/{place}/temp1_input"), "-5000\n");
        assert_eq!(temperature_celsius_at(&tree.root(), &info), Some(-5.0));
        tree.file(&format!("{device}/{place}/temp1_input"), "\n");
        assert_eq!(
            temperature_celsius_at(&tree.root(), &info),
            Some(71.0),
            "an unreadable sensor is passed over"
        );
    }
}

#[test]
fn the_temperature_of_a_file_is_that_of_the_drive_under_it() {
    let tree = Tree::new();
    let namespace = format!("{CONTROLLER}/nvme0n1");
    tree.block(&namespace, "259:0", 100)
        .link(&format!("{namespace}/device"), CONTROLLER)
        .file(&format!("{namespace}/nvme0n1p2/partition"), "2\n")
        .file(&format!("{namespace}/nvme0n1p2/dev"), "259:2\n")
        .link("sys/class/block/nvme0n1p2", &format!("{namespace}/nvme0n1p2"))
        .file(&format!("{CONTROLLER}/hwmon1/temp1_input"), "45000\n");
    let mut info = DriveInfo::new(DriveKind::File, "/x", "x", 4096);
    assert_eq!(temperature_celsius_at(&tree.root(), &info), None);
    info.filesystem = Some(assay_device::identity::Filesystem {
        fs_type: "ext4".into(),
        mount_point: "/".into(),
        backing: Some("nvme0n1p2".into()),
        backing_model: None,
    });
    assert_eq!(temperature_celsius_at(&tree.root(), &info), Some(45.0));
    let simulated = DriveInfo::new(DriveKind::Simulated, "sim:x", "x", 4096);
    assert_eq!(temperature_celsius_at(&tree.root(), &simulated), None);
}
