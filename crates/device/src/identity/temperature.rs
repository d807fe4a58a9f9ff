//! Temperature and power of a drive from its hwmon sensors.
//!
//! NVMe controllers have theirs in `CONTROLLER/hwmonN/` (before Linux 5.18 sometimes
//! `CONTROLLER/device/hwmon/hwmonN/`), SATA drives (driver `drivetemp`) in `DEVICE/hwmon/hwmonN/`.
//! Inputs are in thousandths of a degree Celsius (Documentation/hwmon/sysfs-interface.rst). `temp1`
//! of an NVMe drive is its Composite Temperature, the one its thermal limits refer to
//! (drivers/nvme/host/hwmon.c); the others are single sensors.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::block::node_of;
use super::root::{entries, is_numbered, read_attribute};
use super::{DriveInfo, SystemRoot};

/// The drive's temperature in degrees Celsius: `temp1`, else its lowest-numbered sensor. For a
/// file, that of the drive under it. `None` for drives without a sensor and for simulated ones
/// (their model reports its own).
pub fn temperature_celsius(info: &DriveInfo) -> Option<f64> {
    temperature_celsius_at(&SystemRoot::host(), info)
}

/// [`temperature_celsius`] with sysfs of `root`.
pub fn temperature_celsius_at(root: &SystemRoot, info: &DriveInfo) -> Option<f64> {
    first_reading(root, info, "temp", &["_input"], |thousandths: f64| {
        thousandths / 1000.0
    })
}

/// The drive's power in milliwatts, where it has a power sensor: `powerN_average`, else
/// `powerN_input`, in microwatts. Few drives have one; carriers and hot-plug controllers do.
pub(crate) fn power_milliwatts_at(root: &SystemRoot, info: &DriveInfo) -> Option<u64> {
    first_reading(
        root,
        info,
        "power",
        &["_average", "_input"],
        |microwatts: u64| microwatts / 1000,
    )
}

/// The lowest-numbered readable input of a kind (`temp1_input`, `power1_average`).
fn first_reading<T: FromStr>(
    root: &SystemRoot,
    info: &DriveInfo,
    kind: &str,
    endings: &[&str],
    scale: fn(T) -> T,
) -> Option<T> {
    let input = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.strip_prefix(kind)?;
        let number = endings.iter().find_map(|end| name.strip_suffix(end))?;
        Some((number.parse::<u32>().ok()?, path))
    };
    let files = sensors_of(root, info)?;
    let files = files.iter().flat_map(|dir| entries(dir));
    let mut inputs: Vec<(u32, PathBuf)> = files.filter_map(input).collect();
    inputs.sort();
    let read = |(_, path): (u32, PathBuf)| read_attribute(&path)?.parse().ok();
    inputs.into_iter().find_map(read).map(scale)
}

/// Directories of the drive's sensors; for a file, of the drive under it.
fn sensors_of(root: &SystemRoot, info: &DriveInfo) -> Option<Vec<PathBuf>> {
    Some(hwmon_dirs(&node_of(root, info)?.hardware_dir()?))
}

/// Every `hwmonN` directory directly below the device, below its `hwmon` folder, or the same of the
/// bus device under it.
fn hwmon_dirs(hardware: &Path) -> Vec<PathBuf> {
    // The drive's own sensors come before those of the bus device (which may be a host adapter).
    let dirs = ["", "hwmon", "device", "device/hwmon"].map(|dir| hardware.join(dir));
    let sensors = dirs.iter().map(|dir| {
        let is_hwmon = |path: &PathBuf| path.file_name().is_some_and(|n| is_numbered(n, "hwmon"));
        let mut found: Vec<PathBuf> = entries(dir).filter(is_hwmon).collect();
        found.sort();
        found
    });
    sensors
        .into_iter()
        .find(|found| !found.is_empty())
        .unwrap_or_default()
}
