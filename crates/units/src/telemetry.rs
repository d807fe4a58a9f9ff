//! Health and power readings of a drive, all of them in one list.

/// How a reading is in exports of runs (CSV, Parquet, JSON); it is always in the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exported {
    /// It is not.
    No,
    /// At this place.
    Column(u8),
    /// At this place; left out of JSON where it is not known.
    IfKnown(u8),
}

impl Exported {
    /// Its place among the exported ones.
    pub fn place(self) -> Option<u8> {
        match self {
            Exported::No => None,
            Exported::Column(place) | Exported::IfKnown(place) => Some(place),
        }
    }
}

/// Passes all readings to a macro, in the order of the journal: documentation, name (the key in
/// journals and exports), type (empty where not known), and [`Exported`](telemetry::Exported).
#[macro_export]
macro_rules! telemetry_readings {
    ($macro:ident) => {
        $macro! {
            /// Composite temperature, degrees Celsius.
            temperature_c: Option<f64>, Column(1);
            /// Further temperature sensors, degrees Celsius.
            sensors_c: Vec<f64>, Column(2);
            /// Thermally throttled now.
            throttled: Option<bool>, Column(3);
            /// Seconds above its warning temperature so far.
            warning_time_s: Option<u64>, Column(4);
            /// Seconds above its critical temperature so far.
            critical_time_s: Option<u64>, No;
            /// Thermal management transitions, as counted by the drive.
            thermal_transitions: Option<u64>, No;
            /// Media and data integrity errors.
            media_errors: Option<u64>, Column(12);
            /// Number of error information log entries.
            error_log_entries: Option<u64>, No;
            /// Percentage used, the vendor's estimate.
            percentage_used: Option<u8>, Column(10);
            /// Available spare, percent.
            available_spare_pct: Option<u8>, Column(11);
            /// Names of the critical warnings that are set.
            critical_warnings: Vec<String>, No;
            /// Mean power since the last reading, milliwatts.
            power_mw: Option<u64>, Column(5);
            /// NVMe power state.
            power_state: Option<u8>, Column(6);
            /// Data units read over the lifetime, bytes.
            host_bytes_read: Option<u64>, Column(7);
            /// Data units written over the lifetime, bytes, of the part of the drive that
            /// `nand_bytes_written` is about.
            host_bytes_written: Option<u64>, Column(8);
            /// Bytes written to NAND over the lifetime.
            nand_bytes_written: Option<u64>, Column(9);
            /// Hours with power over the lifetime.
            power_on_hours: Option<u64>, Column(13);
            /// Erases of the least erased block of user data.
            erases_least: Option<u64>, Column(14);
            /// Erases of the most erased block of user data.
            erases_most: Option<u64>, Column(15);
            /// Mean erases of the blocks of user data.
            erases_mean: Option<u64>, Column(16);
            /// Bad blocks of user data.
            bad_blocks: Option<u64>, Column(17);
            /// Reads that the block cache in front of a device has seen, so far.
            cache_reads: Option<u64>, IfKnown(18);
            /// Those of them that it answered.
            cache_read_hits: Option<u64>, IfKnown(19);
            /// Bytes in the block cache that its backing device does not have.
            cache_dirty_bytes: Option<u64>, IfKnown(20);
        }
    };
}

macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident: $type:ty, $exported:ident $(($place:literal))?;)*) => {
        /// Health and power readings of a drive.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Telemetry {
            $($(#[$doc])* pub $name: $type,)*
        }
    };
}

telemetry_readings!(declare);
