//! Temperature and power of a drive from its hwmon sensors.
//!
//! NVMe controllers have theirs in `CONTROLLER/hwmonN/` (before Linux 5.18 sometimes `CONTROLLER/device/hwmon/hwmonN/`),
//! SATA drives (driver `drivetemp`) in `DEVICE/hwmon/hwmonN/`. Inputs are in thousandths of a degree Celsius
//! (Documentation/hwmon/sysfs-interface.rst). `temp1` of an NVMe drive is its Composite Temperature, the one its thermal
//! limits refer to (drivers/nvme/host/hwmon.c); the others are single sensors.

use std::path::{Path, PathBuf};

use super::root::read_attribute;
use super::{DriveInfo, DriveKind, SystemRoot, block_node};

/// The drive's temperature in degrees Celsius: `temp1`, else its lowest-numbered sensor. For a file, that of the drive
/// under it. `None` for drives without a sensor and for simulated ones (their model reports its own).
pub fn temperature_celsius(info: &DriveInfo) -> Option<f64> {
    temperature_celsius_at(&SystemRoot::host(), info)
}

/// [`temperature_celsius`] with sysfs of `root`.
pub fn temperature_celsius_at(root: &SystemRoot, info: &DriveInfo) -> Option<f64> {
    let mut inputs: Vec<(u32, PathBuf)> = sensors_of(root, info)?
        .iter()
        .flat_map(|dir| inputs(dir, "temp", &["_input"]))
        .collect();
    inputs.sort();
    inputs.into_iter().find_map(|(_, path)| {
        let thousandths: f64 = read_attribute(&path)?.parse().ok()?;
        Some(thousandths / 1000.0)
    })
}

/// The drive's power in milliwatts, where it has a power sensor: `powerN_average`, else `powerN_input`, in microwatts. Few drives have one;
/// carriers and hot-plug controllers do.
pub fn power_milliwatts(info: &DriveInfo) -> Option<u64> {
    power_milliwatts_at(&SystemRoot::host(), info)
}

/// [`power_milliwatts`] with sysfs of `root`.
pub fn power_milliwatts_at(root: &SystemRoot, info: &DriveInfo) -> Option<u64> {
    let mut inputs: Vec<(u32, PathBuf)> = sensors_of(root, info)?
        .iter()
        .flat_map(|dir| inputs(dir, "power", &["_average", "_input"]))
        .collect();
    inputs.sort();
    inputs.into_iter().find_map(|(_, path)| {
        let microwatts: u64 = read_attribute(&path)?.parse().ok()?;
        Some(microwatts / 1000)
    })
}

/// Directories of the drive's sensors; for a file, of the drive under it.
fn sensors_of(root: &SystemRoot, info: &DriveInfo) -> Option<Vec<PathBuf>> {
    let node = match info.kind {
        DriveKind::Block => block_node(root, info.device?).ok()?,
        DriveKind::File => {
            let backing = info.filesystem.as_ref()?.backing.as_ref()?;
            super::BlockNode::in_dir(
                &root.sys(format!("class/block/{}", backing.replace('/', "!"))),
            )
            .ok()?
        }
        DriveKind::Null | DriveKind::Simulated => return None,
    };
    Some(hwmon_dirs(&node.hardware_dir()?))
}

/// Every `hwmonN` directory directly below the device, below its `hwmon` folder, or the same of the bus device under it.
fn hwmon_dirs(hardware: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in [
        hardware.to_path_buf(),
        hardware.join("hwmon"),
        hardware.join("device"),
        hardware.join("device/hwmon"),
    ] {
        let Ok(entries) = std::fs::read_dir(&place) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let number = name
                .to_string_lossy()
                .strip_prefix("hwmon")
                .map(str::to_owned);
            if number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit())) {
                found.push(entry.path());
            }
        }
        // The drive's own sensors come before those of the bus device (which may be a host adapter).
        if !found.is_empty() {
            break;
        }
    }
    found.sort();
    found
}

/// Inputs of a kind with their numbers: `temp1_input`, `power1_average`.
fn inputs(hwmon: &Path, kind: &str, endings: &[&str]) -> Vec<(u32, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(hwmon) else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let rest = name.strip_prefix(kind)?;
            let number = endings
                .iter()
                .find_map(|ending| rest.strip_suffix(ending))?;
            Some((number.parse().ok()?, entry.path()))
        })
        .collect()
}
