//! Writing without end: rate and latency over time, and over how often the drive's capacity has been written (SNIA SSS PTS).

use serde_json::Value;

use super::draw::{Panel, Trace, panels};
use super::{Chart, View, colour, phases};
use crate::format::for_drawing;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::tables::saturation::{Course, courses};
use crate::thin;

/// Height of the chart, pixels.
const HEIGHT: u32 = 640;

/// Rate and latency against time and against capacities written.
pub fn charts(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Chart> {
    let courses = courses(lineup, section);
    let mut thinned = false;
    let mut views = Vec::new();
    for by_capacity in [false, true] {
        views.extend(view(lineup, section, &courses, by_capacity, &mut thinned));
    }
    if views.is_empty() {
        return Vec::new();
    }
    let mut notes = Vec::new();
    if thinned {
        notes.push(format!(
            "thinned for drawing to at most {} points a line, keeping the smallest and largest value of every group; the run folder holds every interval",
            thin::MOST_POINTS
        ));
    }
    vec![Chart {
        title: format!("{}: rate and latency", section.title),
        switch: "across",
        log_switch: true,
        height: HEIGHT,
        views,
        notes,
        ..Chart::default()
    }]
}

fn view(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    courses: &[Course<'_, '_>],
    by_capacity: bool,
    thinned: &mut bool,
) -> Option<View> {
    let small = crate::tables::knee::small_blocks(section);
    let mut data: Vec<Value> = Vec::new();
    let mut rows = Vec::new();
    for (i, course) in courses.iter().enumerate() {
        if by_capacity && course.capacity_bytes == 0 {
            continue;
        }
        let across: Vec<f64> = course
            .seconds
            .iter()
            .map(|s| {
                if by_capacity {
                    s.written_bytes / course.capacity_bytes as f64
                } else {
                    s.at_s
                }
            })
            .collect();
        type Figure = fn(&crate::tables::saturation::Moment) -> f64;
        let rate: (&str, &str, &str, Figure) = if small {
            ("y", "IOPS", "rate", |s| s.iops)
        } else {
            ("y", "MiB/s", "rate", |s| s.mib_per_s)
        };
        let lines: [(&str, &str, &str, Figure); 3] = [
            rate,
            ("y2", "\u{b5}s", "mean latency", |s| s.mean_us),
            ("y2", "\u{b5}s", "p99.99 latency", |s| s.p99_99_us),
        ];
        let name = course.name(lineup);
        for (n, (axis, unit, what, of)) in lines.into_iter().enumerate() {
            let values: Vec<f64> = course.seconds.iter().map(of).collect();
            let kept = thin::min_max(&values, thin::MOST_POINTS);
            *thinned |= kept.len() < values.len();
            let trace = Trace {
                name: format!("{name}, {what}"),
                points: kept.into_iter().map(|k| (across[k], values[k])).collect(),
                colour: colour(course.point.drive + if section.drives.len() == 1 { i } else { 0 }),
                dash: ["solid", "solid", "dot"][n],
                size: [2.0, 1.8, 1.2][n],
                axis,
                hover: format!("%{{y:,.4~g}} {unit}"),
                ..Trace::default()
            };
            data.push(trace.json());
        }
        if !by_capacity && course.cells == 1 {
            let own: &Point<'_> = course.point;
            rows.push(phases::Row {
                name,
                colour: colour(own.drive),
                phases: phases::of(lineup, own),
            });
        }
    }
    if data.is_empty() {
        return None;
    }
    let shown = [
        Panel {
            title: if small { "IOPS" } else { "MiB/s" },
            log: false,
            share: 1.2,
        },
        Panel {
            title: "latency, \u{b5}s",
            log: true,
            share: 1.0,
        },
    ];
    let mut layout = panels(
        if by_capacity {
            "capacities written since the start"
        } else {
            "time since the start, s"
        },
        &shown,
    );
    phases::put(&mut layout, &mut data, &rows, HEIGHT);
    layout["xaxis"]["range"] = serde_json::json!([0.0, furthest(&data)]);
    Some(View {
        label: if by_capacity {
            "capacities written"
        } else {
            "time"
        }
        .to_owned(),
        data,
        layout,
    })
}

/// The largest place on the horizontal axis.
fn furthest(data: &[Value]) -> f64 {
    let lines = data.iter().filter(|t| t["type"] == "scatter");
    let last = lines.filter_map(|t| t["x"].as_array()?.last()?.as_f64());
    for_drawing(last.fold(0.0, f64::max))
}
