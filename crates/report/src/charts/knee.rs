//! Rate and tail latency by queue depth, with the knee (AnandTech PBlaze5).

use super::draw::{Panel, Trace, linear, logarithmic, panels, ring, set_ticks};
use super::{Chart, ChartView, dash, series_name, style, symbol};
use crate::grid::{Point, Section};
use crate::tables::host::CPU_LIMITED;
use crate::tables::knee::{index, rate_of, rate_unit};

/// Height of the chart, pixels.
pub const HEIGHT: u32 = 560;

/// Rate and tail latency by depth, every knee marked.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let Some(axis) = section.row_axis else {
        return Vec::new();
    };
    let unit = rate_unit(section);
    let rate = |p: &Point<'_>| Some(rate_of(section, p.result()?));
    let tail = |p: &Point<'_>| {
        let latency = p.result()?.latency();
        (latency.samples > 0).then_some(latency.p99_99 as f64 / 1e3)
    };
    type Figure<'f> = &'f dyn Fn(&Point<'_>) -> Option<f64>;
    let figures: [(&str, &str, Figure<'_>); 2] = [("y", unit, &rate), ("y2", "\u{b5}s", &tail)];
    let mut data = Vec::new();
    let mut few = false;
    let mut any_limited = false;
    for points in section.series() {
        let (colour, column) = style(section, points[0], false);
        let name = series_name(section, points[0], false);
        let knee = index(&points);
        for (axis, unit, figure) in figures {
            let position = |p: &Point<'_>| Some((section.rows[p.row].number?, figure(p)?));
            let line = Trace {
                name: name.clone(),
                points: points.iter().filter_map(|p| position(p)).collect(),
                mode: "lines+markers",
                colour: colour.clone(),
                dash: dash(column),
                symbol: symbol(column),
                axis,
                hover: format!("%{{y:,.4~g}} {unit}"),
                listed: axis == "y",
                ..Trace::default()
            };
            data.push(line.json());
            if let Some(at) = knee.and_then(|k| position(points[k])) {
                let hover = "knee: the lowest depth with 95 % of the best rate";
                data.push(ring(&name, at, &colour, axis, hover));
            }
            let limited = points.iter().filter(|p| p.is_host_limited());
            let limited: Vec<(f64, f64)> = limited.filter_map(|p| position(p)).collect();
            if axis == "y" && !limited.is_empty() {
                any_limited = true;
                let crosses = Trace {
                    name: format!("{name}, {CPU_LIMITED}"),
                    points: limited,
                    mode: "markers",
                    colour: colour.clone(),
                    symbol: "x-thin-open",
                    size: 14.0,
                    axis,
                    hover: "the host's processors, not the drive, set the rate".to_owned(),
                    listed: false,
                    ..Trace::default()
                };
                data.push(crosses.json());
            }
        }
        let mut results = points.iter().filter_map(|p| p.result());
        few |= results.any(|r| (1..10_000).contains(&r.latency().samples));
    }
    let operations = unit == "IOPS";
    let rate_panel = Panel {
        share: 1.2,
        ..linear(if operations {
            "operations per second"
        } else {
            unit
        })
    };
    let tail_panel = logarithmic("p99.99 latency, \u{b5}s");
    let mut layout = panels(axis.title(), &[rate_panel, tail_panel]);
    let values: Vec<f64> = section.rows.iter().filter_map(|r| r.number).collect();
    let labels: Vec<String> = values.iter().map(f64::to_string).collect();
    set_ticks(&mut layout, &values, &labels);
    let mut notes =
        vec!["ringed: the lowest depth with 95 % of the best rate of the sweep".to_owned()];
    if any_limited {
        notes.push(format!(
            "crossed: {CPU_LIMITED}, the host's processors, not the drive, set the rate"
        ));
    }
    if few {
        notes
            .push("with fewer than 10,000 operations at a depth, p99.99 is the maximum".to_owned());
    }
    let title = section.caption(&format!("rate and tail latency by {}", axis.title()));
    let views = ChartView::of("rate and latency", data, layout)
        .into_iter()
        .collect();
    let chart = Chart::of(title, "panel", HEIGHT, views);
    let chart = chart.map(|chart| Chart {
        log_x_switch: true,
        notes,
        ..chart
    });
    chart.into_iter().collect()
}
