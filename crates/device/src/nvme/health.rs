//! SMART / Health Information and the telemetry derived from it.

use assay_nvme_spec::log::{CriticalWarning, OcpSmartLog, SmartLog};
use serde::{Deserialize, Serialize};

use super::commands::Commands;
use super::device::ControllerDevice;
use super::{AdminPort, CommandError};
use crate::identity::DriveInfo;
use assay_io::Telemetry;

/// SMART / Health Information (Base 2.0c, 5.16.1.3), converted units. 128-bit counters saturate at 64 bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Names of the critical warnings that are set.
    pub critical_warnings: Vec<String>,
    /// Composite temperature, degrees Celsius.
    pub composite_c: i32,
    /// Further sensors: number, degrees Celsius.
    pub sensors_c: Vec<(u8, i32)>,
    /// Available spare, percent.
    pub available_spare_pct: u8,
    /// Available spare threshold, percent.
    pub spare_threshold_pct: u8,
    /// Percentage used; may exceed 100.
    pub percentage_used: u8,
    /// Data units read, bytes, in steps of 512,000.
    pub read_bytes: u64,
    /// Data units written, bytes, in steps of 512,000.
    pub written_bytes: u64,
    /// Read commands.
    pub read_commands: u64,
    /// Write commands.
    pub write_commands: u64,
    /// Controller busy time, minutes.
    pub busy_minutes: u64,
    /// Power cycles.
    pub power_cycles: u64,
    /// Power on hours.
    pub power_on_hours: u64,
    /// Unsafe shutdowns.
    pub unsafe_shutdowns: u64,
    /// Media and data integrity errors.
    pub media_errors: u64,
    /// Number of error information log entries.
    pub error_log_entries: u64,
    /// Warning composite temperature time, minutes.
    pub warning_minutes: u32,
    /// Critical composite temperature time, minutes.
    pub critical_minutes: u32,
    /// Thermal management temperature 1 and 2 transition counts.
    pub thermal_transitions: (u32, u32),
    /// Total time for thermal management temperature 1 and 2, seconds.
    pub thermal_s: (u32, u32),
    /// From the endurance log of data-centre drives, where the drive has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance: Option<Endurance>,
}

/// SMART / Health Information Extended (Open Compute Project, Datacenter NVMe SSD Specification 2.0, section 4.8.6, log C0h): what the
/// drive did to its media.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endurance {
    /// Written to the media, bytes, over the drive's life.
    pub media_written_bytes: u64,
    /// Read from the media, bytes.
    pub media_read_bytes: u64,
    /// Bad blocks of user data.
    pub bad_blocks: u64,
    /// Free blocks, of those that the capacity does not fill, percent.
    pub free_blocks_pct: u8,
    /// Least and most erases of a block of user data.
    pub erases: (u32, u32),
    /// Thermal throttling events; 255 stands for as many or more.
    pub throttling_events: u8,
}

impl From<&OcpSmartLog> for Endurance {
    fn from(log: &OcpSmartLog) -> Endurance {
        Endurance {
            media_written_bytes: counter(log.media_bytes_written()),
            media_read_bytes: counter(log.media_bytes_read()),
            bad_blocks: log.bad_user_blocks(),
            free_blocks_pct: log.free_percent(),
            erases: (log.min_erases(), log.max_erases()),
            throttling_events: log.throttling_events(),
        }
    }
}

/// Bytes of one data unit: thousands of 512 bytes (Base 5.16.1.3).
const DATA_UNIT_BYTES: u128 = 512_000;

fn counter(wide: u128) -> u64 {
    u64::try_from(wide).unwrap_or(u64::MAX)
}

