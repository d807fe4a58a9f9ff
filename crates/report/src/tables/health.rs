//! Health logs during the measurements, by run: initial values and increments.

use assay_store::model::TelemetryRecord;
use assay_units::text::format_size;

use crate::drive_set::DriveSet;
use crate::format;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::name;

/// First and last value in a run.
fn ends<T>(
    readings: &[&TelemetryRecord],
    of: impl Fn(&TelemetryRecord) -> Option<T>,
) -> Option<(T, T)> {
    let first = readings.iter().find_map(|r| of(r))?;
    let last = readings.iter().rev().find_map(|r| of(r))?;
    Some((first, last))
}

/// Increment of a counter as a cell. A counter that the drive resets counts as no increment.
fn increment(ends: Option<(u64, u64)>, cell: impl Fn(u64) -> Cell) -> Cell {
    ends.map(|(first, last)| cell(last.saturating_sub(first)))
        .unwrap_or_default()
}

fn seconds(increment: u64) -> Cell {
    match increment {
        0 => Cell::number("0"),
        // A log can contain any time: one beyond 584 years is shown as 584 years.
        seconds => Cell::number(format::duration(seconds.saturating_mul(1_000_000_000))),
    }
}

/// One row per drive and run; `None` where no drive reports its health.
pub fn table(set: &DriveSet<'_>) -> Option<Table> {
    let temperature = "temperature, \u{b0}C";
    let added = "increment in the run";
    let moved = "transferred in the run, by its own count";
    let columns = vec![
        Column::of("run", ""),
        Column::under(temperature, "first", ""),
        Column::under(temperature, "highest", ""),
        Column::under(added, "time too warm", ""),
        Column::under(added, "time critical", ""),
        Column::under(added, "throttled", "times"),
        Column::under(added, "media errors", ""),
        Column::under(added, "error log", "entries"),
        Column::under(moved, "read", ""),
        Column::under(moved, "written", ""),
        Column::under("endurance", "used", "%"),
        Column::under("endurance", "spare left", "%"),
        Column::of("critical warnings", ""),
    ];
    let celsius = |c: Option<f64>| {
        c.map(|c| Cell::number(format!("{c:.0}")))
            .unwrap_or_default()
    };
    let bytes = |increment: u64| Cell::number(format_size(increment));
    let mut rows = Vec::new();
    for (position, drive) in set.drives.iter().enumerate() {
        for &(run, index) in &drive.origins {
            let cells = set.runs[run].cells.iter();
            let own = cells.flat_map(|c| c.drives.iter().filter(|d| d.drive == index));
            let readings: Vec<&TelemetryRecord> = own.flat_map(|d| &d.telemetry).collect();
            let Some(media) = ends(&readings, |r| r.media_errors) else {
                continue;
            };
            let warnings = readings.iter().flat_map(|r| &r.critical_warnings);
            let mut warnings: Vec<&str> = warnings.map(String::as_str).collect();
            warnings.sort_unstable();
            warnings.dedup();
            let degrees = || readings.iter().filter_map(|r| r.temperature_c);
            let counter = |of: fn(&TelemetryRecord) -> Option<u64>| ends(&readings, of);
            let last = |of: fn(&TelemetryRecord) -> Option<u8>| {
                ends(&readings, of)
                    .map(|(_, last)| Cell::number(last.to_string()))
                    .unwrap_or_default()
            };
            // The title is before the colon; the explanation follows it.
            let suite = set.runs[run].manifest.suite.title.split(':').next();
            let cells = vec![
                Cell::text(suite.unwrap_or_default()),
                celsius(degrees().next()),
                celsius(degrees().reduce(f64::max)),
                increment(counter(|r| r.warning_time_s), seconds),
                increment(counter(|r| r.critical_time_s), seconds),
                increment(counter(|r| r.thermal_transitions), Cell::fault_count),
                increment(Some(media), Cell::fault_count),
                increment(counter(|r| r.error_log_entries), Cell::fault_count),
                increment(counter(|r| r.host_bytes_read), bytes),
                increment(counter(|r| r.host_bytes_written), bytes),
                last(|r| r.percentage_used),
                last(|r| r.available_spare_pct),
                Cell::Text(if warnings.is_empty() {
                    "none".to_owned()
                } else {
                    warnings.join(", ")
                }),
            ];
            rows.push(Row::new(name(set, position), cells));
        }
    }
    let note = "from the health log of each drive, read at every interval; real drives count the time too warm in whole minutes and transfers in thousands of 512 bytes";
    let table = Table::of_drives("Health".to_owned(), columns, rows, vec![note.to_owned()]);
    (!table.rows.is_empty()).then(|| table.without_empty_columns())
}
