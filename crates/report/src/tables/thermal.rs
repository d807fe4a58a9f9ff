//! What heat does to a drive: when it begins to hold itself back, what rate is left, and for how much of the time.

use assay_conclude::series::{Second, seconds};

use crate::charts::phases::{self, Kind};
use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Number, Row, Table};
use crate::tables::{axis_cells, axis_columns, name, remarks, spread_notes, with_spread};
use assay_measure::confidence::{self, LEVEL};

/// A second slower than this share of the rate before throttling is one in the slow state.
const SLOW: f64 = 0.85;

/// Throttling in figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Throttling {
    /// When it began, seconds since the cell's start.
    pub onset_s: f64,
    /// Temperature then, degrees Celsius, where there is a sensor.
    pub onset_c: Option<f64>,
    /// Mean rate until then, MiB/s.
    pub before: f64,
    /// Mean rate from then on, MiB/s.
    pub after: f64,
    /// Mean rate of the slow seconds, MiB/s; none where there are none.
    pub slow: Option<f64>,
    /// Share of slow seconds from then on, percent.
    pub duty_pct: f64,
}

fn mean(rates: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = rates.fold((0u32, 0.0), |(n, sum), r| (n + 1, sum + r));
    (n > 0).then(|| sum / f64::from(n))
}

/// Of a point; `None` where nothing throttled.
pub fn throttling(lineup: &Lineup<'_>, point: &Point<'_>) -> Option<Throttling> {
    let part = point.part?;
    let phases = phases::of(lineup, point);
    let heat = phases.iter().find(|p| p.kind == Kind::Thermal)?;
    let onset_s = heat.from_s;
    let seconds = seconds(part);
    let rate = |s: &&Second| s.mib_per_s;
    let before = mean(
        seconds
            .iter()
            .filter(|s| s.start_s < onset_s)
            .map(|s| rate(&s)),
    )
    .or_else(|| seconds.first().map(|s| s.mib_per_s))?;
    let later: Vec<f64> = seconds
        .iter()
        .filter(|s| s.start_s >= onset_s)
        .map(|s| s.mib_per_s)
        .collect();
    let slow: Vec<f64> = later
        .iter()
        .copied()
        .filter(|r| *r < SLOW * before)
        .collect();
    let temperature = part
        .telemetry
        .iter()
        .filter(|t| t.at.as_secs_f64() <= onset_s + 1.0)
        .filter_map(|t| t.temperature_c)
        .next_back();
    Some(Throttling {
        onset_s,
        onset_c: heat.onset_c.or(temperature),
        before,
        after: mean(later.iter().copied())?,
        slow: mean(slow.iter().copied()),
        duty_pct: 100.0 * slow.len() as f64 / later.len().max(1) as f64,
    })
}

/// One row per drive and cell.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>) -> Table {
    let axes = section.varying();
    let mut columns = axis_columns(&axes);
    let (onset, rate) = ("throttling begins", "rate, MiB/s");
    columns.extend([
        Column::under(onset, "after", ""),
        Column::under(onset, "at, \u{b0}C", ""),
        Column::under(rate, "before", ""),
        Column::under(rate, "from then on", ""),
        Column::under(rate, "while slow", ""),
        Column::under(rate, "last tenth", ""),
        Column::under(rate, "after a rest", ""),
        Column::under("", "slow", "% of the time"),
        Column::under("", "hottest", "\u{b0}C"),
        Column::under("", "ran for", ""),
    ]);
    let rows: Vec<Row> = section
        .points
        .iter()
        .map(|point| {
            let mut cells = axis_cells(&axes, point);
            cells.extend(figures(lineup, point));
            cells.resize(columns.len(), Cell::Empty);
            Row {
                name: name(lineup, point.drive),
                cells,
            }
        })
        .collect();
    let mut notes = remarks(lineup, &section.points);
    notes.push(format!(
        "slow: seconds under {:.0} % of the rate before throttling began",
        100.0 * SLOW
    ));
    Table {
        caption: format!("{}: heat and rate", section.title),
        corner: "drive".to_owned(),
        columns,
        notes: spread_notes(notes, &rows),
        rows,
    }
}

