//! Sweeps over queue depth, compared at the knee (AnandTech PBlaze5, see docs/sources.md).

use assay_analysis::knee::total_depth;
use assay_stats::knee::{DepthKnee, SHARE, lowest_depth_reaching};
use maud::Markup;
use serde_json::{Value, json};

use crate::chart::{Chart, ChartView, dash, symbol};
use crate::charts;
use crate::charts::draw::{Panel, Trace, linear, logarithmic, panels, ring, set_ticks};
use crate::charts::series::{series_name, style};
use crate::format::{self, figure, micros};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{latency_cells, section_remarks};
use crate::tables::host::{self, CPU_LIMITED};
use crate::tables::interval::{set_spread, spread_notes};
use crate::tables::power;
use crate::tables::rate::{rate_estimate, rate_of, rate_unit, small_blocks};
use crate::views::descriptor::{KeyFigure, SectionView, default_html};
use crate::views::measured;

/// Rate and tail latency by queue depth.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "The rate rises with the queue depth until the drive is saturated; beyond that, more depth \
         only adds latency, shown in the lower panel. The ring marks the knee: the lowest depth \
         with 95 % of the best rate. The table compares drives at their knees rather than at one \
         fixed depth, which would favour some. A low depth at the knee is good, and so is a p99.99 \
         that stays flat up to it. Where the host's processors set the rate (crosses, \
         CPU-limited), the drive can do more with a faster host. Power by rate shows what each \
         step up costs."
    },
    tables: |section| {
        let knees = table(section);
        if knees.is_empty() {
            return (measured::VIEW.tables)(section);
        }
        vec![knees]
    },
    charts: |section| {
        let mut charts = charts(section);
        if !charts.is_empty() {
            charts.extend(charts::power::chart(section, HEIGHT));
        }
        charts
    },
    or_charts_of_kind: true,
    folded_tables: |section| {
        let power = power::table(section);
        power.map(|table| ("Power at every depth", table)).into_iter().collect()
    },
    html,
    key_figures,
    ..SectionView::DEFAULT
};

fn html(view: &SectionView, section: &Section<'_>, charts: &[Chart], id: &str) -> Markup {
    if table(section).is_empty() {
        return (measured::VIEW.html)(&measured::VIEW, section, charts, id);
    }
    default_html(view, section, charts, id)
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let key = |series: &Vec<&Point<'_>>| {
        let point = series[index(series)?];
        let result = point.result()?;
        let (value, unit) = if small_blocks(section) {
            (result.iops(), "IOPS")
        } else {
            (result.mib_per_s(), "MiB/s")
        };
        let location = section.location(point.row, point.column);
        let limited =
            if point.is_host_limited() { format!(", {CPU_LIMITED}") } else { String::new() };
        let tail = micros(result.latency().p99_99 as f64);
        Some(KeyFigure {
            label: section.title.to_owned(),
            value: figure(value),
            unit,
            details: format!("knee at {location}{limited}, p99.99 {tail} \u{b5}s"),
        })
    };
    let series = section.series();
    series.iter().filter(|s| s[0].drive == drive).filter_map(key).collect()
}

/// Marks a knee at the deepest point of its sweep.
const STILL_RISING: &str = "still rising";

