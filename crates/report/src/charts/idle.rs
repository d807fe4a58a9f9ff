//! Power and temperature of idle drives over time.

use assay_store::model::TelemetryRecord;

use super::draw::{Panel, Trace, linear, panels, thinned};
use super::{Chart, ChartView, colour, dash};
use crate::format::joined;
use crate::grid::Section;

/// Power and temperature of every drive; empty where no drive reports them.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    type Reading = fn(&TelemetryRecord) -> Option<f64>;
    let readings: [(&str, &str, Reading); 2] = [
        ("power, W", "W", |t| Some(t.power_mw? as f64 / 1e3)),
        ("\u{b0}C", "\u{b0}C", |t| t.temperature_c),
    ];
    let mut data = Vec::new();
    let mut shown: Vec<Panel<'_>> = Vec::new();
    for (title, unit, of) in readings {
        let before = data.len();
        for point in &section.points {
            let telemetry = point.data.map_or(&[][..], |d| &d.telemetry);
            let values = telemetry
                .iter()
                .filter_map(|t| Some((t.at.as_secs_f64(), of(t)?)));
            let values: Vec<(f64, f64)> = values.collect();
            if values.len() < 2 {
                continue;
            }
            let location = section.location(point.row, point.column);
            let trace = Trace {
                name: joined([point.chart_name(), location], ", "),
                points: thinned(&values).0,
                colour: colour(point.drive),
                dash: dash(point.row + point.column),
                axis: if shown.is_empty() { "y" } else { "y2" },
                hover: format!("%{{y:,.3~g}} {unit}"),
                listed: shown.is_empty(),
                ..Trace::default()
            };
            data.push(trace.json());
        }
        if data.len() > before {
            shown.push(linear(title));
        }
    }
    let mut layout = panels("time since the start, s", &shown);
    for axis in ["yaxis", "yaxis2"].into_iter().take(shown.len()) {
        layout[axis]["rangemode"] = "normal".into();
    }
    let views = ChartView::of("", data, layout).into_iter().collect();
    let height = 180 + 140 * shown.len() as u32;
    let chart = Chart::of(section.caption("idle"), "figure", height, views);
    chart
        .map(|chart| Chart {
            log_switch: false,
            ..chart
        })
        .into_iter()
        .collect()
}
