//! The published figures of `reference/*.csv`, embedded, as measurements of a profile's drive. Their sources: docs/sources.md.
//!
//! Tolerances: 10 % of a bandwidth or latency, 25 % of a 99.999th percentile and of durations, 2 C, 5 % of sequential writes and of the
//! hour's mean. The goal for the streamer's sweep is a median of 8 %; a single cell may be off by 20 %.

use assay_units::{DataClass, Op};

use crate::CalibrateError;
use crate::drive_under_test::AREA_BYTES;
use crate::measurement::{
    AccessPattern, CHUNK_BYTES, HourFigure, Measurement, PriorState, Procedure, ReferenceMetric,
    ReferenceWorkload, Role, Tolerance,
};
use crate::table::{CsvRow, CsvTable, figure_named};

/// Name and text of a table.
type EmbeddedTable = (&'static str, &'static str);
macro_rules! reference {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../reference/", $name)))
    };
}
const RANDOM_READ: EmbeddedTable = reference!("random_read_bandwidth.csv");
const SEQUENTIAL_READ: EmbeddedTable = reference!("sequential_read_bandwidth.csv");
const FIGURES: EmbeddedTable = reference!("figures.csv");
const LATENCIES: EmbeddedTable = reference!("latency_percentiles.csv");
const STREAMER: EmbeddedTable = reference!("streamer_chunk_sweep.csv");
const CONSISTENCY: EmbeddedTable = reference!("consistency.csv");

const DRAGONFLY: &str = "DragonFly NVMe tests";
const MLE_STREAMER: &str = "MLE NVMe Streamer";

/// All published figures of the drive that a profile models, in the order of the files.
///
/// # Errors
/// [`CalibrateError::Table`] when an embedded file is damaged.
pub fn published(profile: &str) -> Result<Vec<Measurement>, CalibrateError> {
    let mut out = Vec::new();
    for (table, access) in [
        (RANDOM_READ, AccessPattern::Random),
        (SEQUENTIAL_READ, AccessPattern::Sequential),
    ] {
        for row in rows(table, profile)? {
            let (threads, block_bytes) = (row.number("threads")?, row.number("block_bytes")?);
            let workload = ReferenceWorkload::read(access, threads, block_bytes);
            let figure = row.figure("mib_per_s")?;
            out.push(of(
                Procedure::Steady(workload),
                ReferenceMetric::MibPerS,
                figure,
                DRAGONFLY,
            ));
        }
    }
    for row in rows(FIGURES, profile)? {
        out.push(other(&row)?);
    }
    for row in rows(LATENCIES, profile)? {
        latencies(&row, &mut out)?;
    }
    for row in rows(STREAMER, profile)? {
        out.push(streamer(&row)?);
    }
    for row in rows(CONSISTENCY, profile)? {
        out.push(hour(&row)?);
    }
    Ok(out)
}

/// The drives with published figures, in the order of the files.
///
/// # Errors
/// As [`published`].
pub fn drives() -> Result<Vec<String>, CalibrateError> {
    let mut out: Vec<String> = Vec::new();
    for (name, text) in [
        RANDOM_READ,
        SEQUENTIAL_READ,
        FIGURES,
        LATENCIES,
        STREAMER,
        CONSISTENCY,
    ] {
        for row in CsvTable::parse(name, text)?.rows() {
            let drive = row.text("drive")?;
            if !out.iter().any(|known| known == drive) {
                out.push(drive.to_owned());
            }
        }
    }
    Ok(out)
}

/// The rows of one drive.
fn rows((name, text): EmbeddedTable, profile: &str) -> Result<Vec<CsvRow>, CalibrateError> {
    let mut out = Vec::new();
    for row in CsvTable::parse(name, text)?.into_rows() {
        if row.text("drive")? == profile {
            out.push(row);
        }
    }
    Ok(out)
}

fn of(procedure: Procedure, metric: ReferenceMetric, value: f64, source: &str) -> Measurement {
    Measurement {
        procedure,
        metric,
        value,
        tolerance: Tolerance::of(metric),
        source: source.to_owned(),
        role: Role::Target,
    }
}

/// `drive,figure,value,unit,source`.
fn other(row: &CsvRow) -> Result<Measurement, CalibrateError> {
    let name = row.text("figure")?;
    let (procedure, metric) = figure_named(name)
        .ok_or_else(|| row.error("figure", &format!("no figure is called {name:?}")))?;
    let mut out = of(procedure, metric, row.figure("value")?, row.text("source")?);
    if matches!(procedure, Procedure::Fill(_)) {
        out.tolerance = Tolerance::Relative(0.05);
    }
    Ok(out)
}

