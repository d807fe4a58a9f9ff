//! Terminal tables of one run, or of several runs compared.
//!
//! The text is never wider than requested, coloured only on request, and marks every simulated drive.

mod answers;
mod text;
mod verdicts;

use anstyle::AnsiColor;
use assay_stats::LatencySummary;
use assay_stats::compare::ComparisonSettings;
use assay_store::model::{CellKind, CellResult, RunEnd};
use assay_store::read::Run;
use assay_units::text::group_digits;

use crate::drive_set::DriveSet;
use crate::format::{capacity, figure, humanise, micros, percent, printable, stamp};
use crate::grid::{self, Point, Section};
use crate::metric::ResultMetric;
use crate::table::{Cell, Column, Heading, Number, Row, Table};
use crate::tables::{self, figures, rounds};
use crate::views::Context;
use text::{Paint, TextPage};
pub use verdicts::verdicts;

/// Use of colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// No escape codes: for pipes, files and `NO_COLOR`.
    Plain,
    /// ANSI colours.
    Colour,
}

/// Smallest width, columns.
const MIN_WIDTH: usize = 40;

/// A run as tables, at most `width` columns wide (not under 40): the drives, the tables of every step, verdicts,
/// warnings. A run of a single measured cell is shown with all its figures instead.
pub fn render(run: &Run, width: usize, style: Style) -> String {
    let runs = std::slice::from_ref(run);
    let set = DriveSet::new(runs);
    let mut page = TextPage::new(width.max(MIN_WIDTH), style);
    head(&mut page, &set);
    let sections = grid::sections(&set);
    let single = match sections.as_slice() {
        [section] if section.kind == CellKind::Measure && section.view.is_none() => {
            section.rows.len() * section.columns.len() == 1
        }
        _ => false,
    };
    for section in &sections {
        if single {
            for point in &section.points {
                job(&mut page, &set, section, point);
            }
            continue;
        }
        let cx = Context {
            set: &set,
            section,
            all: &sections,
        };
        for alarm in section.descriptor().alarms(cx) {
            page.item("!! ", &alarm, Some(Paint::Alarm));
        }
        for table in section.descriptor().tables(cx) {
            page.table(&table);
        }
    }
    if !single {
        page.table(&tables::published::summary(&set, &sections));
    }
    conclusions(&mut page, &set);
    warnings(&mut page, &set);
    page.finish()
}

/// Several runs side by side, at most `width` columns wide: bandwidth and p99 latency of every workload, the change
/// between exactly two drives, and the statistical comparison of each pair of drives.
pub fn compare(runs: &[Run], width: usize, style: Style) -> String {
    let set = DriveSet::new(runs);
    let mut page = TextPage::new(width.max(MIN_WIDTH), style);
    for (i, run) in runs.iter().enumerate() {
        let m = &run.manifest;
        let line = format!(
            "run {}: {}, {}, {}",
            i + 1,
            m.run_id,
            m.suite.name,
            stamp(&m.created)
        );
        page.line(&line, None);
    }
    limitations(&mut page, &set);
    page.blank();
    for section in grid::sections(&set)
        .iter()
        .filter(|s| s.kind != CellKind::Inspect)
    {
        for metric in [ResultMetric::Bandwidth, ResultMetric::P99] {
            page.table(&comparison(&set, section, metric));
        }
    }
    answers::show(
        &mut page,
        &assay_analysis::compare::of(runs, ComparisonSettings::default()),
    );
    page.finish()
}

