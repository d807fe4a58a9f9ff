//! Write saturation (SNIA SSS PTS): the rate of a fresh drive and of one whose capacity was written
//! several times.

use assay_analysis::steady_time::{self, TimeToSteady};
use assay_store::series::OpSample;
use assay_units::Op;

use crate::format::{self, joined};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};

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
    let (rows, mut notes) = (rows.collect(), section.remarks());
    if section.points.iter().any(|p| time_to_steady(p).is_some()) {
        notes.push(STEADY_NOTE.to_owned());
    }
    section
        .table("fresh and saturated", columns, rows, notes)
        .without_empty_columns()
}
