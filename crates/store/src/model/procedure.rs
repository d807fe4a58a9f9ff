//! Properties of cells beyond their workloads.

use serde::{Deserialize, Serialize};

/// Presentation of the cells of a step: selects tables and charts, not what is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CellView {
    /// An hour of random writes: rate over time on a logarithmic axis, and a score (AnandTech
    /// M8Pe).
    Consistency,
    /// A sweep over queue depth, reported at the lowest depth with 95 % of the best rate (PBlaze5).
    Knee,
    /// The same I/Os in flight by more and more threads: the depth per I/O queue (DragonFly).
    Queues,
    /// Latency against offered load in an open loop.
    Load,
    /// Cells repeated in rounds until steady state (SNIA SSS PTS).
    Rounds,
    /// Continuous writing over time and over capacities written (SNIA SSS PTS, write saturation).
    Saturation,
    /// Bursts of writes with idle time, and continuous writes (SNIA SSS PTS, host idle recovery).
    IdleRecovery,
    /// Sequential, random, sequential writes without a pause (SNIA SSS PTS, cross stimulus
    /// recovery).
    CrossStimulus,
    /// Distribution of the response time at operating points (SNIA SSS PTS).
    ResponseTimes,
    /// A soak until temperature and rate are steady.
    Thermal,
    /// The whole drive written and verified.
    Capacity,
    /// Streams from one chunk to many: the rate by length (MLE NVMe Streamer, "average peak").
    Peak,
    /// A block trace, replayed: rate, latency and energy by phase (AnandTech Storage Bench).
    TraceReplay,
    /// The whole area as one stream, repeated (MLE NVMe Streamer, "average continuous").
    Continuous,
    /// Jobs that run at once on one drive, each with its own figures.
    Jobs,
    /// The same workload alone and beside others on one drive: what they cost it.
    Interference,
    /// Streams mixed by one placement handle, and separated by one each.
    Placement,
    /// Write amplification by size, alignment and order of the writes.
    Amplification,
    /// A block cache in front of a disk: hit rate beside rate and latency.
    Cache,
    /// I/Os that missed their deadlines.
    Deadlines,
    /// Data written and flushed, once or repeated: the time until it is on the drive.
    Drain,
    /// Short workloads on a drive that is empty, full, after idle time, deallocated.
    Fill,
    /// Latency of the first I/O after idle time, by the length of the idle time.
    Wake,
}

impl CellView {
    /// Whether it shows a stream of chunks, short or long.
    pub fn is_stream(self) -> bool {
        matches!(self, CellView::Peak | CellView::Continuous)
    }
}

/// A job, which is a cell, of several that run at once on one drive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobPlan {
    /// Its name, unique among them.
    pub name: String,
    /// What their cells have in common: `DRIVE/STEP/OPTION=VALUE`.
    pub group: String,
    /// The values of the step's matrix, as text; empty without any.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub matrix: String,
    /// Its figures are those of the step; the others are the load beside it.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub foreground: bool,
    /// [`super::CellPlan::id`] of the earlier cell that measures the same workload alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub alone: Option<String>,
}

/// The host of simulated drives that are measured at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimulatedHost {
    /// Processors (hardware threads).
    pub processors: u32,
    /// Rate of an uplink that all drives share; `None`: each drive has lanes of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub uplink_bytes_per_second: Option<u64>,
}

/// Value ([`super::CellResult::values`]): I/Os in flight, of all threads together, that a job's
/// latency target allows; 0 where not even one is fast enough.
pub const LATENCY_TARGET_DEPTH: &str = "latency_target_depth";

/// Value ([`super::CellResult::values`]): processors that a drive's I/Os took, percent of all.
pub const HOST_BUSY_PCT: &str = "host_busy_pct";

/// Position of a cell among rounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    /// Number, from 1.
    pub number: u32,
    /// Most rounds planned.
    pub most: u32,
    /// Window of the steady-state rule, rounds.
    pub window: u32,
    /// Its value is the tracking variable of the steady-state rule.
    #[serde(default)]
    pub tracked: bool,
}

