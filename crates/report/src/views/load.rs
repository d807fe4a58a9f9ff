//! Latency by offered load in an open loop.

use assay_analysis::queueing::{self, LatencyParts, UNLOADED_PCT};
use assay_stats::LatencySummary;
use assay_stats::knee::{LATENCY_FACTOR, LoadPoint, load_knee};
use serde_json::json;

use crate::chart::{Chart, ChartView, dash, symbol};
use crate::charts::draw::{Trace, logarithmic, panels, ring};
use crate::charts::series::{series_name, style};
use crate::format::{self, distinct, figure, micros};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{latency_cells, section_remarks};
use crate::tables::interval::{spread_notes, with_spread};
use crate::views::descriptor::{KeyFigure, SectionView};

/// A sweep over offered load.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Open loop: operations are issued at their intended times, whether or not earlier ones \
         have completed, as a service receives requests. Latency counts from the intended start \
         (solid) or, as in a closed loop, from submission (dotted). The table has the parts of the \
         mean: service is what an I/O takes alone, queueing its wait behind others in the drive, \
         lateness its wait for a free slot before submission. Both lines contain the queueing; \
         only lateness separates them. The knee (ringed) is the highest load with a short tail. \
         Beyond the saturation point the wait grows without limit, so plan for less load than the \
         knee."
    },
    tables: |section| vec![table(section)],
    charts,
    or_charts_of_kind: true,
    switch_legend: Some("Latency shown"),
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let title = section.title;
    let key = |loads: &Vec<LoadResult<'_, '_>>| match knee(loads) {
        Some(at) => {
            let load = &loads[at];
            let p99 = micros(load.latency.p99 as f64);
            KeyFigure {
                label: format!("{title}, knee"),
                value: figure(load.rates.offered),
                unit: "IOPS",
                details: format!("{} % of its best, p99 {p99} \u{b5}s", figure(load.percent)),
            }
        }
        None => KeyFigure {
            label: title.to_owned(),
            value: "none".to_owned(),
            unit: "",
            details: "the lightest load was not sustained".to_owned(),
        },
    };
    let loads = loads(section);
    loads.iter().filter(|o| o[0].point.drive == drive).map(key).collect()
}

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
    let mut all: Vec<Vec<_>> =
        series.map(|points| points.into_iter().filter_map(load_result).collect()).collect();
    all.retain(|loads| !loads.is_empty());
    for loads in &mut all {
        loads.sort_by(|a: &LoadResult<'_, '_>, b| a.rates.offered.total_cmp(&b.rates.offered));
    }
    all
}

fn load_result<'s, 'a>(point: &'s Point<'a>) -> Option<LoadResult<'s, 'a>> {
    let result = point.result()?;
    let summary = if result.read.ios >= result.write.ios { &result.read } else { &result.write };
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
    [service.unwrap_or_else(unknown), queueing, micros(parts.lateness_ns)]
}

