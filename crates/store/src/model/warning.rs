//! Warnings: their record, the codes, and the thresholds at which they are raised. Suites raise them; analysis and reports read them.

use serde::{Deserialize, Serialize};

/// A warning with its advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// Machine-readable, one of [`code`].
    pub code: String,
    /// The cell it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cell: Option<String>,
    /// The drive it is about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub drive: Option<usize>,
    /// What was observed.
    pub message: String,
    /// What to do about it.
    pub advice: String,
}

/// Codes, part of the JSON contract (docs/json.md).
pub mod code {
    /// The host, not the drive, set the rate.
    pub const HOST_LIMITED: &str = "host-limited";
    /// The rate is close to the engine's own ceiling.
    pub const ENGINE_LIMITED: &str = "engine-limited";
    /// I/Os failed.
    pub const IO_ERRORS: &str = "io-errors";
    /// I/Os never completed.
    pub const UNANSWERED: &str = "unanswered";
    /// The cell was ended because of consecutive errors.
    pub const GAVE_UP: &str = "gave-up";
    /// Surprise removal of the drive.
    pub const DRIVE_LOST: &str = "drive-lost";
    /// No figures where there should be some.
    pub const NOTHING_MEASURED: &str = "nothing-measured";
    /// Power readings ended before the cell.
    pub const POWER_ENDED: &str = "power-ended";
    /// The data on the medium are compressible.
    pub const DATA_COMPRESSIBLE: &str = "data-compressible";
    /// Durations were scaled.
    pub const SCALED: &str = "scaled";
    /// Verification found mismatched blocks.
    pub const VERIFY_FAILED: &str = "verify-failed";
    /// PCIe link below its capability.
    pub const LINK_BELOW_CAPABILITY: &str = "link-below-capability";
    /// The drive was hot before the measurement.
    pub const HOT_BEFORE_START: &str = "hot-before-start";
    /// The volatile write cache is off.
    pub const WRITE_CACHE_OFF: &str = "write-cache-off";
    /// Autonomous power state transitions are enabled.
    pub const FALLS_ASLEEP: &str = "falls-asleep";
    /// Critical warnings in the health log before the run.
    pub const CRITICAL_WARNING: &str = "critical-warning";
    /// Critical warnings raised during a cell.
    pub const CRITICAL_WARNING_RAISED: &str = "critical-warning-raised";
    /// The page cache could not be dropped.
    pub const CACHE_NOT_DROPPED: &str = "cache-not-dropped";
    /// I/O through the page cache.
    pub const BUFFERED: &str = "buffered";
    /// The fast clock drifts from the kernel's.
    pub const CLOCK_DRIFT: &str = "clock-drift";
    /// Latencies beyond the histogram's range.
    pub const LATENCY_OVERFLOW: &str = "latency-overflow";
    /// An open loop did not reach its offered rate.
    pub const RATE_NOT_REACHED: &str = "rate-not-reached";
    /// Steady state was not reached.
    pub const NOT_STEADY: &str = "not-steady";
    /// A mix of block sizes that the drive's logical block does not allow.
    pub const BLOCK_MIX_UNFIT: &str = "block-mix-unfit";
    /// A purge that may be incomplete.
    pub const PURGE_INCOMPLETE: &str = "purge-incomplete";
    /// Preconditioning was repeated after a resume.
    pub const PRECONDITIONED_AGAIN: &str = "preconditioned-again";
    /// The state of a drive after a resume is unknown.
    pub const STATE_IN_DOUBT: &str = "state-in-doubt";
}

/// Thresholds at which warnings are raised, and by which analysis recognises the same conditions.
pub mod limit {
    /// Processor time of one thread from which on it, not the drive, sets the rate, percent.
    pub const BUSY_THREAD_PCT: f64 = 95.0;
    /// Idle time of the whole host below which threads wait for a processor, percent.
    pub const IDLE_HOST_PCT: f64 = 5.0;
    /// Share of the engine's own ceiling above which the engine is part of the result, percent.
    pub const ENGINE_SHARE_PCT: f64 = 50.0;
    /// Share of an offered rate below which it was not reached, percent.
    pub const RATE_REACHED_PCT: f64 = 95.0;
    /// Clock drift, parts per million.
    pub const DRIFT_PPM: f64 = 200.0;
    /// Margin to its warning temperature at which a drive counts as hot before the start, kelvin: under load it heats up by as much in
    /// seconds.
    pub const HOT_MARGIN_K: i32 = 10;
}