/// Index of the knee of a sweep. Only complete results count, and one point is no sweep.
pub fn index(points: &[&Point<'_>]) -> Option<usize> {
    knee_of(points).map(|knee| knee.index)
}

fn knee_of(points: &[&Point<'_>]) -> Option<DepthKnee> {
    let rates = points.iter().map(|p| {
        let complete = p.result().filter(|_| p.remark().is_none());
        let iops = complete.map_or(0.0, |r| r.iops());
        (total_depth(&p.plan().workload), iops)
    });
    let knee = lowest_depth_reaching(&rates.collect::<Vec<_>>(), SHARE)?;
    (points.len() > 1).then_some(knee)
}

/// Of a sweep, at its knee.
fn row(
    section: &Section<'_>,
    points: &[&Point<'_>],
    latencies: &[&str],
    powered: bool,
) -> Option<(Row, DepthKnee)> {
    let knee = knee_of(points)?;
    let point = points[knee.index];
    let result = point.result()?;
    let rate = |p: &Point<'_>| p.result().map_or(0.0, |r| rate_of(section, r));
    let best = points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
    let best = best.copied().unwrap_or(point);
    let mut cells = Vec::new();
    if section.columns.len() > 1 {
        cells.push(TableCell::Text(section.column_label(point.column)));
    }
    let depth = TableCell::number(&section.rows[point.row].label);
    let mark = knee.still_rising.then(|| STILL_RISING.to_owned());
    cells.push(depth.with(|n| n.mark = mark));
    cells.push(TableCell::figure(rate(point)).with(|n| {
        let (estimate, unit) = rate_estimate(section, &point.estimates());
        set_spread(n, estimate, unit);
        n.details = point.plan().id.clone();
    }));
    cells.extend(latency_cells(result.latency(), latencies));
    if powered {
        let watts = power::mean_watts(point);
        cells.push(TableCell::figure(watts).or(power::unreported));
        cells.push(power::efficiency(section, rate(point), watts));
    }
    cells.extend(host::cells(point));
    // The knee beside it has the unit.
    let row = &section.rows[best.row];
    let at = row.number.map_or_else(|| row.label.clone(), |n| format!("{n:.0}"));
    let limited = best.is_host_limited().then(|| host::CPU_LIMITED.to_owned());
    let best = format::figure(rate(best));
    cells.push(TableCell::number(format!("{best} at {at}")).with(|n| n.mark = limited));
    Some((point.table_row(cells), knee))
}

/// One row per drive and column, at the knee.
pub fn table(section: &Section<'_>) -> Table {
    let several = section.columns.len() > 1;
    let unit = rate_unit(section);
    let mut columns = Column::list([("what", ""), ("knee", ""), ("rate", unit)]);
    columns.drain(..usize::from(!several));
    let latencies = ["mean", "p99", "p99.99"];
    columns.extend(Column::all_under("latency at the knee, \u{b5}s", latencies));
    let mut points = section.points.iter();
    let powered = points.any(|p| power::mean_watts(p).is_some());
    if powered {
        columns.extend([Column::new("power", "W"), power::efficiency_column(section)]);
    }
    columns.extend(host::columns());
    columns.push(Column::new("best of the sweep", unit));
    let rows = section.series().into_iter();
    let rows = rows.filter_map(|points| row(section, &points, &latencies, powered));
    let (rows, knees): (Vec<Row>, Vec<DepthKnee>) = rows.unzip();
    let rising = knees.iter().any(|knee| knee.still_rising);
    let mut notes = spread_notes(section_remarks(section), &rows);
    notes.push(
        "knee: the lowest depth with 95 % of the best rate of the sweep; more depth mainly adds \
         latency"
            .to_owned(),
    );
    if rising {
        notes.push(format!(
            "{STILL_RISING}: the sweep ended before the drive was saturated; its knee is at this \
             depth or beyond"
        ));
    }
    notes.extend(host::notes(section.points.iter()));
    section.table("at the knee", columns, rows, notes).without_empty_columns()
}

/// Height of the chart, pixels.
pub const HEIGHT: u32 = 560;

/// Vertical axis, unit and value.
type Figure<'f> = (&'f str, &'f str, &'f dyn Fn(&Point<'_>) -> Option<f64>);

/// A figure of a series by depth, with its knee and, on the first axis, the points that the host
/// limited.
fn traces(
    section: &Section<'_>,
    points: &[&Point<'_>],
    (axis, unit, figure): Figure<'_>,
) -> Vec<Value> {
    let (colour, column) = style(section, points[0], false);
    let name = series_name(section, points[0], false);
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
    let mut traces = vec![line.json()];
    if let Some(at) = index(points).and_then(|knee| position(points[knee])) {
        let hover = "knee: the lowest depth with 95 % of the best rate";
        traces.push(ring(&name, at, &colour, axis, hover));
    }
    let limited = points.iter().filter(|p| p.is_host_limited());
    let limited: Vec<(f64, f64)> = limited.filter_map(|p| position(p)).collect();
    if axis == "y" && !limited.is_empty() {
        let crosses = Trace {
            name: format!("{name}, {CPU_LIMITED}"),
            points: limited,
            mode: "markers",
            colour,
            symbol: "x-thin-open",
            size: 14.0,
            axis,
            hover: "the host's processors, not the drive, set the rate".to_owned(),
            listed: false,
            ..Trace::default()
        };
        let mut crosses = crosses.json();
        crosses["key"] = json!({CPU_LIMITED: {"symbol": "x-thin-open"}});
        traces.push(crosses);
    }
    traces
}

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
    let figures: [Figure<'_>; 2] = [("y", unit, &rate), ("y2", "\u{b5}s", &tail)];
    let mut data = Vec::new();
    let series = section.series();
    for points in &series {
        for figure in figures {
            data.extend(traces(section, points, figure));
        }
    }
    let mut points = series.iter().flatten();
    let few = points.clone().any(|p| {
        let samples = p.result().map_or(0, |r| r.latency().samples);
        (1..10_000).contains(&samples)
    });
    let any_limited = points.any(|p| p.is_host_limited() && p.result().is_some());
    let operations = unit == "IOPS";
    let rate_panel =
        Panel { share: 1.2, ..linear(if operations { "operations per second" } else { unit }) };
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
    let views = ChartView::new("rate and latency", data, layout).into_iter().collect();
    let chart = Chart::new(title, "panel", HEIGHT, views);
    let chart = chart.map(|chart| Chart { log_x_switch: true, notes, ..chart });
    chart.into_iter().collect()
}

#[cfg(test)]
#[path = "../../tests/unit/views/knee.rs"]
mod tests;
