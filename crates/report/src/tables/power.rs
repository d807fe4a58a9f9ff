//! Power and efficiency of drives under load, and idle power.

use assay_analysis::estimate::Missing;
use assay_analysis::power;

use super::knee::{rate_estimate, rate_of, rate_unit, small_blocks};
use crate::format;
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::{
    axis_columns, cell_of, point_rows, reason, remarks, spread_notes, with_spread,
};

/// 10^6 bytes in 2^20: published rates per watt are decimal.
pub const MB_PER_MIB: f64 = 1.048_576;

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

/// Column of [`efficiency`].
pub fn efficiency_column(section: &Section<'_>) -> Column {
    let small = small_blocks(section);
    Column::of("efficiency", if small { "kIOPS/W" } else { "MB/s/W" })
}

/// Rate per watt: thousands of operations per second, or MB/s.
pub fn efficiency(section: &Section<'_>, rate: f64, watts: Option<f64>) -> TableCell {
    let unit = if small_blocks(section) { 1e3 } else { 1.0 };
    TableCell::figure(watts.map(|w| rate / unit / w)).or(unreported)
}

/// Rate, power and rate per watt of every cell; `None` where no drive reports its power.
pub fn table(section: &Section<'_>) -> Option<Table> {
    if section.points.iter().all(|p| mean_watts(p).is_none()) {
        return None;
    }
    let mut columns = axis_columns(section);
    columns.extend(Column::list([("rate", rate_unit(section)), ("power", "W")]));
    columns.push(efficiency_column(section));
    let rows = point_rows(section, |point| {
        let rate = cell_of(point, |r| Some(rate_of(section, r)));
        let (estimate, unit) = rate_estimate(section, &point.estimates());
        let mut cells = vec![with_spread(rate, estimate, unit)];
        if let Some(result) = point.result() {
            let rate = rate_of(section, result);
            cells.push(watts_cell(point).or(unreported));
            cells.push(efficiency(section, rate, mean_watts(point)));
        }
        cells
    });
    let notes = spread_notes(section.remarks(), &rows);
    Some(section.table("power", columns, rows, notes))
}

/// Power and temperature of idle drives.
pub fn idle(section: &Section<'_>) -> Table {
    let mut columns = axis_columns(section);
    columns.extend(Column::list([
        ("idle for", ""),
        ("mean power", "W"),
        ("power at the end", "W"),
        ("power state at the end", ""),
        ("at start", "\u{b0}C"),
        ("at end", "\u{b0}C"),
    ]));
    let rows = point_rows(section, |point| {
        let readings = point.data.map_or(&[][..], |d| &d.telemetry);
        let Some(last) = readings.last() else {
            return vec![reason(point).or(TableCell::unreported)];
        };
        let watts = last.power_mw.filter(|mw| *mw > 0).map(|mw| mw as f64 / 1e3);
        let state = last
            .power_state
            .map(|state| TableCell::number(format!("PS{state}")));
        let cells = [
            TableCell::number(format::duration(last.at.0)),
            watts_cell(point),
            TableCell::figure(watts),
            state.unwrap_or_default(),
            TableCell::celsius(readings.iter().find_map(|t| t.temperature_c)),
            TableCell::celsius(last.temperature_c),
        ];
        cells.map(|cell| cell.or(TableCell::unreported)).into()
    });
    let mut unmeasured = section.points.clone();
    unmeasured.retain(|p| p.data.is_none_or(|data| data.telemetry.is_empty()));
    let notes = spread_notes(remarks(&unmeasured), &rows);
    section.table("idle power and temperature", columns, rows, notes)
}
