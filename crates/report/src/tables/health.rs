//! What drives said of their health while they were measured, run by run: where they began and what was added.

use assay_store::model::TelemetryRecord;
use assay_units::text::format_size;

use crate::format;
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::name;

/// First and last answer to one question in a run.
fn ends<T>(
    readings: &[&TelemetryRecord],
    of: impl Fn(&TelemetryRecord) -> Option<T>,
) -> Option<(T, T)> {
    let first = readings.iter().find_map(|r| of(r))?;
    let last = readings.iter().rev().find_map(|r| of(r))?;
    Some((first, last))
}

/// What a counter grew by, alarming unless it is nothing.
fn grown(ends: Option<(u64, u64)>) -> Cell {
    ends.map_or(Cell::Empty, |(first, last)| {
        Cell::alarming(last.saturating_sub(first))
    })
}

/// Seconds that a counter grew by.
fn longer(ends: Option<(u64, u64)>) -> Cell {
    ends.map_or(Cell::Empty, |(first, last)| {
        match last.saturating_sub(first) {
            0 => Cell::number("0"),
            seconds => Cell::number(format::duration(seconds.saturating_mul(1_000_000_000))),
        }
    })
}

/// Bytes that a counter grew by.
fn moved(ends: Option<(u64, u64)>) -> Cell {
    ends.map_or(Cell::Empty, |(first, last)| {
        Cell::number(format_size(last.saturating_sub(first)))
    })
}

/// One row per drive and run; `None` where no drive told anything of its health.
pub fn table(lineup: &Lineup<'_>) -> Option<Table> {
    let heat = "temperature, \u{b0}C";
    let grew = "grew in the run";
    let by_its_count = "moved in the run, by its own count";
    let columns = vec![
        Column::under("", "run", ""),
        Column::under(heat, "first", ""),
        Column::under(heat, "highest", ""),
        Column::under(grew, "time too warm", ""),
        Column::under(grew, "time critical", ""),
        Column::under(grew, "throttled", "times"),
        Column::under(grew, "media errors", ""),
        Column::under(grew, "error log", "entries"),
        Column::under(by_its_count, "read", ""),
        Column::under(by_its_count, "written", ""),
        Column::under("life", "used", "%"),
        Column::under("life", "spare left", "%"),
        Column::under("", "says of itself", ""),
    ];
    let mut rows = Vec::new();
    for (position, entrant) in lineup.drives.iter().enumerate() {
        for &(run, drive) in &entrant.parts {
            let cells = lineup.runs[run].cells.iter();
            let parts = cells.flat_map(|c| c.drives.iter().filter(|d| d.drive == drive));
            let readings: Vec<&TelemetryRecord> = parts.flat_map(|d| &d.telemetry).collect();
            let Some(media) = ends(&readings, |r| r.media_errors) else {
                continue;
            };
            let mut warnings: Vec<&str> = readings
                .iter()
                .flat_map(|r| r.critical_warnings.iter().map(String::as_str))
                .collect();
            warnings.sort_unstable();
            warnings.dedup();
            let degrees = readings.iter().filter_map(|r| r.temperature_c);
            let celsius =
                |c: Option<f64>| c.map_or(Cell::Empty, |c| Cell::number(format!("{c:.0}")));
            let percent = |p: Option<(u8, u8)>| {
                p.map_or(Cell::Empty, |(_, last)| Cell::number(last.to_string()))
            };
            let suite = lineup.runs[run].manifest.suite.title.as_str();
            rows.push(Row {
                name: name(lineup, position),
                cells: vec![
                    // What stands before a colon is the title, what follows explains it.
                    Cell::Text(suite.split(':').next().unwrap_or(suite).to_owned()),
                    celsius(degrees.clone().next()),
                    celsius(degrees.reduce(f64::max)),
                    longer(ends(&readings, |r| r.warning_time_s)),
                    longer(ends(&readings, |r| r.critical_time_s)),
                    grown(ends(&readings, |r| r.thermal_transitions)),
                    grown(Some(media)),
                    grown(ends(&readings, |r| r.error_log_entries)),
                    moved(ends(&readings, |r| r.host_bytes_read)),
                    moved(ends(&readings, |r| r.host_bytes_written)),
                    percent(ends(&readings, |r| r.percentage_used)),
                    percent(ends(&readings, |r| r.available_spare_pct)),
                    if warnings.is_empty() {
                        Cell::Text("nothing".to_owned())
                    } else {
                        Cell::Text(warnings.join(", "))
                    },
                ],
            });
        }
    }
    (!rows.is_empty()).then(|| {
        Table {
        caption: "Health".to_owned(),
        corner: "drive".to_owned(),
        columns,
        rows,
        notes: vec![
            "from the health log of each drive, read at every interval; real drives count the time too warm in whole minutes, and what was moved in thousands of \
             512 bytes".to_owned(),
        ],
    }
    .without_empty_columns()
    })
}
