//! Report of the test of a standard: its conditions, each with what is required and what was found.

use assay_analysis::standard::StandardReport;

use crate::table::{Column, Heading, Row, Table, TableCell};

/// One row per condition.
pub fn conditions(report: &StandardReport, drive: &Heading) -> Table {
    let rows = report.conditions.iter().map(|condition| {
        let result = match condition.holds {
            true => TableCell::text("pass"),
            false => TableCell::number("DEVIATION").with(|n| n.alarm = true),
        };
        let cells = vec![
            TableCell::Text(condition.required.clone()),
            TableCell::Text(condition.found.clone()),
            result,
        ];
        Row::new(Heading::plain(&condition.about), cells)
    });
    Table {
        caption: format!("{} {}: {drive}", report.standard.name, report.standard.test),
        corner: "condition".to_owned(),
        columns: Column::list([("required", ""), ("found", ""), ("result", "")]),
        rows: rows.collect(),
        notes: Vec::new(),
    }
}

/// The result in one line.
pub fn verdict(report: &StandardReport) -> String {
    let name = &report.standard.name;
    match report.deviations().count() {
        0 => format!("No deviation from {name}, as far as the suite implements it"),
        1 => format!("Not {name}: one deviation"),
        n => format!("Not {name}: {n} deviations"),
    }
}
