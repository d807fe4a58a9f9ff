//! Latency of the first I/O after idle time.

use assay_analysis::wake::{self, Wake};
use assay_units::text::group_digits;

use super::{latency_cells, point_rows, power, reason};
use crate::format::micros;
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};

/// Shortest cell whose power is shown, seconds.
const LEAST_FOR_POWER_S: f64 = 1.0;

/// The latency after the idle time of a point.
pub fn of(point: &Point<'_>) -> Option<Wake> {
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
    let mut columns = super::axis_columns(section);
    columns.push(Column::of("I/Os", ""));
    columns.extend(Column::all_under("latency, \u{b5}s", ["p50", "p99", "max"]));
    columns.extend(Column::all_under(
        "more than the median without, \u{b5}s",
        ["p50", "p99"],
    ));
    columns.push(Column::of("power", "W"));
    let added = |ns: Option<f64>| ns.map_or(TableCell::Empty, |ns| TableCell::number(micros(ns)));
    let rows = point_rows(section, |point| {
        let (Some(result), Some(found)) = (point.result(), of(point)) else {
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
    let mut notes = section.remarks();
    notes.push(
        "every I/O waits for the idle time after the one before it; the last columns: latency \
         beyond the median without idle time; power: of cells of a second or more"
            .to_owned(),
    );
    let table = section.table("latency by idle time", columns, rows, notes);
    table.without_empty_columns()
}
