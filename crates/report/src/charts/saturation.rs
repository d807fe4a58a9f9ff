//! Write saturation: rate and latency over time and over capacities written (SNIA SSS PTS).

use assay_store::series::OpSample;
use serde_json::json;

use super::draw::{Panel, Trace, linear, logarithmic, panels, thinned, thinned_note};
use super::{Chart, ChartView, colour, phases};
use crate::format::for_drawing;
use crate::grid::Section;
use crate::tables::knee::small_blocks;
use crate::tables::saturation::{SaturationPoint, SaturationSeries, series};

/// Height of the chart, pixels.
const HEIGHT: u32 = 640;

/// Rate and latency over time and over capacities written.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let series = series(section);
    let mut left_out = false;
    let mut views: Vec<ChartView> = Vec::new();
    for by_capacity in [false, true] {
        views.extend(view(section, &series, by_capacity, &mut left_out));
    }
    let title = section.caption("rate and latency");
    let notes = left_out.then(thinned_note).into_iter().collect();
    let chart = Chart::of(title, "across", HEIGHT, views);
    chart.map(|c| c.with_notes(notes)).into_iter().collect()
}

/// Axis, unit, name, value, dash, width.
type Line = (
    &'static str,
    &'static str,
    &'static str,
    fn(&OpSample) -> f64,
    &'static str,
    f64,
);

const IOPS: Line = ("y", "IOPS", "rate", OpSample::iops, "solid", 2.0);
const BANDWIDTH: Line = ("y", "MiB/s", "rate", OpSample::mib_per_s, "solid", 2.0);
const MEAN: Line = (
    "y2",
    "\u{b5}s",
    "mean latency",
    |s| s.latency.mean / 1e3,
    "solid",
    1.8,
);
const TAIL: Line = (
    "y2",
    "\u{b5}s",
    "p99.99 latency",
    |s| s.latency.p99_99 as f64 / 1e3,
    "dot",
    1.2,
);

fn view(
    section: &Section<'_>,
    all: &[SaturationSeries<'_, '_>],
    by_capacity: bool,
    left_out: &mut bool,
) -> Option<ChartView> {
    let rate = if small_blocks(section) {
        IOPS
    } else {
        BANDWIDTH
    };
    let mut data = Vec::new();
    let mut rows = Vec::new();
    let mut furthest = 0.0f64;
    for (i, series) in all.iter().enumerate() {
        if by_capacity && series.capacity_bytes == 0 {
            continue;
        }
        let across = |s: &SaturationPoint<'_>| {
            if by_capacity {
                s.written_bytes / series.capacity_bytes as f64
            } else {
                s.at_s
            }
        };
        let name = series.name();
        let offset = if section.drives.len() == 1 { i } else { 0 };
        for (axis, unit, what, of, dash, size) in [rate, MEAN, TAIL] {
            let values = series.points.iter().map(|s| (across(s), of(s.writes)));
            let (points, any) = thinned(&values.collect::<Vec<_>>());
            *left_out |= any;
            furthest = furthest.max(points.last().map_or(0.0, |p| p.0));
            let trace = Trace {
                name: format!("{name}, {what}"),
                points,
                colour: colour(series.point.drive + offset),
                dash,
                size,
                axis,
                hover: format!("%{{y:,.4~g}} {unit}"),
                ..Trace::default()
            };
            data.push(trace.json());
        }
        if !by_capacity && series.cells == 1 {
            rows.push(phases::PhaseRow::of(series.point, name));
        }
    }
    let rate_panel = Panel {
        share: 1.2,
        ..linear(rate.1)
    };
    let (label, x_title) = if by_capacity {
        ("capacities written", "capacities written since the start")
    } else {
        ("time", "time since the start, s")
    };
    let mut layout = panels(x_title, &[rate_panel, logarithmic("latency, \u{b5}s")]);
    phases::put(&mut layout, &mut data, &rows, HEIGHT);
    layout["xaxis"]["range"] = json!([0.0, for_drawing(furthest)]);
    ChartView::of(label, data, layout)
}
