//! Tables for the terminal: a run, or several compared.
//!
//! Nothing here is wider than asked for (80 columns by default of most callers), coloured unless asked for, or without
//! the word "simulated" where a drive is.

mod answers;
mod text;
mod verdicts;

use anstyle::AnsiColor;
use assay_stats::compare::Terms;
use assay_store::model::{CellKind, Outcome, View};
use assay_store::read::Run;

use crate::format::{capacity, figure, micros, percent, printable, stamp};
use crate::grid::{self, Point, Section};
use crate::lineup::Lineup;
use crate::metric::Metric;
use crate::table::{Cell, Column, Name, Number, Row, Table};
use crate::tables;
use text::{Page, Paint};
pub use verdicts::verdicts;

/// With colour or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// No escape codes: for pipes, files and `NO_COLOR`.
    Plain,
    /// ANSI colours.
    Colour,
}

/// Narrower than this no table can be read.
const NARROWEST: usize = 40;

/// A run as tables, at most `width` columns wide (not under 40): the drives, one table per step, verdicts, warnings.
/// A run of a single measured cell is shown with all its figures instead.
pub fn render(run: &Run, width: usize, style: Style) -> String {
    let runs = std::slice::from_ref(run);
    let lineup = Lineup::new(runs);
    let mut page = Page::new(width.max(NARROWEST), style);
    head(&mut page, &lineup);
    let sections = grid::sections(&lineup);
    let single = match sections.as_slice() {
        [section] if section.kind == CellKind::Measure && section.view.is_none() => {
            section.rows.len() * section.columns.len() == 1
        }
        _ => false,
    };
    for section in &sections {
        if single {
            for point in &section.points {
                job(&mut page, &lineup, section, point);
            }
        } else {
            if matches!(
                section.view,
                Some(View::Capacity | View::Peak | View::Continuous)
            ) {
                for alarm in tables::capacity::alarms(&lineup, section) {
                    page.item("!! ", &alarm, Some(Paint::Alarm));
                }
            }
            for table in tables::principal(&lineup, section, Metric::Bandwidth) {
                page.table(&table);
            }
        }
    }
    if !single {
        page.table(&tables::published::summary(&lineup, &sections));
    }
    conclusions(&mut page, &lineup);
    warnings(&mut page, &lineup);
    page.finish()
}

/// Several runs side by side, at most `width` columns wide: bandwidth and p99 latency of every workload that they
/// have, and of exactly two drives the change from the first to the second; then, drive against drive, which differences are known.
pub fn compare(runs: &[Run], width: usize, style: Style) -> String {
    let lineup = Lineup::new(runs);
    let mut page = Page::new(width.max(NARROWEST), style);
    for (i, run) in runs.iter().enumerate() {
        page.line(
            &format!(
                "run {}: {}, {}, {}",
                i + 1,
                run.manifest.run_id,
                run.manifest.suite.name,
                stamp(&run.manifest.created)
            ),
            None,
        );
    }
    circumstances(&mut page, &lineup);
    page.blank();
    for section in grid::sections(&lineup) {
        if section.kind == CellKind::Inspect {
            continue;
        }
        for metric in [Metric::Bandwidth, Metric::P99] {
            page.table(&comparison(&lineup, &section, metric));
        }
    }
    answers::show(
        &mut page,
        &assay_analysis::compare::of(runs, Terms::default()),
    );
    page.finish()
}

