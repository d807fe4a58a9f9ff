//! What a drive draws, and what it does for it.

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{axis_cells, axis_columns, cell_of, name, remarks, spread_notes, with_spread};
use assay_analysis::{estimate, power};

/// 10^6 bytes in 2^20: published rates per watt are decimal.
pub const MB_PER_MIB: f64 = 1.048_576;

/// Mean power over the measured span, watts; `None` where the drive (or a meter) gives none.
pub fn mean_watts(point: &Point<'_>) -> Option<f64> {
    power::mean_watts(point.part?)
}

/// The same as a cell, with its interval.
pub fn watts_cell(point: &Point<'_>) -> Option<Cell> {
    let part = point.part?;
    Some(with_spread(
        Cell::number(format::figure(power::mean_watts(part)?)),
        power::estimate(part),
        1.0,
    ))
}

/// Where there is no reading.
pub fn silent() -> Cell {
    Cell::Missing(
        "n/a",
        "the drive does not say, and there is no meter".to_owned(),
    )
}

/// Rate, power and rate per watt of every cell; `None` where no drive says what it draws.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Option<Table> {
    if section.points.iter().all(|p| mean_watts(p).is_none()) {
        return None;
    }
    let axes = section.varying();
    let small = super::knee::small_blocks(section);
    let mut columns = axis_columns(&axes);
    columns.push(if small {
        Column::of("rate", "IOPS")
    } else {
        Column::of("rate", "MB/s")
    });
    columns.push(Column::of("power", "W"));
    columns.push(if small {
        Column::of("efficiency", "kIOPS/W")
    } else {
        Column::of("efficiency", "MB/s/W")
    });
    let rate = move |r: &assay_store::model::CellResult| {
        if small {
            r.iops()
        } else {
            r.mib_per_s() * MB_PER_MIB
        }
    };
    let rows: Vec<Row> = section
        .points
        .iter()
        .map(|point| {
            let mut cells = axis_cells(&axes, point);
            let known = point.part.map(estimate::of).unwrap_or_default();
            let (known, unit) = if small {
                (known.iops, 1.0)
            } else {
                (known.mib_per_s, 1.0 / MB_PER_MIB)
            };
            let figure = cell_of(point, |r| Some(rate(r)), format::figure);
            cells.push(with_spread(figure, known, unit));
            if let Some(result) = point.result() {
                let watts = mean_watts(point);
                cells.push(watts_cell(point).unwrap_or_else(silent));
                cells.push(watts.map_or_else(silent, |w| {
                    let per_watt = if small {
                        rate(result) / 1e3
                    } else {
                        rate(result)
                    } / w;
                    Cell::number(format::figure(per_watt))
                }));
            }
            cells.resize(columns.len(), Cell::Empty);
            Row {
                name: name(lineup, point.drive),
                cells,
            }
        })
        .collect();
    Some(Table {
        caption: format!("{}: power", section.title),
        corner: "drive".to_owned(),
        columns,
        notes: spread_notes(remarks(lineup, &section.points), &rows),
        rows,
    })
}

/// Rest: what a drive draws and how warm it is when nothing is asked of it.
pub fn idle(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let axes = section.varying();
    let mut columns = axis_columns(&axes);
    columns.extend([
        Column::of("rested", ""),
        Column::of("mean power", "W"),
        Column::of("power at the end", "W"),
        Column::of("power state at the end", ""),
        Column::of("at start", "\u{b0}C"),
        Column::of("at end", "\u{b0}C"),
    ]);
    let silent = || Cell::Missing("n/a", "the drive does not say".to_owned());
    let rows: Vec<Row> =
        section
            .points
            .iter()
            .map(|point| {
                let mut cells = axis_cells(&axes, point);
                let readings = point.part.map_or(&[][..], |p| &p.telemetry);
                match (readings.last(), point.remark()) {
                    (Some(last), _) => {
                        cells.push(Cell::number(format::duration(last.at.0)));
                        cells.push(watts_cell(point).unwrap_or_else(silent));
                        let watts = last.power_mw.filter(|mw| *mw > 0);
                        cells.push(watts.map_or_else(silent, |mw| {
                            Cell::number(format::figure(mw as f64 / 1e3))
                        }));
                        cells.push(match last.power_state {
                            Some(state) => Cell::number(format!("PS{state}")),
                            None => silent(),
                        });
                        let mut degrees = readings.iter().filter_map(|t| t.temperature_c);
                        for t in [degrees.next(), last.temperature_c] {
                            cells.push(t.map_or_else(silent, |t| Cell::number(format!("{t:.0}"))));
                        }
                    }
                    (None, Some((short, full))) => cells.push(Cell::Missing(short, full)),
                    (None, None) => cells.push(silent()),
                }
                cells.resize(columns.len(), Cell::Empty);
                Row {
                    name: name(lineup, point.drive),
                    cells,
                }
            })
            .collect();
    let reasons: Vec<Point<'_>> = section
        .points
        .iter()
        .filter(|p| p.part.is_none_or(|part| part.telemetry.is_empty()))
        .cloned()
        .collect();
    Table {
        caption: format!("{}: power and temperature at rest", section.title),
        corner: "drive".to_owned(),
        columns,
        notes: spread_notes(remarks(lineup, &reasons), &rows),
        rows,
    }
}
