//! What a run folder holds, as types. Times inside a cell are nanoseconds since the cell started, on the drive's own
//! clock (virtual for a simulated one); wall-clock stamps are RFC 3339 in UTC.

use std::collections::BTreeMap;

use assay_stats::{
    ErrorCauses, Histogram, HostLoad, Interval, LatencySummary, OpInterval, OpSummary,
};
use assay_units::{Nanos, Op};
use serde::{Deserialize, Serialize};

mod procedure;
mod telemetry;
mod verdict;
pub mod warning;

pub use procedure::{CellView, OFFERED_IOPS, OfferedLoad, Round, SteadyRecord};
pub use telemetry::{ProbeProperty, TelemetryRecord};
pub use verdict::{Reason, ReasonWeight, Verdict, VerdictResult};
pub use warning::Warning;

/// Version of the folder's layout; a reader refuses a newer one.
pub const SCHEMA: u32 = 1;

/// `manifest.json`: the plan and its circumstances. Written once, before anything is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The folder's name when it was made, unique enough to cite.
    pub run_id: String,
    /// When it was made.
    pub created: String,
    /// Which build made it.
    pub tool: BuildRecord,
    /// The command as typed.
    pub command_line: Vec<String>,
    /// The suite, with its whole text.
    pub suite: SuiteRecord,
    /// Parameters in force, defaults included.
    pub parameters: BTreeMap<String, String>,
    /// Factor on every duration; 1.0 is the procedure as published, less says so in every report.
    pub scale: f64,
    /// Seed of every random stream.
    pub seed: u64,
    /// The measuring machine.
    pub host: HostRecord,
    /// The drives, in the order named.
    pub drives: Vec<DriveRecord>,
    /// The cells, in the order they run.
    pub cells: Vec<CellPlan>,
}

/// The build that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildRecord {
    /// `assay`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its git commit, or `unknown`.
    pub commit: String,
}

/// The suite that was run. `assay job` is a suite of one cell, named `job`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SuiteRecord {
    /// Short name, as on the command line.
    pub name: String,
    /// Title for people.
    pub title: String,
    /// What it does, in a paragraph.
    pub summary: String,
    /// The report, standard or person it comes from.
    pub source: String,
    /// The TOML text that was executed; empty for `job`.
    pub text: String,
}

/// The measuring machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Kernel release.
    pub kernel: String,
    /// Processor model.
    pub cpu_model: String,
    /// Logical processors.
    pub logical_cpus: u32,
    /// Memory.
    pub memory_bytes: u64,
    /// Anything else worth a line (clock source, governor, hypervisor), as name and value.
    pub details: BTreeMap<String, String>,
}

/// A drive as it was when the run started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriveRecord {
    /// As named on the command line.
    pub spec: String,
    /// Short name for tables and legends (`samsung-951`, `zram0`), unique within the run.
    pub label: String,
    /// `block`, `file`, `null` or `simulated`.
    pub kind: String,
    /// Model.
    pub model: String,
    /// Serial, as the interlock knows it.
    pub serial: String,
    /// Firmware.
    pub firmware: String,
    /// Capacity.
    pub capacity_bytes: u64,
    /// Logical block.
    pub logical_block_bytes: u32,
    /// Simulated? Then every figure of it is shown with that word.
    pub simulated: bool,
    /// Profile of a simulated drive.
    pub profile: Option<String>,
    /// Everything else that is known (link, queues, scheduler, file system), as name and value.
    pub details: BTreeMap<String, String>,
    /// What its controller said of itself before the run: groups of facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probe: Vec<ProbeProperty>,
    /// The most power that its NVMe power states allow, milliwatts, by the state's number; those that do I/O.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub power_limits_mw: BTreeMap<u8, u64>,
    /// What was published of the drive that a simulated one models, to stand beside its figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
}

