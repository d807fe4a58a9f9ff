//! Every figure of every cell.

use std::collections::BTreeSet;

use assay_analysis::estimate::{MeanEstimate, Missing};
use assay_stats::{HostLoad, OpSummary};
use assay_store::model::CellResult;

use crate::format;
use crate::grid::{Point, Section};
use crate::metric::LATENCIES;
use crate::table::{Column, Columns, Row, Table, TableCell};
use crate::tables::cells::{
    axis_columns, latency_cells, mark, reason, rows_of_points, section_remarks,
};
use crate::tables::interval::no_interval_note;

/// Shown only where some result has enough samples: most jobs do not.
pub const RAREST: &str = "p99.999";

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

/// One operation of a result.
struct Operation<'p, 'a> {
    point: &'p Point<'a>,
    result: &'p CellResult,
    name: &'static str,
    summary: &'p OpSummary,
}

/// One row per cell, drive and operation. `whole` adds every percentile, the host and further
/// values.
pub fn table(section: &Section<'_>, whole: bool) -> Table {
    let mut columns = Columns::new();
    add_rates(&mut columns, section);
    if whole {
        add_intervals(&mut columns, section);
    }
    add_latencies(&mut columns, section, whole);
    columns.add([Column::new("errors", "")], |o: &Operation<'_, '_>| {
        [TableCell::fault_count(o.summary.errors)]
    });
    if whole {
        add_host_and_values(&mut columns, section);
    }
    let rows = rows_of_points(section, |point| {
        let Some(result) = point.result() else {
            return vec![vec![reason(point)]];
        };
        let operations = operations(result).into_iter();
        let row = |(name, summary)| columns.cells(&Operation { point, result, name, summary });
        operations.map(row).collect()
    });
    let notes = notes(section, whole, &rows);
    let caption = if whole { section.caption("all figures") } else { section.title.to_owned() };
    let mut headings = axis_columns(section);
    headings.append(&mut columns.headings);
    Table::of_drives(caption, headings, rows, notes)
}

fn any(section: &Section<'_>, condition: fn(&CellResult) -> bool) -> bool {
    section.results().any(condition)
}

fn add_rates(columns: &mut Columns<'_, Operation<'_, '_>>, section: &Section<'_>) {
    if any(section, |r| operations(r).len() > 1 || r.write.ios > 0 && r.read.ios > 0) {
        columns.add([Column::new("operation", "")], |o| [TableCell::text(o.name)]);
    }
    let rates = [Column::new("bandwidth", "MiB/s"), Column::new("rate", "IOPS")];
    columns.add(rates, |o| {
        let bandwidth = TableCell::figure(o.summary.mib_per_s);
        [bandwidth.with(|n| n.mark = mark(o.point)), TableCell::figure(o.summary.iops)]
    });
}

/// Confidence intervals.
fn add_intervals(columns: &mut Columns<'_, Operation<'_, '_>>, section: &Section<'_>) {
    if is_estimated(section) {
        let group = "confidence, \u{b1} % (95 %)";
        let headings = Column::all_under(group, ["rate", "mean latency"]);
        columns.add(headings, |o| {
            // The series of a mixed workload combines both operations.
            let single = operations(o.result).len() == 1;
            precision(o.point).map(|pct| match pct {
                _ if !single => TableCell::Empty,
                Ok(pct) => TableCell::figure(pct),
                Err(missing) => TableCell::Missing("none", missing.to_string()),
            })
        });
    }
}

fn add_latencies(columns: &mut Columns<'_, Operation<'_, '_>>, section: &Section<'_>, whole: bool) {
    let samples = |r: &CellResult| r.read.latency_ns.samples.max(r.write.latency_ns.samples);
    let most_samples = section.results().map(samples).max().unwrap_or(0);
    let shown = LATENCIES.iter().filter(|(label, _, needed)| {
        (whole || ESSENTIAL.contains(label)) && (*label != RAREST || most_samples >= *needed)
    });
    let shown: Vec<&str> = shown.map(|(label, ..)| *label).collect();
    let open_loop = any(section, |r| r.read.service_ns.is_some() || r.write.service_ns.is_some());
    let group =
        if open_loop { "latency from the intended start, \u{b5}s" } else { "latency, \u{b5}s" };
    let headings = shown.iter().map(|label| Column::under(group, label, ""));
    let headings: Vec<Column> = headings.collect();
    columns.add(headings, move |o| latency_cells(&o.summary.latency_ns, &shown));
    if open_loop && whole {
        let group = "latency from submission, \u{b5}s";
        columns.add(Column::all_under(group, FROM_SUBMISSION), |o| {
            let none = || vec![TableCell::Empty; FROM_SUBMISSION.len()];
            let cells = |summary| latency_cells(summary, &FROM_SUBMISSION);
            o.summary.service_ns.as_ref().map_or_else(none, cells)
        });
    }
}

fn add_host_and_values(columns: &mut Columns<'_, Operation<'_, '_>>, section: &Section<'_>) {
    if any(section, |r| r.host.is_some()) {
        columns.add(host_columns(), |o| host_cells(o.result.host.as_ref()));
    }
    if has_host_power(section) {
        let heading = Column::under("host power, W", "processors", "");
        columns.add([heading], |o| {
            let watts = o.result.host.and_then(|load| load.package_w);
            [watts.map_or(TableCell::Empty, |w| TableCell::number(format!("{w:.1}")))]
        });
    }
    let keys: Vec<String> = value_keys(section.results()).into_iter().map(str::to_owned).collect();
    let headings = keys.iter().map(|key| Column::new(format::humanise(key), ""));
    let headings: Vec<Column> = headings.collect();
    columns.add(headings, move |o| {
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        value_cells(o.result, &keys)
    });
}

/// Power of the host's processors; the drive's power is not derived from it.
fn has_host_power(section: &Section<'_>) -> bool {
    any(section, |r| r.host.is_some_and(|h| h.package_w.is_some()))
}

fn is_estimated(section: &Section<'_>) -> bool {
    let mut points = section.points.iter();
    points.any(|p| precision(p).iter().any(Result::is_ok))
}

fn notes(section: &Section<'_>, whole: bool, rows: &[Row]) -> Vec<String> {
    let mut notes = section_remarks(section);
    let mut cells = rows.iter().flat_map(|r| &r.cells);
    if cells.any(|c| matches!(c, TableCell::Missing("\u{2013}", _))) {
        let is_imported = section.points.iter().any(|p| p.plan().file.is_some());
        let why = match is_imported {
            true => "not among the percentiles of the file that could be used",
            false => "too few samples for this percentile",
        };
        notes.push(format!("\u{2013}: {why}; see max"));
    }
    if whole && has_host_power(section) {
        notes.push(
            "host power: power of the host's processors by their own counters (RAPL), not of the \
             drive"
                .to_owned(),
        );
    }
    if whole && is_estimated(section) {
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
        notes.extend(no_interval_note("no confidence interval", missing.filter_map(Result::err)));
    }
    notes
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
