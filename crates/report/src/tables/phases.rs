//! Why rates were what they were: phases, causes and the evidence for them.

use crate::charts::phases;
use crate::format;
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::name;

/// One row per phase of every drive.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let axes = section.varying();
    let column = |label: &str, unit: &'static str| Column {
        label: label.to_owned(),
        unit,
        ..Column::default()
    };
    let mut columns: Vec<Column> = axes.iter().map(|a| column(a.title(), "")).collect();
    columns.extend([
        column("from", "s"),
        column("to", "s"),
        column("cause", ""),
        column("mean", "MiB/s"),
        column("mean", "IOPS"),
        column("what shows it", ""),
    ]);
    let mut rows = Vec::new();
    for point in &section.points {
        for phase in phases::of(lineup, point).iter() {
            let mut cells: Vec<Cell> = axes
                .iter()
                .map(|a| Cell::Text(a.value(point.plan()).label))
                .collect();
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