/// Position of a cell in a longer one that is measured in parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// [`crate::model::CellPlan::id`] of the whole.
    pub of: String,
    /// Number, from 1; the cells of a whole follow each other in the plan.
    pub number: u32,
    /// Number of the last one.
    pub count: u32,
    /// Bytes that the whole has written at its end; `None`: the runtime ends it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub written_bytes: Option<u64>,
}

impl Segment {
    /// Whether the whole ends with it.
    pub fn is_last(&self) -> bool {
        self.number == self.count
    }
}

/// Prefix of the reason for which an unneeded cell is skipped.
pub const NOT_NEEDED: &str = "not needed";

/// An offered rate relative to the rate of an earlier step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OfferedLoad {
    /// The step whose best cell on the same drive is 100 %.
    pub of: String,
    /// Offered share, percent.
    pub percent: f64,
}

/// A point of a grid of threads and queue depths, chosen from what it measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointPlan {
    /// The step with the grid.
    pub of: String,
    /// Which point.
    pub which: OperatingPoint,
}

/// Operating points of a drive (SNIA SSS PTS, demand intensity and composite block workload).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OperatingPoint {
    /// The highest rate with a mean response time below the limit.
    Max,
    /// The rate nearest to the middle of the highest and the lowest one.
    Mid,
    /// One thread with one I/O in flight.
    Min,
}

/// Value of a cell at an [`OperatingPoint`]: its threads.
pub const POINT_THREADS: &str = "point_numjobs";
/// Value of a cell at an [`OperatingPoint`]: I/Os in flight per thread.
pub const POINT_DEPTH: &str = "point_iodepth";

/// Value ([`super::CellResult::values`]): reads that a block cache answered, percent.
pub const CACHE_HIT_PCT: &str = "cache_hit_pct";
/// Value: data that a block cache has and its backing device has not at the end of the cell.
pub const CACHE_DIRTY_MIB: &str = "cache_dirty_mib";

/// Value: rate offered by a cell with an [`OfferedLoad`], I/Os per second.
pub const OFFERED_IOPS: &str = "offered_iops";

/// Value: media bytes per host byte, by the drive's counters.
pub const WRITE_AMPLIFICATION: &str = "write_amplification";

/// End of the name of a cell that writes at random until the rate is steady.
pub const PROBE_PHASE: &str = "/phase=probe";
/// Value: mean rate in steady state.
pub const STEADY_BYTES_PER_SECOND: &str = "steady_bytes_per_second";

/// Value of a preconditioning: blocks of the area that it wrote at least once, percent.
pub const AREA_WRITTEN_PCT: &str = "area_written_pct";

/// Value of a pass to steady state: what it wrote beyond the area once until garbage collection
/// began, percent of the area.
pub const SPARE_PCT: &str = "spare_pct";
/// Value of a probe of steady state: its first rate, percent of the steady one.
pub const PROBE_START_PCT: &str = "probe_start_pct";

/// Steady state of a step's rounds by one tracked cell; the last record of a `group` counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyRecord {
    /// Index into [`super::Manifest::drives`].
    pub drive: usize,
    /// The step.
    pub step: String,
    /// The tracked cell without its round, unique in the run.
    pub group: String,
    /// The rule with its limits, as text.
    pub rule: String,
    /// Tracking variable with its unit: `IOPS`, `MiB/s`, `mean latency, µs`.
    pub figure: String,
    /// Steady state achieved.
    pub achieved: bool,
    /// Its value in every round so far.
    pub values: Vec<f64>,
    /// Window, rounds from 1: first and last.
    pub window: (u32, u32),
    /// Mean over the window.
    pub mean: f64,
    /// Largest less smallest in the window, percent of the mean.
    pub range_pct: f64,
    /// Rise of the least-squares line across the window, percent of the mean, never negative.
    pub excursion_pct: f64,
    /// Slope of that line, in units of the value per round.
    pub slope_per_round: f64,
    /// Largest distance from the mean by the rule, in units of the value.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub band: Option<f64>,
    /// Reason why steady state is not achieved.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub why: Option<String>,
}
