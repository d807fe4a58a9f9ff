//! Power and efficiency of drives under load, and idle power.

use assay_analysis::estimate::Missing;
use assay_analysis::power;
use assay_store::model::{CellResult, TelemetryRecord};

use crate::format;
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{axis_columns, cell_of, point_rows, reason, remarks, section_remarks};
use crate::tables::interval::{spread_notes, with_spread};
use crate::tables::rate::{rate_estimate, rate_of, rate_unit, small_blocks};
use crate::tables::temperature::highest_sensor;

/// Mean power over the measured span, watts; `None` where neither the drive nor a meter reports it.
pub fn mean_watts(point: &Point<'_>) -> Option<f64> {
    power::mean_watts(point.data?)
}

/// The same as a cell, with its confidence interval.
pub fn watts_cell(point: &Point<'_>) -> TableCell {
    let estimate = point.data.map_or(Err(Missing::UNMEASURED), power::estimate);
    with_spread(TableCell::figure(mean_watts(point)), estimate, 1.0)
}

/// Power without a reading.
pub fn unreported() -> TableCell {
    let why = "not reported by the drive, and there is no meter";
    TableCell::Missing("n/a", why.to_owned())
}

pub fn efficiency_column(section: &Section<'_>) -> Column {
    let small = small_blocks(section);
    Column::new("efficiency", if small { "kIOPS/W" } else { "MiB/s/W" })
}

/// Rate per watt: thousands of operations per second, or MiB/s.
pub fn efficiency(section: &Section<'_>, rate: f64, watts: Option<f64>) -> TableCell {
    let unit = if small_blocks(section) { 1e3 } else { 1.0 };
    TableCell::figure(watts.map(|w| rate / unit / w)).or(unreported)
}

/// Data moved per energy, MiB per joule.
pub fn mib_per_joule(result: &CellResult, watts: f64) -> f64 {
    result.mib_per_s() / watts
}

/// Rate, power and rate per watt of every cell; `None` where no drive reports its power.
pub fn table(section: &Section<'_>) -> Option<Table> {
    if section.points.iter().all(|p| mean_watts(p).is_none()) {
        return None;
    }
    let mut columns = axis_columns(section);
    columns.extend(Column::list([("rate", rate_unit(section)), ("power", "W")]));
    columns.push(efficiency_column(section));
    columns.push(Column::new("data per energy", "MiB/J"));
    let rows = point_rows(section, |point| {
        let rate = cell_of(point, |r| Some(rate_of(section, r)));
        let (estimate, unit) = rate_estimate(section, &point.estimates());
        let mut cells = vec![with_spread(rate, estimate, unit)];
        if let Some(result) = point.result() {
            let rate = rate_of(section, result);
            cells.push(watts_cell(point).or(unreported));
            cells.push(efficiency(section, rate, mean_watts(point)));
            let per_joule = mean_watts(point).map(|watts| mib_per_joule(result, watts));
            cells.push(TableCell::figure(per_joule).or(unreported));
        }
        cells
    });
    let notes = spread_notes(section_remarks(section), &rows);
    Some(section.table("power", columns, rows, notes))
}

/// Largest difference of successive temperature readings, kelvin: a sensor that jumps while the
/// drive is idle does not measure the drive.
fn largest_step_k(readings: &[TelemetryRecord]) -> Option<f64> {
    let degrees: Vec<f64> = readings.iter().filter_map(|t| t.temperature_c).collect();
    let steps = degrees.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    steps.reduce(f64::max)
}

/// Power and temperature of idle drives.
pub fn idle(section: &Section<'_>) -> Table {
    let mut columns = axis_columns(section);
    columns.extend(Column::list([
        ("idle for", ""),
        ("mean power", "W"),
        ("power at the end", "W"),
        ("power state at the end", ""),
    ]));
    let temperatures = ["at start", "at end", "lowest", "highest", "largest step"];
    columns.extend(Column::all_under("temperature, \u{b0}C", temperatures));
    let data = section.points.iter().filter_map(|p| p.data);
    let sensors = data.flat_map(|data| &data.telemetry).any(|t| !t.sensors_c.is_empty());
    if sensors {
        columns.push(Column::under("temperature, \u{b0}C", "other sensors, highest", ""));
    }
    let rows = point_rows(section, |point| {
        let readings = point.data.map_or(&[][..], |d| &d.telemetry);
        let Some(last) = readings.last() else {
            return vec![reason(point).or(TableCell::unreported)];
        };
        let watts = last.power_mw.filter(|mw| *mw > 0).map(|mw| mw as f64 / 1e3);
        let state = last.power_state.map(|state| TableCell::number(format!("PS{state}")));
        let degrees = || readings.iter().filter_map(|t| t.temperature_c);
        let cells = [
            TableCell::number(format::duration(last.at.0)),
            watts_cell(point),
            TableCell::figure(watts),
            state.unwrap_or_default(),
            TableCell::celsius(degrees().next()),
            TableCell::celsius(last.temperature_c),
            TableCell::celsius(degrees().reduce(f64::min)),
            TableCell::celsius(degrees().reduce(f64::max)),
            TableCell::celsius(largest_step_k(readings)),
            TableCell::celsius(highest_sensor(readings)),
        ];
        let shown = cells.len() - usize::from(!sensors);
        let cells = cells.into_iter().take(shown);
        cells.map(|cell| cell.or(TableCell::unreported)).collect()
    });
    let mut unmeasured = section.points.clone();
    unmeasured.retain(|p| p.data.is_none_or(|data| data.telemetry.is_empty()));
    let mut notes = remarks(&unmeasured);
    notes.push(
        "largest step: between two successive readings, in kelvin; several kelvin in an idle \
         drive are jitter of its sensor"
            .to_owned(),
    );
    let notes = spread_notes(notes, &rows);
    section.table("idle power and temperature", columns, rows, notes)
}
