//! What is concluded from a run, and its tables. Crate `analysis` finds the conclusions
//! (`analysis::conclusions`); nothing of them is in a run folder.

use std::collections::BTreeMap;

use assay_stats::Estimate;
use assay_stats::modes::Mode;
use serde::Serialize;
use serde_json::Map;

use super::{Columns, Table, Value};
use crate::model::DriveRecord;
use crate::read::Run;

/// What is concluded from a run, with drives as indices in
/// [`Manifest::drives`](crate::model::Manifest::drives).
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

impl<'a, R: 'a> Columns<'a, R> {
    fn concluded(
        &mut self,
        run: &'a Run,
        drive: impl Fn(&R) -> usize + Copy + 'a,
        cell: impl Fn(&R) -> Option<&'a str> + 'a,
        step: impl Fn(&R) -> Option<&'a str> + 'a,
    ) {
        let record =
            move |row: &R| -> Option<&'a DriveRecord> { run.manifest.drives.get(drive(row)) };
        self.add("run_id", move |_| run.manifest.run_id.as_str());
        self.add("simulated", move |row| {
            record(row).is_some_and(|d| d.simulated)
        });
        self.add("drive", drive);
        self.add("drive_label", move |row| {
            record(row).map(|d| d.label.as_str())
        });
        self.add("cell", cell);
        self.add("step", step);
    }
}

/// `conclusions`: one row per figure or answer.
pub fn conclusion_table<'a>(run: &'a Run, found: &'a Conclusions) -> Table<'a> {
    let mut c: Columns<'a, &'a Conclusion> = Columns::new();
    c.concluded(
        run,
        |c| c.drive,
        |c| c.cell.as_deref(),
        |c| c.step.as_deref(),
    );
    c.add("kind", |c| c.kind);
    c.add("name", |c| c.name);
    c.add("from_s", |c| c.span_s.map(|span| span.0));
    c.add("to_s", |c| c.span_s.map(|span| span.1));
    c.add("value", |c| c.value);
    c.add("unit", |c| Some(c.unit).filter(|unit| !unit.is_empty()));
    c.add("lower", |c| c.interval.map(|interval| interval.0));
    c.add("upper", |c| c.interval.map(|interval| interval.1));
    c.add("text", |c| c.text.as_deref());
    c.table("conclusions", found.conclusions.iter())
}

/// `phases`: one row per phase of a drive in a cell.
pub fn phase_table<'a>(run: &'a Run, found: &'a Conclusions) -> Table<'a> {
    let mut c: Columns<'a, &'a PhaseRow> = Columns::new();
    c.concluded(run, |p| p.drive, |p| Some(&p.cell), |p| Some(&p.step));
    c.add("from_s", |p| p.span_s.0);
    c.add("to_s", |p| p.span_s.1);
    c.add("cause", |p| p.cause.as_str());
    c.add("mean_mib_per_s", |p| p.mean_mib_per_s);
    c.add("mean_iops", |p| p.mean_iops);
    c.add("cache_bytes", |p| p.cache_bytes);
    c.add("write_amplification", |p| p.write_amplification);
    c.add("onset_c", |p| p.onset_c);
    c.add("onset_s", |p| p.onset_s);
    c.add("duty_pct", |p| p.duty_pct);
    c.add("period_s", |p| p.period_s);
    c.add("power_state", |p| p.power_state);
    c.add("asked_iops", |p| p.asked_iops);
    c.add("evidence", |p| p.evidence.as_str());
    c.table("phases", found.phases.iter())
}

/// `modes`: one row per mode of a drive in a cell; a single one where the rate has one level.
pub fn mode_table<'a>(run: &'a Run, found: &'a Conclusions) -> Table<'a> {
    let mut c: Columns<'a, &'a ModeRow> = Columns::new();
    c.concluded(run, |m| m.drive, |m| Some(&m.cell), |m| Some(&m.step));
    c.add("from_s", |m| m.span_s.0);
    c.add("to_s", |m| m.span_s.1);
    c.add("mode", |m| m.number);
    c.add("level_iops", |m| m.mode.level);
    c.add("stddev_iops", |m| m.mode.stddev);
    c.add("share_pct", |m| m.mode.share_pct);
    c.add("visits", |m| m.mode.visits);
    c.add("dwell_s", |m| m.mode.dwell);
    c.add("longest_s", |m| m.mode.longest);
    c.table("modes", found.modes.iter())
}

impl Table<'_> {
    /// The rows as JSON objects with the columns' names as keys, null where a value is absent.
    pub fn objects(self) -> impl Iterator<Item = Map<String, serde_json::Value>> {
        let names: Vec<String> = self.columns.into_iter().map(|(name, _)| name).collect();
        self.rows.map(move |row| {
            let values = row.into_iter().map(|value| match value {
                Value::Absent => serde_json::Value::Null,
                Value::Count(n) => n.into(),
                Value::Figure(x) => x.into(),
                Value::Flag(flag) => flag.into(),
                Value::Text(text) => text.into(),
            });
            names.iter().cloned().zip(values).collect()
        })
    }
}