/// Every workload of a section as a row, every drive as a column.
fn comparison(lineup: &Lineup<'_>, section: &Section<'_>, metric: Metric) -> Table {
    let mut columns: Vec<Column> = section
        .drives
        .iter()
        .map(|d| Column {
            label: lineup.drives[*d].full_name(),
            ..Column::default()
        })
        .collect();
    let pair = <[usize; 2]>::try_from(section.drives.as_slice()).ok();
    if pair.is_some() {
        columns.push(Column {
            label: "change".to_owned(),
            unit: "%",
            group: None,
        });
    }
    let rounds = match section.view {
        Some(View::Rounds) => tables::rounds::of_section(lineup, section),
        _ => Vec::new(),
    };
    let mut unsteady = false;
    let mut rows = Vec::new();
    for row in 0..section.rows.len() {
        for column in 0..section.columns.len() {
            let place = section.place(row, column);
            let value = |drive: usize| at_rest(&rounds, section, (row, column, drive), metric);
            let mut cells: Vec<Cell> = section
                .drives
                .iter()
                .map(|d| match (value(*d), section.at(row, column, *d)) {
                    (Some(v), _) => {
                        let own = rounds.iter().find(|r| r.drive == *d);
                        let moved = own.is_some_and(|r| r.achieved() == Some(false));
                        unsteady |= moved;
                        Cell::Number(Number {
                            text: figure(v),
                            mark: moved.then(|| "not steady".to_owned()),
                            ..Number::default()
                        })
                    }
                    (None, Some(point)) => point
                        .remark()
                        .map_or(Cell::Empty, |(short, full)| Cell::Missing(short, full)),
                    (None, None) => Cell::Empty,
                })
                .collect();
            if cells.iter().all(|c| *c == Cell::Empty) {
                continue;
            }
            if let Some([a, b]) = pair {
                cells.push(match (value(a), value(b)) {
                    (Some(a), Some(b)) if a > 0.0 => {
                        Cell::number(format!("{:+.1}", 100.0 * (b - a) / a))
                    }
                    _ => Cell::Empty,
                });
            }
            rows.push(Row {
                name: Name::plain(if place.is_empty() {
                    section.title.to_owned()
                } else {
                    place
                }),
                cells,
            });
        }
    }
    let mut notes = Vec::new();
    if !rounds.is_empty() {
        notes.push("means of the rounds that count".to_owned());
    }
    if unsteady {
        notes.push(format!("not steady: {}", tables::rounds::NOT_ACHIEVED));
    }
    Table {
        caption: format!("{}: {}", section.title, metric.title()),
        corner: "workload".to_owned(),
        columns,
        rows,
        notes,
    }
}

/// A drive's figure at a place: of rounds and repetitions the mean of those that count.
fn at_rest(
    rounds: &[tables::rounds::Drive<'_, '_>],
    section: &Section<'_>,
    (row, column, drive): (usize, usize, usize),
    metric: Metric,
) -> Option<f64> {
    let counts = |point: &&Point<'_>| {
        let Some(round) = point.plan().round.as_ref() else {
            return true;
        };
        let own = rounds.iter().find(|r| r.drive == drive);
        own.is_none_or(|r| (r.window.0..=r.window.1).contains(&round.number))
    };
    let here = |p: &&Point<'_>| (p.row, p.column, p.drive) == (row, column, drive);
    let repeated = |p: &&Point<'_>| p.plan().round.is_some();
    let points = || section.points.iter().filter(here);
    if !points().any(|p| repeated(&p)) {
        return metric.of(section.at(row, column, drive)?.result()?);
    }
    let values: Option<Vec<f64>> = points()
        .filter(counts)
        .filter_map(Point::result)
        .map(|result| metric.of(result))
        .collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

fn head(page: &mut Page, lineup: &Lineup<'_>) {
    for run in lineup.runs {
        let m = &run.manifest;
        let title = if m.suite.title.is_empty() {
            &m.suite.name
        } else {
            &m.suite.title
        };
        page.line(title, Some(Paint::Strong));
        page.line(
            &format!(
                "{}, {} {} (commit {})",
                stamp(&m.created),
                m.tool.name,
                m.tool.version,
                m.tool.commit.chars().take(12).collect::<String>()
            ),
            None,
        );
    }
    for drive in &lineup.drives {
        let mut parts = vec![
            drive.info.model.clone(),
            capacity(drive.info.capacity_bytes),
        ];
        if !drive.info.serial.is_empty() {
            parts.push(format!("serial {}", drive.info.serial));
        }
        parts.retain(|p| !p.is_empty());
        page.line(
            &format!("{}: {}", drive.full_name(), parts.join(", ")),
            None,
        );
    }
    circumstances(page, lineup);
    page.blank();
}

