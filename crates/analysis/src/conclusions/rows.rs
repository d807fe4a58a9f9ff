//! What a conclusion is. Nothing of it is in a run folder.

use std::collections::BTreeMap;

use assay_stats::Estimate;
use assay_stats::modes::Mode;
use serde::Serialize;

/// What is concluded from a run, with drives as indices in
/// [`Manifest::drives`](assay_store::model::Manifest::drives).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusions {
    /// Single figures and answers.
    pub conclusions: Vec<Conclusion>,
    /// Phases of cells, with their causes.
    pub phases: Vec<PhaseRow>,
    /// Levels between which the rates of cells alternate.
    pub modes: Vec<ModeRow>,
    /// Confidence intervals of a drive in a cell.
    pub intervals: BTreeMap<(String, usize), CellIntervals>,
}

/// Confidence intervals of the figures of a drive in a cell; `None` where its series is too short.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CellIntervals {
    /// Operations per second, reads and writes together.
    #[serde(rename = "iops_ci")]
    pub iops: Option<Estimate>,
    /// MiB per second, reads and writes together.
    #[serde(rename = "mib_per_s_ci")]
    pub mib_per_s: Option<Estimate>,
    /// Mean latency of the operation there was more of, nanoseconds.
    #[serde(rename = "latency_mean_ns_ci")]
    pub latency_mean_ns: Option<Estimate>,
}

/// A figure or an answer; docs/run-folder.md, "Conclusions", lists them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The drive.
    pub drive: usize,
    /// The cell that it is about; none of a step or a drive as a whole.
    pub cell: Option<String>,
    /// The step.
    pub step: Option<String>,
    /// `score`, `knee`, `latency`, `throttling`, `steady_state`, `idle_recovery`, `stimulus`,
    /// `standard`, `power`, `endurance`, `causes` or `verdict`.
    pub kind: &'static str,
    /// Its name within that kind.
    pub name: &'static str,
    /// Span that it is about, seconds since the start of the cell.
    pub span_s: Option<(f64, f64)>,
    /// Its value; none of an answer in words.
    pub value: Option<f64>,
    /// Unit of the value; empty where it has none.
    pub unit: &'static str,
    /// Confidence interval of the value, at 95 %.
    pub interval: Option<(f64, f64)>,
    /// In words: an answer, a reason, a remark.
    pub text: Option<String>,
}

/// A phase of a drive in a cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseRow {
    /// The drive.
    pub drive: usize,
    /// The cell.
    pub cell: String,
    /// The step.
    pub step: String,
    /// Its start and end, seconds since the start of the cell.
    pub span_s: (f64, f64),
    /// The cause as in JSON: `fresh`, `slc_cache_exhausted`, `thermal_throttling`, ...
    pub cause: String,
    /// Mean rate, MiB/s.
    pub mean_mib_per_s: f64,
    /// Mean rate, I/Os per second.
    pub mean_iops: f64,
    /// Written until an SLC cache was full.
    pub cache_bytes: Option<u64>,
    /// Bytes written to flash per byte written by the host.
    pub write_amplification: Option<f64>,
    /// Temperature at the onset of throttling, degrees Celsius.
    pub onset_c: Option<f64>,
    /// Onset of throttling, seconds since the start of the cell.
    pub onset_s: Option<f64>,
    /// Share of the phase in the slow state, percent.
    pub duty_pct: Option<f64>,
    /// From one fall to the next, seconds.
    pub period_s: Option<f64>,
    /// The power state that limits.
    pub power_state: Option<u32>,
    /// The rate that the workload asks for, I/Os per second.
    pub asked_iops: Option<f64>,
    /// Evidence for the cause.
    pub evidence: String,
}

/// A mode of the rate of a drive in a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeRow {
    /// The drive.
    pub drive: usize,
    /// The cell.
    pub cell: String,
    /// The step.
    pub step: String,
    /// Span in which modes were looked for, seconds since the start of the cell.
    pub span_s: (f64, f64),
    /// Its number among those of the cell, from 1, in ascending order of the rate.
    pub number: usize,
    /// The mode: level in I/Os per second, lengths in seconds.
    pub mode: Mode,
}
