//! The drives of a host: those in `/sys`, and those in the file `$ASSAY_FLEET_DRIVES/HOST`, one per
//! line as on the command line of `assay run` (files, loop devices, `sim:NAME,lot=N`), with `#`
//! comments. A drive is known by its serial: a device path may name another drive after each boot,
//! so a task looks serials up each time it starts.

use std::path::{Path, PathBuf};

use assay_device::host::wall_clock;
use assay_device::identity::{
    DriveInfo, DriveKind, PcieLink, SystemRoot, identify, list_drives_at,
};
use assay_device::nvme::health;
use assay_device::session::{simulated_drive, simulated_info};
use assay_device::spec::{DriveSpec, SpecKind};
use assay_ssd::Drive;
use assay_units::Nanos;
use assay_units::endurance::{CounterSource, RatedEndurance};
use serde::{Deserialize, Serialize};

use crate::shared_store::{Condition, SharedStore};
use crate::{FleetError, HostName, Serial};

/// Version of [`HostInventory`] as JSON.
pub const FORMAT: u32 = 1;
/// Folder of the lists of further drives.
pub const DRIVES_VARIABLE: &str = "ASSAY_FLEET_DRIVES";

/// 6 Gbit/s less the line code 8b/10b (Serial ATA revision 3.0, section 9).
const SATA_BYTES_PER_S: u64 = 600_000_000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostInventory {
    pub format: u32,
    pub host: HostName,
    /// Changes with each boot.
    pub boot_id: Option<String>,
    #[serde(default)]
    pub rack: Option<String>,
    /// RFC 3339.
    pub taken: String,
    /// Drives with a serial, in the order found.
    pub drives: Vec<InventoryDrive>,
    pub unusable: Vec<Unusable>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InventoryDrive {
    pub serial: Serial,
    pub model: String,
    pub firmware: String,
    pub capacity_bytes: u64,
    /// Argument of `assay run`: valid on this host until it boots again.
    pub spec: String,
    /// `nvme`, `sata`, `file`, `simulated`, ...
    pub transport: String,
    pub simulated: bool,
    pub slot: Option<String>,
    /// PCIe link as `8.0 GT/s PCIe x4`.
    pub link: Option<String>,
    /// Most that the interface carries in one direction; `None` where not known.
    #[serde(default)]
    pub interface_bytes_per_s: Option<u64>,
    #[serde(default)]
    pub wear: Option<Wear>,
    pub numa_node: Option<u32>,
    /// Known of a simulated drive only (`lot=N`).
    pub lot: Option<String>,
}

/// Health log (NVM Express Base Specification 2.0c, 5.16.1.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wear {
    /// May exceed 100.
    pub percentage_used: u8,
    /// Host writes over the drive's life.
    pub written_bytes: u64,
    /// `None` where no log states it.
    pub rated: Option<RatedEndurance>,
}

/// No drive that a plan can name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unusable {
    pub spec: String,
    pub why: String,
}

/// `lists` is the folder of the lists of further drives. A drive that cannot be identified is
/// listed as unusable. Fails when the list exists and cannot be read.
pub fn take(
    root: &SystemRoot,
    host: &HostName,
    lists: Option<&Path>,
) -> Result<HostInventory, FleetError> {
    let mut drives = Vec::new();
    let mut unusable = Vec::new();
    let mut add = |drive: Result<InventoryDrive, Unusable>| match drive {
        Ok(drive) => drives.push(drive),
        Err(reason) => unusable.push(reason),
    };
    for info in list_drives_at(root) {
        // Without a serial of its own a drive has its kernel name, which may be another drive's
        // after a boot.
        if info.serial != info.name {
            add(of_info(&info, None));
        }
    }
    for line in further(host, lists)? {
        add(further_drive(&line));
    }
    let boot_id = std::fs::read_to_string(root.proc("sys/kernel/random/boot_id")).ok();
    let (drives, twice) = with_unique_serials(drives);
    unusable.extend(twice);
    Ok(HostInventory {
        format: FORMAT,
        host: host.clone(),
        boot_id: boot_id.map(|id| id.trim().to_owned()),
        rack: None,
        taken: wall_clock(),
        drives,
        unusable,
    })
}

