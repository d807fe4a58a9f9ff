//! Causes of the rate: phases, causes and evidence.

use assay_analysis::attribution::Cause;

use crate::format::joined;
use crate::grid::Section;
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{axis_columns, rows_of_points};

/// One row per phase of every drive.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = axis_columns(section);
    columns.extend(Column::list([
        ("from", "s"),
        ("to", "s"),
        ("cause", ""),
        ("mean", "MiB/s"),
        ("mean", "IOPS"),
        ("evidence", ""),
    ]));
    let rows = rows_of_points(section, |point| {
        let cells = point.phases().iter().map(|phase| {
            vec![
                TableCell::figure(phase.from_s),
                TableCell::figure(phase.to_s),
                TableCell::Text(cause_text(&phase.cause)),
                TableCell::figure(phase.mean_mib_per_s),
                TableCell::figure(phase.mean_iops),
                TableCell::text(&phase.evidence),
            ]
        });
        cells.collect()
    });
    section.table("causes of the rate", columns, rows, Vec::new())
}

/// A cause with its figures.
pub fn cause_text(cause: &Cause) -> String {
    joined([cause.label(), &cause.details().unwrap_or_default()], ", ")
}