/// The rate of the same workload when it was next run on the drive, MiB/s: what came back.
fn rested(lineup: &Lineup<'_>, point: &Point<'_>) -> Option<f64> {
    let index = lineup.index_in(point.run, point.drive)?;
    let alike = |plan: &assay_store::model::CellPlan| {
        let w = &plan.workload;
        (plan.view, w.rw.clone(), w.bs_bytes, w.numjobs, w.iodepth)
    };
    let cells = lineup.runs[point.run].cells.iter();
    let later = cells.skip_while(|c| c.plan.id != point.plan().id).skip(1);
    let mut parts = later
        .filter(|c| c.plan.step != point.plan().step && alike(&c.plan) == alike(point.plan()))
        .filter_map(|c| c.drives.iter().find(|d| d.drive == index));
    Some(parts.next()?.result.as_ref()?.mib_per_s())
}

fn figures(lineup: &Lineup<'_>, point: &Point<'_>) -> Vec<Cell> {
    let Some(part) = point.part else {
        return point
            .remark()
            .map(|(short, full)| Cell::Missing(short, full))
            .into_iter()
            .collect();
    };
    let seconds = seconds(part);
    let number = |value: f64| Cell::number(format::figure(value));
    // A mean of these seconds, with its interval.
    let averaged = |cell: Cell, of: &dyn Fn(usize, &Second) -> bool| {
        let chosen = seconds.iter().enumerate().filter(|(i, s)| of(*i, s));
        let rates: Vec<f64> = chosen.map(|(_, s)| s.mib_per_s).collect();
        with_spread(cell, confidence::mean(&rates, LEVEL), 1.0)
    };
    let mut cells = match throttling(lineup, point) {
        Some(t) => vec![
            Cell::number(format::duration((t.onset_s * 1e9) as u64)),
            t.onset_c.map_or_else(
                || Cell::Missing("n/a", "the drive reports no temperature".to_owned()),
                |c| Cell::number(format!("{c:.0}")),
            ),
            averaged(number(t.before), &|_, s| s.start_s < t.onset_s),
            averaged(
                Cell::Number(Number {
                    text: format::figure(t.after),
                    alarm: t.after < SLOW * t.before,
                    ..Number::default()
                }),
                &|_, s| s.start_s >= t.onset_s,
            ),
            t.slow.map_or(Cell::Empty, number),
        ],
        None => vec![
            Cell::Text("never".to_owned()),
            Cell::Empty,
            mean(seconds.iter().map(|s| s.mib_per_s))
                .map_or(Cell::Empty, |rate| averaged(number(rate), &|_, _| true)),
            Cell::Empty,
            Cell::Empty,
        ],
    };
    let tail = seconds.len() - seconds.len() / 10;
    let tail = tail.min(seconds.len().saturating_sub(1));
    let last = mean(seconds.iter().skip(tail).map(|s| s.mib_per_s));
    cells.push(last.map_or(Cell::Empty, |rate| {
        averaged(number(rate), &|i, _| i >= tail)
    }));
    cells.push(rested(lineup, point).map_or(Cell::Empty, number));
    cells.push(match throttling(lineup, point) {
        Some(t) => Cell::number(format::percent(t.duty_pct)),
        None => Cell::number("0"),
    });
    let hottest = part.telemetry.iter().filter_map(|t| t.temperature_c);
    cells.push(hottest.reduce(f64::max).map_or_else(
        || Cell::Missing("n/a", "the drive reports no temperature".to_owned()),
        |c| Cell::number(format!("{c:.0}")),
    ));
    let end = seconds.last().map_or(0.0, |s| s.start_s + s.elapsed_s);
    cells.push(Cell::Number(Number {
        text: format::duration((end * 1e9) as u64),
        mark: point.remark().map(|(short, _)| short.to_owned()),
        ..Number::default()
    }));
    cells
}
