//! Writing without end: what a drive does fresh, and what is left when its capacity has been written over and over (SNIA SSS PTS).

use assay_store::series::OpSample;
use assay_units::Op;

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{name, remarks};

/// One interval of a course of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// Its middle, seconds since the first cell's start, pauses between cells left out.
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

/// The cells of a drive under one circumstance, one after the other.
#[derive(Clone, Debug)]
pub struct Course<'s, 'a> {
    /// The first of its cells.
    pub point: &'s Point<'a>,
    /// How many there are.
    pub cells: usize,
    /// The drive's capacity.
    pub capacity_bytes: u64,
    /// In time order.
    pub seconds: Vec<Moment>,
}

impl Course<'_, '_> {
    /// Drive and circumstance.
    pub fn name(&self, lineup: &Lineup<'_>) -> String {
        let drive = lineup.drives[self.point.drive].full_name();
        match &self.point.plan().variant {
            Some(variant) => format!("{drive}, {variant}"),
            None => drive,
        }
    }

    /// Mean IOPS of the first and of the last tenth.
    pub fn ends(&self) -> Option<(f64, f64)> {
        Some((self.mean(0.0, 0.1)?.0, self.mean(0.9, 1.0)?.0))
    }

    /// Mean rate of the intervals between two shares of the course, IOPS and MiB/s.
    fn mean(&self, from: f64, to: f64) -> Option<(f64, f64)> {
        let n = self.seconds.len();
        let part = self
            .seconds
            .get((n as f64 * from) as usize..((n as f64 * to).ceil() as usize).min(n))?;
        let count = part.len() as f64;
        (count > 0.0).then(|| {
            (
                part.iter().map(|s| s.iops).sum::<f64>() / count,
                part.iter().map(|s| s.mib_per_s).sum::<f64>() / count,
            )
        })
    }
}

/// The courses of a section, in the order they first occur.
pub fn courses<'s, 'a>(lineup: &Lineup<'_>, section: &'s Section<'a>) -> Vec<Course<'s, 'a>> {
    let mut courses: Vec<Course<'s, 'a>> = Vec::new();
    let mut ends: Vec<(f64, f64)> = Vec::new();
    for point in &section.points {
        let Some(part) = point.part else { continue };
        let same = |c: &Course<'_, '_>| {
            c.point.drive == point.drive && c.point.plan().variant == point.plan().variant
        };
        let at = courses.iter().position(same).unwrap_or_else(|| {
            courses.push(Course {
                point,
                cells: 0,
                capacity_bytes: lineup.drives[point.drive].info.capacity_bytes,
                seconds: Vec::new(),
            });
            ends.push((0.0, 0.0));
            courses.len() - 1
        });
        let (course, end) = (&mut courses[at], &mut ends[at]);
        course.cells += 1;
        let began = end.0;
        for p in part.series.iter().filter(|p| p.op == Op::Write) {
            let moment = moment(p, began, end.1);
            end.1 += p.bytes as f64;
            end.0 = began + p.end.as_secs_f64();
            // An interval without length has no rate.
            if p.elapsed().as_secs_f64() > 0.0 {
                course.seconds.push(moment);
            }
        }
    }
    courses.retain(|c| c.seconds.len() > 2);
    courses
}

fn moment(p: &OpSample, began: f64, written: f64) -> Moment {
    Moment {
        at_s: began + (p.start.as_secs_f64() + p.end.as_secs_f64()) / 2.0,
        written_bytes: written + p.bytes as f64,
        iops: p.iops(),
        mib_per_s: p.mib_per_s(),
        mean_us: p.latency.mean / 1e3,
        p99_99_us: p.latency.p99_99 as f64 / 1e3,
    }
}

/// One row per course: written in all, the first and the last tenth, and what the one is of the other.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let columns = vec![
        Column::of("variant", ""),
        Column::of("written", ""),
        Column::of("capacities written", ""),
        Column::of("first tenth", "IOPS"),
        Column::of("last tenth", "IOPS"),
        Column::of("last tenth", "MiB/s"),
        Column::of("last \u{f7} first", "%"),
    ];
    let rows = courses(lineup, section)
        .iter()
        .map(|course| {
            let written = course.seconds.last().map_or(0.0, |s| s.written_bytes);
            let (first, last) = (course.mean(0.0, 0.1), course.mean(0.9, 1.0));
            let figure =
                |v: Option<f64>| v.map_or(Cell::Empty, |v| Cell::number(format::figure(v)));
            Row {
                name: name(lineup, course.point.drive),
                cells: vec![
                    Cell::Text(course.point.plan().variant.clone().unwrap_or_default()),
                    Cell::number(format::capacity(written as u64)),
                    if course.capacity_bytes > 0 {
                        Cell::number(format::figure(written / course.capacity_bytes as f64))
                    } else {
                        Cell::Empty
                    },
                    figure(first.map(|f| f.0)),
                    figure(last.map(|l| l.0)),
                    figure(last.map(|l| l.1)),
                    match (first, last) {
                        (Some(first), Some(last)) if first.0 > 0.0 => {
                            Cell::number(format::percent(100.0 * last.0 / first.0))
                        }
                        _ => Cell::Empty,
                    },
                ],
            }
        })
        .collect();
    let mut table = Table {
        caption: format!("{}: fresh and saturated", section.title),
        corner: "drive".to_owned(),
        columns,
        rows,
        notes: remarks(lineup, &section.points),
    };
    if section.points.iter().all(|p| p.plan().variant.is_none()) {
        table.columns.remove(0);
        for row in &mut table.rows {
            row.cells.remove(0);
        }
    }
    table
}
