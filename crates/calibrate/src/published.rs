//! The published figures of `reference/*.csv`, embedded, as measurements. Sources: docs/sources.md.
//!
//! Tolerances: 10 % of a bandwidth or latency, 25 % of a 99.999th percentile and of durations, 2 C,
//! 5 % of sequential writes and of the hour's mean. The goal for the streamer's sweep is a median
//! of 8 %; a single cell may be off by 20 %.

use assay_units::{DataClass, Op};

use crate::CalibrateError;
use crate::measurement::{
    AREA_BYTES, AccessPattern, HourFigure, Measurement, PriorState, Procedure, ReferenceMetric,
    ReferenceWorkload, Role, Tolerance, chunk_bytes,
};
use crate::table::{CsvRow, CsvTable, figure_named};

/// Name and text of a table.
type EmbeddedTable = (&'static str, &'static str);
/// Adds the measurements of a row.
type RowParser = fn(&CsvRow, &mut Vec<Measurement>) -> Result<(), CalibrateError>;
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

/// All published figures of the drive that a profile models, in the order of the files; an error
/// when an embedded file is damaged.
pub fn published(profile: &str) -> Result<Vec<Measurement>, CalibrateError> {
    let mut out = Vec::new();
    for (table, access) in
        [(RANDOM_READ, AccessPattern::Random), (SEQUENTIAL_READ, AccessPattern::Sequential)]
    {
        for row in rows(table, profile)? {
            let (threads, block_bytes) = (row.number("threads")?, row.number("block_bytes")?);
            let read = ReferenceWorkload::read(access, threads, block_bytes);
            let (metric, rate) = (ReferenceMetric::MibPerS, row.figure("mib_per_s")?);
            out.push(measurement(Procedure::Steady(read), metric, rate, DRAGONFLY));
        }
    }
    let parsers: [(EmbeddedTable, RowParser); 4] =
        [(FIGURES, other), (LATENCIES, latencies), (STREAMER, streamer), (CONSISTENCY, hour)];
    for (table, parse) in parsers {
        for row in rows(table, profile)? {
            parse(&row, &mut out)?;
        }
    }
    Ok(out)
}

fn rows((name, text): EmbeddedTable, profile: &str) -> Result<Vec<CsvRow>, CalibrateError> {
    let mut out = Vec::new();
    for row in CsvTable::parse(name, text)?.rows {
        if row.text("drive")? == profile {
            out.push(row);
        }
    }
    Ok(out)
}

fn measurement(
    procedure: Procedure,
    metric: ReferenceMetric,
    value: f64,
    source: &str,
) -> Measurement {
    Measurement {
        procedure,
        metric,
        value,
        tolerance: Tolerance::for_metric(metric),
        source: source.to_owned(),
        role: Role::Target,
    }
}

/// `drive,figure,value,unit,source`.
fn other(row: &CsvRow, out: &mut Vec<Measurement>) -> Result<(), CalibrateError> {
    let (procedure, metric) = row.named("figure", figure_named)?;
    let mut figure = measurement(procedure, metric, row.figure("value")?, row.text("source")?);
    if matches!(procedure, Procedure::Fill(_)) {
        figure.tolerance = Tolerance::Relative(0.05);
    }
    out.push(figure);
    Ok(())
}

/// The megabyte of the printed percentile tables, in MB: with 2^30 / 1000 bytes their rates agree
/// with their own kIOPS to 0.2 %, with 10^6 or 2^20 bytes none does.
const PRINTED_MB: f64 = 1.073_741_824;

/// `drive,op,block_bytes,threads,queue_depth,mb_s,kiops,mean_us,median_us,p99_us,p99999_us,source`:
/// empty where not published. Taken after two full random overwrites. Without writes no garbage
/// collection runs, so for reads an overwritten area of 1 GiB is equivalent to an overwritten
/// drive.
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
            let (procedure, source) = (Procedure::Steady(workload), row.text("source")?);
            out.push(measurement(procedure, metric, value * factor, source));
        }
    }
    Ok(())
}

/// `drive,operation,chunks,bytes,nanoseconds,mib_per_s`. The rate is computed from the time, since
/// the printed rate is rounded.
fn streamer(row: &CsvRow, out: &mut Vec<Measurement>) -> Result<(), CalibrateError> {
    let op = row.op("operation")?;
    let (chunks, bytes): (u32, f64) = (row.number("chunks")?, row.figure("bytes")?);
    let rate = bytes / (1 << 20) as f64 / (row.figure("nanoseconds")? / 1e9);
    // The longest stream of the sweep has 32768 chunks (4 GiB); a longer one is the whole drive.
    let procedure = match chunks {
        0..=32_768 => Procedure::Chunks { op, chunks },
        _ => Procedure::FullStream { op },
    };
    if bytes != chunk_bytes(chunks) as f64 {
        return Err(row.error("bytes", "a chunk has 131072 bytes"));
    }
    out.push(Measurement {
        tolerance: Tolerance::Relative(0.20),
        ..measurement(procedure, ReferenceMetric::MibPerS, rate, MLE_STREAMER)
    });
    Ok(())
}

/// `drive,figure,over_provisioning_percent,value,source`.
fn hour(row: &CsvRow, out: &mut Vec<Measurement>) -> Result<(), CalibrateError> {
    let (figure, metric, tolerance) = row.named("figure", |name| {
        Some(match name {
            "mean_iops" => (HourFigure::Mean, ReferenceMetric::Iops, 0.05),
            "consistency" => (HourFigure::Consistency, ReferenceMetric::Ratio, 0.25),
            "fast_iops" => (HourFigure::Fast, ReferenceMetric::Iops, 0.10),
            "slow_iops" => (HourFigure::Slow, ReferenceMetric::Iops, 0.10),
            "fast_share" => (HourFigure::FastShare, ReferenceMetric::Ratio, 0.25),
            _ => return None,
        })
    })?;
    let procedure = Procedure::Hour {
        over_provisioning_percent: row.number("over_provisioning_percent")?,
        figure,
    };
    let value = row.figure("value")?;
    out.push(Measurement {
        tolerance: Tolerance::Relative(tolerance),
        ..measurement(procedure, metric, value, row.text("source")?)
    });
    Ok(())
}

#[cfg(test)]
#[path = "../tests/unit/published.rs"]
mod tests;
