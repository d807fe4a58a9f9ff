//! The tables of a section.
//!
//! - [`matrix`]: rows and columns are the axes that vary, drives side by side (the tables that bandwidth reports print);
//! - [`figures`]: every figure of every cell;
//! - [`aboard`]: alone against together, and second by second as `iostat` prints it;
//! - [`published`]: what was published of a drive beside what its simulation gives;
//! - [`soak`]: a long run in figures;
//! - [`consistency`], [`knee`], [`load`], [`rounds`], [`saturation`], [`thermal`], [`capacity`]: what the suites of the review lab conclude;
//! - [`stream`]: short streams against one without end;
//! - [`power`]: what drives draw, at work and at rest;
//! - [`inspect`]: what a medium was found to hold, and what preparing it took.

pub mod aboard;
pub mod capacity;
pub mod consistency;
pub mod figures;
pub mod health;
pub mod inspect;
pub mod knee;
pub mod load;
pub mod matrix;
pub mod phases;
pub mod power;
pub mod published;
pub mod rounds;
pub mod saturation;
pub mod soak;
pub mod stream;
pub mod thermal;

use assay_store::model::{CellKind, CellResult, View};

use crate::axis::Axis;
use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Name, Number, Table};

/// A drive's heading.
pub fn name(lineup: &Lineup<'_>, drive: usize) -> Name {
    let entrant = &lineup.drives[drive];
    Name {
        text: entrant.name.clone(),
        simulated: entrant.info.simulated,
    }
}

/// The most important tables of a section, for the terminal.
pub fn principal(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    metric: crate::metric::Metric,
) -> Vec<Table> {
    match section.view {
        _ if section.kind == CellKind::Idle => vec![power::idle(lineup, section)],
        Some(View::Consistency) => vec![consistency::table(lineup, section)],
        Some(View::Knee) => {
            let knees = knee::table(lineup, section);
            if knees.is_empty() {
                vec![by_kind(lineup, section, metric)]
            } else {
                vec![knees]
            }
        }
        Some(View::Load) => vec![load::table(lineup, section)],
        Some(View::Rounds) => {
            let mut tables = vec![rounds::judgement(lineup, section)];
            let figures = rounds::figures(lineup, section);
            for drive in rounds::of_section(lineup, section) {
                let most = figures.first().into_iter();
                tables.extend(most.map(|f| rounds::matrix(lineup, section, &drive, f)));
            }
            tables
        }
        Some(View::Saturation) => vec![saturation::table(lineup, section)],
        Some(View::Thermal) => vec![thermal::table(lineup, section)],
        Some(View::Capacity) => vec![capacity::table(lineup, section)],
        Some(View::Peak | View::Continuous) => {
            let mut tables = vec![stream::table(lineup, section)];
            tables.push(stream::lengths(lineup, section));
            tables.retain(|t| !t.is_empty() || !t.notes.is_empty());
            tables
        }
        None => vec![by_kind(lineup, section, metric)],
    }
}

fn by_kind(lineup: &Lineup<'_>, section: &Section<'_>, metric: crate::metric::Metric) -> Table {
    match section.kind {
        CellKind::AllAboard => {
            let tables = aboard::alone_and_together(lineup, section);
            tables.into_iter().next().unwrap_or_default()
        }
        CellKind::Soak => soak::table(lineup, section),
        CellKind::Idle => power::idle(lineup, section),
        CellKind::Inspect => inspect::table(lineup, &section.points, section.title),
        CellKind::Measure | CellKind::Prepare | CellKind::Purge => {
            matrix::table(lineup, section, metric)
                .unwrap_or_else(|| figures::table(lineup, section, false))
        }
    }
}

/// Columns for axes along which the points of a table differ.
fn axis_columns(axes: &[Axis]) -> Vec<Column> {
    let columns = axes.iter().map(|axis| Column::of(axis.title(), ""));
    columns.collect()
}

/// Where a point is on each of these axes.
fn axis_cells(axes: &[Axis], point: &Point<'_>) -> Vec<Cell> {
    let places = axes.iter().map(|axis| axis.value(point.plan()).label);
    places.map(Cell::Text).collect()
}

/// A figure of a point, marked where the result is not whole, or the reason why there is none.
fn cell_of(
    point: &Point<'_>,
    value: impl FnOnce(&CellResult) -> Option<f64>,
    text: impl FnOnce(f64) -> String,
) -> Cell {
    let remark = point.remark();
    let Some(result) = point.result() else {
        return match remark {
            Some((short, full)) => Cell::Missing(short, full),
            None => Cell::Empty,
        };
    };
    let Some(value) = value(result) else {
        return Cell::Missing("n/a", "nothing completed".to_owned());
    };
    let mark = match (result.errors(), remark) {
        (0, None) => None,
        (0, Some((short, _))) => Some(short.to_owned()),
        (1, _) => Some("1 error".to_owned()),
        (n, _) => Some(format!("{} errors", assay_units::text::group_digits(n))),
    };
    Cell::Number(Number {
        text: text(value),
        alarm: result.errors() > 0,
        mark,
        more: more(point, result),
        ..Number::default()
    })
}

