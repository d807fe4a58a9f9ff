//! Write saturation test (SNIA SSS PTS).

use assay_analysis::steady_time::{self, TimeToSteady};
use assay_store::series::OpSample;
use assay_units::Op;
use serde_json::json;

use crate::chart::{Chart, ChartView, colour};
use crate::charts::draw::{Panel, Trace, linear, logarithmic, panels, thinned, thinned_note};
use crate::charts::phases;
use crate::format::{self, figure, for_drawing, joined};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::section_remarks;
use crate::tables::rate::small_blocks;
use crate::views::descriptor::{KeyFigure, SectionView, causes};

/// Continuous random writes to a purged drive.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "One continuous write, to a purged drive unless its title says otherwise. The first level \
         is the fresh drive; the drops are caches that fill and over-provisioning that is used up; \
         the last level is the steady state. Plotted over capacities written instead of time, \
         drives of different size and speed are comparable: the position of the last drop, between \
         one and two capacities, depends on the over-provisioning."
    },
    tables: |section| vec![table(section)],
    charts,
    or_charts_of_kind: true,
    switch_legend: Some("Horizontal axis"),
    folded_tables: causes,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let series = series(section);
    let own = series.iter().filter(|s| s.point.drive == drive);
    own.filter_map(|s| Some((s.first()?, s.last()?)))
        .map(|(first, last)| KeyFigure {
            label: format!("{}, at the end", section.title),
            value: figure(last.0),
            unit: "IOPS",
            details: format!("{} at first", figure(first.0)),
        })
        .collect()
}

/// One interval of consecutive cells.
#[derive(Clone, Copy, Debug)]
pub struct SaturationPoint<'a> {
    /// Its middle, seconds since the first cell's start, without the pauses between cells.
    pub at_s: f64,
    /// Written since then, bytes.
    pub written_bytes: f64,
    pub writes: &'a OpSample,
}

/// The consecutive cells of a drive and variant.
#[derive(Clone, Debug)]
pub struct SaturationSeries<'s, 'a> {
    pub point: &'s Point<'a>,
    pub cells: usize,
    pub capacity_bytes: u64,
    /// Intervals, in time order.
    pub points: Vec<SaturationPoint<'a>>,
}

impl SaturationSeries<'_, '_> {
    pub fn name(&self) -> String {
        joined([self.point.name().as_str(), self.point.variant()], ", ")
    }

    /// Mean rate of the first tenth of the intervals, IOPS and MiB/s.
    pub fn first(&self) -> Option<(f64, f64)> {
        self.mean(0.0, 0.1)
    }

    /// Mean rate of the last tenth.
    pub fn last(&self) -> Option<(f64, f64)> {
        self.mean(0.9, 1.0)
    }

    fn mean(&self, from: f64, to: f64) -> Option<(f64, f64)> {
        let n = self.points.len() as f64;
        let (from, to) = ((n * from) as usize, (n * to).ceil() as usize);
        let points = self.points.get(from..to.min(self.points.len()))?;
        let mean = |of: fn(&OpSample) -> f64| {
            points.iter().map(|s| of(s.writes)).sum::<f64>() / points.len() as f64
        };
        (!points.is_empty()).then(|| (mean(OpSample::iops), mean(OpSample::mib_per_s)))
    }
}

/// The series of a section, in the order of their first occurrence.
pub fn series<'s, 'a>(section: &'s Section<'a>) -> Vec<SaturationSeries<'s, 'a>> {
    // Each with its duration, seconds, and the bytes written so far.
    let mut all: Vec<(SaturationSeries<'s, 'a>, f64, f64)> = Vec::new();
    for point in &section.points {
        let Some(data) = point.data else { continue };
        let same = |(s, ..): &(SaturationSeries<'_, '_>, f64, f64)| {
            s.point.drive == point.drive && s.point.plan().variant == point.plan().variant
        };
        let at = all.iter().position(same).unwrap_or_else(|| {
            let series = SaturationSeries {
                point,
                cells: 0,
                capacity_bytes: section.set.drives[point.drive].info.capacity_bytes,
                points: Vec::new(),
            };
            all.push((series, 0.0, 0.0));
            all.len() - 1
        });
        let (series, end_s, written_bytes) = &mut all[at];
        series.cells += 1;
        let start_s = *end_s;
        for writes in data.series.iter().filter(|p| p.op == Op::Write) {
            *written_bytes += writes.bytes as f64;
            *end_s = start_s + writes.end.as_secs_f64();
            // An interval without length has no rate.
            if writes.end > writes.start {
                let middle = (writes.start.as_secs_f64() + writes.end.as_secs_f64()) / 2.0;
                series.points.push(SaturationPoint {
                    at_s: start_s + middle,
                    written_bytes: *written_bytes,
                    writes,
                });
            }
        }
    }
    all.retain(|(s, ..)| s.points.len() > 2);
    all.into_iter().map(|(series, ..)| series).collect()
}

/// When the rate of a point became steady, or why it never did; `None` of cells that cannot say.
pub fn time_to_steady(point: &Point<'_>) -> Option<Result<TimeToSteady, String>> {
    steady_time::of_cell(&point.set.runs[point.run], point.cell, point.index)
}

/// Columns of [`steady_cells`].
pub fn steady_columns() -> [Column; 2] {
    Column::all_under("steady after", ["time", "capacities"])
}

