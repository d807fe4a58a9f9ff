//! Data model of run folders. Times inside a cell are nanoseconds since the cell's start on the
//! drive's clock; wall-clock times are RFC 3339 in UTC.

use std::collections::BTreeMap;

use assay_stats::{HostAudit, HostLoad, LatencySummary, OpSummary, ProcessLoad};
use assay_units::endurance::EnduranceCounters;
use assay_units::{Nanos, Op};
use serde::{Deserialize, Serialize};

mod block_sizes;
mod cell;
mod imported;
mod interval;
mod predictive;
mod procedure;
mod standard;
mod telemetry;
mod trace_replay;
mod verdict;
pub mod warning;

pub use block_sizes::rw_text;
pub use cell::{Bursts, CellKind, CellPlan, WorkloadRecord};
pub use imported::{ImportRecord, SourceFile};
pub(crate) use interval::BorrowedIntervalEntry;
pub use interval::{IntervalRecord, OpRecord};
pub use predictive::{LATENCY_PERCENTILE, ModelledHost, PREDICTIVE_LEVEL, PredictiveFactors};
pub use procedure::{
    AREA_WRITTEN_PCT, CACHE_DIRTY_MIB, CACHE_HIT_PCT, CellView, HOST_BUSY_PCT, JobPlan,
    LATENCY_TARGET_DEPTH, NOT_NEEDED, OFFERED_IOPS, OfferedLoad, OperatingPoint, POINT_DEPTH,
    POINT_THREADS, PROBE_PHASE, PROBE_START_PCT, PointPlan, Round, SPARE_PCT,
    STEADY_BYTES_PER_SECOND, Segment, SimulatedHost, SteadyRecord, WRITE_AMPLIFICATION,
};
pub use standard::{Alternative, Standard, WriteCache};
pub use telemetry::{ProbeProperty, TelemetryRecord};
pub use trace_replay::{TraceCounts, TraceLag, TracePhaseRecord, TraceRecord};
pub use verdict::{Reason, ReasonWeight, Verdict, VerdictResult};
pub use warning::Warning;

/// Version of the folder's layout; a reader refuses a newer one.
pub const SCHEMA: u32 = 1;

/// `manifest.json`, written once, before the first I/O.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Name of the folder when it was made, unique.
    pub run_id: String,
    /// Time of creation.
    pub created: String,
    /// Build.
    pub tool: BuildRecord,
    /// The command as typed.
    pub command_line: Vec<String>,
    /// The suite, with its whole text.
    pub suite: SuiteRecord,
    /// Parameters in force, defaults included.
    pub parameters: BTreeMap<String, String>,
    /// Factor on every duration; 1.0 is the procedure as published.
    pub scale: f64,
    /// Seed of every random stream.
    pub seed: u64,
    /// The measuring machine.
    pub host: HostRecord,
    /// The drives, in the order named.
    pub drives: Vec<DriveRecord>,
    /// The cells, in the order they run.
    pub cells: Vec<CellPlan>,
    /// Where the figures come from, when another program measured them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportRecord>,
}

/// The build that measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildRecord {
    /// `assay`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its git commit, or `unknown`.
    pub commit: String,
}

impl std::fmt::Display for BuildRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} ({})", self.name, self.version, self.commit)
    }
}

/// The suite that was run; `assay job` is a suite of one cell, named `job`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

impl SuiteRecord {
    /// Whether its steps are those of a procedure. Those of single jobs and of imported ones are
    /// names only.
    pub fn is_procedure(&self) -> bool {
        !matches!(self.name.as_str(), "job" | "import")
    }
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
    /// Further properties (clock source, governor, hypervisor), as name and value.
    pub details: BTreeMap<String, String>,
}

/// A drive at the start of the run.
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
    /// Serial, as the interlock identifies it.
    pub serial: String,
    /// Firmware.
    pub firmware: String,
    /// Capacity.
    pub capacity_bytes: u64,
    /// Logical block.
    pub logical_block_bytes: u32,
    /// Every figure of a simulated drive is marked so.
    pub simulated: bool,
    /// Profile of a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Further properties (link, queues, scheduler, file system), as name and value.
    pub details: BTreeMap<String, String>,
    /// Properties reported by its controller before the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probe: Vec<ProbeProperty>,
    /// Maximum power of its operational NVMe power states, milliwatts, by the state's number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub power_limits_mw: BTreeMap<u8, u64>,
    /// Warning composite temperature (NVMe WCTEMP), degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning_c: Option<i32>,
    /// Critical composite temperature (NVMe CCTEMP), degrees Celsius.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critical_c: Option<i32>,
    /// Origins of its counters of bytes written, where it has such counters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endurance: Option<EnduranceCounters>,
    /// Published figures of the drive that a simulated one models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// 90 % predictive intervals of a simulated drive's figures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predictive: Vec<PredictiveFactors>,
    /// Payload that the link of a simulated drive carries, PCIe or SATA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bytes_per_second: Option<u64>,
    /// The computer that uses a simulated drive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<ModelledHost>,
}

/// Key of [`DriveRecord::details`]: what lies between the target and a drive.
pub const LAYERS: &str = "layers";

/// Key of [`DriveRecord::details`]: the N of a simulated drive with `shrink=N`.
pub const SHRINK: &str = "shrink";

impl DriveRecord {
    /// How many times smaller a simulated drive is than the whole one ([`SHRINK`]).
    pub fn shrink(&self) -> Option<&str> {
        self.details.get(SHRINK).map(String::as_str)
    }