/// Half the width of an interval, in words; none where it is not known.
pub fn spread(estimate: Option<assay_stats::confidence::Estimate>, unit: f64) -> Option<String> {
    let half = estimate.map(|e| (e.high - e.low) / 2.0 / unit)?;
    // Fine digits of next to nothing say no more than that it is next to nothing.
    half.is_finite().then(|| match half {
        half if half > 0.0 && half < 0.005 => "< 0.01".to_owned(),
        half => format::figure(half),
    })
}

/// The note that explains a [`spread`], where there is one.
pub fn spread_note(rows: &[crate::table::Row]) -> Option<String> {
    let known = |c: &Cell| matches!(c, Cell::Number(n) if n.spread.is_some());
    let any = rows.iter().flat_map(|r| &r.cells).any(known);
    any.then(|| "\u{b1}: half-width of the 95 % confidence interval of the mean, by batch means, as neighbouring seconds are alike".to_owned())
}

/// A mean's cell with its interval, where there is one; `unit` is what one of the cell's unit is in that of the estimate.
pub fn with_spread(
    cell: Cell,
    estimate: Option<assay_stats::confidence::Estimate>,
    unit: f64,
) -> Cell {
    match cell {
        Cell::Number(number) => Cell::Number(Number {
            spread: spread(estimate, unit),
            averaged: true,
            ..number
        }),
        other => other,
    }
}

/// Notes with what has to be said of means: what \u{b1} is, and why one has none.
pub fn spread_notes(mut notes: Vec<String>, rows: &[crate::table::Row]) -> Vec<String> {
    notes.extend(spread_note(rows));
    let short = |c: &Cell| matches!(c, Cell::Number(n) if n.averaged && n.spread.is_none());
    if rows.iter().flat_map(|r| &r.cells).any(short) {
        notes.push(format!(
            "means without \u{b1}: too short, fewer than {} intervals were recorded",
            assay_stats::confidence::FEWEST_VALUES
        ));
    }
    notes
}

/// A result in one line.
fn more(point: &Point<'_>, result: &CellResult) -> String {
    let latency = result.latency();
    format!(
        "{}: {} MiB/s, {} IOPS, mean {} \u{b5}s, p99 {} \u{b5}s, {} errors",
        point.plan().id,
        format::figure(result.mib_per_s()),
        format::figure(result.iops()),
        format::micros(latency.mean),
        format::micros(latency.p99 as f64),
        result.errors(),
    )
}

/// Why cells have no whole result, each reason once, and what else must be said of a result.
pub fn remarks(lineup: &Lineup<'_>, points: &[Point<'_>]) -> Vec<String> {
    let mut reasons: Vec<(&str, String, Vec<String>)> = Vec::new();
    for point in points {
        let Some((short, full)) = point.remark() else {
            continue;
        };
        let id = point.plan().id.clone();
        match reasons.iter_mut().find(|r| r.0 == short && r.1 == full) {
            Some((_, _, ids)) if ids.contains(&id) => {}
            Some((_, _, ids)) => ids.push(id),
            None => reasons.push((short, full, vec![id])),
        }
    }
    let mut notes: Vec<String> = reasons
        .into_iter()
        .map(|(short, full, ids)| match ids.as_slice() {
            [id] => format!("{short}: {full} ({id})"),
            ids => format!("{short}: {full} ({} cells)", ids.len()),
        })
        .collect();
    for point in points {
        let Some(result) = point.result() else {
            continue;
        };
        let who = format!(
            "{}, {}",
            lineup.drives[point.drive].full_name(),
            point.plan().id
        );
        let overflow = result.read.latency_ns.overflow + result.write.latency_ns.overflow;
        if overflow > 0 {
            notes.push(format!(
                "{who}: {overflow} latencies were beyond the histogram's range (over 73 minutes); mean and maximum include them"
            ));
        }
        if let Some(verify) = &result.verify {
            let found: Vec<String> = verify
                .found
                .iter()
                .map(|(k, n)| format!("{n} {k}"))
                .collect();
            let found = if found.is_empty() {
                "nothing wrong".to_owned()
            } else {
                found.join(", ")
            };
            notes.push(format!(
                "{who}: verified {} blocks, found {found}",
                assay_units::text::group_digits(verify.blocks_checked)
            ));
            notes.extend(verify.examples.iter().map(|e| format!("{who}: {e}")));
        }
    }
    notes
}