/// The megabyte of the printed percentile tables, in MB: with 2^30 / 1000 bytes their rates agree with their own kIOPS to 0.2 %, with
/// 10^6 or 2^20 bytes none does.
const PRINTED_MB: f64 = 1.073_741_824;

/// `drive,op,block_bytes,threads,queue_depth,mb_s,kiops,mean_us,median_us,p99_us,p99999_us,source`: empty where not published.
/// Taken after two full random overwrites. Without writes no garbage collection runs, so for reads an overwritten area of 1 GiB is
/// equivalent to an overwritten drive.
fn latencies(row: &CsvRow, out: &mut Vec<Measurement>) -> Result<(), CalibrateError> {
    let op = row.op("op")?;
    let workload = ReferenceWorkload {
        op,
        access: AccessPattern::Random,
        block_bytes: row.number("block_bytes")?,
        threads: row.number("threads")?,
        queue_depth: row.number("queue_depth")?,
        data: DataClass::Incompressible,
        state: PriorState::Overwritten,
        area_bytes: if op == Op::Read { 1 << 30 } else { AREA_BYTES },
        ios: None,
    };
    for (column, metric, factor) in [
        ("mb_s", ReferenceMetric::MbPerS, PRINTED_MB),
        ("kiops", ReferenceMetric::Iops, 1000.0),
        ("mean_us", ReferenceMetric::MeanUs, 1.0),
        ("median_us", ReferenceMetric::MedianUs, 1.0),
        ("p99_us", ReferenceMetric::P99Us, 1.0),
        ("p99999_us", ReferenceMetric::P99_999Us, 1.0),
    ] {
        if let Some(value) = row.optional(column)? {
            let source = row.text("source")?;
            out.push(of(
                Procedure::Steady(workload),
                metric,
                value * factor,
                source,
            ));
        }
    }
    Ok(())
}

/// `drive,operation,chunks,bytes,nanoseconds,mib_per_s`. The rate is computed from the time, since the printed rate is rounded.
fn streamer(row: &CsvRow) -> Result<Measurement, CalibrateError> {
    let op = row.op("operation")?;
    let (chunks, bytes): (u32, f64) = (row.number("chunks")?, row.figure("bytes")?);
    let rate = bytes / (1 << 20) as f64 / (row.figure("nanoseconds")? / 1e9);
    // The longest stream of the sweep has 32768 chunks (4 GiB); a longer one is the whole drive.
    let procedure = if chunks > 32_768 {
        Procedure::FullStream { op }
    } else {
        Procedure::Chunks { op, chunks }
    };
    if bytes != f64::from(chunks) * f64::from(CHUNK_BYTES) {
        return Err(row.error("bytes", "a chunk has 131072 bytes"));
    }
    let mut out = of(procedure, ReferenceMetric::MibPerS, rate, MLE_STREAMER);
    out.tolerance = Tolerance::Relative(0.20);
    Ok(out)
}

/// `drive,figure,over_provisioning_percent,value,source`.
fn hour(row: &CsvRow) -> Result<Measurement, CalibrateError> {
    let (figure, metric, tolerance) = match row.text("figure")? {
        "mean_iops" => (HourFigure::Mean, ReferenceMetric::Iops, 0.05),
        "consistency" => (HourFigure::Consistency, ReferenceMetric::Ratio, 0.25),
        "fast_iops" => (HourFigure::Fast, ReferenceMetric::Iops, 0.10),
        "slow_iops" => (HourFigure::Slow, ReferenceMetric::Iops, 0.10),
        "fast_share" => (HourFigure::FastShare, ReferenceMetric::Ratio, 0.25),
        unknown => {
            return Err(row.error("figure", &format!("no figure is called {unknown:?}")));
        }
    };
    let procedure = Procedure::Hour {
        over_provisioning_percent: row.number("over_provisioning_percent")?,
        figure,
    };
    let mut out = of(procedure, metric, row.figure("value")?, row.text("source")?);
    out.tolerance = Tolerance::Relative(tolerance);
    Ok(out)
}

#[cfg(test)]
#[path = "../tests/unit/published.rs"]
mod tests;