/// What the parts are, and what the service time is taken from.
fn parts_notes(all: &[Vec<LoadResult<'_, '_>>]) -> Vec<String> {
    let parts: Vec<&LatencyParts> = all.iter().flatten().filter_map(|o| o.parts.as_ref()).collect();
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
    let mut columns =
        Column::list([("what", ""), ("load", "%"), ("offered", "IOPS"), ("completed", "IOPS")]);
    columns.drain(..usize::from(!several));
    let (latencies, submitted) = (["mean", "p50", "p99", "p99.99"], ["mean", "p99"]);
    columns.extend(Column::all_under("latency from intended start, \u{b5}s", latencies));
    if all.iter().flatten().any(|o| o.from_submission.is_some()) {
        columns.extend(Column::all_under("latency from submission, \u{b5}s", submitted));
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
    let mut notes = section_remarks(section);
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

/// Position of a load on the horizontal axis.
type Across = fn(&LoadResult<'_, '_>) -> f64;

/// One chart over the share of the drive's rate and one over operations per second, with one view
/// per latency figure.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let all = loads(section);
    if all.iter().all(|o| o.len() < 2) {
        return Vec::new();
    }
    let mut axes: Vec<(&str, &str, Across)> =
        vec![("offered load, % of the closed loop's rate", "share of its best rate", |o| {
            o.percent
        })];
    axes.retain(|_| all.iter().flatten().all(|o| o.percent > 0.0));
    axes.push(("offered load, IOPS", "operations per second", |o| o.rates.offered));
    let notes = [
        "solid: from the intended start; dotted: from submission; the difference is lateness, the \
         time until a slot was free. Queueing in the drive is in both: it is what the dotted line \
         rises by above its left end",
        "ringed: the knee; crosses: not sustained, latency grows with the duration of the \
         measurement",
    ];
    let charts = axes.into_iter().filter_map(|(title, what, across)| {
        let figures = FIGURES.iter();
        let views = figures.filter_map(|figure| view(section, &all, title, across, figure));
        let caption = section.caption(&format!("latency by {what}"));
        let chart = Chart::new(caption, "figure", 420, views.collect())?;
        Some(Chart { first: 2, ..chart.with_notes(notes.map(str::to_owned).to_vec()) })
    });
    charts.collect()
}

/// Label, axis title and value in nanoseconds.
type LatencyFigure = (&'static str, &'static str, fn(&LatencySummary) -> f64);

const FIGURES: [LatencyFigure; 4] = [
    ("mean", "mean latency, \u{b5}s", |l| l.mean),
    ("median", "median latency, \u{b5}s", |l| l.p50 as f64),
    ("p99", "p99 latency, \u{b5}s", |l| l.p99 as f64),
    ("p99.99", "p99.99 latency, \u{b5}s", |l| l.p99_99 as f64),
];

fn view(
    section: &Section<'_>,
    all: &[Vec<LoadResult<'_, '_>>],
    x_title: &str,
    across: Across,
    (label, title, of): &LatencyFigure,
) -> Option<ChartView> {
    let mut data = Vec::new();
    for loads in all {
        let first = loads[0].point;
        let (colour, column) = style(section, first, false);
        let name = series_name(section, first, false);
        let position = |o: &LoadResult<'_, '_>| (across(o), of(&o.latency) / 1e3);
        // Dotted lines are from submission.
        let style = if column == 0 { 0 } else { column + 2 };
        let line = Trace {
            name: name.clone(),
            points: loads.iter().map(position).collect(),
            mode: "lines+markers",
            colour: colour.clone(),
            dash: dash(style),
            hover: "%{y:,.4~g} \u{b5}s".to_owned(),
            ..Trace::default()
        };
        let mut line = line.json();
        let sustained = loads.iter().map(|o| o.rates.is_kept_up_with());
        let symbols = sustained.map(|yes| if yes { symbol(column) } else { "x" });
        line["marker"]["symbol"] = symbols.collect();
        if loads.iter().any(|o| !o.rates.is_kept_up_with()) {
            line["key"] = json!({"not sustained": {"symbol": "x"}});
        }
        data.push(line);
        let submitted =
            loads.iter().filter_map(|o| Some((across(o), of(o.from_submission.as_ref()?) / 1e3)));
        let submitted: Vec<(f64, f64)> = submitted.collect();
        if !submitted.is_empty() {
            let trace = Trace {
                name: format!("{name}, from submission"),
                // One entry of the legend and one name at the end for both lines of a drive.
                group: name.clone(),
                listed: false,
                points: submitted,
                colour: colour.clone(),
                dash: "dot",
                size: 1.5,
                hover: "%{y:,.4~g} \u{b5}s from submission".to_owned(),
                ..Trace::default()
            };
            let mut trace = trace.json();
            trace["key"] = json!({"from submission": {"dash": "dot"}});
            data.push(trace);
        }
        if let Some(at) = knee(loads) {
            data.push(ring(&name, position(&loads[at]), &colour, "y", "knee"));
        }
    }
    ChartView::new(*label, data, panels(x_title, &[logarithmic(title)]))
}
