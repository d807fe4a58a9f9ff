//! Health logs during the measurements, by run: initial values and increments.

use std::collections::BTreeSet;

use assay_store::model::TelemetryRecord;
use assay_units::text::format_size;

use crate::drive_set::DriveSet;
use crate::format::{self, joined, text_or};
use crate::table::{Column, Row, Table, TableCell};

/// First and last value in a run.
pub fn ends<T>(
    readings: &[&TelemetryRecord],
    of: impl Fn(&TelemetryRecord) -> Option<T>,
) -> Option<(T, T)> {
    let first = readings.iter().find_map(|r| of(r))?;
    let last = readings.iter().rev().find_map(|r| of(r))?;
    Some((first, last))
}

/// Increment of a counter as a cell. A counter that the drive resets counts as no increment.
fn increment(ends: Option<(u64, u64)>, cell: impl Fn(u64) -> TableCell) -> TableCell {
    ends.map_or(TableCell::Empty, |(first, last)| cell(last.saturating_sub(first)))
}

fn seconds(increment: u64) -> TableCell {
    match increment {
        0 => TableCell::number("0"),
        // A log can contain any time: one beyond 584 years is shown as 584 years.
        seconds => TableCell::number(format::duration(seconds.saturating_mul(1_000_000_000))),
    }
}

/// One row per drive and run; `None` where no drive reports its health.
pub fn table(set: &DriveSet<'_>) -> Option<Table> {
    let mut columns = vec![Column::new("run", "")];
    columns.extend(Column::all_under("temperature, \u{b0}C", ["first", "highest"]));
    let increments = [
        ("time too warm", ""),
        ("time critical", ""),
        ("throttled", "times"),
        ("media errors", ""),
        ("error log", "entries"),
    ];
    let increment_of = |(label, unit)| Column::under("increment in the run", label, unit);
    columns.extend(increments.map(increment_of));
    let moved = "transferred in the run, by its own count";
    columns.extend(Column::all_under(moved, ["read", "written"]));
    columns.extend(["used", "spare left"].map(|label| Column::under("endurance", label, "%")));
    columns.push(Column::new("critical warnings", ""));
    let bytes = |increment: u64| TableCell::number(format_size(increment));
    let mut rows = Vec::new();
    for drive in &set.drives {
        for &(run, index) in &drive.origins {
            let cells = set.runs[run].cells.iter();
            let own = cells.flat_map(|c| c.drives.iter().filter(|d| d.drive == index));
            let readings: Vec<&TelemetryRecord> = own.flat_map(|d| &d.telemetry).collect();
            let Some(media) = ends(&readings, |r| r.media_errors) else {
                continue;
            };
            let warnings = readings.iter().flat_map(|r| &r.critical_warnings);
            let warnings: BTreeSet<&String> = warnings.collect();
            let degrees = || readings.iter().filter_map(|r| r.temperature_c);
            let counter = |of: fn(&TelemetryRecord) -> Option<u64>| ends(&readings, of);
            let last = |of: fn(&TelemetryRecord) -> Option<u8>| {
                let ends = ends(&readings, of);
                ends.map_or(TableCell::Empty, |(_, last)| TableCell::number(last.to_string()))
            };
            // The title is before the colon; the explanation follows it.
            let suite = set.runs[run].manifest.suite.title.split(':').next();
            let cells = vec![
                TableCell::text(suite.unwrap_or_default()),
                TableCell::celsius(degrees().next()),
                TableCell::celsius(degrees().reduce(f64::max)),
                increment(counter(|r| r.warning_time_s), seconds),
                increment(counter(|r| r.critical_time_s), seconds),
                increment(counter(|r| r.thermal_transitions), TableCell::fault_count),
                increment(Some(media), TableCell::fault_count),
                increment(counter(|r| r.error_log_entries), TableCell::fault_count),
                increment(counter(|r| r.host_bytes_read), bytes),
                increment(counter(|r| r.host_bytes_written), bytes),
                last(|r| r.percentage_used),
                last(|r| r.available_spare_pct),
                TableCell::text(text_or(&joined(warnings, ", "), "none")),
            ];
            rows.push(Row::new(drive.heading.clone(), cells));
        }
    }
    let note = "from the health log of each drive, read at every interval; real drives count the \
                time too warm in whole minutes and transfers in thousands of 512 bytes";
    let table = Table::of_drives("Health".to_owned(), columns, rows, vec![note.to_owned()]);
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}
