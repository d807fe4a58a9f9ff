//! The whole run as one JSON document.

use std::io::Write;

use assay_analysis::conclusions::{CellIntervals, Conclusions};
use assay_analysis::warnings::{DriveWarning, by_drive};
use assay_stats::{HostAudit, HostLoad, LatencySummary, OpSummary};
use assay_store::model::{
    CellPlan, CellResult, Manifest, RunEnd, SCHEMA, TelemetryRecord, Verdict, VerifySummary,
};
use assay_store::read::{CellDrive, CellRecord, Gap, Run};
use assay_store::series::OpSample;
use assay_units::telemetry::Exported;
use assay_units::{Nanos, Op};
use serde::{Serialize, Serializer};

use super::table::telemetry::{Reading, exported};
use super::table::{conclusion_table, mode_table, phase_table, used};
use super::write_document;
use crate::ExportError;

type Object = serde_json::Map<String, serde_json::Value>;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    schema: u32,
    simulated: bool,
    manifest: &'a Manifest,
    audit: Option<&'a HostAudit>,
    outcome: Option<RunEnd>,
    cells: Vec<Cell<'a>>,
    conclusions: Vec<Object>,
    phases: Vec<Object>,
    modes: Vec<Object>,
    verdicts: Vec<DriveVerdict<'a>>,
    warnings: Vec<DriveWarning<'a>>,
    damaged_lines: &'a [String],
}

#[derive(Serialize)]
struct DriveVerdict<'a> {
    drive: usize,
    drive_label: &'a str,
    simulated: bool,
    verdict: Option<&'a Verdict>,
}

#[derive(Serialize)]
struct Cell<'a> {
    #[serde(flatten)]
    plan: &'a CellPlan,
    state: &'static str,
    state_reason: Option<&'a str>,
    results: Vec<DriveInCell<'a>>,
    host: Vec<HostEntry>,
}

#[derive(Serialize)]
struct HostEntry {
    index: u32,
    #[serde(flatten)]
    load: HostLoad,
}

#[derive(Serialize)]
struct DriveInCell<'a> {
    drive: usize,
    drive_label: &'a str,
    simulated: bool,
    result: Option<CellFigures<'a>>,
    #[serde(serialize_with = "series")]
    series: &'a [OpSample],
    #[serde(serialize_with = "telemetry")]
    telemetry: &'a [TelemetryRecord],
    distributions: Vec<Distribution<'a>>,
    #[serde(skip_serializing_if = "<[Gap]>::is_empty")]
    gaps: &'a [Gap],
}

#[derive(Serialize)]
struct CellFigures<'a> {
    #[serde(flatten)]
    intervals: CellIntervals,
    elapsed_ns: Nanos,
    iops: f64,
    mib_per_s: f64,
    /// Null where the workload does not read; likewise `write`.
    read: Option<&'a OpSummary>,
    write: Option<&'a OpSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    discard: Option<&'a OpSummary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flush: Option<&'a OpSummary>,
    host: Option<&'a HostLoad>,
    verify: Option<&'a VerifySummary>,
    values: &'a std::collections::BTreeMap<String, f64>,
}

#[derive(Serialize)]
struct SeriesEntry<'a> {
    index: u32,
    ramp: bool,
    start_ns: Nanos,
    end_ns: Nanos,
    op: Op,
    ios: u64,
    bytes: u64,
    errors: u64,
    iops: f64,
    mib_per_s: f64,
    /// Null without samples.
    latency_ns: Option<&'a LatencySummary>,
}

struct TelemetryEntry<'a> {
    record: &'a TelemetryRecord,
    readings: &'a [&'static Reading],
}

impl Serialize for TelemetryEntry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let readings = self.readings.iter().filter_map(|reading| {
            let value = (reading.json)(self.record);
            let is_left_out = matches!(reading.exported, Exported::IfKnown(_)) && value.is_null();
            (!is_left_out).then_some((reading.name, value))
        });
        let at = ("at_ns", self.record.at.0.into());
        serializer.collect_map(std::iter::once(at).chain(readings))
    }
}

