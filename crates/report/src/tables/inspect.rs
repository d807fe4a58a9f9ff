//! Contents of the medium, and its preparation.

use assay_store::model::{AREA_WRITTEN_PCT, CellResult};
use assay_units::text::format_size;

use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, step_title};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{reason, remarks};
use crate::tables::figures::{value_cells, value_keys};

/// A row of leading cells, followed by those of the result or the reason why there is none.
fn row(
    point: &Point<'_>,
    leading: Vec<TableCell>,
    of: impl Fn(&CellResult) -> Vec<TableCell>,
) -> Row {
    let own = point.result().map_or_else(|| vec![reason(point)], of);
    point.table_row(leading.into_iter().chain(own).collect())
}

/// Results of inspections: one row per cell and drive, one column per value.
pub fn table(points: &[Point<'_>], title: &str) -> Table {
    let keys = value_keys(points.iter().filter_map(Point::result));
    let mut columns = vec![Column::new("area", "")];
    columns.extend(keys.iter().map(|k| Column::new(format::humanise(k), "")));
    let rows = points.iter().map(|point| {
        let w = &point.plan().workload;
        let (span, offset) = (format_size(w.span_bytes), format_size(w.offset_bytes));
        let area = TableCell::Text(format!("{span} at {offset}"));
        row(point, vec![area], |result| value_cells(result, &keys))
    });
    Table::of_drives(title.to_owned(), columns, rows.collect(), remarks(points))
}

/// Preparations: timed, but without a result.
pub fn preparations(points: &[Point<'_>], set: &DriveSet<'_>) -> Table {
    let columns = Column::list([
        ("what", ""),
        ("data", ""),
        ("written", ""),
        ("took", ""),
        ("bandwidth", "MiB/s"),
        ("of the area", "%"),
    ]);
    let rows = points.iter().map(|point| {
        let plan = point.plan();
        let leading = [step_title(plan), &plan.workload.data].map(TableCell::text);
        row(point, Vec::from(leading), |result| {
            vec![
                TableCell::number(format_size(result.read.bytes + result.write.bytes)),
                TableCell::number(format::duration(result.elapsed.0)),
                TableCell::figure(result.mib_per_s()),
                TableCell::figure(result.values.get(AREA_WRITTEN_PCT).copied()),
            ]
        })
    });
    let caption = "Preparation of the measured areas".to_owned();
    let mut notes = remarks(points);
    let left = set.left_states().into_iter();
    notes.extend(left.map(|(heading, left)| format!("{heading}: {}", left.text)));
    Table::of_drives(caption, columns, rows.collect(), notes)
}
