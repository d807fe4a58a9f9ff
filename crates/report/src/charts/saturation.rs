//! Write saturation: rate and latency over time and over capacities written (SNIA SSS PTS).

use serde_json::json;

use super::draw::{Panel, Trace, linear, logarithmic, panels, thinned, thinned_note};
use super::{Chart, ChartView, colour, phases};
use crate::drive_set::DriveSet;
use crate::format::for_drawing;
use crate::grid::Section;
use crate::tables::knee::small_blocks;
use crate::tables::saturation::{SaturationPoint, SaturationSeries, series};

/// Height of the chart, pixels.
const HEIGHT: u32 = 640;

/// Rate and latency over time and over capacities written.
pub fn charts(set: &DriveSet<'_>, section: &Section<'_>) -> Vec<Chart> {
    let series = series(set, section);
    let mut left_out = false;
    let views = [false, true].into_iter();
    let views: Vec<ChartView> = views
        .filter_map(|by_capacity| view(set, section, &series, by_capacity, &mut left_out))
        .collect();
    if views.is_empty() {
        return Vec::new();
    }
    vec![Chart {
        title: section.caption("rate and latency"),
        switch: "across",
        log_switch: true,
        height: HEIGHT,
        views,
        notes: if left_out {
            vec![thinned_note()]
        } else {
            Vec::new()
        },
        ..Chart::default()
    }]
}

fn view(
    set: &DriveSet<'_>,
    section: &Section<'_>,
    all: &[SaturationSeries<'_, '_>],
    by_capacity: bool,
    left_out: &mut bool,
) -> Option<ChartView> {
    // Axis, unit, name, value, dash, width.
    type Line = (
        &'static str,
        &'static str,
        &'static str,
        fn(&SaturationPoint) -> f64,
        &'static str,
        f64,
    );
    let rate: Line = if small_blocks(section) {
        ("y", "IOPS", "rate", |s| s.iops, "solid", 2.0)
    } else {
        ("y", "MiB/s", "rate", |s| s.mib_per_s, "solid", 2.0)
    };
    let lines: [Line; 3] = [
        rate,
        ("y2", "\u{b5}s", "mean latency", |s| s.mean_us, "solid", 1.8),
        (
            "y2",
            "\u{b5}s",
            "p99.99 latency",
            |s| s.p99_99_us,
            "dot",
            1.2,
        ),
    ];
    let mut data = Vec::new();
    let mut rows = Vec::new();
    let mut furthest = 0.0f64;
    for (i, series) in all.iter().enumerate() {
        if by_capacity && series.capacity_bytes == 0 {
            continue;
        }
        let across = |s: &SaturationPoint| {
            if by_capacity {
                s.written_bytes / series.capacity_bytes as f64
            } else {
                s.at_s
            }
        };
        let name = series.name(set);
        for (axis, unit, what, of, dash, size) in lines {
            let values: Vec<(f64, f64)> =
                series.points.iter().map(|s| (across(s), of(s))).collect();
            let (points, any) = thinned(&values);
            *left_out |= any;
            furthest = furthest.max(points.last().map_or(0.0, |p| p.0));
            let trace = Trace {
                name: format!("{name}, {what}"),
                points,
                colour: colour(series.point.drive + if section.drives.len() == 1 { i } else { 0 }),
                dash,
                size,
                axis,
                hover: format!("%{{y:,.4~g}} {unit}"),
                ..Trace::default()
            };
            data.push(trace.json());
        }
        if !by_capacity && series.cells == 1 {
            rows.push(phases::PhaseRow {
                name,
                colour: colour(series.point.drive),
                phases: phases::of(set, series.point),
            });
        }
    }
    if data.is_empty() {
        return None;
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
    Some(ChartView {
        label: label.to_owned(),
        data,
        layout,
    })
}