impl DriveRecord {
    /// Is this the drive of another manifest, in the same guise? Options of a simulated drive are part of its specification.
    pub fn is_same(&self, other: &DriveRecord) -> bool {
        self.spec == other.spec
            && self.serial == other.serial
            && self.model == other.model
            && self.simulated == other.simulated
    }
}

/// A published bandwidth, of a workload or of one stream, with the latencies that were published beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Who published it.
    pub source: String,
    /// As [`WorkloadRecord::rw`].
    pub rw: String,
    /// As [`WorkloadRecord::bs_bytes`].
    pub bs_bytes: u64,
    /// As [`WorkloadRecord::numjobs`].
    pub numjobs: u32,
    /// As [`WorkloadRecord::data`].
    pub data: String,
    /// Length of the stream it is the rate of; none where it does not depend on that.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stream_bytes: Option<u64>,
    /// As [`WorkloadRecord::iodepth`].
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub iodepth: u32,
    /// All threads together; 0 where only latencies were published.
    pub mib_per_s: f64,
    /// Latencies, microseconds, by name: `mean`, `p50`, `p99`, `p99.999`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latency_us: BTreeMap<String, f64>,
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_one(n: &u32) -> bool {
    *n == 1
}

/// What a cell is for; decides where the report shows it.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum CellKind {
    /// A measured workload: a cell of a table.
    #[default]
    Measure,
    /// Writes the data that later cells read; timed, but no result of its own.
    Prepare,
    /// A long run watched over time, with temperature.
    Soak,
    /// Several drives concurrently.
    #[serde(rename = "all_aboard")]
    Concurrent,
    /// Looks at what the medium holds (compressible, zero, unwritten).
    Inspect,
    /// Makes the drive as if nothing had ever been written.
    Purge,
    /// Rests, and is watched.
    Idle,
}

/// One planned cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellPlan {
    /// Unique in the run, readable: `samsung-951/random-read/bs=4k,numjobs=16`.
    pub id: String,
    /// The suite's step it belongs to (`random-read`): cells of one step make one table.
    pub step: String,
    /// The step's title for people.
    pub title: String,
    /// What it is for.
    pub kind: CellKind,
    /// Drives measured, as indices into [`Manifest::drives`]: one, or several at once.
    pub drives: Vec<usize>,
    /// The workload in figures.
    pub workload: WorkloadRecord,
    /// How it is to be read, where the kind does not say.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub view: Option<CellView>,
    /// Its figures are said to be those of a drive at rest; whether they are is concluded from its series.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub steady: bool,
    /// The circumstance that it shares with cells of other steps and that a report switches between: `Default`, `25 % spare`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub variant: Option<String>,
    /// Its round, where it is repeated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub round: Option<Round>,
    /// Where the offered rate comes from, when from an earlier cell.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub load: Option<OfferedLoad>,
    /// How long its drives are left alone before it, nanoseconds.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub rest_ns: u64,
    /// Why it will not be run (needs `--destroy`, needs a file, needs two drives), when so.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub skipped: Option<String>,
}