/// The time until a point was steady, and the capacities written until then.
pub fn steady_cells(point: &Point<'_>) -> [TableCell; 2] {
    match time_to_steady(point) {
        Some(Ok(found)) => {
            let time = match (found.seconds * 1e9).round() as u64 {
                0 => "at once".to_owned(),
                ns => format::duration(ns),
            };
            let time = TableCell::number(time);
            let resolution = format::duration((found.round_s * 1e9).round() as u64);
            let time = time.with(|n| n.details = format!("rounds of {resolution}"));
            [time, TableCell::figure(found.capacities)]
        }
        Some(Err(why)) => [TableCell::Missing("never", why), TableCell::Empty],
        None => [TableCell::Empty, TableCell::Empty],
    }
}

/// Explanation of [`steady_cells`].
pub const STEADY_NOTE: &str = "steady after: from then on every window of five rounds (a minute \
                               each, or a sixtieth of a shorter cell) meets SNIA's rule and is \
                               within 10 % of the last one";

/// One row per series: bytes written, the first and the last tenth, and their ratio.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = Column::list([
        ("variant", ""),
        ("written", ""),
        ("capacities written", ""),
        ("first tenth", "IOPS"),
        ("last tenth", "IOPS"),
        ("last tenth", "MiB/s"),
        ("last \u{f7} first", "%"),
    ]);
    columns.extend(steady_columns());
    let rows = series(section).into_iter().map(|series| {
        let written = series.points.last().map_or(0.0, |s| s.written_bytes);
        let (first, last) = (series.first(), series.last());
        let capacity = Some(series.capacity_bytes as f64).filter(|bytes| *bytes > 0.0);
        let ratio = first.zip(last).filter(|(first, _)| first.0 > 0.0);
        let variant = series.point.plan().variant.clone();
        let mut cells = vec![
            variant.map_or(TableCell::Empty, TableCell::Text),
            TableCell::number(format::capacity(written as u64)),
            TableCell::figure(capacity.map(|bytes| written / bytes)),
            TableCell::figure(first.map(|f| f.0)),
            TableCell::figure(last.map(|l| l.0)),
            TableCell::figure(last.map(|l| l.1)),
            TableCell::percent(ratio.map(|(first, last)| 100.0 * last.0 / first.0)),
        ];
        cells.extend(steady_cells(series.point));
        series.point.table_row(cells)
    });
    let (rows, mut notes) = (rows.collect(), section_remarks(section));
    if section.points.iter().any(|p| time_to_steady(p).is_some()) {
        notes.push(STEADY_NOTE.to_owned());
    }
    section.table("fresh and saturated", columns, rows, notes).without_empty_columns()
}

/// Height of the chart, pixels.
const HEIGHT: u32 = 640;

/// Rate and latency over time and over capacities written.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let series = series(section);
    let mut left_out = false;
    let mut views: Vec<ChartView> = Vec::new();
    for by_capacity in [false, true] {
        views.extend(view(section, &series, by_capacity, &mut left_out));
    }
    let title = section.caption("rate and latency");
    let notes = left_out.then(thinned_note).into_iter().collect();
    let chart = Chart::new(title, "across", HEIGHT, views);
    chart.map(|c| c.with_notes(notes)).into_iter().collect()
}

/// Axis, unit, name, value, dash, width.
type Line = (&'static str, &'static str, &'static str, fn(&OpSample) -> f64, &'static str, f64);

const IOPS: Line = ("y", "IOPS", "rate", OpSample::iops, "solid", 2.0);
const BANDWIDTH: Line = ("y", "MiB/s", "rate", OpSample::mib_per_s, "solid", 2.0);
const MEAN: Line = ("y2", "\u{b5}s", "mean latency", |s| s.latency.mean / 1e3, "solid", 1.8);
const TAIL: Line =
    ("y2", "\u{b5}s", "p99.99 latency", |s| s.latency.p99_99 as f64 / 1e3, "dot", 1.2);

fn view(
    section: &Section<'_>,
    all: &[SaturationSeries<'_, '_>],
    by_capacity: bool,
    left_out: &mut bool,
) -> Option<ChartView> {
    let rate = if small_blocks(section) { IOPS } else { BANDWIDTH };
    let mut data = Vec::new();
    let mut rows = Vec::new();
    let mut furthest = 0.0f64;
    for (i, series) in all.iter().enumerate() {
        if by_capacity && series.capacity_bytes == 0 {
            continue;
        }
        let across = |s: &SaturationPoint<'_>| {
            if by_capacity { s.written_bytes / series.capacity_bytes as f64 } else { s.at_s }
        };
        let name = series.name();
        let offset = if section.drives.len() == 1 { i } else { 0 };
        for (axis, unit, what, of, dash, size) in [rate, MEAN, TAIL] {
            let values = series.points.iter().map(|s| (across(s), of(s.writes)));
            let (points, any) = thinned(&values.collect::<Vec<_>>());
            *left_out |= any;
            furthest = furthest.max(points.last().map_or(0.0, |p| p.0));
            let trace = Trace {
                name: format!("{name}, {what}"),
                points,
                colour: colour(series.point.drive + offset),
                dash,
                size,
                axis,
                hover: format!("%{{y:,.4~g}} {unit}"),
                ..Trace::default()
            };
            data.push(trace.json());
        }
        if !by_capacity && series.cells == 1 {
            rows.push(phases::PhaseRow::new(series.point, name));
        }
    }
    let rate_panel = Panel { share: 1.2, ..linear(rate.1) };
    let (label, x_title) = if by_capacity {
        ("capacities written", "capacities written since the start")
    } else {
        ("time", "time since the start, s")
    };
    let mut layout = panels(x_title, &[rate_panel, logarithmic("latency, \u{b5}s")]);
    phases::put(&mut layout, &mut data, &rows, HEIGHT);
    layout["xaxis"]["range"] = json!([0.0, for_drawing(furthest)]);
    ChartView::new(label, data, layout)
}