/// What must be known before any figure.
fn circumstances(page: &mut Page, lineup: &Lineup<'_>) {
    for (i, run) in lineup.runs.iter().enumerate() {
        let which = if lineup.runs.len() > 1 {
            format!("run {}: ", i + 1)
        } else {
            String::new()
        };
        if (run.manifest.scale - 1.0).abs() > f64::EPSILON {
            page.line(
                &format!(
                    "{which}durations multiplied by {} (--scale): not the procedure as published",
                    run.manifest.scale
                ),
                Some(Paint::Caution),
            );
        }
        match run.outcome {
            Some(Outcome::Complete) => {}
            Some(Outcome::Interrupted) => page.line(
                &format!("{which}interrupted: continue with assay run --resume"),
                Some(Paint::Caution),
            ),
            None => page.line(
                &format!("{which}unfinished: killed, or still running"),
                Some(Paint::Caution),
            ),
        }
        if !run.damaged_lines.is_empty() {
            page.line(
                &format!(
                    "{which}{} damaged lines of the journal were left out",
                    run.damaged_lines.len()
                ),
                Some(Paint::Alarm),
            );
        }
    }
}

/// All figures of one drive's part of a cell.
fn job(page: &mut Page, lineup: &Lineup<'_>, section: &Section<'_>, point: &Point<'_>) {
    page.line(&lineup.drives[point.drive].full_name(), Some(Paint::Strong));
    page.line(&section.common().replace(" \u{b7} ", ", "), None);
    if let Some((short, full)) = point.remark() {
        page.line(&format!("{short}: {full}"), Some(Paint::Caution));
    }
    let Some(result) = point.result() else {
        page.blank();
        return;
    };
    for (operation, o) in tables::figures::operations(result) {
        let line = |l: &assay_stats::LatencySummary| {
            [
                ("mean", micros(l.mean)),
                ("std dev", micros(l.stddev)),
                ("min", micros(l.min as f64)),
                ("max", micros(l.max as f64)),
            ]
            .map(|(k, v)| format!("{k} {v}"))
            .join(", ")
        };
        let tail = |l: &assay_stats::LatencySummary| {
            [
                ("p50", l.p50, 1),
                ("p90", l.p90, 10),
                ("p99", l.p99, 100),
                ("p99.9", l.p99_9, 1_000),
                ("p99.99", l.p99_99, 10_000),
            ]
            .iter()
            .filter(|(_, _, needed)| l.samples >= *needed)
            .map(|(k, v, _)| format!("{k} {}", micros(*v as f64)))
            .collect::<Vec<String>>()
            .join(", ")
        };
        page.pair(
            operation,
            &format!(
                "{} IOPS, {} MiB/s, {} operations",
                figure(o.iops),
                figure(o.mib_per_s),
                assay_units::text::group_digits(o.ios)
            ),
            Some(Paint::Strong),
        );
        if o.latency_ns.samples > 0 {
            page.pair("latency, \u{b5}s", &line(&o.latency_ns), None);
            page.pair("", &tail(&o.latency_ns), None);
        }
        if let Some(service) = &o.service_ns {
            page.pair("service, \u{b5}s", &line(service), None);
            page.pair("", &tail(service), None);
        }
        if o.latency_ns.overflow > 0 {
            page.pair(
                "overflow",
                &format!("{} latencies over 73 minutes", o.latency_ns.overflow),
                Some(Paint::Alarm),
            );
        }
        let alarm = (o.errors > 0).then_some(Paint::Alarm);
        page.pair("errors", &assay_units::text::group_digits(o.errors), alarm);
    }
    if let Some(load) = &result.host {
        let split: Vec<String> = tables::figures::HOST
            .iter()
            .map(|(label, of)| format!("{label} {}", percent(of(load))))
            .collect();
        page.pair("host CPU, %", &split.join(", "), None);
        if let Some(watts) = load.package_w {
            page.pair(
                "host power, W",
                &format!("{watts:.1} (its processors, not the drive)"),
                None,
            );
        }
    }
    if let Some(load) = &result.process {
        let text = format!(
            "user {}, system {}",
            percent(load.cpu_user_pct),
            percent(load.cpu_system_pct)
        );
        page.pair("own CPU, %", &text, None);
    }
    if let Some(verify) = &result.verify {
        let bad = !verify.found.is_empty();
        let found: Vec<String> = verify
            .found
            .iter()
            .map(|(k, n)| format!("{n} {k}"))
            .collect();
        page.pair(
            "verified",
            &format!(
                "{} blocks, found {}",
                assay_units::text::group_digits(verify.blocks_checked),
                if bad {
                    found.join(", ")
                } else {
                    "nothing wrong".to_owned()
                }
            ),
            bad.then_some(Paint::Alarm),
        );
        for example in &verify.examples {
            page.pair("", example, Some(Paint::Alarm));
        }
    }
    for (key, value) in &result.values {
        page.pair(&crate::format::humanise(key), &figure(*value), None);
    }
    page.blank();
}