impl From<&SmartLog> for Health {
    fn from(log: &SmartLog) -> Health {
        Health {
            critical_warnings: CriticalWarning::names(log.critical_warning())
                .map(str::to_owned)
                .collect(),
            composite_c: log.composite_celsius(),
            sensors_c: log.sensors_celsius().collect(),
            available_spare_pct: log.available_spare(),
            spare_threshold_pct: log.spare_threshold(),
            percentage_used: log.percentage_used(),
            read_bytes: counter(log.data_units_read().saturating_mul(DATA_UNIT_BYTES)),
            written_bytes: counter(log.data_units_written().saturating_mul(DATA_UNIT_BYTES)),
            read_commands: counter(log.host_reads()),
            write_commands: counter(log.host_writes()),
            busy_minutes: counter(log.busy_minutes()),
            power_cycles: counter(log.power_cycles()),
            power_on_hours: counter(log.power_on_hours()),
            unsafe_shutdowns: counter(log.unsafe_shutdowns()),
            media_errors: counter(log.media_errors()),
            error_log_entries: counter(log.error_entries()),
            warning_minutes: log.warning_minutes(),
            critical_minutes: log.critical_minutes(),
            thermal_transitions: (log.thermal1_transitions(), log.thermal2_transitions()),
            thermal_s: (log.thermal1_s(), log.thermal2_s()),
            endurance: None,
        }
    }
}

impl Health {
    /// Bytes written to the media per byte written by the host, over the drive's life; `None` where the drive does not tell, or before
    /// the first write.
    pub fn write_amplification(&self) -> Option<f64> {
        let media = self.endurance?.media_written_bytes;
        (self.written_bytes > 0).then(|| media as f64 / self.written_bytes as f64)
    }

    /// Converts to telemetry. Times above thresholds have a resolution of minutes and are given in seconds.
    pub fn telemetry(&self) -> Telemetry {
        Telemetry {
            temperature_c: Some(f64::from(self.composite_c)),
            sensors_c: self.sensors_c.iter().map(|&(_, c)| f64::from(c)).collect(),
            warning_time_s: Some(u64::from(self.warning_minutes) * 60),
            critical_time_s: Some(u64::from(self.critical_minutes) * 60),
            thermal_transitions: Some(
                u64::from(self.thermal_transitions.0) + u64::from(self.thermal_transitions.1),
            ),
            media_errors: Some(self.media_errors),
            error_log_entries: Some(self.error_log_entries),
            percentage_used: Some(self.percentage_used),
            available_spare_pct: Some(self.available_spare_pct),
            critical_warnings: self.critical_warnings.clone(),
            host_bytes_read: Some(self.read_bytes),
            host_bytes_written: Some(self.written_bytes),
            nand_bytes_written: self.endurance.map(|log| log.media_written_bytes),
            ..Telemetry::default()
        }
    }
}

/// Opens the controller of a drive for [`read`], and whether it has the endurance log; `None` where it is not NVMe, cannot be opened (root
/// is required) or returns no health. A drive without that log is asked once: each rejected command is an entry of its error log.
pub(crate) fn open(info: &DriveInfo) -> Option<(ControllerDevice, bool)> {
    let mut device = ControllerDevice::open(&info.nvme.as_ref()?.controller).ok()?;
    read(&mut device, false).ok()?;
    let has_endurance = Commands::to(&mut device).endurance().is_some();
    Some((device, has_endurance))
}

/// Current health of a controller: one log page, which drives return from memory within tens to hundreds of microseconds, and with
/// `has_endurance` another one.
pub(crate) fn read(port: &mut dyn AdminPort, has_endurance: bool) -> Result<Health, CommandError> {
    read_by(&mut Commands::to(port), has_endurance)
}

/// As [`read`], by commands.
pub(super) fn read_by(
    commands: &mut Commands<'_>,
    has_endurance: bool,
) -> Result<Health, CommandError> {
    let log = commands.smart()?;
    let endurance = has_endurance.then(|| commands.endurance()).flatten();
    Ok(Health {
        endurance: endurance.as_ref().map(Endurance::from),
        ..Health::from(&log)
    })
}
