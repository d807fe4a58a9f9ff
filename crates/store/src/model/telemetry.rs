use assay_units::Nanos;
use serde::{Deserialize, Serialize};

/// A property reported by a controller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeProperty {
    /// Group (`registers`, `power`, `health`).
    pub group: String,
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A telemetry reading of a drive in a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TelemetryRecord {
    /// [`super::CellPlan::id`].
    pub cell: String,
    /// Index into [`super::Manifest::drives`].
    pub drive: usize,
    /// Since the cell's start.
    pub at: Nanos,
    /// Composite temperature, degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub temperature_c: Option<f64>,
    /// Further sensors.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sensors_c: Vec<f64>,
    /// Thermal throttling active.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub throttled: Option<bool>,
    /// Seconds above its warning temperature so far.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub warning_time_s: Option<u64>,
    /// Seconds above its critical temperature so far.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub critical_time_s: Option<u64>,
    /// Thermal management transition count.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub thermal_transitions: Option<u64>,
    /// Errors of media and data integrity so far.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub media_errors: Option<u64>,
    /// Error log entries so far.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error_log_entries: Option<u64>,
    /// Percentage used (vendor's estimate of life used).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub percentage_used: Option<u8>,
    /// Spare capacity left, percent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub available_spare_pct: Option<u8>,
    /// Critical warnings that are set, by name.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub critical_warnings: Vec<String>,
    /// Mean power since the last reading, milliwatts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub power_mw: Option<u64>,
    /// NVMe power state.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub power_state: Option<u8>,
    /// Bytes read by the host, lifetime.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host_bytes_read: Option<u64>,
    /// Bytes written by the host, lifetime.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host_bytes_written: Option<u64>,
    /// Bytes written to the NAND, lifetime.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nand_bytes_written: Option<u64>,
    /// Hours with power, lifetime.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub power_on_hours: Option<u64>,
    /// Erases of the least erased block of user data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub erases_least: Option<u64>,
    /// Erases of the most erased block of user data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub erases_most: Option<u64>,
    /// Mean erases of the blocks of user data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub erases_mean: Option<u64>,
    /// Bad blocks of user data.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bad_blocks: Option<u64>,
    /// Reads seen by the block cache in front of a device so far.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_reads: Option<u64>,
    /// Those of them that it answered.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_read_hits: Option<u64>,
    /// Bytes in the block cache that its backing device does not have.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_dirty_bytes: Option<u64>,
}
