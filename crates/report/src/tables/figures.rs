//! Every figure of every cell.

use std::collections::BTreeSet;

use assay_analysis::estimate::{MeanEstimate, Missing};
use assay_stats::{HostLoad, OpSummary};
use assay_store::model::CellResult;

use crate::format;
use crate::grid::{Point, Section};
use crate::metric::{LATENCIES, ResultMetric};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{
    axis_columns, latency_cells, mark, reason, rows_of_points, section_remarks,
};
use crate::tables::interval::no_interval_note;
use crate::tables::predictive;

/// Shown only where some result has enough samples: most jobs do not.
pub const RAREST: &str = "p99.999";

/// Heading of [`PREDICTED`].
const PREDICTIVE: &str = "real drive, 90 % predictive interval";

/// Figures with a column for their predictive interval.
const PREDICTED: [ResultMetric; 3] = [ResultMetric::IOPS, ResultMetric::MEAN, ResultMetric::P99];

/// Columns of the latency from submission.
const FROM_SUBMISSION: [&str; 3] = ["mean", "p99", "max"];

/// Columns of a narrow table.
const ESSENTIAL: [&str; 4] = ["mean", "p99", "p99.9", "max"];

/// Heading and value of a host's load.
type HostColumn = (&'static str, fn(&HostLoad) -> f64);

/// Shares of the host's CPU time, as in DragonFly 2018.
pub const HOST: [HostColumn; 5] = [
    ("user", |h| h.user_pct),
    ("system", |h| h.system_pct),
    ("irq", |h| h.irq_pct),
    ("iowait", |h| h.iowait_pct),
    ("idle", |h| h.idle_pct),
];

pub fn host_columns() -> [Column; 5] {
    Column::all_under("host CPU, %", HOST.map(|(label, _)| label))
}

/// The shares of [`HOST`] as text.
pub fn host_text(load: &HostLoad) -> String {
    let share = |(label, of): HostColumn| format!("{label} {}", format::percent(of(load)));
    format::joined(HOST.map(share), ", ")
}

/// The shares of [`HOST`]; empty where the load was not measured.
pub fn host_cells(load: Option<&HostLoad>) -> [TableCell; 5] {
    HOST.map(|(_, of)| TableCell::percent(load.map(of)))
}

/// One row per cell, drive and operation. `whole` adds every percentile, the host and further
/// values.
pub fn table(section: &Section<'_>, whole: bool) -> Table {
    let any = |condition: fn(&CellResult) -> bool| section.results().any(condition);
    let samples = |r: &CellResult| r.read.latency_ns.samples.max(r.write.latency_ns.samples);
    let most_samples = section.results().map(samples).max().unwrap_or(0);
    let latencies = LATENCIES.iter().filter(|(label, _, needed)| {
        (whole || ESSENTIAL.contains(label)) && (*label != RAREST || most_samples >= *needed)
    });
    let latencies: Vec<&str> = latencies.map(|(label, ..)| *label).collect();
    let host = whole && any(|r| r.host.is_some());
    // Power of the host's processors; the drive's power is not derived from it.
    let power = host && any(|r| r.host.is_some_and(|h| h.package_w.is_some()));
    let open_loop = any(|r| r.read.service_ns.is_some() || r.write.service_ns.is_some());
    let mut values = value_keys(section.results());
    values.retain(|_| whole);
    let estimated = whole
        && section
            .points
            .iter()
            .any(|p| precision(p).iter().any(Result::is_ok));
    let predicted = whole
        && section
            .points
            .iter()
            .any(|p| predictive::factors_of_point(p)[0].is_some());
    let mixed = any(|r| operations(r).len() > 1 || r.write.ios > 0 && r.read.ios > 0);

    let mut columns = axis_columns(section);
    if mixed {
        columns.push(Column::of("operation", ""));
    }
    columns.extend([Column::of("bandwidth", "MiB/s"), Column::of("rate", "IOPS")]);
    if estimated {
        let group = "confidence, \u{b1} % (95 %)";
        columns.extend(Column::all_under(group, ["rate", "mean latency"]));
    }
    if predicted {
        columns.extend(Column::all_under(PREDICTIVE, PREDICTED.map(|m| m.label)));
    }
    let group = if open_loop {
        "latency from the intended start, \u{b5}s"
    } else {
        "latency, \u{b5}s"
    };
    columns.extend(
        latencies
            .iter()
            .map(|label| Column::under(group, label, "")),
    );
    if open_loop && whole {
        columns.extend(Column::all_under(
            "latency from submission, \u{b5}s",
            FROM_SUBMISSION,
        ));
    }
    columns.push(Column::of("errors", ""));
    if host {
        columns.extend(host_columns());
    }
    if power {
        columns.push(Column::under("host power, W", "processors", ""));
    }
    columns.extend(values.iter().map(|v| Column::of(format::humanise(v), "")));

    let figures = |point: &Point<'_>, result: &CellResult, operation: &str, summary: &OpSummary| {
        let mut cells = Vec::new();
        if mixed {
            cells.push(TableCell::text(operation));
        }
        cells.push(TableCell::figure(summary.mib_per_s).with(|n| n.mark = mark(point)));
        cells.push(TableCell::figure(summary.iops));
        if estimated {
            // The series of a mixed workload combines both operations.
            let single = operations(result).len() == 1;
            cells.extend(precision(point).map(|pct| match pct {
                _ if !single => TableCell::Empty,
                Ok(pct) => TableCell::figure(pct),
                Err(missing) => TableCell::Missing("none", missing.to_string()),
            }));
        }
        if predicted {
            let range = |metric| predictive::range(point, metric).map(predictive::text);
            let cell = |text: Option<String>| text.map_or(TableCell::Empty, TableCell::number);
            cells.extend(PREDICTED.map(|metric| cell(range(metric))));
        }
        cells.extend(latency_cells(&summary.latency_ns, &latencies));
        if open_loop && whole {
            let of = |s| latency_cells(s, &FROM_SUBMISSION);
            let none = || vec![TableCell::Empty; FROM_SUBMISSION.len()];
            cells.extend(summary.service_ns.as_ref().map_or_else(none, of));
        }
        cells.push(TableCell::fault_count(summary.errors));
        if host {
            cells.extend(host_cells(result.host.as_ref()));
        }
        if power {
            let watts = result.host.and_then(|load| load.package_w);
            cells.push(watts.map_or(TableCell::Empty, |w| TableCell::number(format!("{w:.1}"))));
        }
        cells.extend(value_cells(result, &values));
        cells
    };
    let rows = rows_of_points(section, |point| {
        let Some(result) = point.result() else {
            return vec![vec![reason(point)]];
        };
        let all = operations(result).into_iter();
        all.map(|(operation, summary)| figures(point, result, operation, summary))
            .collect()
    });
    let mut notes = section_remarks(section);
    let mut cells = rows.iter().flat_map(|r| &r.cells);
    if cells.any(|c| matches!(c, TableCell::Missing("\u{2013}", _))) {
        notes.push("\u{2013}: too few samples for this percentile; see max".to_owned());
    }
    if power {
        notes.push(
            "host power: power of the host's processors by their own counters (RAPL), not of the \
             drive"
                .to_owned(),
        );
    }
    if estimated {
        notes.push(
            "confidence: sampling noise of the run, as half-width of the 95 % confidence interval \
             of the mean, in percent of it, which allows for the correlation of its intervals; it \
             does not cover the variation between repetitions, nor how a simulated drive differs \
             from the real one"
                .to_owned(),
        );
    }
    if whole {
        let missing = section.points.iter().flat_map(precision);
        notes.extend(no_interval_note(
            "no confidence interval",
            missing.filter_map(Result::err),
        ));
    }
    let caption = if whole {
        section.caption("all figures")
    } else {
        section.title.to_owned()
    };
    Table::of_drives(caption, columns, rows, notes)
}

/// The keys of all further values, sorted.
pub fn value_keys<'r>(results: impl Iterator<Item = &'r CellResult>) -> Vec<&'r str> {
    let keys = results.flat_map(|r| r.values.keys().map(String::as_str));
    keys.collect::<BTreeSet<&str>>().into_iter().collect()
}

/// The further values of these keys.
pub fn value_cells(result: &CellResult, keys: &[&str]) -> Vec<TableCell> {
    let values = keys.iter().map(|key| result.values.get(*key).copied());
    values.map(TableCell::figure).collect()
}

/// Half-widths of the confidence intervals of rate and mean latency, percent, or why there are
/// none; of a mean of zero no percent.
fn precision(point: &Point<'_>) -> [Result<Option<f64>, Missing>; 2] {
    let estimates = point.estimates();
    [estimates.iops, estimates.latency_mean_ns].map(|e: MeanEstimate| e.map(|e| e.half_width_pct()))
}

/// The operations that took place; without any, reads.
pub fn operations(result: &CellResult) -> Vec<(&'static str, &OpSummary)> {
    let mut operations = result.operations().to_vec();
    operations.retain(|(_, o)| !o.is_unused());
    if operations.is_empty() {
        operations.push(("read", &result.read));
    }
    operations
}