/// Left out of what is written.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The workload of a cell, per drive, in the figures that tables and charts use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkloadRecord {
    /// fio's word: read, write, randread, randwrite, rw, randrw.
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
    /// Area the workload touches.
    pub span_bytes: u64,
    /// Where it begins.
    pub offset_bytes: u64,
    /// What the area holds: `incompressible`, `zero`, `unwritten`, `as found`, ... .
    pub data: String,
    /// Measured span planned (zero: until all bytes are done).
    pub runtime_ns: u64,
    /// Left out at the start.
    pub ramp_ns: u64,
    /// Offered rate of an open-loop job, 0 for a closed loop or one that depends on an earlier cell.
    pub rate_iops: f64,
    /// Reads of a mixed workload, percent.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rwmixread: Option<u8>,
    /// NVMe power state it runs in, where one was asked for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub power_state: Option<u8>,
    /// The whole workload as one line of fio-like options, to repeat it with `assay job`.
    pub options: String,
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Entry {
    /// The first line: which manifest this journal belongs to. Written by [`crate::run::RunWriter::create`].
    Manifest {
        /// SHA-256 of `manifest.json`, in lower-case hex.
        sha256: String,
    },
    /// The run began, or was resumed.
    Start {
        /// When.
        at: String,
        /// How many times it was started before.
        resumed: u32,
    },
    /// What the host can do without a drive: the ceiling results are judged by.
    Audit(Audit),
    /// A cell began; intervals of an earlier, unfinished attempt no longer count.
    CellStart {
        /// [`CellPlan::id`].
        cell: String,
        /// When.
        at: String,
    },
    /// What one drive did in one interval.
    Interval(IntervalRecord),
    /// What the host did in one interval of a cell.
    Host {
        /// [`CellPlan::id`].
        cell: String,
        /// Interval index.
        index: u32,
        /// Load.
        load: HostLoad,
    },
    /// What a drive said of itself.
    Telemetry(TelemetryRecord),
    /// Something the reader of the results must know.
    Warning(Warning),
    /// A cell is done.
    CellFinish {
        /// [`CellPlan::id`].
        cell: String,
        /// When.
        at: String,
        /// One per drive of the cell, in its order.
        results: Vec<CellResult>,
    },
    /// A cell could not be done; the run goes on.
    CellFailed {
        /// [`CellPlan::id`].
        cell: String,
        /// When.
        at: String,
        /// Why, and what to do.
        message: String,
    },
    /// A planned cell turned out not to be needed (rounds at rest, preconditioning still valid), or not to make sense.
    CellSkipped {
        /// [`CellPlan::id`].
        cell: String,
        /// When.
        at: String,
        /// Why.
        reason: String,
    },
    /// How steady the rounds of a step are by now.
    Steady(SteadyRecord),
    /// What the suite concludes about a drive.
    Verdict {
        /// Index into [`Manifest::drives`].
        drive: usize,
        /// The conclusion.
        verdict: Verdict,
    },
    /// The run ended.
    Finish {
        /// When.
        at: String,
        /// Complete, or ended by the user.
        outcome: RunEnd,
    },
}

impl Entry {
    /// The words in `event`, so that a reader can tell a newer version's event from a damaged one.
    pub const KINDS: [&'static str; 14] = [
        "manifest",
        "start",
        "audit",
        "cell_start",
        "interval",
        "host",
        "telemetry",
        "warning",
        "cell_finish",
        "cell_failed",
        "cell_skipped",
        "steady",
        "verdict",
        "finish",
    ];
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunEnd {
    /// Every cell was run or skipped with a reason.
    Complete,
    /// Ended early by the user; what was measured is kept, `--resume` continues.
    Interrupted,
}

/// The self-audit before a run: what the engine and the clock cost on this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// I/Os per second one thread reaches on the null target with full latency recording.
    pub null_iops_per_thread: f64,
    /// Nanoseconds per I/O of the engine itself.
    pub engine_ns_per_io: f64,
    /// Cost of reading the clock.
    pub clock_ns: f64,
    /// Smallest step the clock was seen to make.
    pub clock_step_ns: u64,
    /// How far the fast clock was off the kernel's monotonic clock, parts per million.
    pub clock_drift_ppm: f64,
}

/// One drive's counts in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IntervalRecord {
    /// [`CellPlan::id`].
    pub cell: String,
    /// Index into [`Manifest::drives`].
    pub drive: usize,
    /// Interval index since the cell's start. The same index may come more than once (a slow worker): counts add up.
    pub index: u32,
    /// Part of the ramp.
    pub ramp: bool,
    /// Since the cell's start.
    pub start: Nanos,
    /// Since the cell's start.
    pub end: Nanos,
    /// Per operation.
    pub ops: Vec<OpRecord>,
}

