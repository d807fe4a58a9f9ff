//! What moves on a drive while it works: its health, and telemetry made of it.

use std::path::PathBuf;

use assay_nvme_spec::log::{SmartLog, critical_warning};
use serde::{Deserialize, Serialize};

use super::commands::Commands;
use super::device::ControllerDevice;
use super::{AdminPort, CommandError};
use crate::identity::DriveInfo;
use assay_io::Telemetry;

/// SMART / Health Information (Base 2.0c, 5.16.1.3), in units of people. Counters wider than 64 bits stop at the greatest of those.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Names of the critical warnings that are set.
    pub critical_warnings: Vec<String>,
    /// Composite temperature, degrees Celsius.
    pub composite_c: i32,
    /// The further sensors that there are: number, degrees Celsius.
    pub sensors_c: Vec<(u8, i32)>,
    /// Spare capacity left, percent.
    pub available_spare_pct: u8,
    /// Below which it is too little, percent.
    pub spare_threshold_pct: u8,
    /// Life used as the maker estimates it, percent; may exceed 100.
    pub percentage_used: u8,
    /// Bytes the host read, in steps of 512,000.
    pub read_bytes: u64,
    /// Bytes the host wrote, in steps of 512,000.
    pub written_bytes: u64,
    /// Read commands.
    pub read_commands: u64,
    /// Write commands.
    pub write_commands: u64,
    /// Minutes that the controller was busy with I/O.
    pub busy_minutes: u64,
    /// Power cycles.
    pub power_cycles: u64,
    /// Hours under power.
    pub power_on_hours: u64,
    /// Times that power was lost without a shutdown.
    pub unsafe_shutdowns: u64,
    /// Errors of media and data integrity.
    pub media_errors: u64,
    /// Entries that the error log has had.
    pub error_log_entries: u64,
    /// Minutes at or above the warning temperature.
    pub warning_minutes: u32,
    /// Minutes at or above the critical temperature.
    pub critical_minutes: u32,
    /// Times that it began to throttle lightly, and heavily, for host-set temperatures.
    pub thermal_transitions: (u32, u32),
    /// Seconds of throttling lightly, and heavily, for host-set temperatures.
    pub thermal_s: (u32, u32),
}

/// Bytes of one data unit: thousands of 512 bytes (Base 5.16.1.3).
const DATA_UNIT_BYTES: u128 = 512_000;

fn counter(wide: u128) -> u64 {
    u64::try_from(wide).unwrap_or(u64::MAX)
}

impl From<&SmartLog> for Health {
    fn from(log: &SmartLog) -> Health {
        Health {
            critical_warnings: critical_warning::names(log.critical_warning())
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
        }
    }
}

impl Health {
    /// As telemetry. The times above thresholds count whole minutes; they are told in seconds.
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
            ..Telemetry::default()
        }
    }
}

/// Reads a drive's health again and again, for as long as it answers.
#[derive(Debug)]
pub struct Monitor {
    device: ControllerDevice,
}

impl Monitor {
    /// Of this drive; `None` where it is not NVMe, or does not answer (one needs root).
    pub fn open(info: &DriveInfo) -> Option<Monitor> {
        let controller: &PathBuf = &info.nvme.as_ref()?.controller;
        let mut monitor = Monitor {
            device: ControllerDevice::open(controller).ok()?,
        };
        monitor.read().ok()?;
        Some(monitor)
    }

    /// Its health now. One log page: drives answer it from memory, in tens to hundreds of microseconds.
    ///
    /// # Errors
    /// As [`AdminPort::admin`].
    pub fn read(&mut self) -> Result<Health, CommandError> {
        read(&mut self.device)
    }
}

/// The health of a controller now.
///
/// # Errors
/// As [`AdminPort::admin`].
pub fn read(port: &mut dyn AdminPort) -> Result<Health, CommandError> {
    let log = Commands::to(port).smart()?;
    Ok(Health::from(&log))
}
