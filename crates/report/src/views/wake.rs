//! Latency of the first I/O after idle time (AnandTech 2021).

use assay_analysis::wake::{self, Wake};
use assay_units::text::group_digits;
use serde_json::Value;

use crate::chart::{Chart, ChartView, colour};
use crate::charts::draw::{Trace, logarithmic, panels};
use crate::format::{duration, joined, micros};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{axis_columns, latency_cells, point_rows, reason, section_remarks};
use crate::tables::power;
use crate::views::descriptor::{KeyFigure, SectionView};

/// One I/O at a time, with idle time before each.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "One read at a time, each after the same idle time. A step of the latency is a transition: \
         the drive has entered a non-operational power state after that much idle time (Autonomous \
         Power State Transition), and the next command waits for its exit latency, or for the end \
         of the entry and then the exit. Compare the steps with the exit latencies of the drive's \
         power states. A line that stays level shows a drive, or a host, that saves no power while \
         idle: see the power beside it."
    },
    tables: |section| vec![table(section)],
    charts: |section| chart(section).into_iter().collect(),
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let found = section.measured(drive).filter_map(wake_of_point);
    let longest = found.max_by_key(|wake| wake.idle_ns);
    let key = longest.and_then(|wake| {
        Some(KeyFigure {
            label: format!("Wake-up latency after {}", duration(wake.idle_ns)),
            value: micros(wake.added_p50_ns?),
            unit: "\u{b5}s",
            details: format!(
                "median {} \u{b5}s in place of {} without idle time",
                micros(wake.p50_ns as f64),
                micros(wake.p50_ns as f64 - wake.added_p50_ns?)
            ),
        })
    });
    key.into_iter().collect()
}

/// Shortest cell whose power is shown, seconds.
const LEAST_FOR_POWER_S: f64 = 1.0;

/// The latency after the idle time of a point.
pub fn wake_of_point(point: &Point<'_>) -> Option<Wake> {
    wake::of_cell(&point.set.runs[point.run], point.cell, point.index)
}

/// Is the power of a point that of its own time? A reading is the mean since the one before it,
/// which a short cell shares with what preceded it.
fn is_long(point: &Point<'_>) -> bool {
    let last = point.measured_intervals().pop();
    last.is_some_and(|last| last.end_s() >= LEAST_FOR_POWER_S)
}

/// One row per drive and idle time.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = axis_columns(section);
    columns.push(Column::new("I/Os", ""));
    columns.extend(Column::all_under("latency, \u{b5}s", ["p50", "p99", "max"]));
    columns.extend(Column::all_under("more than the median without, \u{b5}s", ["p50", "p99"]));
    columns.push(Column::new("power", "W"));
    let added = |ns: Option<f64>| ns.map_or(TableCell::Empty, |ns| TableCell::number(micros(ns)));
    let rows = point_rows(section, |point| {
        let (Some(result), Some(found)) = (point.result(), wake_of_point(point)) else {
            return vec![reason(point)];
        };
        let latency = result.latency();
        let mut cells = vec![TableCell::number(group_digits(latency.samples))];
        cells.extend(latency_cells(latency, &["p50", "p99", "max"]));
        cells.extend([
            added(found.added_p50_ns),
            added(found.added_p99_ns),
            TableCell::figure(power::mean_watts(point).filter(|_| is_long(point))),
        ]);
        cells
    });
    let mut notes = section_remarks(section);
    notes.push(
        "every I/O waits for the idle time after the one before it; the last columns: latency \
         beyond the median without idle time; power: of cells of a second or more"
            .to_owned(),
    );
    let table = section.table("latency by idle time", columns, rows, notes);
    table.without_empty_columns()
}

/// Name, points, dash and mode.
type Line = (&'static str, Vec<(f64, f64)>, &'static str, &'static str);

/// Median and 99th percentile over the idle time, of all drives and power states.
pub fn chart(section: &Section<'_>) -> Option<Chart> {
    let mut data: Vec<Value> = Vec::new();
    for (at, points) in curves(section).iter().enumerate() {
        let first = points.first()?;
        let state = first.plan().workload.power_state;
        let state = state.map_or(String::new(), |state| format!("power state {state}"));
        let name = joined([first.chart_name(), state], ", ");
        let found: Vec<_> = points.iter().filter_map(|p| wake_of_point(p)).collect();
        let idle: Vec<_> = found.iter().filter(|wake| wake.idle_ns > 0).collect();
        let (Some(shortest), Some(longest)) = (idle.first(), idle.last()) else {
            continue;
        };
        let seconds = |ns: u64| ns as f64 / 1e9;
        let micros = |ns: u64| ns as f64 / 1e3;
        let p50 = idle.iter().map(|w| (seconds(w.idle_ns), micros(w.p50_ns)));
        let p99 = idle.iter();
        let p99 = p99.filter_map(|w| Some((seconds(w.idle_ns), micros(w.p99_ns?))));
        let without = found.iter().filter(|wake| wake.idle_ns == 0);
        let ends = [shortest, longest].map(|wake| seconds(wake.idle_ns));
        let without = without.flat_map(|w| ends.map(|at_s| (at_s, micros(w.p50_ns))));
        let lines: [Line; 3] = [
            ("median", p50.collect(), "solid", "lines+markers"),
            ("p99", p99.collect(), "dot", "lines+markers"),
            ("median without idle time", without.collect(), "dash", "lines"),
        ];
        for (what, points, dash, mode) in lines {
            if points.is_empty() {
                continue;
            }
            let trace = Trace {
                name: joined([name.as_str(), what], ", "),
                points,
                mode,
                colour: colour(at),
                dash,
                hover: "%{y:,.4~g} \u{b5}s".to_owned(),
                ..Trace::default()
            };
            data.push(trace.json());
        }
    }
    let mut layout = panels("idle time, s", &[logarithmic("latency, \u{b5}s")]);
    layout["xaxis"]["type"] = "log".into();
    let view = ChartView::new("latency by idle time", data, layout);
    Chart::new(section.caption("latency by idle time"), "shown", 420, view.into_iter().collect())
}

/// The points of each drive and power state, by idle time.
fn curves<'s, 'a>(section: &'s Section<'a>) -> Vec<Vec<&'s Point<'a>>> {
    let mut curves: Vec<Vec<&Point<'_>>> = Vec::new();
    for &drive in &section.drives {
        for point in section.measured(drive) {
            let key = |p: &Point<'_>| (p.drive, p.plan().workload.power_state);
            match curves.iter_mut().find(|c| key(c[0]) == key(point)) {
                Some(curve) => curve.push(point),
                None => curves.push(vec![point]),
            }
        }
    }
    for curve in &mut curves {
        curve.sort_by_key(|p| p.plan().workload.idle_before_io_ns);
    }
    curves
}
