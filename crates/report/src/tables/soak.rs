//! A long run in figures: does the drive keep its rate, and how hot does it get?

use std::collections::BTreeMap;

use assay_store::read::CellDrive;
use assay_units::{Nanos, rate};

use crate::format;
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Row, Table};
use crate::tables::power::watts_cell;
use crate::tables::{axis_cells, axis_columns, cell_of, name, remarks, spread_notes, with_spread};
use assay_analysis::estimate;

/// All operations of one interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// Interval index.
    pub index: u32,
    /// Part of the ramp.
    pub ramp: bool,
    /// Since the cell's start.
    pub start: Nanos,
    /// Since the cell's start.
    pub end: Nanos,
    /// Completed.
    pub ios: u64,
    /// Bytes.
    pub bytes: u64,
    /// Failed or short.
    pub errors: u64,
}

impl Tick {
    /// MiB per second.
    pub fn mib_per_s(&self) -> f64 {
        rate::mib_per_second(self.bytes, self.end - self.start)
    }
}

/// The intervals of a drive's part, operations added up, in time order.
pub fn ticks(part: &CellDrive) -> Vec<Tick> {
    // The interval in which the ramp ends has two: one of the ramp, and one of what counts.
    let mut ticks: BTreeMap<(u32, bool), Tick> = BTreeMap::new();
    for point in &part.series {
        let tick = ticks.entry((point.index, !point.ramp)).or_insert(Tick {
            index: point.index,
            ramp: point.ramp,
            start: point.start,
            end: point.end,
            ios: 0,
            bytes: 0,
            errors: 0,
        });
        tick.start = tick.start.min(point.start);
        tick.end = tick.end.max(point.end);
        tick.ios += point.ios;
        tick.bytes += point.bytes;
        tick.errors += point.errors;
    }
    ticks.into_values().collect()
}

/// The measured intervals that are long enough to compare: the last one may have been cut short.
pub fn whole_ticks(part: &CellDrive) -> Vec<Tick> {
    let mut ticks = ticks(part);
    ticks.retain(|t| !t.ramp);
    let longest = ticks
        .iter()
        .map(|t| t.end - t.start)
        .max()
        .unwrap_or_default();
    ticks.retain(|t| (t.end - t.start).0 >= longest.0 / 2);
    ticks
}

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
                let rates: Vec<f64> = whole_ticks(part).iter().map(Tick::mib_per_s).collect();
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
