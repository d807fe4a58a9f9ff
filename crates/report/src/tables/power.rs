//! Power and efficiency of drives under load, and idle power.

use assay_analysis::{estimate, power};

use super::knee::{rate_estimate, rate_of, rate_unit, small_blocks};
use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, Section};
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{
    axis_cells, axis_columns, cell_of, name, reason, remarks, spread_notes, with_spread,
};

/// 10^6 bytes in 2^20: published rates per watt are decimal.
pub const MB_PER_MIB: f64 = 1.048_576;

/// Mean power over the measured span, watts; `None` where neither the drive nor a meter reports it.
pub fn mean_watts(point: &Point<'_>) -> Option<f64> {
    power::mean_watts(point.data?)
}

/// The same as a cell, with its confidence interval.
pub fn watts_cell(point: &Point<'_>) -> Option<Cell> {
    let watts = Cell::figure(mean_watts(point)?);
    Some(with_spread(watts, power::estimate(point.data?), 1.0))
}

/// Power without a reading.
pub fn unreported() -> Cell {
    Cell::Missing(
        "n/a",
        "not reported by the drive, and there is no meter".to_owned(),
    )
}

/// Column of [`efficiency`].
pub fn efficiency_column(section: &Section<'_>) -> Column {
    Column::of(
        "efficiency",
        if small_blocks(section) {
            "kIOPS/W"
        } else {
            "MB/s/W"
        },
    )
}

/// Rate per watt: thousands of operations per second, or MB/s.
pub fn efficiency(section: &Section<'_>, rate: f64, watts: Option<f64>) -> Cell {
    let rate = if small_blocks(section) {
        rate / 1e3
    } else {
        rate
    };
    watts.map_or_else(unreported, |w| Cell::figure(rate / w))
}

/// Rate, power and rate per watt of every cell; `None` where no drive reports its power.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>) -> Option<Table> {
    if section.points.iter().all(|p| mean_watts(p).is_none()) {
        return None;
    }
    let axes = section.varying();
    let mut columns = axis_columns(&axes);
    let (rate, power) = (
        Column::of("rate", rate_unit(section)),
        Column::of("power", "W"),
    );
    columns.extend([rate, power, efficiency_column(section)]);
    let row = |point: &Point<'_>| {
        let mut cells = axis_cells(&axes, point);
        let estimates = point.data.map(estimate::of).unwrap_or_default();
        let (estimate, unit) = rate_estimate(section, &estimates);
        cells.push(with_spread(
            cell_of(point, |r| Some(rate_of(section, r))),
            estimate,
            unit,
        ));
        if let Some(result) = point.result() {
            cells.push(watts_cell(point).unwrap_or_else(unreported));
            cells.push(efficiency(
                section,
                rate_of(section, result),
                mean_watts(point),
            ));
        }
        Row::new(name(set, point.drive), cells)
    };
    let rows: Vec<Row> = section.points.iter().map(row).collect();
    let notes = spread_notes(remarks(set, &section.points), &rows);
    Some(Table::of_drives(
        section.caption("power"),
        columns,
        rows,
        notes,
    ))
}

/// Power and temperature of idle drives.
pub fn idle(set: &DriveSet<'_>, section: &Section<'_>) -> Table {
    let axes = section.varying();
    let mut columns = axis_columns(&axes);
    let labels = [
        ("idle for", ""),
        ("mean power", "W"),
        ("power at the end", "W"),
        ("power state at the end", ""),
        ("at start", "\u{b0}C"),
        ("at end", "\u{b0}C"),
    ];
    columns.extend(labels.map(|(label, unit)| Column::of(label, unit)));
    let celsius =
        |t: Option<f64>| t.map_or_else(Cell::unreported, |t| Cell::number(format!("{t:.0}")));
    let row = |point: &Point<'_>| {
        let mut cells = axis_cells(&axes, point);
        let readings = point.data.map_or(&[][..], |d| &d.telemetry);
        match (readings.last(), reason(point)) {
            (Some(last), _) => {
                let watts = last.power_mw.filter(|mw| *mw > 0).map(|mw| mw as f64 / 1e3);
                let state = last
                    .power_state
                    .map(|state| Cell::number(format!("PS{state}")));
                cells.extend([
                    Cell::number(format::duration(last.at.0)),
                    watts_cell(point).unwrap_or_else(Cell::unreported),
                    watts.map_or_else(Cell::unreported, Cell::figure),
                    state.unwrap_or_else(Cell::unreported),
                    celsius(readings.iter().find_map(|t| t.temperature_c)),
                    celsius(last.temperature_c),
                ]);
            }
            (None, Cell::Empty) => cells.push(Cell::unreported()),
            (None, reason) => cells.push(reason),
        }
        Row::new(name(set, point.drive), cells)
    };
    let rows: Vec<Row> = section.points.iter().map(row).collect();
    let mut unmeasured = section.points.clone();
    unmeasured.retain(|p| p.data.is_none_or(|data| data.telemetry.is_empty()));
    let notes = spread_notes(remarks(set, &unmeasured), &rows);
    Table::of_drives(
        section.caption("idle power and temperature"),
        columns,
        rows,
        notes,
    )
}
