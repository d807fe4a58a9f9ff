//! A metric by the axis of the rows: bandwidth over block size, drives and thread counts as lines.

use assay_store::model::CellResult;
use serde_json::json;

use crate::chart::{Chart, ChartView, colour, dash, plain, symbol};
use crate::charts::draw::{Trace, linear, panels, set_ticks};
use crate::charts::series::{is_apart, series_name, style};
use crate::format::{figure, for_drawing, joined, text_or};
use crate::grid::{Point, Section};
use crate::metric::ResultMetric;

/// Height of a chart of lines, pixels.
const LINES_PX: u32 = 270;

/// The charts, each with one view per metric: one for each column where several drives are
/// compared; none when fewer than two cells were measured.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let measured = section.results().count();
    if measured < 2 {
        return Vec::new();
    }
    let numeric = section.rows.len() > 1 && section.rows.iter().all(|r| r.number.is_some());
    let views = |view: &dyn Fn(ResultMetric) -> ChartView| {
        section.metrics().into_iter().map(view).collect::<Vec<ChartView>>()
    };
    let Some(axis) = section.row_axis.filter(|_| numeric) else {
        let height = 100 + 28 * measured.min(20) as u32;
        let views = views(&|metric| bars(section, metric));
        let title = section.caption("drives compared");
        return Chart::new(title, "figure", height, views).into_iter().collect();
    };
    let columns: Vec<Option<usize>> = match is_apart(section) {
        true => (0..section.columns.len()).map(Some).collect(),
        false => vec![None],
    };
    let chart = |column: Option<usize>| {
        let label = column.map_or(String::new(), |c| section.column_label(c));
        let what = joined([format!("by {}", axis.title()), label], ", ");
        let views = views(&|metric| lines(section, metric, column));
        let chart = Chart::new(section.caption(&what), "figure", LINES_PX, views)?;
        Some(Chart { log_x_switch: true, ..chart })
    };
    columns.into_iter().filter_map(chart).collect()
}

/// A metric of a result, or of its reads or writes alone.
type Selection = fn(ResultMetric, &CellResult) -> Option<f64>;

fn lines(section: &Section<'_>, metric: ResultMetric, column: Option<usize>) -> ChartView {
    let mut data = Vec::new();
    // Reads and writes of mixed workloads have different latencies: a line each.
    let mixed = |r: &CellResult| r.read.ios > 0 && r.write.ios > 0;
    let selections: &[(&str, Selection)] = if metric.is_latency() && section.results().any(mixed) {
        &[
            (", reads", |m, r| m.of_latency(&r.read.latency_ns)),
            (", writes", |m, r| m.of_latency(&r.write.latency_ns)),
        ]
    } else {
        &[("", |m, r| m.value(r))]
    };
    let shown = |points: &Vec<&Point<'_>>| column.is_none_or(|c| points[0].column == c);
    for points in section.series().into_iter().filter(shown) {
        for (n, (suffix, of)) in selections.iter().enumerate() {
            let values = points.iter().filter_map(|point| {
                let value = point.result().and_then(|r| of(metric, r))?;
                let row = &section.rows[point.row];
                Some((row.number?, value))
            });
            let points_drawn: Vec<(f64, f64)> = values.collect();
            if points_drawn.is_empty() {
                continue;
            }
            let (colour, style) = style(section, points[0], column.is_some());
            let style = style * selections.len() + n;
            let trace = Trace {
                name: format!("{}{suffix}", series_name(section, points[0], column.is_some())),
                points: points_drawn,
                mode: "lines+markers",
                colour,
                dash: dash(style),
                symbol: symbol(style),
                hover: format!("%{{y:,.4~g}} {} at %{{text}}", metric.unit),
                ..Trace::default()
            };
            let mut trace = trace.json();
            // The page's script takes the texts from the ticks.
            trace["ticked"] = true.into();
            data.push(trace);
        }
    }
    let numbers: Vec<f64> = section.rows.iter().filter_map(|r| r.number).collect();
    let labels: Vec<String> = section.rows.iter().map(|r| r.label.clone()).collect();
    let mut layout = panels(section.row_title(), &[linear(metric.title)]);
    set_ticks(&mut layout, &numbers, &labels);
    ChartView::with(metric.label.to_owned(), &data, layout)
}

fn bars(section: &Section<'_>, metric: ResultMetric) -> ChartView {
    let single = section.rows.len() * section.columns.len() == 1;
    let mut data = Vec::new();
    let mut drives = section.drives.clone();
    if single {
        // The best first.
        let value = |drive: &usize| {
            let result = section.at(0, 0, *drive).and_then(Point::result);
            result.and_then(|r| metric.value(r)).unwrap_or(0.0)
        };
        drives.sort_by(|a, b| value(b).total_cmp(&value(a)));
        if metric.is_latency() {
            drives.reverse();
        }
    }
    for &drive in &drives {
        let name = section.set.chart_name(drive);
        let (mut lengths, mut labels, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for (row, column) in section.locations() {
            let result = section.at(row, column, drive).and_then(Point::result);
            if let Some(value) = result.and_then(|r| metric.value(r)) {
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
    ChartView::with(metric.label.to_owned(), &data, layout)
}
