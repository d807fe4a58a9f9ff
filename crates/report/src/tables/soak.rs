//! A long run in figures: does the drive keep its rate, and how hot does it get?

use assay_store::series::IntervalSample;

use crate::format;
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::power::watts_cell;
use crate::tables::{axis_cells, axis_columns, cell_of, name, remarks, spread_notes, with_spread};
use assay_analysis::estimate;

/// One row per drive and cell.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let axes = section.varying();
    let mut columns = axis_columns(&axes);
    let rates = "bandwidth, MiB/s";
    columns.extend(["mean", "slowest", "fastest"].map(|label| Column::under(rates, label, "")));
    let telemetry = |of: fn(&assay_store::model::TelemetryRecord) -> bool| {
        let parts = section.points.iter().filter_map(|p| p.part);
        parts.flat_map(|p| &p.telemetry).any(of)
    };
    let temperature = telemetry(|t| t.temperature_c.is_some());
    let throttled = telemetry(|t| t.throttled.is_some());
    let power = telemetry(|t| t.power_mw.is_some());
    if temperature {
        let group = "temperature, \u{b0}C";
        columns
            .extend(["at start", "highest", "at end"].map(|label| Column::under(group, label, "")));
    }
    if throttled {
        columns.push(Column::of("readings throttled", ""));
    }
    if power {
        columns.push(Column::of("mean power, W", ""));
    }
    let mut notes = remarks(lineup, &section.points);
    notes.push("slowest, fastest: of the intervals that the run was recorded in".to_owned());
    let rows: Vec<Row> = section
        .points
        .iter()
        .map(|point| {
            let mut cells = axis_cells(&axes, point);
            let known = point.part.and_then(|part| estimate::of(part).mib_per_s);
            let mean = cell_of(point, |r| Some(r.mib_per_s()), format::figure);
            cells.push(with_spread(mean, known, 1.0));
            if let Some(part) = point.part {
                let rates: Vec<f64> = part
                    .measured_intervals()
                    .iter()
                    .map(IntervalSample::mib_per_s)
                    .collect();
                let extreme = |of: fn(f64, f64) -> f64| rates.iter().copied().reduce(of);
                for rate in [extreme(f64::min), extreme(f64::max)] {
                    cells.push(rate.map_or(Cell::Empty, |r| Cell::number(format::figure(r))));
                }
                let readings = &part.telemetry;
                if temperature {
                    let degrees: Vec<f64> =
                        readings.iter().filter_map(|t| t.temperature_c).collect();
                    let hottest = degrees.iter().copied().reduce(f64::max);
                    for t in [degrees.first().copied(), hottest, degrees.last().copied()] {
                        cells.push(t.map_or_else(
                            || Cell::Missing("n/a", "the drive reports none".to_owned()),
                            |t| Cell::number(format!("{t:.0}")),
                        ));
                    }
                }
                if throttled {
                    let flags: Vec<bool> = readings.iter().filter_map(|t| t.throttled).collect();
                    let held = flags.iter().filter(|f| **f).count();
                    cells.push(if flags.is_empty() {
                        Cell::Missing("n/a", "the drive does not say".to_owned())
                    } else {
                        Cell::Text(format!("{held} of {}", flags.len()))
                    });
                }
                if power {
                    cells.push(watts_cell(point).unwrap_or_else(|| {
                        Cell::Missing("n/a", "the drive does not say".to_owned())
                    }));
                }
            }
            cells.resize(columns.len(), Cell::Empty);
            Row {
                name: name(lineup, point.drive),
                cells,
            }
        })
        .collect();
    Table {
        caption: format!("{}: rate and temperature", section.title),
        corner: "drive".to_owned(),
        columns,
        notes: spread_notes(notes, &rows),
        rows,
    }
}
