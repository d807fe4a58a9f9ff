//! Temperature and power of a drive from hwmon. NVMe controllers have it in `CONTROLLER/hwmonN/`
//! (before Linux 5.18 sometimes `CONTROLLER/device/hwmon/hwmonN/`), SATA drives (driver
//! `drivetemp`) in `DEVICE/hwmon/hwmonN/`. Inputs are in thousandths of a degree Celsius
//! (Documentation/hwmon/sysfs-interface.rst). `temp1` of an NVMe drive is its Composite
//! Temperature, to which its thermal limits refer (drivers/nvme/host/hwmon.c).

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::block::node_of;
use super::root::{entries, is_numbered, read_attribute};
use super::{DriveInfo, SystemRoot};

/// `temp1`, else the lowest-numbered sensor, degrees Celsius; of a file, that of the drive under
/// it.
pub fn temperature_celsius(info: &DriveInfo) -> Option<f64> {
    temperature_celsius_at(&SystemRoot::host(), info)
}

pub fn temperature_celsius_at(root: &SystemRoot, info: &DriveInfo) -> Option<f64> {
    first_reading(root, info, "temp", &["_input"], |thousandths: f64| thousandths / 1000.0)
}

/// Milliwatts from `powerN_average`, else `powerN_input`, which are in microwatts. Few drives have
/// such a sensor; carriers and hot-plug controllers do.
pub(crate) fn power_milliwatts_at(root: &SystemRoot, info: &DriveInfo) -> Option<u64> {
    first_reading(root, info, "power", &["_average", "_input"], |microwatts: u64| microwatts / 1000)
}

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

fn sensors_of(root: &SystemRoot, info: &DriveInfo) -> Option<Vec<PathBuf>> {
    Some(hwmon_dirs(&node_of(root, info)?.hardware_dir()?))
}

fn hwmon_dirs(hardware: &Path) -> Vec<PathBuf> {
    // The drive's own sensors precede those of the bus device, which may be a host adapter.
    let dirs = ["", "hwmon", "device", "device/hwmon"].map(|dir| hardware.join(dir));
    let sensors = dirs.iter().map(|dir| {
        let is_hwmon = |path: &PathBuf| path.file_name().is_some_and(|n| is_numbered(n, "hwmon"));
        let mut found: Vec<PathBuf> = entries(dir).filter(is_hwmon).collect();
        found.sort();
        found
    });
    sensors.into_iter().find(|found| !found.is_empty()).unwrap_or_default()
}