/// Every workload of a section as a row, every drive as a column.
fn comparison(set: &DriveSet<'_>, section: &Section<'_>, metric: ResultMetric) -> Table {
    let drives = section.drives.iter();
    let mut columns: Vec<Column> = drives
        .clone()
        .map(|d| Column::of(set.full_name(*d), ""))
        .collect();
    let pair = <[usize; 2]>::try_from(section.drives.as_slice()).ok();
    if pair.is_some() {
        columns.push(Column::of("change", "%"));
    }
    let rounds = rounds::of_section(set, section);
    let is_unsteady = |drive| {
        rounds
            .iter()
            .any(|r| r.drive == drive && r.achieved() == Some(false))
    };
    let mut rows = Vec::new();
    for row in 0..section.rows.len() {
        for column in 0..section.columns.len() {
            let value = |drive: usize| steady_value(&rounds, section, (row, column, drive), metric);
            let cell = |drive: &usize| match (value(*drive), section.at(row, column, *drive)) {
                (Some(v), _) => Cell::figure(v)
                    .with(|n| n.mark = is_unsteady(*drive).then(|| "not steady".to_owned())),
                (None, Some(point)) => tables::reason(point),
                (None, None) => Cell::Empty,
            };
            let mut cells: Vec<Cell> = drives.clone().map(cell).collect();
            if cells.iter().all(|c| *c == Cell::Empty) {
                continue;
            }
            if let Some([a, b]) = pair {
                let pair = value(a).zip(value(b)).filter(|(a, _)| *a > 0.0);
                let change = pair.map(|(a, b)| format!("{:+.1}", 100.0 * (b - a) / a));
                cells.push(change.map(Cell::number).unwrap_or_default());
            }
            rows.push(Row::new(
                Heading::plain(section.location_or_title(row, column)),
                cells,
            ));
        }
    }
    let mut notes = Vec::new();
    if !rounds.is_empty() {
        notes.push("means of the measurement window".to_owned());
    }
    if tables::any_number(&rows, |n| n.mark.is_some()) {
        notes.push(format!("not steady: {}", rounds::NOT_ACHIEVED));
    }
    Table {
        caption: section.caption(metric.title()),
        corner: "workload".to_owned(),
        columns,
        rows,
        notes,
    }
}

