//! Soaks, idle drives and inspections of the medium.

use assay_store::model::TelemetryRecord;
use assay_store::series::IntervalSample;
use maud::html;

use crate::chart::{Chart, ChartView, colour, dash};
use crate::charts::draw::{Panel, Trace, linear, panels, thinned};
use crate::charts::{percentiles, timeline};
use crate::format::{figure, joined};
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{axis_columns, cell_of, point_rows, section_remarks};
use crate::tables::interval::{spread_notes, with_spread};
use crate::tables::power::{self, watts_cell};
use crate::tables::{inspect, temperature};
use crate::views::descriptor::{KeyFigure, SectionView};

/// A long run with telemetry.
pub const SOAK: SectionView = SectionView {
    how_to_read: |_| {
        "One long run. A flat line is a sustained rate. A rate that falls while the temperature \
         rises indicates thermal throttling; one that falls at a constant temperature, an \
         exhausted cache. The final level is the one that counts for long jobs."
    },
    tables: |section| vec![table(section)],
    charts: |section| {
        let charts = [timeline::chart(section), percentiles::chart(section)];
        charts.into_iter().flatten().collect()
    },
    folded_tables: |section| {
        let table = temperature::table(section);
        table
            .map(|table| ("Temperature, further sensors and warnings", table))
            .into_iter()
            .collect()
    },
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let first = section.measured(drive).next();
    let Some((result, data)) = first.and_then(|p| p.result().zip(p.data)) else {
        return Vec::new();
    };
    let intervals = data.measured_intervals();
    let slowest = intervals.iter().map(IntervalSample::mib_per_s).reduce(f64::min);
    let degrees = data.telemetry.iter().filter_map(|t| t.temperature_c);
    let details = [
        slowest.map(|rate| format!("slowest interval {}", figure(rate))),
        degrees.reduce(f64::max).map(|celsius| format!("up to {celsius:.0} \u{b0}C")),
    ];
    vec![KeyFigure {
        label: format!("{}, mean", section.title),
        value: figure(result.mib_per_s()),
        unit: "MiB/s",
        details: joined(details.into_iter().flatten(), ", "),
    }]
}

/// Drives without a workload.
pub const IDLE: SectionView = SectionView {
    how_to_read: |_| {
        "Power and temperature of the drive without a workload. Power that falls in steps shows \
         transitions into non-operational power states; a drive that reports no power needs a \
         meter. The next test starts at the temperature reached here."
    },
    tables: |section| vec![power::idle(section)],
    charts,
    lists_figures: false,
    ..SectionView::DEFAULT
};

/// Contents of the areas that other steps read.
pub const INSPECTION: SectionView = SectionView {
    how_to_read: |_| {
        "Contents of the areas that were read. Many drives answer reads of blank or compressible \
         areas without accessing their flash, so figures from such areas do not characterise the \
         flash."
    },
    tables: |section| vec![inspect::table(&section.points, section.title)],
    html: |view, section, _, _| {
        let tables = (view.tables)(section);
        html! { @for table in &tables { (elements::folded("Contents", table)) } }
    },
    lists_figures: false,
    ..SectionView::DEFAULT
};

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
            let values = telemetry.iter().filter_map(|t| Some((t.at.as_secs_f64(), of(t)?)));
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
    let views = ChartView::new("", data, layout).into_iter().collect();
    let height = 180 + 140 * shown.len() as u32;
    let chart = Chart::new(section.caption("idle"), "figure", height, views);
    chart.map(|chart| Chart { log_switch: false, ..chart }).into_iter().collect()
}

/// One row per drive and cell.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = axis_columns(section);
    let rates = ["mean", "slowest", "fastest"];
    columns.extend(Column::all_under("bandwidth, MiB/s", rates));
    let reported = |of: fn(&TelemetryRecord) -> bool| {
        let data = section.points.iter().filter_map(|p| p.data);
        data.flat_map(|d| &d.telemetry).any(of)
    };
    let temperature = reported(|t| t.temperature_c.is_some());
    let throttled = reported(|t| t.throttled.is_some());
    let power = reported(|t| t.power_mw.is_some());
    if temperature {
        let labels = ["at start", "highest", "at end"];
        columns.extend(Column::all_under("temperature, \u{b0}C", labels));
    }
    if throttled {
        columns.push(Column::new("readings throttled", ""));
    }
    if power {
        columns.push(Column::new("mean power, W", ""));
    }
    let rows = point_rows(section, |point: &Point<'_>| {
        let rate = cell_of(point, |r| Some(r.mib_per_s()));
        let mut cells = vec![with_spread(rate, point.estimates().mib_per_s, 1.0)];
        let Some(data) = point.data else {
            return cells;
        };
        let intervals = data.measured_intervals();
        let rates = || intervals.iter().map(IntervalSample::mib_per_s);
        cells.push(TableCell::figure(rates().reduce(f64::min)));
        cells.push(TableCell::figure(rates().reduce(f64::max)));
        if temperature {
            let degrees: Vec<f64> = data.telemetry.iter().filter_map(|t| t.temperature_c).collect();
            let highest = degrees.iter().copied().reduce(f64::max);
            let shown = [degrees.first().copied(), highest, degrees.last().copied()];
            cells.extend(shown.map(|c| TableCell::celsius(c).or(TableCell::unreported)));
        }
        if throttled {
            let flags: Vec<bool> = data.telemetry.iter().filter_map(|t| t.throttled).collect();
            let count = flags.iter().filter(|throttled| **throttled).count();
            cells.push(if flags.is_empty() {
                TableCell::unreported()
            } else {
                TableCell::Text(format!("{count} of {}", flags.len()))
            });
        }
        if power {
            cells.push(watts_cell(point).or(TableCell::unreported));
        }
        cells
    });
    let mut notes = section_remarks(section);
    notes.push("slowest, fastest: of the recorded intervals".to_owned());
    let notes = spread_notes(notes, &rows);
    section.table("rate and temperature", columns, rows, notes)
}
