//! Scatter plot of an hour of random writes (AnandTech M8Pe): one dot per second, and the scored
//! part by itself.

use serde_json::Value;

use super::draw::{Trace, linear, logarithmic, panels};
use super::{Chart, ChartView, colour, phases, symbol};
use crate::grid::Section;
use crate::tables::consistency::{score, variants};
use crate::thin;

/// Resolution of the drawing of the whole run, dots across and up: that of a wide window.
const DOTS: (usize, usize) = (1200, 260);

/// Height of the chart of the whole run, pixels.
const HEIGHT: u32 = 460;

/// Markers by variant.
const SYMBOLS: [&str; 4] = ["circle", "x-thin-open", "diamond-open", "square-open"];

/// The whole run and its scored part, each with one view per variant and, where there are several,
/// one of all.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let (mut whole, mut scored) = (Vec::new(), Vec::new());
    let mut thinned = false;
    let mut without_completions = 0;
    let variants = variants(section);
    let mut choices: Vec<(&str, &[&str])> = variants
        .iter()
        .map(|v| (*v, std::slice::from_ref(v)))
        .collect();
    if choices.len() > 1 {
        choices.push(("both", &variants));
    }
    for (label, chosen) in choices {
        let (mut hour, mut zoom, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for point in &section.points {
            let variant = point.variant();
            let Some(style) = chosen.iter().position(|v| *v == variant) else {
                continue;
            };
            let seconds = point.measured_intervals();
            if seconds.len() < 3 {
                continue;
            }
            let drive = point.chart_name();
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
            let late = all.iter().copied().filter(|p| p.0 >= from);
            zoom.push(dots(late.collect(), 5.0));
            rows.push(phases::PhaseRow::of(point, name));
        }
        if hour.is_empty() {
            continue;
        }
        let mut layout = panels("time since the start, s", &[logarithmic("IOPS")]);
        phases::put(&mut layout, &mut hour, &rows, HEIGHT);
        whole.extend(view(label, hour, layout, "yaxis"));
        let layout = panels("time since the start, s", &[linear("IOPS")]);
        scored.extend(view(label, zoom, layout, "xaxis"));
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
            "{without_completions} seconds without completions have no position on a logarithmic \
             axis; the table includes them in its minimum"
        ));
    }
    let title = section.caption("operations in every second");
    let whole = Chart::of(title, "variant", HEIGHT, whole).map(|c| c.with_notes(notes));
    let scored = Chart::of(section.caption("scored part"), "variant", 360, scored);
    whole.into_iter().chain(scored).collect()
}

/// A view in which one axis need not contain zero.
fn view(label: &str, data: Vec<Value>, mut layout: Value, axis: &str) -> Option<ChartView> {
    layout[axis]["rangemode"] = "normal".into();
    layout["hovermode"] = "closest".into();
    ChartView::of(label, data, layout)
}
