//! Write saturation (SNIA SSS PTS): the rate of a fresh drive and of one whose capacity was written several times.

use assay_units::Op;

use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, Section};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{name, remarks};

/// One interval of consecutive cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SaturationPoint {
    /// Its middle, seconds since the first cell's start, without the pauses between cells.
    pub at_s: f64,
    /// Written since then, bytes.
    pub written_bytes: f64,
    /// Operations per second.
    pub iops: f64,
    /// MiB per second.
    pub mib_per_s: f64,
    /// Mean latency of writes, microseconds.
    pub mean_us: f64,
    /// 99.99th percentile of writes, microseconds.
    pub p99_99_us: f64,
}

/// The consecutive cells of a drive and variant.
#[derive(Clone, Debug)]
pub struct SaturationSeries<'s, 'a> {
    /// The first cell.
    pub point: &'s Point<'a>,
    /// Number of cells.
    pub cells: usize,
    /// The drive's capacity.
    pub capacity_bytes: u64,
    /// Intervals, in time order.
    pub points: Vec<SaturationPoint>,
}

impl SaturationSeries<'_, '_> {
    /// Drive and variant.
    pub fn name(&self, set: &DriveSet<'_>) -> String {
        let drive = set.full_name(self.point.drive);
        match &self.point.plan().variant {
            Some(variant) => format!("{drive}, {variant}"),
            None => drive,
        }
    }

    /// Mean IOPS of the first and of the last tenth.
    pub fn ends(&self) -> Option<(f64, f64)> {
        Some((self.mean(0.0, 0.1)?.0, self.mean(0.9, 1.0)?.0))
    }

    /// Mean rate of the intervals between two shares of the series, IOPS and MiB/s.
    fn mean(&self, from: f64, to: f64) -> Option<(f64, f64)> {
        let n = self.points.len();
        let (from, to) = (
            (n as f64 * from) as usize,
            ((n as f64 * to).ceil() as usize).min(n),
        );
        let points = self
            .points
            .get(from..to)
            .filter(|points| !points.is_empty())?;
        let mean = |of: fn(&SaturationPoint) -> f64| {
            points.iter().map(of).sum::<f64>() / points.len() as f64
        };
        Some((mean(|s| s.iops), mean(|s| s.mib_per_s)))
    }
}

/// The series of a section, in the order of their first occurrence.
pub fn series<'s, 'a>(
    set: &DriveSet<'_>,
    section: &'s Section<'a>,
) -> Vec<SaturationSeries<'s, 'a>> {
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
                capacity_bytes: set.drives[point.drive].info.capacity_bytes,
                points: Vec::new(),
            };
            all.push((series, 0.0, 0.0));
            all.len() - 1
        });
        let (series, end_s, written_bytes) = &mut all[at];
        series.cells += 1;
        let start_s = *end_s;
        for p in data.series.iter().filter(|p| p.op == Op::Write) {
            *written_bytes += p.bytes as f64;
            *end_s = start_s + p.end.as_secs_f64();
            // An interval without length has no rate.
            if p.end > p.start {
                series.points.push(SaturationPoint {
                    at_s: start_s + (p.start.as_secs_f64() + p.end.as_secs_f64()) / 2.0,
                    written_bytes: *written_bytes,
                    iops: p.iops(),
                    mib_per_s: p.mib_per_s(),
                    mean_us: p.latency.mean / 1e3,
                    p99_99_us: p.latency.p99_99 as f64 / 1e3,
                });
            }
        }
    }
    all.retain(|(s, ..)| s.points.len() > 2);
    all.into_iter().map(|(series, ..)| series).collect()
}

/// One row per series: bytes written, the first and the last tenth, and their ratio.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>) -> Table {
    let columns = [
        ("variant", ""),
        ("written", ""),
        ("capacities written", ""),
        ("first tenth", "IOPS"),
        ("last tenth", "IOPS"),
        ("last tenth", "MiB/s"),
        ("last \u{f7} first", "%"),
    ];
    let rows = series(set, section).into_iter().map(|series| {
        let written = series.points.last().map_or(0.0, |s| s.written_bytes);
        let (first, last) = (series.mean(0.0, 0.1), series.mean(0.9, 1.0));
        let capacity = Some(series.capacity_bytes as f64).filter(|bytes| *bytes > 0.0);
        let ratio = first.zip(last).filter(|(first, _)| first.0 > 0.0);
        let figure = |value: Option<f64>| value.map(Cell::figure).unwrap_or_default();
        let variant = series.point.plan().variant.clone();
        let cells = vec![
            variant.map(Cell::Text).unwrap_or_default(),
            Cell::number(format::capacity(written as u64)),
            figure(capacity.map(|bytes| written / bytes)),
            figure(first.map(|f| f.0)),
            figure(last.map(|l| l.0)),
            figure(last.map(|l| l.1)),
            ratio
                .map(|(first, last)| Cell::percent(100.0 * last.0 / first.0))
                .unwrap_or_default(),
        ];
        Row::new(name(set, series.point.drive), cells)
    });
    let columns = columns
        .map(|(label, unit)| Column::of(label, unit))
        .to_vec();
    let notes = remarks(set, &section.points);
    Table::of_drives(
        section.caption("fresh and saturated"),
        columns,
        rows.collect(),
        notes,
    )
    .without_empty_columns()
}
