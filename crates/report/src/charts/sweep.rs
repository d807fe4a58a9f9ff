//! A metric by the axis of the rows: bandwidth over block size, drives and thread counts as lines.

use assay_store::model::CellResult;
use serde_json::json;

use super::draw::{Trace, linear, panels, set_ticks};
use super::{Chart, ChartView, colour, dash, plain, series_name, style, symbol};
use crate::format::{figure, for_drawing, text_or};
use crate::grid::{Point, Section};
use crate::metric::ResultMetric;

/// The chart, with one view per metric; `None` when fewer than two cells were measured.
pub fn chart(section: &Section<'_>) -> Option<Chart> {
    let measured = section.results().count();
    if measured < 2 {
        return None;
    }
    let numeric = section.rows.len() > 1 && section.rows.iter().all(|r| r.number.is_some());
    let view = if numeric { lines } else { bars };
    let title = match section.row_axis.filter(|_| numeric) {
        Some(axis) => format!("{} by {}", section.title, axis.title()),
        None => section.caption("drives compared"),
    };
    let of_bars = 130 + 40 * measured.min(20) as u32;
    let height = if numeric { 400 } else { of_bars };
    let metrics = section.metrics().into_iter();
    let views = metrics.map(|metric| view(section, metric)).collect();
    Some(Chart {
        log_x_switch: numeric,
        ..Chart::of(title, "figure", height, views)?
    })
}

/// A metric of a result, or of its reads or writes alone.
type Selection = fn(ResultMetric, &CellResult) -> Option<f64>;

fn lines(section: &Section<'_>, metric: ResultMetric) -> ChartView {
    let mut data = Vec::new();
    // Reads and writes of mixed workloads have different latencies: a line each.
    let mixed = |r: &CellResult| r.read.ios > 0 && r.write.ios > 0;
    let selections: &[(&str, Selection)] = if metric.is_latency() && section.results().any(mixed) {
        &[
            (", reads", |m, r| m.of_latency(&r.read.latency_ns)),
            (", writes", |m, r| m.of_latency(&r.write.latency_ns)),
        ]
    } else {
        &[("", |m, r| m.of(r))]
    };
    for points in section.series() {
        for (n, (suffix, of)) in selections.iter().enumerate() {
            let values = points.iter().filter_map(|point| {
                let value = point.result().and_then(|r| of(metric, r))?;
                let row = &section.rows[point.row];
                Some(((row.number?, value), row.label.clone()))
            });
            let (points_drawn, texts): (Vec<(f64, f64)>, Vec<String>) = values.unzip();
            if points_drawn.is_empty() {
                continue;
            }
            let (colour, column) = style(section, points[0]);
            let style = column * selections.len() + n;
            let trace = Trace {
                name: format!("{}{suffix}", series_name(section, points[0])),
                points: points_drawn,
                mode: "lines+markers",
                colour,
                dash: dash(style),
                symbol: symbol(style),
                hover: format!("%{{y:,.4~g}} {} at %{{text}}", metric.unit),
                texts,
                ..Trace::default()
            };
            data.push(trace.json());
        }
    }
    let numbers: Vec<f64> = section.rows.iter().filter_map(|r| r.number).collect();
    let labels: Vec<String> = section.rows.iter().map(|r| r.label.clone()).collect();
    let mut layout = panels(section.row_title(), &[linear(metric.title)]);
    set_ticks(&mut layout, &numbers, &labels);
    ChartView {
        label: metric.label.to_owned(),
        data,
        layout,
    }
}

fn bars(section: &Section<'_>, metric: ResultMetric) -> ChartView {
    let single = section.rows.len() * section.columns.len() == 1;
    let mut data = Vec::new();
    for &drive in &section.drives {
        let name = section.set.full_name(drive);
        let (mut lengths, mut labels, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (row, column) in section.locations() {
            let result = section.at(row, column, drive).and_then(Point::result);
            if let Some(value) = result.and_then(|r| metric.of(r)) {
                lengths.push(for_drawing(value));
                texts.push(figure(value));
                labels.push(plain(text_or(&section.location(row, column), &name)));
            }
        }
        data.push(json!({
            "type": "bar", "orientation": "h", "name": plain(&name),
            "x": lengths, "y": labels, "text": texts, "marker": {"color": colour(drive)},
            "hovertemplate": format!("%{{x:,.4~g}} {}", metric.unit),
        }));
    }
    let mut layout = json!({
        "xaxis": {"title": {"text": metric.title}, "rangemode": "tozero", "type": "linear"},
        // Bars run from the top, like the rows of tables.
        "yaxis": {"type": "category", "automargin": true, "autorange": "reversed"},
    });
    if single {
        // Each bar is labelled with its drive.
        layout["showlegend"] = false.into();
    }
    ChartView {
        label: metric.label.to_owned(),
        data,
        layout,
    }
}
