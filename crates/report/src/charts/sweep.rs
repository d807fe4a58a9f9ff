//! A figure against the axis of the rows: bandwidth over block size, drives and thread counts as lines.

use assay_store::model::CellResult;
use plotly::common::{Line, Marker, Mode, Orientation};
use plotly::layout::{Axis as PlotAxis, AxisType, RangeMode};
use plotly::{Bar, Layout, Scatter};

use super::{Chart, View, colour, dash, look, plain, series_name, symbol};
use crate::format::for_drawing;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::metric::Metric;

/// The chart, with one view per metric; `None` when fewer than two cells were measured.
///
/// # Errors
/// When plotly's types cannot be serialised.
pub fn chart(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
) -> Result<Option<Chart>, serde_json::Error> {
    let measured = section
        .points
        .iter()
        .filter(|p| p.result().is_some())
        .count();
    if measured < 2 {
        return Ok(None);
    }
    let numeric = section.rows.len() > 1 && section.rows.iter().all(|r| r.number.is_some());
    let mut views = Vec::new();
    for metric in section.metrics() {
        views.push(if numeric {
            lines(lineup, section, metric)?
        } else {
            bars(lineup, section, metric)?
        });
    }
    let across = section.row_axis.filter(|_| numeric);
    Ok(Some(Chart {
        id: String::new(),
        title: match across {
            Some(axis) => format!("{} by {}", section.title, axis.title()),
            None => format!("{}: drives compared", section.title),
        },
        switch: "figure",
        log_switch: true,
        log_x_switch: numeric,
        first: 0,
        height: if numeric {
            400
        } else {
            130 + 40 * u32::try_from(measured).unwrap_or(20).min(20)
        },
        views,
        notes: Vec::new(),
    }))
}

/// A figure of a result, or of its reads or writes alone.
type Part = fn(Metric, &CellResult) -> Option<f64>;

fn mixed(point: &Point<'_>) -> bool {
    point
        .result()
        .is_some_and(|r| r.read.ios > 0 && r.write.ios > 0)
}

fn lines(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    metric: Metric,
) -> Result<View, serde_json::Error> {
    let mut data = Vec::new();
    // Of mixed workloads reads and writes wait differently long: a line each.
    let parts: &[(&str, Part)] = if metric.is_latency() && section.points.iter().any(mixed) {
        &[
            (", reads", |m, r| m.of_latency(&r.read.latency_ns)),
            (", writes", |m, r| m.of_latency(&r.write.latency_ns)),
        ]
    } else {
        &[("", |m, r| m.of(r))]
    };
    let series = section.series();
    let lines = series.iter().flat_map(|points| {
        parts
            .iter()
            .enumerate()
            .map(move |(n, part)| (points, n, part))
    });
    for (points, n, (suffix, of)) in lines {
        let (mut x, mut y, mut labels) = (Vec::new(), Vec::new(), Vec::new());
        for point in points {
            let value = point.result().and_then(|r| of(metric, r));
            let (Some(number), Some(value)) = (section.rows[point.row].number, value) else {
                continue;
            };
            x.push(number);
            y.push(for_drawing(value));
            labels.push(plain(&section.rows[point.row].label));
        }
        if x.is_empty() {
            continue;
        }
        let (colour, style) = look(section, points[0]);
        let style = style * parts.len() + n;
        let trace = Scatter::new(x, y)
            .name(format!(
                "{}{suffix}",
                series_name(lineup, section, points[0])
            ))
            .mode(Mode::LinesMarkers)
            .text_array(labels)
            .line(
                Line::new()
                    .color(colour.clone())
                    .dash(dash(style))
                    .width(2.0),
            )
            .marker(Marker::new().color(colour).symbol(symbol(style)).size(7))
            .hover_template(format!("%{{y:,.4~g}} {} at %{{text}}", metric.unit()));
        data.push(serde_json::to_value(trace)?);
    }
    let numbers: Vec<f64> = section.rows.iter().filter_map(|r| r.number).collect();
    let wide = match (numbers.first(), numbers.last()) {
        (Some(first), Some(last)) => *first > 0.0 && last / first > 8.0,
        _ => false,
    };
    let axis = PlotAxis::new()
        .title(section.row_axis.map_or("", crate::axis::Axis::title))
        .tick_values(numbers)
        .tick_text(section.rows.iter().map(|r| plain(&r.label)).collect())
        .type_(if wide {
            AxisType::Log
        } else {
            AxisType::Linear
        });
    let layout = Layout::new().x_axis(axis).y_axis(
        PlotAxis::new()
            .title(metric.title())
            .range_mode(RangeMode::ToZero)
            .type_(AxisType::Linear),
    );
    Ok(View {
        label: metric.label().to_owned(),
        data,
        layout: serde_json::to_value(layout)?,
    })
}

fn bars(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    metric: Metric,
) -> Result<View, serde_json::Error> {
    let mut data = Vec::new();
    for &drive in &section.drives {
        let (mut length, mut label, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..section.rows.len() {
            for column in 0..section.columns.len() {
                let Some(point) = section.at(row, column, drive) else {
                    continue;
                };
                let Some(value) = point.result().and_then(|r| metric.of(r)) else {
                    continue;
                };
                let place = section.place(row, column);
                length.push(for_drawing(value));
                texts.push(crate::format::figure(value));
                label.push(plain(&if place.is_empty() {
                    lineup.drives[drive].full_name()
                } else {
                    place
                }));
            }
        }
        let trace = Bar::new(length, label)
            .orientation(Orientation::Horizontal)
            .name(plain(&lineup.drives[drive].full_name()))
            .marker(Marker::new().color(colour(drive)))
            .text_array(texts)
            .hover_template(format!("%{{x:,.4~g}} {}", metric.unit()));
        data.push(serde_json::to_value(trace)?);
    }
    // Bars are read from the top, as tables are.
    let layout = Layout::new()
        .x_axis(
            PlotAxis::new()
                .title(metric.title())
                .range_mode(RangeMode::ToZero)
                .type_(AxisType::Linear),
        )
        .y_axis(PlotAxis::new().type_(AxisType::Category).auto_margin(true));
    let mut layout = serde_json::to_value(layout)?;
    if section.rows.len() * section.columns.len() == 1 {
        // Each bar has its drive's name beside it.
        layout["showlegend"] = false.into();
    }
    layout["yaxis"]["autorange"] = "reversed".into();
    Ok(View {
        label: metric.label().to_owned(),
        data,
        layout,
    })
}
