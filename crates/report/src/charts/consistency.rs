//! An hour of random writes as report B draws it: one dot per second on a logarithmic axis, and the last part by itself.

use super::draw::{Panel, Trace, panels, symbol_word};
use super::{Chart, View, colour, phases};
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::tables::consistency::{circumstances, measured_intervals, score};
use crate::thin;

/// Dots of a drawing of the whole run, across and up: what a wide window shows.
const DOTS: (usize, usize) = (1200, 260);

/// Height of the chart of the whole run, pixels.
const HEIGHT: u32 = 460;

/// The whole run and its last part, each with one view per circumstance (and all of them together where there are several).
///
/// # Errors
/// When nothing can be serialised.
pub fn charts(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Chart> {
    let mut whole = Vec::new();
    let mut settled = Vec::new();
    let mut thinned = false;
    let mut halted = 0;
    let circumstances = circumstances(section);
    let mut choices: Vec<(String, Vec<usize>)> = circumstances
        .iter()
        .enumerate()
        .map(|(i, c)| (c.clone(), vec![i]))
        .collect();
    if choices.len() > 1 {
        choices.push(("both".to_owned(), (0..choices.len()).collect()));
    }
    for (label, of) in choices {
        let chosen: Vec<(usize, &Point<'_>)> = section
            .points
            .iter()
            .filter_map(|p| {
                let own = p.plan().variant.as_deref().unwrap_or("");
                let at = of.iter().position(|c| circumstances[*c] == own)?;
                Some((at, p))
            })
            .collect();
        let mut hour = Vec::new();
        let mut zoom = Vec::new();
        let mut rows = Vec::new();
        for (style, point) in chosen {
            let seconds = measured_intervals(point);
            if seconds.len() < 3 {
                continue;
            }
            let drive = lineup.drives[point.drive].full_name();
            let name = match of.len() {
                1 => drive,
                _ => format!("{drive}, {}", point.plan().variant.as_deref().unwrap_or("")),
            };
            let all: Vec<(f64, f64)> = seconds
                .iter()
                .map(|s| (s.start_s() + s.elapsed_s() / 2.0, s.iops()))
                .collect();
            let kept = thin::cloud(&all, DOTS.0, DOTS.1, true);
            let positive = all.iter().filter(|p| p.1 > 0.0).count();
            thinned |= kept.len() < positive;
            halted += all.len() - positive;
            let from = score(point).map_or(f64::INFINITY, |s| s.from_s);
            let dots = |points: Vec<(f64, f64)>, size: f64| Trace {
                name: name.clone(),
                points,
                mode: "markers",
                colour: colour(point.drive),
                symbol: ["circle", "x-thin-open", "diamond-open", "square-open"]
                    .get(style)
                    .copied()
                    .unwrap_or(symbol_word(style)),
                size,
                hover: "%{y:,.4~g} IOPS at %{x:.0f} s".to_owned(),
                ..Trace::default()
            };
            let size = if all.len() > 600 { 3.0 } else { 5.0 };
            hour.push(dots(kept.into_iter().map(|i| all[i]).collect(), size).json());
            zoom.push(dots(all.into_iter().filter(|p| p.0 >= from).collect(), 5.0).json());
            rows.push(phases::Row {
                name: name.clone(),
                colour: colour(point.drive),
                phases: phases::of(lineup, point),
            });
        }
        if hour.is_empty() {
            continue;
        }
        let mut layout = panels("time since the start, s", &[panel("IOPS", true, 1.0)]);
        phases::put(&mut layout, &mut hour, &rows, HEIGHT);
        layout["hovermode"] = "closest".into();
        layout["yaxis"]["rangemode"] = "normal".into();
        whole.push(View {
            label: super::plain(&label),
            data: hour,
            layout,
        });
        let mut layout = panels("time since the start, s", &[panel("IOPS", false, 1.0)]);
        layout["hovermode"] = "closest".into();
        layout["xaxis"]["rangemode"] = "normal".into();
        settled.push(View {
            label: super::plain(&label),
            data: zoom,
            layout,
        });
    }
    if whole.is_empty() {
        return Vec::new();
    }
    let mut notes = vec!["one dot per second".to_owned()];
    if thinned {
        notes.push("seconds whose dots would fall on each other are drawn once; the run folder holds every one".to_owned());
    }
    if halted > 0 {
        notes.push(format!(
            "{halted} seconds in which nothing completed have no place on a logarithmic axis; the table counts them as its minimum"
        ));
    }
    let chart = |title: &str, height, views, notes| Chart {
        title: format!("{}: {title}", section.title),
        switch: "variant",
        log_switch: true,
        height,
        views,
        notes,
        ..Chart::default()
    };
    vec![
        chart("operations in every second", HEIGHT, whole, notes),
        chart("the part that is scored", 360, settled, Vec::new()),
    ]
}

fn panel(title: &str, log: bool, share: f64) -> Panel<'_> {
    Panel { title, log, share }
}