    /// Whether this is the same drive; options of a simulated drive are part of its specification.
    pub fn is_same(&self, other: &DriveRecord) -> bool {
        self.spec == other.spec
            && self.serial == other.serial
            && self.model == other.model
            && self.simulated == other.simulated
    }
}

/// A published bandwidth of a workload or stream, with the latencies published beside it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// Publisher.
    pub source: String,
    /// As [`WorkloadRecord::rw`].
    pub rw: String,
    /// As [`WorkloadRecord::bs_bytes`].
    pub bs_bytes: u64,
    /// As [`WorkloadRecord::numjobs`].
    pub numjobs: u32,
    /// As [`WorkloadRecord::data`].
    pub data: String,
    /// Length of the stream; none where the rate does not depend on it.
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

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_one(n: &u32) -> bool {
    *n == 1
}

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Entry {
    /// First line: the manifest of this journal. Written by [`crate::run::RunWriter::create`].
    Manifest {
        /// SHA-256 of `manifest.json`, in lower-case hex.
        sha256: String,
    },
    /// The run began, or was resumed.
    Start {
        /// When.
        at: String,
        /// Earlier starts.
        resumed: u32,
    },
    /// Self-audit: limits of the host without a drive.
    Audit(HostAudit),
    /// A cell began; intervals of an earlier, unfinished attempt do not count.
    CellStart {
        /// [`CellPlan::id`].
        cell: String,
        /// When.
        at: String,
    },
    /// Counts of one drive in one interval.
    Interval(IntervalRecord),
    /// Host load in one interval of a cell.
    Host {
        /// [`CellPlan::id`].
        cell: String,
        /// Interval index.
        index: u32,
        /// Load.
        load: HostLoad,
    },
    /// Telemetry of a drive.
    Telemetry(TelemetryRecord),
    /// Warning.
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
    /// A cell failed; the run continues.
    CellFailed {
        /// [`CellPlan::id`].
        cell: String,
        /// When.
        at: String,
        /// Reason and advice.
        message: String,
    },
    /// A planned cell was not needed (steady state reached) or not applicable.
    CellSkipped {
        /// [`CellPlan::id`].
        cell: String,
        /// When.
        at: String,
        /// Why.
        reason: String,
    },
    /// Result of the steady-state rule so far.
    Steady(SteadyRecord),
    /// Verdict on a drive.
    Verdict {
        /// Index into [`Manifest::drives`].
        drive: usize,
        /// The verdict.
        verdict: Verdict,
    },
    /// The run ended.
    Finish {
        /// When.
        at: String,
        /// Complete or interrupted.
        outcome: RunEnd,
    },
}

impl Entry {
    /// Values of `event`; others are events of a newer version.
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
    /// Ended early by the user; `--resume` continues.
    Interrupted,
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
    /// Deallocations.
    #[serde(skip_serializing_if = "OpSummary::is_unused", default)]
    pub discard: OpSummary,
    /// Flushes: no I/Os in rates and sums, as in fio.
    #[serde(skip_serializing_if = "OpSummary::is_unused", default)]
    pub flush: OpSummary,
    /// Mean host load over the measured span; absent for simulated drives.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<HostLoad>,
    /// Processor time of this process; absent for simulated drives.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub process: Option<ProcessLoad>,
    /// Busiest worker thread, percent of one processor; absent for simulated drives.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub busiest_thread_pct: Option<f64>,
    /// Verification, where the workload verifies.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub verify: Option<VerifySummary>,
    /// How a trace was replayed, where the workload replays one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trace: Option<Box<TraceRecord>>,
    /// Further values, named with their unit (`zstd_ratio`, `ratio_to_incompressible`,
    /// `iops_alone`).
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub values: BTreeMap<String, f64>,
}

impl CellResult {
    /// MiB/s of reads, writes and deallocations together.
    pub fn mib_per_s(&self) -> f64 {
        self.read.mib_per_s + self.write.mib_per_s + self.discard.mib_per_s
    }

    /// Reads, writes and deallocations that completed.
    pub fn ios(&self) -> u64 {
        self.read.ios + self.write.ios + self.discard.ios
    }

    /// Each operation with its figures.
    pub fn operations(&self) -> [(&'static str, &OpSummary); 4] {
        [
            (Op::Read.name(), &self.read),
            (Op::Write.name(), &self.write),
            (Op::Discard.name(), &self.discard),
            (Op::Flush.name(), &self.flush),
        ]
    }

    /// Operations per second of reads, writes and deallocations together.
    pub fn iops(&self) -> f64 {
        self.read.iops + self.write.iops + self.discard.iops
    }

    /// Latency of the operation with most I/Os; of reads where others have as many.
    pub fn latency(&self) -> &LatencySummary {
        let most = [&self.write, &self.discard].into_iter();
        let most = most.fold(&self.read, |most, op| match op.ios > most.ios {
            true => op,
            false => most,
        });
        &most.latency_ns
    }

    /// Failed or short operations, flushes included.
    pub fn errors(&self) -> u64 {
        self.operations().iter().map(|(_, op)| op.errors).sum()
    }
}

/// Result of verification.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifySummary {
    /// Blocks found right or wrong.
    pub blocks_checked: u64,
    /// Findings by kind (`corrupt`, `torn`, `misplaced`, `stale`, `lost`).
    pub found: BTreeMap<String, u64>,
    /// Blocks that are neither right nor wrong, by reason (`write_failed`, `host_memory`, ...).
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub not_judged: BTreeMap<String, u64>,
    /// The first findings, as text.
    pub examples: Vec<String>,
    /// Seed in the blocks, to verify them again (`--verify_seed`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
}
