//! What heat does to a drive: when it begins to hold itself back, what rate is left, and for how much of the time.

use assay_analysis::attribution::{self, Throttling};
use assay_store::series::IntervalSample;

use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Number, Row, Table};
use crate::tables::{axis_cells, axis_columns, name, remarks, spread_notes, with_spread};
use assay_stats::confidence::{self, LEVEL};

/// Held back to less than this share of the rate before is worth an alarm.
const ALARM: f64 = 0.85;

fn mean(rates: impl Iterator<Item = f64>) -> Option<f64> {
    let (n, sum) = rates.fold((0u32, 0.0), |(n, sum), r| (n + 1, sum + r));
    (n > 0).then(|| sum / f64::from(n))
}

/// Of a point; `None` where nothing throttled.
pub fn throttling(lineup: &Lineup<'_>, point: &Point<'_>) -> Option<Throttling> {
    let index = lineup.index_in(point.run, point.drive)?;
    attribution::throttling_of_cell(&lineup.runs[point.run], point.cell, index)
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
        Column::under(rate, "throttling", ""),
        Column::under(rate, "while slow", ""),
        Column::under(rate, "recovered", ""),
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
    notes.push("before: the phase that ended when throttling began; throttling: while the drive held itself back, fast and slow states together; recovered: the phase after it".to_owned());
    notes.push("slow: the share of that time in the slow state, by the drive's own word or by the swing of its rate".to_owned());
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
    let seconds = part.measured_intervals();
    let number = |value: f64| Cell::number(format::figure(value));
    // A mean of these seconds, with its interval.
    let averaged = |cell: Cell, of: &dyn Fn(usize, &IntervalSample) -> bool| {
        let chosen = seconds.iter().enumerate().filter(|(i, s)| of(*i, s));
        let rates: Vec<f64> = chosen.map(|(_, s)| s.mib_per_s()).collect();
        with_spread(cell, confidence::mean(&rates, LEVEL), 1.0)
    };
    let hot = throttling(lineup, point);
    let mut cells = match &hot {
        Some(t) => vec![
            Cell::number(format::duration((t.onset_s * 1e9) as u64)),
            t.onset_c.map_or_else(
                || Cell::Missing("n/a", "the drive reports no temperature".to_owned()),
                |c| Cell::number(format!("{c:.0}")),
            ),
            t.before.map_or(Cell::Empty, |before| {
                averaged(number(before.mib_per_s), &|_, s| {
                    (before.from_s..before.to_s).contains(&s.start_s())
                })
            }),
            averaged(
                Cell::Number(Number {
                    text: format::figure(t.after_mib_per_s),
                    alarm: t
                        .before
                        .is_some_and(|before| t.after_mib_per_s < ALARM * before.mib_per_s),
                    ..Number::default()
                }),
                &|_, s| t.covers(s.start_s()),
            ),
            t.slow_mib_per_s.map_or(Cell::Empty, number),
            t.recovery
                .map_or(Cell::Empty, |recovery| number(recovery.mib_per_s)),
        ],
        None => vec![
            Cell::Text("never".to_owned()),
            Cell::Empty,
            mean(seconds.iter().map(IntervalSample::mib_per_s))
                .map_or(Cell::Empty, |rate| averaged(number(rate), &|_, _| true)),
            Cell::Empty,
            Cell::Empty,
            Cell::Empty,
        ],
    };
    let tail = seconds.len() - seconds.len() / 10;
    let tail = tail.min(seconds.len().saturating_sub(1));
    let last = mean(seconds.iter().skip(tail).map(IntervalSample::mib_per_s));
    cells.push(last.map_or(Cell::Empty, |rate| {
        averaged(number(rate), &|i, _| i >= tail)
    }));
    cells.push(rested(lineup, point).map_or(Cell::Empty, number));
    cells.push(match &hot {
        Some(t) => Cell::number(format::percent(t.duty_pct)),
        None => Cell::number("0"),
    });
    let hottest = part.telemetry.iter().filter_map(|t| t.temperature_c);
    cells.push(hottest.reduce(f64::max).map_or_else(
        || Cell::Missing("n/a", "the drive reports no temperature".to_owned()),
        |c| Cell::number(format!("{c:.0}")),
    ));
    let end = seconds.last().map_or(0.0, IntervalSample::end_s);
    cells.push(Cell::Number(Number {
        text: format::duration((end * 1e9) as u64),
        mark: point.remark().map(|(short, _)| short.to_owned()),
        ..Number::default()
    }));
    cells
}