/// One operation in one interval. The histograms are the raw data; readers sum them for results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpRecord {
    /// Operation.
    pub op: Op,
    /// Completed.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Failed or short.
    pub errors: u64,
    /// How many of them for which reason.
    #[serde(skip_serializing_if = "ErrorCauses::is_empty", default)]
    pub causes: ErrorCauses,
    /// Latency.
    pub latency: Histogram,
    /// Service time, in open-loop jobs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub service: Option<Histogram>,
}

impl IntervalRecord {
    /// Of a measured interval.
    pub fn new(cell: &str, drive: usize, interval: Interval) -> IntervalRecord {
        IntervalRecord {
            cell: cell.to_owned(),
            drive,
            index: interval.index,
            ramp: interval.ramp,
            start: interval.start,
            end: interval.end,
            ops: interval
                .ops
                .into_iter()
                .map(|(op, counts)| OpRecord {
                    op,
                    ios: counts.ios,
                    bytes: counts.bytes,
                    errors: counts.errors,
                    causes: counts.causes,
                    latency: counts.latency,
                    service: counts.service,
                })
                .collect(),
        }
    }

    /// Back to the measured interval, to be summed.
    pub fn interval(self) -> Interval {
        Interval {
            index: self.index,
            ramp: self.ramp,
            start: self.start,
            end: self.end,
            ops: self
                .ops
                .into_iter()
                .map(|o| {
                    let counts = OpInterval {
                        ios: o.ios,
                        bytes: o.bytes,
                        errors: o.errors,
                        causes: o.causes,
                        latency: o.latency,
                        service: o.service,
                    };
                    (o.op, counts)
                })
                .collect(),
        }
    }
}

/// A cell's result for one drive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellResult {
    /// Index into [`Manifest::drives`].
    pub drive: usize,
    /// Measured span.
    pub elapsed: Nanos,
    /// Reads.
    pub read: OpSummary,
    /// Writes.
    pub write: OpSummary,
    /// Mean host load over the measured span; absent for simulated drives (no host is being loaded by them).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<HostLoad>,
    /// Processor time of this program meanwhile; absent for simulated drives.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<ProcessLoad>,
    /// Processor time of the busiest worker thread of this drive, percent of one processor; absent for simulated drives and in run folders
    /// of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub busiest_thread_pct: Option<f64>,
    /// Verification, where the workload verifies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verify: Option<VerifySummary>,
    /// Further measured values, named with their unit (`zstd_ratio`, `ratio_to_incompressible`, `iops_alone`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub values: BTreeMap<String, f64>,
}

impl CellResult {
    /// MiB/s of reads and writes together.
    pub fn mib_per_s(&self) -> f64 {
        self.read.mib_per_s + self.write.mib_per_s
    }

    /// Operations per second of reads and writes together.
    pub fn iops(&self) -> f64 {
        self.read.iops + self.write.iops
    }

    /// Latency of the operation that moved more.
    pub fn latency(&self) -> &LatencySummary {
        if self.read.ios >= self.write.ios {
            &self.read.latency_ns
        } else {
            &self.write.latency_ns
        }
    }

    /// Failed or short operations.
    pub fn errors(&self) -> u64 {
        self.read.errors + self.write.errors
    }
}

/// Processor time of the measuring program itself over a cell, in percent of one processor (two busy threads make 200).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProcessLoad {
    /// In user code.
    pub cpu_user_pct: f64,
    /// In the kernel on its behalf.
    pub cpu_system_pct: f64,
}

/// What verification found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifySummary {
    /// Blocks checked.
    pub blocks_checked: u64,
    /// Findings by kind (`corrupt`, `torn`, `misplaced`, `stale`, `lost`).
    pub found: BTreeMap<String, u64>,
    /// The first findings, in words.
    pub examples: Vec<String>,
    /// The seed the blocks carry, to check them again later (`--verify_seed`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
}