/// A drive's figure in a table cell; of rounds and repetitions, the mean over the measurement window.
fn steady_value(
    rounds: &[rounds::DriveRounds<'_, '_>],
    section: &Section<'_>,
    (row, column, drive): (usize, usize, usize),
    metric: ResultMetric,
) -> Option<f64> {
    let in_window = |point: &&Point<'_>| {
        let own = rounds.iter().find(|r| r.drive == drive);
        let number = point.plan().round.as_ref().map(|r| r.number);
        number
            .zip(own)
            .is_none_or(|(number, own)| (own.window.0..=own.window.1).contains(&number))
    };
    let here = |p: &&Point<'_>| (p.row, p.column, p.drive) == (row, column, drive);
    let points = || section.points.iter().filter(here);
    if points().all(|p| p.plan().round.is_none()) {
        return metric.of(section.at(row, column, drive)?.result()?);
    }
    let results = points().filter(in_window).filter_map(Point::result);
    let values: Option<Vec<f64>> = results.map(|result| metric.of(result)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

fn head(page: &mut TextPage, set: &DriveSet<'_>) {
    for run in set.runs {
        let m = &run.manifest;
        let title = if m.suite.title.is_empty() {
            &m.suite.name
        } else {
            &m.suite.title
        };
        page.line(title, Some(Paint::Strong));
        let commit: String = m.tool.commit.chars().take(12).collect();
        let tool = format!("{} {} (commit {commit})", m.tool.name, m.tool.version);
        page.line(&format!("{}, {tool}", stamp(&m.created)), None);
    }
    for drive in &set.drives {
        let info = drive.info;
        let mut parts = vec![info.model.clone(), capacity(info.capacity_bytes)];
        if !info.serial.is_empty() {
            parts.push(format!("serial {}", info.serial));
        }
        parts.retain(|p| !p.is_empty());
        page.line(
            &format!("{}: {}", drive.full_name(), parts.join(", ")),
            None,
        );
    }
    limitations(page, set);
    page.blank();
}

/// Limitations that apply to all figures.
fn limitations(page: &mut TextPage, set: &DriveSet<'_>) {
    for (i, run) in set.runs.iter().enumerate() {
        let which = if set.runs.len() > 1 {
            format!("run {}: ", i + 1)
        } else {
            String::new()
        };
        let scale = run.manifest.scale;
        let mut line = |text: String, paint| page.line(&format!("{which}{text}"), Some(paint));
        if (scale - 1.0).abs() > f64::EPSILON {
            let text = format!(
                "durations multiplied by {scale} (--scale): not the procedure as published"
            );
            line(text, Paint::Caution);
        }
        match run.outcome {
            Some(RunEnd::Complete) => {}
            Some(RunEnd::Interrupted) => {
                line(
                    "interrupted: continue with assay run --resume".to_owned(),
                    Paint::Caution,
                );
            }
            None => line(
                "unfinished: killed or still in progress".to_owned(),
                Paint::Caution,
            ),
        }
        let damaged = run.damaged_lines.len();
        if damaged > 0 {
            line(
                format!("{damaged} damaged lines of the journal were left out"),
                Paint::Alarm,
            );
        }
    }
}

/// Mean and extremes of a distribution, and its percentiles with enough samples.
fn latency_lines(l: &LatencySummary) -> [String; 2] {
    let list = |parts: Vec<(&str, f64)>| {
        let parts = parts
            .into_iter()
            .map(|(name, ns)| format!("{name} {}", micros(ns)));
        parts.collect::<Vec<String>>().join(", ")
    };
    let percentiles = [
        ("p50", l.p50, 1),
        ("p90", l.p90, 10),
        ("p99", l.p99, 100),
        ("p99.9", l.p99_9, 1_000),
        ("p99.99", l.p99_99, 10_000),
    ];
    let percentiles = percentiles
        .into_iter()
        .filter(|(_, _, needed)| l.samples >= *needed);
    [
        list(vec![
            ("mean", l.mean),
            ("std dev", l.stddev),
            ("min", l.min as f64),
            ("max", l.max as f64),
        ]),
        list(percentiles.map(|(name, ns, _)| (name, ns as f64)).collect()),
    ]
}

/// All figures of a drive's result in a cell.
fn job(page: &mut TextPage, set: &DriveSet<'_>, section: &Section<'_>, point: &Point<'_>) {
    page.line(&set.full_name(point.drive), Some(Paint::Strong));
    page.line(&section.common().replace(" \u{b7} ", ", "), None);
    if let Some((short, full)) = point.remark() {
        page.line(&format!("{short}: {full}"), Some(Paint::Caution));
    }
    if let Some(result) = point.result() {
        job_figures(page, result);
    }
    page.blank();
}

fn job_figures(page: &mut TextPage, result: &CellResult) {
    for (operation, o) in figures::operations(result) {
        let (iops, bandwidth) = (figure(o.iops), figure(o.mib_per_s));
        let text = format!(
            "{iops} IOPS, {bandwidth} MiB/s, {} operations",
            group_digits(o.ios)
        );
        page.pair(operation, &text, Some(Paint::Strong));
        let latency = (o.latency_ns.samples > 0).then_some(&o.latency_ns);
        for (name, summary) in [
            ("latency, \u{b5}s", latency),
            ("service, \u{b5}s", o.service_ns.as_ref()),
        ] {
            if let Some([extremes, percentiles]) = summary.map(latency_lines) {
                page.pair(name, &extremes, None);
                page.pair("", &percentiles, None);
            }
        }
        if o.latency_ns.overflow > 0 {
            let text = format!("{} latencies over 73 minutes", o.latency_ns.overflow);
            page.pair("overflow", &text, Some(Paint::Alarm));
        }
        page.pair(
            "errors",
            &group_digits(o.errors),
            (o.errors > 0).then_some(Paint::Alarm),
        );
    }
    if let Some(load) = &result.host {
        let shares = figures::HOST
            .iter()
            .map(|(label, of)| format!("{label} {}", percent(of(load))));
        page.pair(
            "host CPU, %",
            &shares.collect::<Vec<String>>().join(", "),
            None,
        );
        if let Some(watts) = load.package_w {
            page.pair(
                "host power, W",
                &format!("{watts:.1} (processors, not the drive)"),
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
        let alarm = (!verify.found.is_empty()).then_some(Paint::Alarm);
        let checked = group_digits(verify.blocks_checked);
        page.pair(
            "verified",
            &format!("{checked} blocks, found {}", tables::verification(verify)),
            alarm,
        );
        for example in &verify.examples {
            page.pair("", example, Some(Paint::Alarm));
        }
    }
    for (key, value) in &result.values {
        page.pair(&humanise(key), &figure(*value), None);
    }
}

fn conclusions(page: &mut TextPage, set: &DriveSet<'_>) {
    for drive in &set.drives {
        for (run, index) in &drive.origins {
            if let Some(Some(verdict)) = set.runs[*run].verdicts.get(*index) {
                verdicts::write(page, &drive.full_name(), verdict);
            }
        }
    }
}

fn warnings(page: &mut TextPage, set: &DriveSet<'_>) {
    for (i, run) in set.runs.iter().enumerate() {
        for warning in &run.warnings {
            let drive = warning.drive.and_then(|d| set.position(i, d));
            let drive = drive.map(|d| set.full_name(d));
            let subject: Vec<String> = drive.into_iter().chain(warning.cell.clone()).collect();
            let subject = if subject.is_empty() {
                String::new()
            } else {
                format!(" ({})", subject.join(", "))
            };
            page.item(
                "warning: ",
                &format!("{}{subject}", warning.message),
                Some(Paint::Caution),
            );
            page.item("         ", &warning.advice, None);
        }
        if !run.warnings.is_empty() {
            page.blank();
        }
    }
}

/// A cell as text, without colour.
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
            // The mark precedes the figure, so that figures stay aligned.
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

/// Style of a kind of text.
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
