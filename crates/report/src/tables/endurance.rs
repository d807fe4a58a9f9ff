//! Write amplification by step, with the counters that it comes from; wear of the media during the
//! runs.

use std::collections::BTreeSet;

use assay_analysis::endurance::{self, NoAmplification, StepEndurance};
use assay_store::model::TelemetryRecord;
use assay_units::text::format_size;

use super::health::ends;
use crate::drive_set::DriveSet;
use crate::format::{self, short_title};
use crate::grid::step_title;
use crate::table::{Column, Row, Table, TableCell};

/// One row per drive, run and step that writes, of drives that report what they write to their
/// media; `None` without any.
pub fn table(set: &DriveSet<'_>) -> Option<Table> {
    let several = set.runs.len() > 1;
    let mut columns: Vec<Column> = several.then(|| Column::new("run", "")).into_iter().collect();
    columns.push(Column::new("step", ""));
    columns.extend(Column::all_under("written", ["by the host", "to the media"]));
    let of_factor = ["factor", "\u{b1} %", "counter"];
    columns.extend(Column::all_under("write amplification", of_factor));
    let rated = ["host writes", "left", "drive writes per day"];
    columns.extend(Column::all_under("endurance with this workload", rated));
    let mut rows = Vec::new();
    let mut reasons = BTreeSet::new();
    for drive in &set.drives {
        for &(run, index) in &drive.origins {
            let run = &set.runs[run];
            let source = endurance::origins(&run.manifest.drives[index]);
            let source = source.map_or("", |origins| origins.media.source.name());
            let suite = several.then(|| TableCell::text(short_title(&run.manifest.suite.title)));
            for step in endurance::of_steps(run, index) {
                if step.amplification == Err(NoAmplification::NoCounter) {
                    continue;
                }
                reasons.extend(step.amplification.as_ref().err().map(ToString::to_string));
                let mut cells: Vec<TableCell> = suite.clone().into_iter().collect();
                let mut plans = run.cells.iter().map(|cell| &cell.plan);
                let plan = plans.find(|plan| plan.step == step.step);
                let title = plan.map_or(step.step.as_str(), |plan| step_title(plan));
                let title = short_title(title);
                cells.push(TableCell::text(match step.window {
                    Some((first, last)) => format!("{title}, rounds {first} to {last} (steady)"),
                    None => title.to_owned(),
                }));
                cells.extend(figures(&step, source));
                rows.push(Row::new(drive.heading.clone(), cells));
            }
        }
    }
    let mut notes = vec![
        "write amplification: growth of the drive's counter of bytes written to its media over \
         that of bytes written by the host, both about the whole drive; \u{b1} by the steps in \
         which they count"
            .to_owned(),
        "endurance: bytes that the host may write with this workload until the media have taken \
         their rated bytes, which the drive's log states"
            .to_owned(),
    ];
    notes.extend(reasons.iter().map(|reason| format!("none: {reason}")));
    let table = Table::of_drives("Write amplification".to_owned(), columns, rows, notes);
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}

fn figures(step: &StepEndurance, source: &str) -> Vec<TableCell> {
    let bytes = |bytes: u64| TableCell::number(format_size(bytes));
    let size = |bytes: f64| TableCell::number(format::decimal_size(bytes));
    let found = step.amplification.as_ref();
    let growth = found.ok().map(|found| found.growth);
    let error = found.ok().map(|found| found.error_pct());
    let error = error.filter(|pct| *pct > 0.0);
    let factor = match found {
        Ok(found) => TableCell::number(format!("{:.2}", found.factor)),
        Err(reason) => TableCell::Missing("none", reason.to_string()),
    };
    let rated = step.rated.as_ref();
    vec![
        growth.map_or(TableCell::Empty, |growth| bytes(growth.host_bytes)),
        growth.map_or(TableCell::Empty, |growth| bytes(growth.media_bytes)),
        factor,
        TableCell::percent(error),
        TableCell::text(source),
        rated.map_or(TableCell::Empty, |rated| size(rated.host_bytes)),
        rated.map_or(TableCell::Empty, |rated| size(rated.left_bytes)),
        rated
            .and_then(|rated| rated.drive_writes_per_day)
            .map_or(TableCell::Empty, |dwpd| TableCell::number(format!("{dwpd:.2}"))),
    ]
}

/// One row per drive and run: wear at the first and at the last reading; `None` where no drive
/// reports erases.
pub fn wear(set: &DriveSet<'_>) -> Option<Table> {
    let mut columns = vec![Column::new("run", "")];
    for (group, unit) in [
        ("used", "%"),
        ("spare", "%"),
        ("least erases", ""),
        ("mean erases", ""),
        ("most erases", ""),
        ("bad blocks", ""),
    ] {
        columns.extend(["before", "after"].map(|label| Column::under(group, label, unit)));
    }
    type Counter = fn(&TelemetryRecord) -> Option<u64>;
    let counters: [Counter; 6] = [
        |r| r.percentage_used.map(u64::from),
        |r| r.available_spare_pct.map(u64::from),
        |r| r.erases_least,
        |r| r.erases_mean,
        |r| r.erases_most,
        |r| r.bad_blocks,
    ];
    let mut rows = Vec::new();
    for drive in &set.drives {
        for &(run, index) in &drive.origins {
            let cells = set.runs[run].cells.iter();
            let parts = cells.filter_map(|cell| cell.drive(index));
            let readings: Vec<&TelemetryRecord> = parts.flat_map(|part| &part.telemetry).collect();
            if ends(&readings, |r| r.erases_most).is_none() {
                continue;
            }
            let suite = short_title(&set.runs[run].manifest.suite.title);
            let mut cells = vec![TableCell::text(suite)];
            for counter in counters {
                let number = |n: u64| TableCell::number(n.to_string());
                match ends(&readings, counter) {
                    Some((first, last)) => cells.extend([number(first), number(last)]),
                    None => cells.extend([TableCell::Empty, TableCell::Empty]),
                }
            }
            rows.push(Row::new(drive.heading.clone(), cells));
        }
    }
    let note = "erases of the blocks of user data, as the drive counts them; before and after: \
                first and last reading of the run";
    let table = Table::of_drives("Wear".to_owned(), columns, rows, vec![note.to_owned()]);
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}
