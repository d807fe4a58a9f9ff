//! Latency by offered load in an open loop.

use assay_stats::LatencySummary;
use serde_json::json;

use super::draw::{Trace, logarithmic, panels, ring};
use super::{Chart, ChartView, dash, series_name, style, symbol};
use crate::drive_set::DriveSet;
use crate::grid::Section;
use crate::tables::load::{LoadResult, knee, loads};

/// Position of a load on the horizontal axis.
type Across = fn(&LoadResult<'_, '_>) -> f64;

/// One chart over the share of the drive's rate and one over operations per second, with one view per latency figure.
pub fn charts(set: &DriveSet<'_>, section: &Section<'_>) -> Vec<Chart> {
    let all = loads(set, section);
    if all.iter().all(|o| o.len() < 2) {
        return Vec::new();
    }
    let mut axes: Vec<(&str, &str, Across)> =
        vec![("offered load, IOPS", "operations per second", |o| {
            o.offered_iops
        })];
    if all.iter().flatten().all(|o| o.percent > 0.0) {
        let title = "offered load, % of the closed loop's rate";
        axes.insert(0, (title, "share of its best rate", |o| o.percent));
    }
    let charts = axes.into_iter().map(|(title, what, across)| Chart {
        title: section.caption(&format!("latency by {what}")),
        switch: "figure",
        log_switch: true,
        height: 420,
        first: 2,
        views: FIGURES.iter().map(|figure| view(set, section, &all, title, across, figure)).collect(),
        notes: vec![
            "solid: from the intended start; dotted: from submission (service time); the difference is the time in the queue".to_owned(),
            "ringed: the knee; crosses: not sustained, latency grows with the duration of the measurement".to_owned(),
        ],
        ..Chart::default()
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
    set: &DriveSet<'_>,
    section: &Section<'_>,
    all: &[Vec<LoadResult<'_, '_>>],
    x_title: &str,
    across: Across,
    (label, title, of): &LatencyFigure,
) -> ChartView {
    let mut data = Vec::new();
    for loads in all {
        let first = loads[0].point;
        let (colour, column) = style(section, first);
        let name = series_name(set, section, first);
        let position = |o: &LoadResult<'_, '_>| (across(o), of(&o.latency) / 1e3);
        let line = Trace {
            name: name.clone(),
            points: loads.iter().map(position).collect(),
            mode: "lines+markers",
            colour: colour.clone(),
            // Dotted lines are service times.
            dash: if column == 0 {
                "solid"
            } else {
                dash(column + 2)
            },
            hover: "%{y:,.4~g} \u{b5}s".to_owned(),
            ..Trace::default()
        };
        let mut line = line.json();
        let symbols = loads
            .iter()
            .map(|o| if o.sustained() { symbol(column) } else { "x" });
        line["marker"]["symbol"] = json!(symbols.collect::<Vec<&str>>());
        data.push(line);
        let service = loads
            .iter()
            .filter_map(|o| Some((across(o), of(o.service.as_ref()?) / 1e3)));
        let service: Vec<(f64, f64)> = service.collect();
        if !service.is_empty() {
            let trace = Trace {
                name: format!("{name}, service"),
                points: service,
                colour: colour.clone(),
                dash: "dot",
                size: 1.5,
                hover: "%{y:,.4~g} \u{b5}s service".to_owned(),
                ..Trace::default()
            };
            data.push(trace.json());
        }
        if let Some(at) = knee(loads) {
            data.push(ring(&name, position(&loads[at]), &colour, "y", "knee"));
        }
    }
    ChartView {
        label: (*label).to_owned(),
        data,
        layout: panels(x_title, &[logarithmic(title)]),
    }
}
