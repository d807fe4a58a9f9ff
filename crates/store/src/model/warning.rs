//! Warnings: record, codes, and the thresholds at which suites raise them.

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

assay_units::constants! {
    /// Codes, part of the JSON contract (docs/json.md).
    pub mod code: &str {
        HOST_LIMITED = "host-limited", "The host, not the drive, set the rate.";
        ENGINE_LIMITED = "engine-limited", "The rate is close to the engine's own ceiling.";
        IO_ERRORS = "io-errors", "I/Os failed.";
        UNANSWERED = "unanswered", "I/Os never completed.";
        GAVE_UP = "gave-up", "The cell was ended because of consecutive errors.";
        DRIVE_LOST = "drive-lost", "Surprise removal of the drive.";
        NOTHING_MEASURED = "nothing-measured", "No figures where there should be some.";
        POWER_ENDED = "power-ended", "Power readings ended before the cell.";
        DATA_COMPRESSIBLE = "data-compressible", "The data on the medium are compressible.";
        SCALED = "scaled", "Durations were scaled.";
        SHRUNK = "shrunk", "A small copy of a simulated drive.";
        OTHER_USERS = "other-users", "Other programs used the drive during the measurement.";
        HOST_STOPPED = "host-stopped",
            "The program did not run for a time, or had too little of it.";
        VERIFY_FAILED = "verify-failed", "Verification found mismatched blocks.";
        VERIFY_NOT_JUDGED = "verify-not-judged", "Verification could not judge some blocks.";
        LINK_BELOW_CAPABILITY = "link-below-capability", "PCIe link below its capability.";
        HOT_BEFORE_START = "hot-before-start", "The drive was hot before the measurement.";
        IO_SCHEDULER = "io-scheduler", "A solid-state drive has an I/O scheduler.";
        WRITE_CACHE_OFF = "write-cache-off", "The volatile write cache is off.";
        FALLS_ASLEEP = "falls-asleep", "Autonomous power state transitions are enabled.";
        CRITICAL_WARNING = "critical-warning",
            "Critical warnings in the health log before the run.";
        CRITICAL_WARNING_RAISED = "critical-warning-raised",
            "Critical warnings raised during a cell.";
        CACHE_NOT_DROPPED = "cache-not-dropped", "The page cache could not be dropped.";
        ENGINE_REPLACED = "engine-replaced", "Another engine measured than was asked for.";
        BUFFERED = "buffered", "I/O through the page cache.";
        NOT_FROM_DRIVE = "not-from-drive",
            "Reads that no drive answered: holes, unwritten extents.";
        CLOCK_DRIFT = "clock-drift", "The fast clock drifts from the kernel's.";
        LATENCY_OVERFLOW = "latency-overflow", "Latencies beyond the histogram's range.";
        LATENCY_TARGET_MISSED = "latency-target-missed", "One I/O in flight is too slow.";
        RATE_NOT_REACHED = "rate-not-reached", "An open loop did not reach its offered rate.";
        NOT_STEADY = "not-steady", "Steady state was not reached.";
        BLOCK_MIX_UNFIT = "block-mix-unfit",
            "A mix of block sizes that the drive's logical block does not allow.";
        PURGE_INCOMPLETE = "purge-incomplete", "A purge that may be incomplete.";
        PRECONDITIONED_AGAIN = "preconditioned-again",
            "Preconditioning was repeated after a resume.";
        PAUSED = "paused", "The run was paused before a cell, and the drive idled.";
        START_NOT_REACHED = "start-not-reached",
            "A cell that did not begin in the state that it asks for.";
        TRACE_LATE = "trace-late", "Requests of a trace were submitted later than they were due.";
        TRACE_CHANGED = "trace-changed", "Requests of a trace were left out or shortened.";
        TRACE_DEVICES = "trace-devices", "Requests of several devices of a trace.";
        AREA_NOT_COVERED = "area-not-covered",
            "A preconditioning that left blocks of its area unwritten.";
        WRITES_CUT_UNITS = "writes-cut-units",
            "Random writes smaller than the drive's units, or across them.";
        IMPORT_INCOMPLETE = "import-incomplete", "Figures that an imported file does not have.";
        IMPORT_UNFIT = "import-unfit", "Imported figures that are not compared with others.";
        STATE_IN_DOUBT = "state-in-doubt", "The state of a drive after a resume is unknown.";
    }
}

/// How a message begins that lists the programs that used the host, and this one as the last.
pub const OTHER_PROGRAMS: &str = "other programs used the host's processors, % of one processor: ";

/// Thresholds at which warnings are raised, and by which analysis recognises the same conditions.
pub mod limit {
    /// Processor time of one thread from which on it, not the drive, sets the rate, percent.
    pub const BUSY_THREAD_PCT: f64 = 95.0;
    /// Share of an area that no drive answers from which on a rate is not the drive's, percent.
    pub const UNWRITTEN_PCT: f64 = 1.0;
    /// Processor time that the hypervisor took from which on it is part of latencies, percent.
    pub const STEAL_PCT: f64 = 5.0;
    /// Idle time of the whole host below which threads wait for a processor, percent.
    pub const IDLE_HOST_PCT: f64 = 5.0;
    /// Share of the engine's own ceiling above which the engine is part of the result, percent.
    pub const ENGINE_SHARE_PCT: f64 = 50.0;
    /// Share of an offered rate below which it was not reached, percent.
    pub const RATE_REACHED_PCT: f64 = 95.0;
    /// Share of the requests of a trace that are submitted late from which on the replay is marked,
    /// percent.
    pub const LATE_IOS_PCT: f64 = 1.0;
    /// Write granularity from which on a drive maps coarser than usual: file systems write 4 KiB.
    pub const COARSE_UNIT_BYTES: u64 = 4096;
    /// Clock drift, parts per million.
    pub const DRIFT_PPM: f64 = 200.0;
    /// Margin to its warning temperature at which a drive counts as hot before the start, kelvin:
    /// under load it heats up by as much in seconds.
    pub const HOT_MARGIN_K: i32 = 10;
}