#[derive(Serialize)]
struct Distribution<'a> {
    op: Op,
    /// Pairs of (latency in nanoseconds, completions up to it).
    cumulative_ns: &'a [(Nanos, u64)],
}

/// Writes the run, with what is concluded from it, as one JSON document.
pub fn export_json(
    run: &Run,
    found: &Conclusions,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    let verdicts = run.verdicts.iter().zip(&run.manifest.drives).enumerate();
    let document = Document {
        format: "assay-run",
        schema: SCHEMA,
        simulated: run.has_simulated(),
        manifest: &run.manifest,
        audit: run.audit.as_ref(),
        outcome: run.outcome,
        cells: run.cells.iter().map(|cell| cell_of(run, found, cell)).collect(),
        conclusions: conclusion_table(run, found).objects().collect(),
        phases: phase_table(run, found).objects().collect(),
        modes: mode_table(run, found).objects().collect(),
        verdicts: verdicts
            .map(|(drive, (verdict, record))| DriveVerdict {
                drive,
                drive_label: &record.label,
                simulated: record.simulated,
                verdict: verdict.as_ref(),
            })
            .collect(),
        warnings: by_drive(&run.warnings),
        damaged_lines: &run.damaged_lines,
    };
    write_document(&document, out)
}

fn cell_of<'a>(run: &'a Run, found: &'a Conclusions, cell: &'a CellRecord) -> Cell<'a> {
    let (state, state_reason) = cell.state.text();
    let results = cell.drives.iter().map(|part| part_of(run, found, cell, part));
    let host = cell.host.iter();
    Cell {
        plan: &cell.plan,
        state,
        state_reason,
        results: results.collect(),
        host: host.map(|&(index, load)| HostEntry { index, load }).collect(),
    }
}

fn part_of<'a>(
    run: &'a Run,
    found: &'a Conclusions,
    cell: &'a CellRecord,
    part: &'a CellDrive,
) -> DriveInCell<'a> {
    let intervals = found.intervals.get(&(cell.plan.id.clone(), part.drive));
    let drive = &run.manifest.drives[part.drive];
    let distributions = part.distributions.iter();
    DriveInCell {
        drive: part.drive,
        drive_label: &drive.label,
        simulated: drive.simulated,
        result: part.result.as_ref().map(|result| figures(cell, result, intervals)),
        series: &part.series,
        telemetry: &part.telemetry,
        distributions: distributions
            .map(|(op, points)| Distribution { op: *op, cumulative_ns: points })
            .collect(),
        gaps: &part.gaps,
    }
}

fn figures<'a>(
    cell: &CellRecord,
    result: &'a CellResult,
    intervals: Option<&CellIntervals>,
) -> CellFigures<'a> {
    CellFigures {
        intervals: intervals.copied().unwrap_or_default(),
        elapsed_ns: result.elapsed,
        iops: result.iops(),
        mib_per_s: result.mib_per_s(),
        read: used(cell, result, Op::Read),
        write: used(cell, result, Op::Write),
        discard: used(cell, result, Op::Discard),
        flush: used(cell, result, Op::Flush),
        host: result.host.as_ref(),
        verify: result.verify.as_ref(),
        values: &result.values,
    }
}

fn series<S: Serializer>(points: &[OpSample], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(points.iter().map(|p| SeriesEntry {
        index: p.index,
        ramp: p.ramp,
        start_ns: p.start,
        end_ns: p.end,
        op: p.op,
        ios: p.ios,
        bytes: p.bytes,
        errors: p.errors,
        iops: p.iops(),
        mib_per_s: p.mib_per_s(),
        latency_ns: Some(&p.latency).filter(|latency| latency.samples > 0),
    }))
}

fn telemetry<S: Serializer>(records: &[TelemetryRecord], serializer: S) -> Result<S::Ok, S::Error> {
    let readings = &exported();
    let entry = |record| TelemetryEntry { record, readings };
    serializer.collect_seq(records.iter().map(entry))
}
