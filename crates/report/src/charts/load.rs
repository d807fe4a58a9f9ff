//! Latency by offered load in an open loop.

use assay_stats::LatencySummary;

use super::draw::{Trace, logarithmic, panels, ring};
use super::{Chart, ChartView, dash, series_name, style, symbol};
use crate::grid::Section;
use crate::tables::load::{LoadResult, knee, loads};

/// Position of a load on the horizontal axis.
type Across = fn(&LoadResult<'_, '_>) -> f64;

/// One chart over the share of the drive's rate and one over operations per second, with one view
/// per latency figure.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let all = loads(section);
    if all.iter().all(|o| o.len() < 2) {
        return Vec::new();
    }
    let mut axes: Vec<(&str, &str, Across)> = vec![(
        "offered load, % of the closed loop's rate",
        "share of its best rate",
        |o| o.percent,
    )];
    axes.retain(|_| all.iter().flatten().all(|o| o.percent > 0.0));
    axes.push(("offered load, IOPS", "operations per second", |o| {
        o.rates.offered
    }));
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
        let chart = Chart::of(caption, "figure", 420, views.collect())?;
        Some(Chart {
            first: 2,
            ..chart.with_notes(notes.map(str::to_owned).to_vec())
        })
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
        data.push(line);
        let submitted = loads
            .iter()
            .filter_map(|o| Some((across(o), of(o.from_submission.as_ref()?) / 1e3)));
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
            data.push(trace.json());
        }
        if let Some(at) = knee(loads) {
            data.push(ring(&name, position(&loads[at]), &colour, "y", "knee"));
        }
    }
    ChartView::of(*label, data, panels(x_title, &[logarithmic(title)]))
}
