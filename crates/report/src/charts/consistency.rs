//! Scatter plot of an hour of random writes (AnandTech M8Pe): one dot per second, and the scored part by itself.

use super::draw::{Trace, linear, logarithmic, panels};
use super::{Chart, ChartView, colour, phases, symbol};
use crate::drive_set::DriveSet;
use crate::grid::Section;
use crate::tables::consistency::{score, variants};
use crate::thin;

/// Resolution of the drawing of the whole run, dots across and up: that of a wide window.
const DOTS: (usize, usize) = (1200, 260);

/// Height of the chart of the whole run, pixels.
const HEIGHT: u32 = 460;

/// Markers by variant.
const SYMBOLS: [&str; 4] = ["circle", "x-thin-open", "diamond-open", "square-open"];

/// The whole run and its scored part, each with one view per variant and, where there are several, one of all.
pub fn charts(set: &DriveSet<'_>, section: &Section<'_>) -> Vec<Chart> {
    let (mut whole, mut scored) = (Vec::new(), Vec::new());
    let mut thinned = false;
    let mut without_completions = 0;
    let variants = variants(section);
    let mut choices: Vec<(&str, &[String])> = variants
        .iter()
        .map(|v| (v.as_str(), std::slice::from_ref(v)))
        .collect();
    if choices.len() > 1 {
        choices.push(("both", &variants));
    }
    for (label, chosen) in choices {
        let (mut hour, mut zoom, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for point in &section.points {
            let variant = point.plan().variant.as_deref().unwrap_or("");
            let Some(style) = chosen.iter().position(|v| v == variant) else {
                continue;
            };
            let seconds = point.measured_intervals();
            if seconds.len() < 3 {
                continue;
            }
            let drive = set.full_name(point.drive);
            let name = if chosen.len() == 1 {
                drive
            } else {
                format!("{drive}, {variant}")
            };
            let all = seconds
                .iter()
                .map(|s| (s.start_s() + s.elapsed_s() / 2.0, s.iops()));
            let all: Vec<(f64, f64)> = all.collect();
            let kept = thin::cloud(&all, DOTS.0, DOTS.1, true);
            let positive = all.iter().filter(|p| p.1 > 0.0).count();
            thinned |= kept.len() < positive;
            without_completions += all.len() - positive;
            let from = score(point).map_or(f64::INFINITY, |s| s.from_s);
            let dots = |points: Vec<(f64, f64)>, size: f64| {
                let trace = Trace {
                    name: name.clone(),
                    points,
                    mode: "markers",
                    colour: colour(point.drive),
                    symbol: SYMBOLS.get(style).copied().unwrap_or(symbol(style)),
                    size,
                    hover: "%{y:,.4~g} IOPS at %{x:.0f} s".to_owned(),
                    ..Trace::default()
                };
                trace.json()
            };
            let size = if all.len() > 600 { 3.0 } else { 5.0 };
            hour.push(dots(kept.into_iter().map(|i| all[i]).collect(), size));
            zoom.push(dots(
                all.iter().copied().filter(|p| p.0 >= from).collect(),
                5.0,
            ));
            rows.push(phases::PhaseRow {
                name,
                colour: colour(point.drive),
                phases: phases::of(set, point),
            });
        }
        if hour.is_empty() {
            continue;
        }
        let mut layout = panels("time since the start, s", &[logarithmic("IOPS")]);
        phases::put(&mut layout, &mut hour, &rows, HEIGHT);
        layout["yaxis"]["rangemode"] = "normal".into();
        whole.push(view(label, hour, layout));
        let mut layout = panels("time since the start, s", &[linear("IOPS")]);
        layout["xaxis"]["rangemode"] = "normal".into();
        scored.push(view(label, zoom, layout));
    }
    if whole.is_empty() {
        return Vec::new();
    }
    let mut notes = vec!["one dot per second".to_owned()];
    if thinned {
        notes.push(
            "seconds whose dots would coincide are drawn once; the run folder contains every one"
                .to_owned(),
        );
    }
    if without_completions > 0 {
        notes.push(format!(
            "{without_completions} seconds without completions have no position on a logarithmic axis; the table includes them in its minimum"
        ));
    }
    let chart = |title: &str, height, views, notes| Chart {
        title: section.caption(title),
        switch: "variant",
        log_switch: true,
        height,
        views,
        notes,
        ..Chart::default()
    };
    vec![
        chart("operations in every second", HEIGHT, whole, notes),
        chart("scored part", 360, scored, Vec::new()),
    ]
}

fn view(label: &str, data: Vec<serde_json::Value>, mut layout: serde_json::Value) -> ChartView {
    layout["hovermode"] = "closest".into();
    ChartView {
        label: label.to_owned(),
        data,
        layout,
    }
}
