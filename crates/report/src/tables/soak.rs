//! Soak: rate, temperature, throttling and power of a long run.

use assay_store::model::TelemetryRecord;
use assay_store::series::IntervalSample;

use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::power::watts_cell;
use crate::tables::{axis_columns, cell_of, point_rows, spread_notes, with_spread};

/// One row per drive and cell.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = axis_columns(section);
    let rates = ["mean", "slowest", "fastest"];
    columns.extend(Column::all_under("bandwidth, MiB/s", rates));
    let reported = |of: fn(&TelemetryRecord) -> bool| {
        let data = section.points.iter().filter_map(|p| p.data);
        data.flat_map(|d| &d.telemetry).any(of)
    };
    let temperature = reported(|t| t.temperature_c.is_some());
    let throttled = reported(|t| t.throttled.is_some());
    let power = reported(|t| t.power_mw.is_some());
    if temperature {
        let labels = ["at start", "highest", "at end"];
        columns.extend(Column::all_under("temperature, \u{b0}C", labels));
    }
    if throttled {
        columns.push(Column::of("readings throttled", ""));
    }
    if power {
        columns.push(Column::of("mean power, W", ""));
    }
    let rows = point_rows(section, |point: &Point<'_>| {
        let rate = cell_of(point, |r| Some(r.mib_per_s()));
        let mut cells = vec![with_spread(rate, point.estimates().mib_per_s, 1.0)];
        let Some(data) = point.data else {
            return cells;
        };
        let intervals = data.measured_intervals();
        let rates = || intervals.iter().map(IntervalSample::mib_per_s);
        cells.push(TableCell::figure(rates().reduce(f64::min)));
        cells.push(TableCell::figure(rates().reduce(f64::max)));
        if temperature {
            let degrees: Vec<f64> = data
                .telemetry
                .iter()
                .filter_map(|t| t.temperature_c)
                .collect();
            let highest = degrees.iter().copied().reduce(f64::max);
            let shown = [degrees.first().copied(), highest, degrees.last().copied()];
            cells.extend(shown.map(|c| TableCell::celsius(c).or(TableCell::unreported)));
        }
        if throttled {
            let flags: Vec<bool> = data.telemetry.iter().filter_map(|t| t.throttled).collect();
            let count = flags.iter().filter(|throttled| **throttled).count();
            cells.push(if flags.is_empty() {
                TableCell::unreported()
            } else {
                TableCell::Text(format!("{count} of {}", flags.len()))
            });
        }
        if power {
            cells.push(watts_cell(point).or(TableCell::unreported));
        }
        cells
    });
    let mut notes = section.remarks();
    notes.push("slowest, fastest: of the recorded intervals".to_owned());
    let notes = spread_notes(notes, &rows);
    section.table("rate and temperature", columns, rows, notes)
}
