//! I/Os that missed their deadlines.

use assay_analysis::deadlines::{self, Misses, of_all};
use assay_units::Nanos;

use crate::charts::percentiles;
use crate::format::{figure, joined, text_or};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{latency_cells, mark, reason, section_remarks};
use crate::tables::figures::operations;
use crate::views::descriptor::{KeyFigure, SectionView};

/// Misses per million by workload.
pub const VIEW: SectionView = SectionView {
    how_to_read,
    tables: |section| vec![table(section)],
    charts: |section| percentiles::chart(section).into_iter().collect(),
    key_figures: |section, drive| {
        let keys = section.measured(drive).filter_map(|point| {
            let deadline = Nanos(*point.plan().deadlines_ns.first()?);
            let misses = of_all(point.data?, deadline)?;
            let at = point.coordinates(&section.varying());
            Some(KeyFigure {
                label: format!("{}: missed {deadline}", section.title),
                value: figure(misses.per_million()),
                unit: "per million",
                details: at,
            })
        });
        // The heaviest load is the last.
        keys.last().into_iter().collect()
    },
    ..SectionView::DEFAULT
};

fn how_to_read(section: &Section<'_>) -> &'static str {
    let due = |point: &Point<'_>| point.plan().workload.rate_iops > 0.0;
    if section.points.iter().any(due) {
        return "I/Os are due at a fixed rate, whether or not earlier ones have completed, and \
                each has a deadline. A million of them is what a busy server does in minutes: a \
                few hundred misses per million are stalls that users see. Read the table from \
                the lowest rate up: a drive carries the highest rate whose misses are acceptable.";
    }
    "Each I/O is submitted when the one before it has completed, and has a deadline. A million of \
     them is what a busy server does in minutes: a few hundred misses per million are stalls that \
     users see. A closed loop submits less while the drive stalls, so that with arrivals at a \
     fixed rate more would be late."
}

/// The deadlines of the points, shortest first.
pub fn deadlines_ns(points: &[Point<'_>]) -> Vec<u64> {
    let plans = points.iter().map(Point::plan);
    let mut all: Vec<u64> = plans.flat_map(|plan| plan.deadlines_ns.clone()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

pub fn columns(deadlines_ns: &[u64]) -> Vec<Column> {
    let columns = deadlines_ns.iter();
    columns.map(|ns| Column::under("missed, per million", &format!("{}", Nanos(*ns)), "")).collect()
}

/// The misses of a point by an operation, per deadline.
pub fn cells(point: &Point<'_>, operation: &str, deadlines_ns: &[u64]) -> Vec<TableCell> {
    let cell = |ns: &u64| {
        let own = point.plan().deadlines_ns.contains(ns);
        let found = point.data.filter(|_| own)?;
        let mut found = deadlines::misses_of_cell(found, Nanos(*ns)).into_iter();
        found.find(|misses| misses.op.name() == operation).map(misses_cell)
    };
    let cells = deadlines_ns.iter().map(cell);
    cells.map(|cell| cell.unwrap_or(TableCell::Empty)).collect()
}

fn misses_cell(misses: Misses) -> TableCell {
    let text = match misses.shown_below() {
        // As far as that many operations show.
        Some(below) => format!("0 (< {})", figure(below)),
        None => figure(misses.per_million()),
    };
    TableCell::number(text).with(|number| {
        number.details = format!(
            "{} of {} {}s missed {}",
            misses.missed,
            misses.ios,
            misses.op.name(),
            misses.deadline
        );
    })
}

/// What the columns of [`columns`] mean.
pub const NOTE: &str = "missed: latency beyond the deadline, or failed, from the raw histogram; 0 \
                        (< x): none was missed, and so many operations show no rate below x per \
                        million. Misses come in groups, so one run gives no interval";

/// One row per drive, workload and operation.
pub fn table(section: &Section<'_>) -> Table {
    const NAMES: [&str; 4] = ["p50", "p99", "p99.99", "max"];
    let deadlines_ns = deadlines_ns(&section.points);
    let axes = section.varying();
    let mut columns_of_table = Column::list([
        ("workload", ""),
        ("operation", ""),
        ("bandwidth", "MiB/s"),
        ("rate", "IOPS"),
    ]);
    columns_of_table.extend(columns(&deadlines_ns));
    columns_of_table.extend(Column::all_under("latency, \u{b5}s", NAMES));
    let mut rows: Vec<Row> = Vec::new();
    for point in &section.points {
        let name = match &point.plan().job {
            Some(job) => joined([&job.matrix, &job.name], ", "),
            None => point.coordinates(&axes),
        };
        let leading = vec![TableCell::text(text_or(&name, section.title))];
        let Some(result) = point.result() else {
            rows.push(point.table_row([leading, vec![reason(point)]].concat()));
            continue;
        };
        for (operation, summary) in operations(result) {
            let mut cells_of_row = leading.clone();
            cells_of_row.push(TableCell::text(operation));
            let rate = TableCell::figure((summary.bytes > 0).then_some(summary.mib_per_s));
            cells_of_row.push(rate.with(|n| n.mark = mark(point)));
            cells_of_row.push(TableCell::figure(summary.iops));
            cells_of_row.extend(cells(point, operation, &deadlines_ns));
            cells_of_row.extend(latency_cells(&summary.latency_ns, &NAMES));
            rows.push(point.table_row(cells_of_row));
        }
    }
    let mut notes = section_remarks(section);
    notes.push(NOTE.to_owned());
    section.table("deadlines", columns_of_table, rows, notes)
}
