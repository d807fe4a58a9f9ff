//! A drive at rest: what it draws and how warm it is, over time.

use super::draw::{Panel, Trace, panels};
use super::{Chart, View, colour};
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::thin;

/// Power and temperature of every drive; nothing where drives say neither.
pub fn charts(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Chart> {
    type Reading = fn(&assay_store::model::TelemetryRecord) -> Option<f64>;
    let readings: [(&str, &str, Reading); 2] = [
        ("power, W", "W", |t| Some(t.power_mw? as f64 / 1e3)),
        ("\u{b0}C", "\u{b0}C", |t| t.temperature_c),
    ];
    let mut data = Vec::new();
    let mut shown = Vec::new();
    for (title, unit, of) in readings {
        let axis = if shown.is_empty() { "y" } else { "y2" };
        let mut any = false;
        for point in &section.points {
            let Some(part) = point.part else { continue };
            let values: Vec<(f64, f64)> = part
                .telemetry
                .iter()
                .filter_map(|t| Some((t.at.as_secs_f64(), of(t)?)))
                .collect();
            if values.len() < 2 {
                continue;
            }
            let heights: Vec<f64> = values.iter().map(|v| v.1).collect();
            let kept = thin::min_max(&heights, thin::MOST_POINTS);
            let drive = lineup.drives[point.drive].full_name();
            let trace = Trace {
                name: match section.place(point.row, point.column).as_str() {
                    "" => drive,
                    place => format!("{drive}, {place}"),
                },
                points: kept.into_iter().map(|i| values[i]).collect(),
                colour: colour(point.drive),
                dash: super::draw::dash_word(point.row + point.column),
                axis,
                hover: format!("%{{y:,.3~g}} {unit}"),
                listed: shown.is_empty(),
                ..Trace::default()
            };
            data.push(trace.json());
            any = true;
        }
        if any {
            shown.push(Panel {
                title,
                log: false,
                share: 1.0,
            });
        }
    }
    if data.is_empty() {
        return Vec::new();
    }
    let mut layout = panels("time since the start, s", &shown);
    for axis in ["yaxis", "yaxis2"].into_iter().take(shown.len()) {
        layout[axis]["rangemode"] = "normal".into();
    }
    vec![Chart {
        title: format!("{}: at rest", section.title),
        switch: "figure",
        height: 180 + 140 * shown.len() as u32,
        views: vec![View {
            label: String::new(),
            data,
            layout,
        }],
        ..Chart::default()
    }]
}
