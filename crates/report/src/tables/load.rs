//! Latency by offered load in an open loop, its parts, and the load that a drive sustains.

use assay_analysis::queueing::{self, LatencyParts, UNLOADED_PCT};
use assay_stats::LatencySummary;
use assay_stats::knee::{LATENCY_FACTOR, LoadPoint, load_knee};

use crate::format::{self, distinct};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::{latency_cells, spread_notes, with_spread};

/// One offered load and its result.
#[derive(Clone, Debug)]
pub struct LoadResult<'s, 'a> {
    pub point: &'s Point<'a>,
    /// Share of the drive's closed-loop rate, percent.
    pub percent: f64,
    /// Offered and completed rate, and the duration.
    pub rates: LoadPoint,
    /// Latency from the intended start.
    pub latency: LatencySummary,
    pub from_submission: Option<LatencySummary>,
    /// What the mean latency consists of.
    pub parts: Option<LatencyParts>,
}

/// The loads of a section: one list per drive and column, the lightest first; no list is empty.
pub fn loads<'s, 'a>(section: &'s Section<'a>) -> Vec<Vec<LoadResult<'s, 'a>>> {
    let series = section.series().into_iter();
    let mut all: Vec<Vec<_>> = series
        .map(|points| points.into_iter().filter_map(load_result).collect())
        .collect();
    all.retain(|loads| !loads.is_empty());
    for loads in &mut all {
        loads.sort_by(|a: &LoadResult<'_, '_>, b| a.rates.offered.total_cmp(&b.rates.offered));
    }
    all
}

fn load_result<'s, 'a>(point: &'s Point<'a>) -> Option<LoadResult<'s, 'a>> {
    let result = point.result()?;
    let summary = if result.read.ios >= result.write.ios {
        &result.read
    } else {
        &result.write
    };
    let load = point.plan().load.as_ref();
    let run = &point.set.runs[point.run];
    let offered = assay_analysis::knee::offered(run, point.cell, point.index)?;
    (offered > 0.0 && summary.latency_ns.samples > 0).then(|| LoadResult {
        point,
        percent: load.map_or(0.0, |l| l.percent),
        rates: LoadPoint {
            offered,
            done: result.iops(),
            latency_ns: summary.latency_ns.mean,
            seconds: result.elapsed.as_secs_f64(),
        },
        latency: summary.latency_ns,
        from_submission: summary.service_ns,
        parts: queueing::of_cell(run, point.cell, point.index),
    })
}

/// Index of the knee; `None` where the lightest load was not sustained.
pub fn knee(loads: &[LoadResult<'_, '_>]) -> Option<usize> {
    let points: Vec<LoadPoint> = loads.iter().map(|o| o.rates).collect();
    load_knee(&points, LATENCY_FACTOR).map(|knee| knee.index)
}

/// Parts of the mean latency, as columns.
const PARTS: [&str; 3] = ["service", "queueing", "lateness"];

fn part_cells(parts: &LatencyParts) -> [TableCell; 3] {
    let micros = |ns: f64| TableCell::number(format::micros(ns));
    let unknown = || TableCell::Missing("n/a", "the service time is not known".to_owned());
    let shorter = || {
        let why = "the drive answers faster than at the load that the service time is taken from";
        TableCell::Missing("none", why.to_owned())
    };
    let queueing = match parts.queueing_ns {
        Some(ns) if ns < 0.0 => shorter(),
        Some(ns) => micros(ns),
        None => unknown(),
    };
    let service = parts.service.map(|service| micros(service.mean_ns));
    [
        service.unwrap_or_else(unknown),
        queueing,
        micros(parts.lateness_ns),
    ]
}

/// What the parts are, and what the service time is taken from.
fn parts_notes(all: &[Vec<LoadResult<'_, '_>>]) -> Vec<String> {
    let parts: Vec<&LatencyParts> = all
        .iter()
        .flatten()
        .filter_map(|o| o.parts.as_ref())
        .collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let mut notes = vec![
        "the mean is service + queueing + lateness; lateness: from the intended start to \
         submission, because no slot (iodepth) was free or the host was busy; queueing: from \
         submission to completion, less the service time: behind other I/Os in drive and kernel"
            .to_owned(),
    ];
    let known = parts.iter().filter_map(|parts| parts.service);
    let bases = distinct(known.map(|service| service.basis.text()));
    notes.extend(bases.into_iter().map(|basis| format!("service: {basis}")));
    if parts.iter().any(|parts| parts.service.is_none()) {
        notes.push(format!(
            "service not known: the same workload was measured neither with one I/O in flight nor \
             at {UNLOADED_PCT:.0} % load or less"
        ));
    }
    notes
}

/// One row per load.
pub fn table(section: &Section<'_>) -> Table {
    let all = loads(section);
    let several = section.columns.len() > 1;
    let mut columns = Column::list([
        ("what", ""),
        ("load", "%"),
        ("offered", "IOPS"),
        ("completed", "IOPS"),
    ]);
    columns.drain(..usize::from(!several));
    let (latencies, submitted) = (["mean", "p50", "p99", "p99.99"], ["mean", "p99"]);
    columns.extend(Column::all_under(
        "latency from intended start, \u{b5}s",
        latencies,
    ));
    if all.iter().flatten().any(|o| o.from_submission.is_some()) {
        columns.extend(Column::all_under(
            "latency from submission, \u{b5}s",
            submitted,
        ));
        columns.extend(Column::all_under("parts of the mean, \u{b5}s", PARTS));
    }
    let mut rows = Vec::new();
    for loads in &all {
        let knee = knee(loads);
        for (i, load) in loads.iter().enumerate() {
            let mut cells = Vec::new();
            if several {
                cells.push(TableCell::Text(section.column_label(load.point.column)));
            }
            let unsustained = !load.rates.is_kept_up_with();
            let mark = unsustained.then(|| "not sustained".to_owned());
            cells.extend([
                TableCell::figure(load.percent).with(|n| n.best = knee == Some(i)),
                TableCell::figure(load.rates.offered),
                TableCell::figure(load.rates.done).with(|n| n.mark = mark),
            ]);
            let mut latencies = latency_cells(&load.latency, &latencies);
            let estimate = load.point.estimates().latency_mean_ns;
            latencies[0] = with_spread(latencies[0].clone(), estimate, 1e3);
            cells.extend(latencies);
            let from_submission = load.from_submission.iter();
            cells.extend(from_submission.flat_map(|s| latency_cells(s, &submitted)));
            cells.extend(load.parts.iter().flat_map(part_cells));
            rows.push(load.point.table_row(cells));
        }
    }
    let mut notes = section.remarks();
    notes.extend(parts_notes(&all));
    if !rows.is_empty() {
        notes.push(format!(
            "bold: the load at the knee, the highest sustained one with a mean latency of at most \
             {LATENCY_FACTOR:.0} times that of the lightest"
        ));
    }
    if all.iter().flatten().any(|o| !o.rates.is_kept_up_with()) {
        notes.push(
            "not sustained: less than 98 % of the offered load was completed; more and more I/Os \
             waited until the end of the measurement, so that the latency reflects its duration, \
             not the drive"
                .to_owned(),
        );
    }
    let notes = spread_notes(notes, &rows);
    section.table("latency by offered load", columns, rows, notes)
}