impl HostInventory {
    /// Needs root; without, the wear stays unknown. A task does without it: a drive that does not
    /// answer holds an admin command until the kernel's time limit.
    pub fn read_wear(&mut self) {
        std::thread::scope(|scope| {
            for drive in self.drives.iter_mut().filter(|drive| !drive.simulated) {
                scope.spawn(|| drive.wear = wear_of(&drive.spec));
            }
        });
    }
}

fn wear_of(spec: &str) -> Option<Wear> {
    let SpecKind::Path(path) = DriveSpec::parse(spec).ok()?.kind().clone() else {
        return None;
    };
    let health = health::of_drive(&identify(&path).ok()?)?;
    Some(Wear {
        percentage_used: health.percentage_used,
        written_bytes: health.written_bytes,
        rated: health.rated,
    })
}

/// [`take`] of the running system, with the lists of [`DRIVES_VARIABLE`].
pub fn of_this_host(host: &HostName) -> Result<HostInventory, FleetError> {
    let lists = std::env::var_os(DRIVES_VARIABLE).map(PathBuf::from);
    take(&SystemRoot::host(), host, lists.as_deref())
}

fn key(host: &HostName) -> String {
    format!("inventory/{host}.json")
}

/// Replaces the host's earlier inventory, whose rack and wear stay where this one has none.
pub fn publish(store: &dyn SharedStore, inventory: &HostInventory) -> Result<(), FleetError> {
    let key = key(&inventory.host);
    let mut inventory = inventory.clone();
    let before = store.get(&key)?;
    let before = before.and_then(|(bytes, _)| {
        // A damaged one is replaced.
        serde_json::from_slice::<HostInventory>(&bytes).ok()
    });
    if let Some(before) = before {
        for drive in &mut inventory.drives {
            let wear_before = || before.find(&drive.serial)?.wear;
            drive.wear = drive.wear.or_else(wear_before);
        }
        inventory.rack = inventory.rack.or(before.rack);
    }
    let bytes = serde_json::to_vec_pretty(&inventory).map_err(FleetError::Json)?;
    store.put(&key, &bytes, Condition::Any)?;
    Ok(())
}

/// The drives of a host that is gone can then be found on others; false without an inventory.
pub fn remove(store: &dyn SharedStore, host: &HostName) -> Result<bool, FleetError> {
    let key = key(host);
    let found = store.get(&key)?.is_some();
    store.delete(&key)?;
    Ok(found)
}

pub fn published(store: &dyn SharedStore) -> Result<Vec<HostInventory>, FleetError> {
    let mut inventories = Vec::new();
    for key in store.list("inventory/")? {
        let Some((bytes, _)) = store.get(&key)? else {
            continue;
        };
        let inventory: HostInventory =
            serde_json::from_slice(&bytes).map_err(|error| FleetError::document(&key, &error))?;
        if inventory.format != FORMAT {
            let format = inventory.format;
            return Err(FleetError::Document {
                key,
                why: format!("it has format {format}, and this assay reads {FORMAT}"),
            });
        }
        inventories.push(inventory);
    }
    Ok(inventories)
}

impl HostInventory {
    /// Configuration line of a dynamic node of Slurm with a GRES type per serial (slurmd(8), -Z and
    /// --conf), without `File=`: one dead drive would keep the host's daemon from starting.
    pub fn slurm_node(&self) -> String {
        let types = self.drives.iter().map(|drive| {
            let serial = drive.serial.gres_type();
            format!("nvme:{serial}:1")
        });
        let types: Vec<String> = types.collect();
        match types.is_empty() {
            true => format!("NodeName={}", self.host),
            false => format!("NodeName={} Gres={}", self.host, types.join(",")),
        }
    }

    pub fn find(&self, serial: &Serial) -> Option<&InventoryDrive> {
        self.drives.iter().find(|drive| drive.serial == *serial)
    }
}