fn conclusions(page: &mut Page, lineup: &Lineup<'_>) {
    let parts = lineup
        .drives
        .iter()
        .flat_map(|d| d.parts.iter().map(move |part| (d, part)));
    for (entrant, (run, drive)) in parts {
        let Some(Some(verdict)) = lineup.runs[*run].verdicts.get(*drive) else {
            continue;
        };
        verdicts::write(page, &entrant.full_name(), verdict);
    }
}

fn warnings(page: &mut Page, lineup: &Lineup<'_>) {
    for (i, run) in lineup.runs.iter().enumerate() {
        for warning in &run.warnings {
            let drive = warning.drive.and_then(|d| lineup.position(i, d));
            let about: Vec<String> = drive
                .map(|d| lineup.drives[d].full_name())
                .into_iter()
                .chain(warning.cell.clone())
                .collect();
            let about = if about.is_empty() {
                String::new()
            } else {
                format!(" ({})", about.join(", "))
            };
            page.item(
                "warning: ",
                &format!("{}{about}", warning.message),
                Some(Paint::Caution),
            );
            page.item("         ", &warning.advice, None);
        }
        if !run.warnings.is_empty() {
            page.blank();
        }
    }
}

/// How a cell reads in a terminal, without colour.
fn cell_text(cell: &Cell) -> String {
    match cell {
        Cell::Number(Number {
            text,
            mark,
            best,
            spread,
            ..
        }) => {
            let mut out = text.replace('\u{d7}', "x");
            if let Some(spread) = spread {
                out.push_str(&format!(" \u{b1}{spread}"));
            }
            // The mark before, so that the figure stays under its neighbours.
            if let Some(mark) = mark {
                out = format!("({mark}) {out}");
            }
            if *best {
                out.push('*');
            }
            printable(&out)
        }
        Cell::Text(text) => printable(text),
        Cell::Missing(short, _) => (*short).to_owned(),
        Cell::Empty => String::new(),
    }
}

/// The colour of a kind of text.
fn ansi(paint: Paint) -> anstyle::Style {
    let coloured = |c: AnsiColor| anstyle::Style::new().fg_color(Some(c.into()));
    match paint {
        Paint::Strong => anstyle::Style::new().bold(),
        Paint::Good => coloured(AnsiColor::Green),
        Paint::Caution => coloured(AnsiColor::Yellow),
        Paint::Alarm => coloured(AnsiColor::Red).bold(),
        Paint::Soft => anstyle::Style::new().dimmed(),
    }
}
