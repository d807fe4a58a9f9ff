use assay_units::Nanos;
use serde::{Deserialize, Serialize};

use super::OpRecord;

/// How a trace was replayed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// The file.
    pub file: String,
    /// Its format.
    pub format: String,
    /// When requests started, as text: `times of the trace`.
    pub timing: String,
    /// Their latency counts from when they were due.
    pub timed: bool,
    /// Where they were on the drive, as text: `modulo the area`.
    pub map: String,
    /// Requests of the trace, without those left out by option.
    pub requests: u64,
    /// All of them were replayed.
    pub whole: bool,
    /// How they became I/Os.
    pub counts: TraceCounts,
    /// How late they were.
    pub lag: TraceLag,
    /// Phases that occurred, in order.
    pub phases: Vec<TracePhaseRecord>,
}

impl TraceRecord {
    /// I/Os that were submitted late, percent of all.
    pub fn late_pct(&self) -> f64 {
        self.lag.late_ios as f64 / self.counts.ios.max(1) as f64 * 100.0
    }
}

/// How the requests of a trace became I/Os; one may count under several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceCounts {
    /// Requests that were reached.
    pub requests: u64,
    /// I/Os that were submitted.
    pub ios: u64,
    /// Widened to whole blocks or moved to the alignment.
    pub aligned: u64,
    /// Shortened at the end of the area.
    pub clipped: u64,
    /// Not replayed: outside of the area.
    pub outside: u64,
    /// Continued at the start of the area.
    pub wrapped: u64,
    /// Made several I/Os, because longer than the longest one.
    pub split: u64,
    /// Not replayed: without length or of no known kind.
    pub unusable: u64,
    /// With a time before that of an earlier one, which they were given.
    pub reordered: u64,
}

/// Time from when I/Os were due to their submission; zero in a closed loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceLag {
    /// I/Os submitted more than a millisecond late.
    pub late_ios: u64,
    /// Mean of all I/Os, nanoseconds.
    pub mean_ns: f64,
    /// Longest.
    pub max_ns: Nanos,
}

/// One phase of a trace: its raw counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracePhaseRecord {
    /// First due time (of a closed loop: first submission), since the cell's start.
    pub start: Nanos,
    /// Last completion, since the cell's start.
    pub end: Nanos,
    /// Per operation.
    pub ops: Vec<OpRecord>,
}
