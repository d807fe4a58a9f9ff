//! Temperatures of drives under load: at the start, after two minutes, at the end, and what the
//! drive says of its limits (DragonFly NVMe tests).

use assay_store::model::TelemetryRecord;
use assay_units::Nanos;

use crate::format::joined;
use crate::grid::Section;
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{axis_columns, cell_of, point_rows, section_remarks};
use crate::tables::interval::{spread_notes, with_spread};

/// The report gives temperatures after this time.
const AFTER: Nanos = Nanos::from_secs(120);

/// Longest time between [`AFTER`] and the reading nearest to it.
const NEAREST: Nanos = Nanos::from_secs(5);

/// Temperature after [`AFTER`], by the reading nearest to it.
fn after(readings: &[TelemetryRecord]) -> Option<f64> {
    let distance = |t: &TelemetryRecord| t.at.0.abs_diff(AFTER.0);
    let known = readings.iter().filter(|t| t.temperature_c.is_some());
    let nearest = known.min_by_key(|t| distance(t))?;
    nearest.temperature_c.filter(|_| distance(nearest) <= NEAREST.0)
}

/// Seconds that the drive counted above its warning temperature during the cell.
fn above_warning_s(readings: &[TelemetryRecord]) -> Option<u64> {
    let mut counts = readings.iter().filter_map(|t| t.warning_time_s);
    let first = counts.next()?;
    Some(counts.next_back().unwrap_or(first).saturating_sub(first))
}

/// Critical warnings that were set at any reading, in the order in which they occurred.
fn flags(readings: &[TelemetryRecord]) -> Vec<&str> {
    let all = readings.iter().flat_map(|t| &t.critical_warnings);
    crate::format::distinct(all.map(String::as_str))
}

/// Highest value of the further sensors.
pub fn highest_sensor(readings: &[TelemetryRecord]) -> Option<f64> {
    readings.iter().flat_map(|t| &t.sensors_c).copied().reduce(f64::max)
}

/// One row per drive and cell; `None` where no drive reports a temperature.
pub fn table(section: &Section<'_>) -> Option<Table> {
    let data = section.points.iter().filter_map(|p| p.data);
    let mut readings = data.flat_map(|data| &data.telemetry);
    readings.find(|t| t.temperature_c.is_some())?;
    let mut columns = axis_columns(section);
    columns.push(Column::new("rate", "MiB/s"));
    let labels = ["at start", "after 2 min", "at end", "rise", "highest", "other sensors, highest"];
    columns.extend(Column::all_under("temperature, \u{b0}C", labels));
    columns.extend(Column::list([
        ("above its warning temperature", "s"),
        ("readings throttled", ""),
        ("critical warnings", ""),
    ]));
    let rows = point_rows(section, |point| {
        let rate = cell_of(point, |r| Some(r.mib_per_s()));
        let mut cells = vec![with_spread(rate, point.estimates().mib_per_s, 1.0)];
        let Some(data) = point.data else {
            return cells;
        };
        let readings = &data.telemetry;
        let degrees: Vec<f64> = readings.iter().filter_map(|t| t.temperature_c).collect();
        let (start, end) = (degrees.first().copied(), degrees.last().copied());
        let rise = start.zip(end).map(|(start, end)| end - start);
        let highest = degrees.iter().copied().reduce(f64::max);
        for celsius in [start, after(readings), end, rise, highest, highest_sensor(readings)] {
            cells.push(TableCell::celsius(celsius));
        }
        let above_s = above_warning_s(readings);
        cells.push(above_s.map_or(TableCell::Empty, |s| TableCell::number(s.to_string())));
        let throttled: Vec<bool> = readings.iter().filter_map(|t| t.throttled).collect();
        let count = throttled.iter().filter(|throttled| **throttled).count();
        cells.push(match throttled.len() {
            0 => TableCell::Empty,
            all => TableCell::Text(format!("{count} of {all}")),
        });
        let flags = flags(readings);
        cells.push(TableCell::Text(if flags.is_empty() {
            "none".to_owned()
        } else {
            joined(flags, ", ")
        }));
        cells
    });
    let mut notes = section_remarks(section);
    notes.push("from the first reading of the cell to the last, the ramp included".to_owned());
    let notes = spread_notes(notes, &rows);
    let table = section.table("temperature", columns, rows, notes);
    Some(table.without_empty_columns())
}