/// None without a list.
fn further(host: &HostName, lists: Option<&Path>) -> Result<Vec<String>, FleetError> {
    let Some(path) = lists.map(|lists| lists.join(host.as_str())) else {
        return Ok(Vec::new());
    };
    let text = match assay_output::read_text(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        read => read
            .map_err(|source| FleetError::DriveList { path: path.display().to_string(), source })?,
    };
    let lines = text.lines().map(str::trim);
    let drives = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    Ok(drives.map(str::to_owned).collect())
}

fn further_drive(line: &str) -> Result<InventoryDrive, Unusable> {
    let unusable = |why: String| Unusable { spec: line.to_owned(), why };
    let spec = DriveSpec::parse(line).map_err(|error| unusable(error.to_string()))?;
    if let Some(drive) = simulated_drive(&spec, false) {
        let (profile, options) = drive.map_err(|error| unusable(error.to_string()))?;
        let lot = options.lot.map(|lot| lot.to_string());
        let (name, link) = (profile.name.clone(), profile.link.clone());
        let mut drive =
            Drive::new(profile, options).map_err(|error| unusable(error.to_string()))?;
        let telemetry = drive.telemetry(Nanos(0));
        let rated = |media_bytes| RatedEndurance { source: CounterSource::Simulated, media_bytes };
        let wear = Wear {
            percentage_used: u8::try_from(telemetry.used_percent).unwrap_or(u8::MAX),
            written_bytes: telemetry.host_bytes_written,
            rated: drive.rated_media_bytes().map(rated),
        };
        let info = simulated_info(line, &name, drive.identity(), &link);
        return Ok(InventoryDrive { wear: Some(wear), ..of_info(&info, lot)? });
    }
    match spec.kind() {
        SpecKind::Path(path) => {
            let info = identify(path).map_err(|error| unusable(error.to_string()))?;
            of_info(&info, None)
        }
        _ => Err(unusable(
            "is no drive with a serial; list block devices, files or simulated drives".to_owned(),
        )),
    }
}

fn of_info(info: &DriveInfo, lot: Option<String>) -> Result<InventoryDrive, Unusable> {
    let serial = Serial::parse(&info.serial)
        .map_err(|error| Unusable { spec: info.spec.clone(), why: error.to_string() })?;
    let link = info.pcie.as_ref().and_then(|link| {
        let lanes = link.width.map(|lanes| format!(" x{lanes}"));
        Some(format!("{}{}", link.speed.as_ref()?, lanes.unwrap_or_default()))
    });
    let transport = info.transport.as_deref().unwrap_or_default();
    let interface_bytes_per_s = match transport {
        "sata" => Some(SATA_BYTES_PER_S),
        _ => info.pcie.as_ref().and_then(PcieLink::max_bytes_per_s),
    };
    let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
    let slot = info.pcie.as_ref().filter(|_| info.kind == DriveKind::Block);
    Ok(InventoryDrive {
        serial,
        model: or_empty(&info.model),
        firmware: or_empty(&info.firmware),
        capacity_bytes: info.capacity_bytes,
        spec: info.spec.clone(),
        transport: transport.to_owned(),
        simulated: info.simulated,
        slot: slot.map(|link| link.address.clone()),
        link,
        interface_bytes_per_s,
        wear: None,
        numa_node: info.numa_node,
        lot,
    })
}

/// A serial that occurs more than once, as of several namespaces of a drive, selects none of them.
fn with_unique_serials(drives: Vec<InventoryDrive>) -> (Vec<InventoryDrive>, Vec<Unusable>) {
    let mut unusable = Vec::new();
    let is_single = |drive: &InventoryDrive| {
        let same = drives.iter().filter(|other| other.serial == drive.serial);
        same.count() == 1
    };
    let (single, duplicates): (Vec<_>, Vec<_>) = drives.iter().cloned().partition(is_single);
    for duplicate in duplicates {
        let why = format!(
            "its serial {} is that of another device of this host (another namespace, or listed \
             twice); a plan cannot tell them apart",
            duplicate.serial
        );
        unusable.push(Unusable { spec: duplicate.spec, why });
    }
    (single, unusable)
}

#[cfg(test)]
#[path = "../tests/unit/inventory.rs"]
mod tests;
