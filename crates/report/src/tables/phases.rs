//! Causes of the rate: phases, causes and evidence.

use crate::charts::phases;
use crate::drive_set::DriveSet;
use crate::grid::Section;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{axis_cells, axis_columns, name};

/// One row per phase of every drive.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>) -> Table {
    let axes = section.varying();
    let mut columns = axis_columns(&axes);
    let labels = [
        ("from", "s"),
        ("to", "s"),
        ("cause", ""),
        ("mean", "MiB/s"),
        ("mean", "IOPS"),
        ("evidence", ""),
    ];
    columns.extend(labels.map(|(label, unit)| Column::of(label, unit)));
    let mut rows = Vec::new();
    for point in &section.points {
        for phase in phases::of(set, point).iter() {
            let mut cells = axis_cells(&axes, point);
            cells.extend([
                Cell::figure(phase.from_s),
                Cell::figure(phase.to_s),
                Cell::text(&phase.cause),
                Cell::figure(phase.mib_per_s),
                Cell::figure(phase.iops),
                Cell::text(&phase.evidence),
            ]);
            rows.push(Row::new(name(set, point.drive), cells));
        }
    }
    Table::of_drives(
        section.caption("causes of the rate"),
        columns,
        rows,
        Vec::new(),
    )
}
