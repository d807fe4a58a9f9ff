//! Identity and health of a simulated drive.

use assay_units::Nanos;

use crate::coalescing::CoalescingSetting;
use crate::power::PowerState;

/// Identity of a simulated drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Model, marked as simulated.
    pub model: String,
    /// Serial number from profile name and seed: `SIM-SAMSUNG-951-7`.
    pub serial: String,
    /// Firmware revision: version of this crate.
    pub firmware: String,
    /// NVMe version claimed.
    pub nvme_version: String,
    /// Capacity in bytes (after over-provisioning by option).
    pub capacity_bytes: u64,
    /// Logical block size in bytes.
    pub logical_block_bytes: u64,
    /// Namespaces.
    pub namespaces: u32,
    /// I/O queue pairs granted.
    pub queue_pairs: u16,
    /// Entries per queue.
    pub max_queue_entries: u32,
    /// Writes of at most so many bytes are whole or absent after power loss (AWUPF).
    pub atomic_bytes: u64,
    /// Largest transfer of one NVMe command in bytes.
    pub max_transfer_bytes: u64,
    /// Warning temperature threshold in Celsius, if reported.
    pub warning_celsius: Option<u16>,
    /// Critical temperature threshold in Celsius, if reported.
    pub critical_celsius: Option<u16>,
    /// Power states, state 0 first.
    pub power_states: Vec<PowerState>,
    /// Interrupt coalescing as the drive is switched on; `None` when it is off.
    pub coalescing: Option<CoalescingSetting>,
}

/// Available Spare below which the health log warns, in per cent; usual of drives.
pub const SPARE_THRESHOLD_PERCENT: u8 = 10;

/// Health and counters at an instant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Telemetry {
    /// Composite temperature in Celsius, whole degrees as the health log has it.
    pub composite_celsius: i32,
    /// Further sensors in Celsius.
    pub sensors: Vec<i32>,
    /// Whether thermal throttling is active.
    pub throttled: bool,
    /// Seconds at or above the warning temperature since power-on.
    pub warning_time_s: u64,
    /// Seconds at or above the critical temperature since power-on.
    pub critical_time_s: u64,
    /// Entries into throttling since power-on.
    pub throttling_events: u64,
    /// Seconds spent throttled since power-on.
    pub throttled_time_s: u64,
    /// Bytes read by the host.
    pub host_bytes_read: u64,
    /// Bytes written by the host.
    pub host_bytes_written: u64,
    /// Read commands completed without error.
    pub host_reads: u64,
    /// Write commands completed without error.
    pub host_writes: u64,
    /// Bytes programmed, including garbage collection, folding and padding.
    pub nand_bytes_written: u64,
    /// Bytes read from flash, for any purpose. 0 of media written in place.
    pub nand_bytes_read: u64,
    /// Free superblocks over those that the capacity does not fill, in per cent.
    pub free_percent: u8,
    /// Part of the bytes programmed that were relocated by garbage collection and folding.
    pub relocated_bytes: u64,
    /// Superblocks erased.
    pub superblocks_erased: u64,
    /// Mean program/erase cycles of the multi-bit superblocks, including those before power-on.
    pub mean_cycles: u64,
    /// Least of them.
    pub least_cycles: u64,
    /// Most of them.
    pub most_cycles: u64,
    /// Mean cycles over the rated ones in per cent; may exceed 100. 0 for media written in place.
    pub used_percent: u64,
    /// Spare blocks left, in per cent.
    pub spare_percent: u8,
    /// Blocks that failed.
    pub bad_blocks: u64,
    /// So many blocks failed that the host cannot write any more.
    pub read_only: bool,
    /// Media errors reported.
    pub media_errors: u64,
    /// Power losses.
    pub unsafe_shutdowns: u64,
    /// Mean power over the last thermal step, in milliwatts.
    pub power_mw: u32,
    /// Energy from power-on to `energy_until` in microjoules; differences give mean power.
    pub energy_uj: u64,
    /// End of the last thermal step.
    pub energy_until: Nanos,
    /// Power state.
    pub power_state: u8,
}
