//! What a drive draws, and what it does for it.

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::{axis_cells, axis_columns, cell_of, name, remarks};

/// 10^6 bytes in 2^20: published rates per watt are decimal.
pub const MB_PER_MIB: f64 = 1.048_576;

/// Mean power over the measured span, watts; `None` where the drive (or a meter) gives none.
pub fn mean_watts(point: &Point<'_>) -> Option<f64> {
    let part = point.part?;
    let ramp = part.series.iter().filter(|p| p.ramp).map(|p| p.end).max();
    let watts = |all: bool| {
        let readings = part.telemetry.iter();
        let measured = readings.filter(|t| all || ramp.is_none_or(|end| t.at > end));
        let (n, sum) = measured
            .filter_map(|t| t.power_mw)
            .fold((0u64, 0u64), |(n, sum), mw| (n + 1, sum + mw));
        (n > 0 && sum > 0).then(|| sum as f64 / n as f64 / 1e3)
    };
    // One reading at the start is better than none.
    watts(false).or_else(|| watts(true))
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
    let rows = section
        .points
        .iter()
        .map(|point| {
            let mut cells = axis_cells(&axes, point);
            cells.push(cell_of(point, |r| Some(rate(r)), format::figure));
            if let Some(result) = point.result() {
                let watts = mean_watts(point);
                cells.push(watts.map_or_else(silent, |w| Cell::number(format::figure(w))));
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
        rows,
        notes: remarks(lineup, &section.points),
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
    let rows = section
        .points
        .iter()
        .map(|point| {
            let mut cells = axis_cells(&axes, point);
            let readings = point.part.map_or(&[][..], |p| &p.telemetry);
            match (readings.last(), point.remark()) {
                (Some(last), _) => {
                    cells.push(Cell::number(format::duration(last.at.0)));
                    cells.push(
                        mean_watts(point).map_or_else(silent, |w| Cell::number(format::figure(w))),
                    );
                    let watts = last.power_mw.filter(|mw| *mw > 0);
                    cells.push(
                        watts.map_or_else(silent, |mw| {
                            Cell::number(format::figure(mw as f64 / 1e3))
                        }),
                    );
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
        rows,
        notes: remarks(lineup, &reasons),
    }
}
