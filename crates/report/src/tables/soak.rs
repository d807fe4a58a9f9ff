//! Soak: rate, temperature, throttling and power of a long run.

use assay_analysis::estimate;
use assay_store::model::TelemetryRecord;
use assay_store::series::IntervalSample;

use crate::drive_set::DriveSet;
use crate::grid::Section;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::power::watts_cell;
use crate::tables::{axis_cells, axis_columns, cell_of, name, remarks, spread_notes, with_spread};

/// One row per drive and cell.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>) -> Table {
    let axes = section.varying();
    let mut columns = axis_columns(&axes);
    columns.extend(
        ["mean", "slowest", "fastest"].map(|label| Column::under("bandwidth, MiB/s", label, "")),
    );
    let reported = |of: fn(&TelemetryRecord) -> bool| {
        let data = section.points.iter().filter_map(|p| p.data);
        data.flat_map(|d| &d.telemetry).any(of)
    };
    let temperature = reported(|t| t.temperature_c.is_some());
    let throttled = reported(|t| t.throttled.is_some());
    let power = reported(|t| t.power_mw.is_some());
    if temperature {
        let labels = ["at start", "highest", "at end"];
        columns.extend(labels.map(|label| Column::under("temperature, \u{b0}C", label, "")));
    }
    if throttled {
        columns.push(Column::of("readings throttled", ""));
    }
    if power {
        columns.push(Column::of("mean power, W", ""));
    }
    let row = |point: &crate::grid::Point<'_>| {
        let mut cells = axis_cells(&axes, point);
        let estimate = point.data.and_then(|data| estimate::of(data).mib_per_s);
        cells.push(with_spread(
            cell_of(point, |r| Some(r.mib_per_s())),
            estimate,
            1.0,
        ));
        let Some(data) = point.data else {
            return Row::new(name(set, point.drive), cells);
        };
        let intervals = data.measured_intervals();
        let rates = || intervals.iter().map(IntervalSample::mib_per_s);
        for rate in [rates().reduce(f64::min), rates().reduce(f64::max)] {
            cells.push(rate.map(Cell::figure).unwrap_or_default());
        }
        if temperature {
            let degrees: Vec<f64> = data
                .telemetry
                .iter()
                .filter_map(|t| t.temperature_c)
                .collect();
            let highest = degrees.iter().copied().reduce(f64::max);
            for celsius in [degrees.first().copied(), highest, degrees.last().copied()] {
                cells.push(
                    celsius.map_or_else(Cell::unreported, |c| Cell::number(format!("{c:.0}"))),
                );
            }
        }
        if throttled {
            let flags: Vec<bool> = data.telemetry.iter().filter_map(|t| t.throttled).collect();
            let count = flags.iter().filter(|throttled| **throttled).count();
            cells.push(if flags.is_empty() {
                Cell::unreported()
            } else {
                Cell::Text(format!("{count} of {}", flags.len()))
            });
        }
        if power {
            cells.push(watts_cell(point).unwrap_or_else(Cell::unreported));
        }
        Row::new(name(set, point.drive), cells)
    };
    let rows: Vec<Row> = section.points.iter().map(row).collect();
    let mut notes = remarks(set, &section.points);
    notes.push("slowest, fastest: of the recorded intervals".to_owned());
    let notes = spread_notes(notes, &rows);
    Table::of_drives(
        section.caption("rate and temperature"),
        columns,
        rows,
        notes,
    )
}
