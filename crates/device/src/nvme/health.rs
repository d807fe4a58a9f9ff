use assay_nvme_spec::log::{CriticalWarning, SmartLog};
use assay_units::endurance::{CounterOrigin, CounterSource, EnduranceCounters, RatedEndurance};
use serde::{Deserialize, Serialize};

use super::commands::Commands;
use super::device::ControllerDevice;
use super::endurance::EnduranceLogs;
use super::{AdminPort, CommandError};
use crate::identity::DriveInfo;
use assay_io::Telemetry;

/// SMART / Health Information (Base 2.0c, 5.16.1.3). 128-bit counters saturate at 64 bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    pub critical_warnings: Vec<String>,
    pub composite_c: i32,
    /// Sensor number, degrees Celsius.
    pub sensors_c: Vec<(u8, i32)>,
    pub available_spare_pct: u8,
    pub spare_threshold_pct: u8,
    /// May exceed 100.
    pub percentage_used: u8,
    /// Counts in steps of 512,000.
    pub read_bytes: u64,
    /// Counts in steps of 512,000.
    pub written_bytes: u64,
    pub read_commands: u64,
    pub write_commands: u64,
    pub busy_minutes: u64,
    pub power_cycles: u64,
    pub power_on_hours: u64,
    pub unsafe_shutdowns: u64,
    pub media_errors: u64,
    pub error_log_entries: u64,
    /// Time above the warning composite temperature.
    pub warning_minutes: u32,
    /// Time above the critical composite temperature.
    pub critical_minutes: u32,
    /// Transitions to thermal management temperatures 1 and 2.
    pub thermal_transitions: (u32, u32),
    /// Time at thermal management temperatures 1 and 2.
    pub thermal_s: (u32, u32),
    /// Work of the drive on its media, where a log tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance: Option<Endurance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rated: Option<RatedEndurance>,
}

/// Work of the drive on its media, from one of the logs of [`super::endurance`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endurance {
    pub media: CounterOrigin,
    /// Media writes over the drive's life.
    pub media_written_bytes: u64,
    pub host: CounterOrigin,
    /// Host writes to the same part of the drive.
    pub host_written_bytes: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_read_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bad_blocks: Option<u64>,
    /// Free blocks, of those that the capacity does not fill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_blocks_pct: Option<u8>,
    /// Least and most of a block of user data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub erases: Option<(u32, u32)>,
    /// Mean erases of blocks of user data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_erases: Option<u32>,
    /// A count of 255 stands for as many or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttling_events: Option<u8>,
}

/// Thousands of 512 bytes (Base 5.16.1.3).
pub(super) const DATA_UNIT_BYTES: u64 = 512_000;

pub(super) fn counter(wide: u128) -> u64 {
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
            read_bytes: counter(log.data_units_read().saturating_mul(DATA_UNIT_BYTES.into())),
            written_bytes: counter(log.data_units_written().saturating_mul(DATA_UNIT_BYTES.into())),
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
            rated: None,
        }
    }
}

impl Health {
    /// Media bytes per host byte over the drive's life, least and most: counters are rounded up to
    /// their units (Base 5.16.1.3 and 5.16.1.10), so that a young drive has received up to a unit
    /// less than its counter says. `None` where the drive does not tell, or where not even one unit
    /// was surely written.
    pub fn write_amplification(&self) -> Option<(f64, f64)> {
        let log = self.endurance?;
        let least = |bytes: u64, origin: CounterOrigin| {
            bytes.saturating_sub(origin.unit_bytes.saturating_sub(1)) as f64
        };
        let (media, host) = (log.media_written_bytes, log.host_written_bytes);
        let least_host = least(host, log.host);
        (host > log.host.unit_bytes)
            .then(|| (least(media, log.media) / host as f64, media as f64 / least_host))
    }

    pub fn counters(&self) -> EnduranceCounters {
        let smart = CounterOrigin { source: CounterSource::Smart, unit_bytes: DATA_UNIT_BYTES };
        EnduranceCounters {
            media: self.endurance.map(|log| log.media),
            host: self.endurance.map_or(smart, |log| log.host),
            rated: self.rated,
        }
    }

    /// Times above thresholds, in seconds, have a resolution of minutes.
    pub fn telemetry(&self) -> Telemetry {
        let log = self.endurance.as_ref();
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
            host_bytes_written: Some(log.map_or(self.written_bytes, |log| log.host_written_bytes)),
            nand_bytes_written: log.map(|log| log.media_written_bytes),
            power_on_hours: Some(self.power_on_hours),
            erases_least: log.and_then(|log| Some(log.erases?.0.into())),
            erases_most: log.and_then(|log| Some(log.erases?.1.into())),
            erases_mean: log.and_then(|log| log.mean_erases).map(u64::from),
            bad_blocks: log.and_then(|log| log.bad_blocks),
            ..Telemetry::default()
        }
    }
}

/// `None` where the drive is not NVMe, cannot be opened (root is required) or returns no health.
pub(crate) fn open(info: &DriveInfo) -> Option<(ControllerDevice, EnduranceLogs)> {
    let place = info.nvme.as_ref()?;
    let mut device = ControllerDevice::open(&place.controller).ok()?;
    let logs = EnduranceLogs::find(&mut Commands::to(&mut device), Some(place.nsid)).ok()?;
    Some((device, logs))
}

/// `None` of other drives, without permission, or where the drive returns none.
pub fn of_drive(info: &DriveInfo) -> Option<Health> {
    let (mut device, logs) = open(info)?;
    read(&mut device, &logs).ok()
}

/// Reads one log page, which drives return from memory within tens to hundreds of microseconds, and
/// an endurance log where there is one.
pub(crate) fn read(port: &mut dyn AdminPort, logs: &EnduranceLogs) -> Result<Health, CommandError> {
    read_by(&mut Commands::to(port), logs)
}

pub(super) fn read_by(
    commands: &mut Commands<'_>,
    logs: &EnduranceLogs,
) -> Result<Health, CommandError> {
    let health = Health::from(&commands.smart()?);
    Ok(Health { endurance: logs.read(commands, &health), rated: logs.rated, ..health })
}
