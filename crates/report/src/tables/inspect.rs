//! Contents of the medium, and its preparation.

use assay_store::model::CellResult;
use assay_units::text::format_size;

use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, step_title};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{name, reason, remarks};

/// A row of leading cells, followed by those of the result or the reason why there is none.
fn row(
    set: &DriveSet<'_>,
    point: &Point<'_>,
    leading: Vec<Cell>,
    of: impl Fn(&CellResult) -> Vec<Cell>,
) -> Row {
    let own = point.result().map_or_else(|| vec![reason(point)], of);
    Row::new(
        name(set, point.drive),
        leading.into_iter().chain(own).collect(),
    )
}

/// Results of inspections: one row per cell and drive, one column per value.
pub fn table(set: &DriveSet<'_>, points: &[Point<'_>], title: &str) -> Table {
    let results = points.iter().filter_map(Point::result);
    let mut keys: Vec<&str> = results
        .flat_map(|r| r.values.keys().map(String::as_str))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let mut columns = vec![Column::of("area", "")];
    columns.extend(keys.iter().map(|k| Column::of(format::humanise(k), "")));
    let values = |result: &CellResult| {
        let value = |k: &&str| {
            result
                .values
                .get(*k)
                .map(|v| Cell::figure(*v))
                .unwrap_or_default()
        };
        keys.iter().map(value).collect()
    };
    let rows = points.iter().map(|point| {
        let w = &point.plan().workload;
        let area = format!(
            "{} at {}",
            format_size(w.span_bytes),
            format_size(w.offset_bytes)
        );
        row(set, point, vec![Cell::Text(area)], values)
    });
    Table::of_drives(
        title.to_owned(),
        columns,
        rows.collect(),
        remarks(set, points),
    )
}

/// Preparations: timed, but without a result.
pub fn preparations(set: &DriveSet<'_>, points: &[Point<'_>]) -> Table {
    let columns = [
        ("what", ""),
        ("data", ""),
        ("written", ""),
        ("took", ""),
        ("bandwidth", "MiB/s"),
    ];
    let rows = points.iter().map(|point| {
        let plan = point.plan();
        let leading = vec![
            Cell::text(step_title(plan)),
            Cell::text(&plan.workload.data),
        ];
        row(set, point, leading, |result| {
            vec![
                Cell::number(format_size(result.read.bytes + result.write.bytes)),
                Cell::number(format::duration(result.elapsed.0)),
                Cell::figure(result.mib_per_s()),
            ]
        })
    });
    let caption = "Preparation of the measured areas".to_owned();
    let columns = columns
        .map(|(label, unit)| Column::of(label, unit))
        .to_vec();
    Table::of_drives(caption, columns, rows.collect(), remarks(set, points))
}
