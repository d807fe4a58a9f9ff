//! Why rates were what they were: phases, causes and the evidence for them.

use crate::charts::phases;
use crate::format;
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{axis_cells, axis_columns, name};

/// One row per phase of every drive.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let axes = section.varying();
    let mut columns = axis_columns(&axes);
    columns.extend([
        Column::of("from", "s"),
        Column::of("to", "s"),
        Column::of("cause", ""),
        Column::of("mean", "MiB/s"),
        Column::of("mean", "IOPS"),
        Column::of("what shows it", ""),
    ]);
    let mut rows = Vec::new();
    for point in &section.points {
        for phase in phases::of(lineup, point).iter() {
            let mut cells = axis_cells(&axes, point);
            cells.push(Cell::number(format::figure(phase.from_s)));
            cells.push(Cell::number(format::figure(phase.to_s)));
            cells.push(Cell::Text(phase.words.clone()));
            cells.push(Cell::number(format::figure(phase.mib_per_s)));
            cells.push(Cell::number(format::figure(phase.iops)));
            cells.push(Cell::Text(phase.evidence.clone()));
            rows.push(Row {
                name: name(lineup, point.drive),
                cells,
            });
        }
    }
    Table {
        caption: format!("{}: what set the rate", section.title),
        corner: "drive".to_owned(),
        columns,
        rows,
        notes: Vec::new(),
    }
}
