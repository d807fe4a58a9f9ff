//! The plan of a cell: what is measured, and how.

use serde::{Deserialize, Serialize};

use super::is_default;
use super::procedure::{CellView, JobPlan, OfferedLoad, PointPlan, Round, Segment, SimulatedHost};

/// Purpose of a cell; decides where the report shows it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// A measured workload: a cell of a table.
    #[default]
    Measure,
    /// Preconditioning: writes the data that later cells read.
    Prepare,
    /// A long run over time, with temperature.
    Soak,
    /// Several drives concurrently.
    #[serde(alias = "all_aboard")]
    Concurrent,
    /// Inspection of the data on the medium (compressible, zero, unwritten).
    Inspect,
    /// Purge: the state before the first write.
    Purge,
    /// Idle time with telemetry.
    Idle,
}

/// One planned cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellPlan {
    /// Unique in the run, readable: `samsung-951/random-read/bs=4k,numjobs=16`.
    pub id: String,
    /// The suite's step it belongs to (`random-read`): cells of one step make one table.
    pub step: String,
    /// Title of the step.
    pub title: String,
    /// Purpose.
    pub kind: CellKind,
    /// Drives measured, as indices into [`Manifest::drives`]: one, or several at once.
    pub drives: Vec<usize>,
    /// Workload.
    pub workload: WorkloadRecord,
    /// Presentation, where the kind does not determine it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub view: Option<CellView>,
    /// Declared to be in steady state; analysis checks that from its series.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub steady: bool,
    /// Variant that it shares with cells of other steps: `Default`, `25 % spare`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<String>,
    /// Its round, where it is repeated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub round: Option<Round>,
    /// Part of a longer cell, which readers see as one ([`crate::read::Run::open`]).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub segment: Option<Segment>,
    /// Where the offered rate comes from, when from an earlier cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<OfferedLoad>,
    /// Where threads and queue depth come from, when from an earlier step.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub point: Option<PointPlan>,
    /// Which job of several it is, where they run at once on one drive.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub job: Option<JobPlan>,
    /// Deadlines of its I/Os, nanoseconds: how many miss them is counted exactly.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub deadlines_ns: Vec<u64>,
    /// Idle time of its drives before it, nanoseconds.
    #[serde(skip_serializing_if = "is_default", default, alias = "rest_ns")]
    pub idle_ns: u64,
    /// The host that its simulated drives share.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub simulated_host: Option<SimulatedHost>,
    /// Reason why it will not be run (needs `--destroy`, needs a file, needs two drives).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<String>,
    /// The file it was imported from, as an index into [`ImportRecord::files`].
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub file: Option<usize>,
    /// Why its figures are not compared with those of other drives and runs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unfit: Option<String>,
}

/// Workload of a cell per drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkloadRecord {
    /// As fio's `rw`: read, write, randread, randwrite, rw, randrw.
    pub rw: String,
    /// Block size; of a mix, the largest.
    pub bs_bytes: u64,
    /// In flight per thread.
    pub iodepth: u32,
    /// Threads.
    pub numjobs: u32,
    /// sync, uring, null, sim.
    pub engine: String,
    /// O_DIRECT, or through the page cache.
    pub direct: bool,
    /// Which of both is not known of imported results; `direct` says nothing then.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub cache_unknown: bool,
    /// Length of the area.
    pub span_bytes: u64,
    /// Start of the area.
    pub offset_bytes: u64,
    /// Data in the area: `incompressible`, `zero`, `unwritten`, `as found`, ... .
    pub data: String,
    /// Measured span planned (zero: until all bytes are done).
    pub runtime_ns: u64,
    /// Ramp time, not part of results.
    pub ramp_ns: u64,
    /// Offered rate of an open loop; 0 for a closed one, or one that depends on an earlier cell.
    pub rate_iops: f64,
    /// Limit of a closed loop, all threads together; a limit in bytes at the mean size of an I/O.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate_limit_iops: Option<f64>,
    /// Reads of a mixed workload, percent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rwmixread: Option<u8>,
    /// Requested NVMe power state.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub power_state: Option<u8>,
    /// Bursts of I/Os with idle time between them (fio's `thinktime_iotime` and `thinktime`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bursts: Option<Bursts>,
    /// Idle time before every I/O of a thread but its first (fio's `thinktime`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub idle_before_io_ns: Option<u64>,
    /// What makes writes durable: `flush after each write`, `synchronous writes (dsync)`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub durability: Option<String>,
    /// Trace that is replayed, and how: `web.csv, closed loop`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trace: Option<String>,
    /// Options of `assay job` that repeat it.
    pub options: String,
}

/// Bursts of I/Os, and the idle time between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bursts {
    /// Length of a burst.
    pub active_ns: u64,
    /// Idle time from the last completion of a burst to the next burst.
    pub idle_ns: u64,
}
