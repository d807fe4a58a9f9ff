//! Terminal tables of one run, or of several runs compared.
//!
//! The text is never wider than requested, coloured only on request, and marks every simulated
//! drive.

use assay_analysis::compare::Comparisons;
use assay_analysis::warnings::by_cause;
use assay_stats::LatencySummary;
use assay_store::model::warning::code;
use assay_store::model::{
    AREA_WRITTEN_PCT, CellKind, CellResult, LAYERS, PROBE_START_PCT, RunEnd, SPARE_PCT, Warning,
};
use assay_store::read::Run;
use assay_units::text::group_digits;
use text::{Paint, TextPage};

use crate::drive_set::DriveSet;
use crate::format::{capacity, figure, humanise, joined, micros, percent, stamp, text_or};
use crate::grid::{self, Point, Section};
use crate::metric::{LATENCIES, Latency, ResultMetric};
use crate::resume;
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::tables::rounds;
use crate::tables::{self, figures, predictive};
use crate::views;
use crate::warnings::subject;
pub use verdicts::verdicts;

pub(crate) mod answers;
pub(crate) mod text;
mod verdicts;

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

/// A run as tables, at most `width` columns wide (not under 40): the drives, the tables of every
/// step, verdicts, warnings. A run of a single measured cell is shown with all its figures instead.
pub fn render(run: &Run, width: usize, style: Style) -> String {
    let runs = std::slice::from_ref(run);
    let set = DriveSet::new(runs);
    let mut page = TextPage::new(width.max(MIN_WIDTH), style);
    head(&mut page, &set);
    preconditioned(&mut page, &set);
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
                job(&mut page, section, point);
            }
            continue;
        }
        let view = views::of_section(section);
        for alarm in (view.alarms)(section) {
            page.item("!! ", &alarm, Some(Paint::Alarm));
        }
        for table in (view.tables)(section) {
            page.table(&table);
        }
    }
    if !single {
        page.table(&tables::published::summary(&set, &sections));
        if let Some(amplification) = tables::endurance::table(&set) {
            page.table(&amplification);
        }
    }
    conclusions(&mut page, &set);
    warnings(&mut page, &set);
    page.finish()
}

/// Details of a comparison of at most this many workloads are shown without being requested.
const FEW_WORKLOADS: usize = 6;

/// Several runs compared, at most `width` columns wide: a summary of each pair of sides over the
/// workloads that both have. With `details` (and of few workloads, or without a pair) also
/// bandwidth and p99 latency side by side, and the answer for every workload.
pub fn compare(
    runs: &[Run],
    compared: &Comparisons,
    width: usize,
    style: Style,
    details: bool,
) -> String {
    let set = DriveSet::new(runs);
    let mut page = TextPage::new(width.max(MIN_WIDTH), style);
    let workloads: usize = compared.pairs.iter().map(|p| p.workloads.len()).sum();
    let details = details || workloads <= FEW_WORKLOADS;
    for pair in &compared.pairs {
        answers::summary(&mut page, runs, compared, pair);
    }
    for (i, run) in runs.iter().enumerate() {
        let m = &run.manifest;
        let (suite, created) = (&m.suite.name, stamp(&m.created));
        let line = format!("run {}: {}, {suite}, {created}", i + 1, m.run_id);
        page.line(&line, None);
    }
    limitations(&mut page, &set);
    page.blank();
    for trend in tables::trend::tables(&set) {
        page.table(&trend);
    }
    if !details {
        let text = "each workload: add --details; side by side with charts: assay report RUN...";
        page.item("  ", text, Some(Paint::Soft));
        return page.finish();
    }
    let sections = grid::sections(&set);
    let only_common = !compared.pairs.is_empty();
    for section in sections.iter().filter(|s| s.kind != CellKind::Inspect) {
        for metric in [ResultMetric::BANDWIDTH, ResultMetric::P99] {
            page.table(&comparison(section, metric, only_common));
        }
    }
    for pair in &compared.pairs {
        answers::details(&mut page, compared, pair);
    }
    page.finish()
}

/// Every workload of a section as a row, every drive as a column; with `only_common`, workloads of
/// at least two drives.
fn comparison(section: &Section<'_>, metric: ResultMetric, only_common: bool) -> Table {
    let drives = section.drives.iter();
    let names = drives.clone().map(|d| section.set.full_name(*d));
    let mut columns: Vec<Column> = names.map(|name| Column::new(name, "")).collect();
    let pair = <[usize; 2]>::try_from(section.drives.as_slice()).ok();
    if pair.is_some() {
        columns.push(Column::new("change", "%"));
    }
    let rounds = rounds::of_section(section);
    let is_unsteady = |drive| {
        let mut own = rounds.iter().filter(|r| r.drive == drive);
        own.any(|r| r.achieved() == Some(false))
    };
    let mut rows = Vec::new();
    for (row, column) in section.locations() {
        let value = |drive: usize| steady_value(&rounds, section, (row, column, drive), metric);
        let cell = |drive: &usize| match (value(*drive), section.at(row, column, *drive)) {
            (Some(v), _) => TableCell::figure(v)
                .with(|n| n.mark = is_unsteady(*drive).then(|| "not steady".to_owned())),
            (None, Some(point)) => tables::cells::reason(point),
            (None, None) => TableCell::Empty,
        };
        let mut cells: Vec<TableCell> = drives.clone().map(cell).collect();
        let shown = cells.iter().filter(|c| **c != TableCell::Empty).count();
        if shown < 1 + usize::from(only_common) {
            continue;
        }
        if let Some([a, b]) = pair {
            let pair = value(a).zip(value(b)).filter(|(a, _)| *a > 0.0);
            let change = pair.map(|(a, b)| format!("{:+.1}", 100.0 * (b - a) / a));
            cells.push(change.map_or(TableCell::Empty, TableCell::number));
        }
        let heading = section.location_or_title(row, column);
        rows.push(Row::new(Heading::plain(heading), cells));
    }
    let mut notes = Vec::new();
    if !rounds.is_empty() {
        notes.push("means of the measurement window".to_owned());
    }
    if tables::cells::any_number(&rows, |n| n.mark.is_some()) {
        notes.push(format!("not steady: {}", rounds::NOT_ACHIEVED));
    }
    Table {
        caption: section.caption(metric.title),
        corner: "workload".to_owned(),
        columns,
        rows,
        notes,
    }
}

/// A drive's figure in a table cell; of rounds and repetitions, the mean over the measurement
/// window.
fn steady_value(
    rounds: &[rounds::DriveRounds<'_, '_>],
    section: &Section<'_>,
    (row, column, drive): (usize, usize, usize),
    metric: ResultMetric,
) -> Option<f64> {
    let in_window = |point: &&Point<'_>| {
        let own = rounds.iter().find(|r| r.drive == drive);
        let pair = point.plan().round.as_ref().zip(own);
        pair.is_none_or(|(r, own)| (own.window.0..=own.window.1).contains(&r.number))
    };
    let here = |p: &&Point<'_>| (p.row, p.column, p.drive) == (row, column, drive);
    let points = || section.points.iter().filter(here);
    if points().all(|p| p.plan().round.is_none()) {
        return metric.value(section.at(row, column, drive)?.result()?);
    }
    let results = points().filter(in_window).filter_map(Point::result);
    let values: Option<Vec<f64>> = results.map(|result| metric.value(result)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

fn head(page: &mut TextPage, set: &DriveSet<'_>) {
    for run in set.runs {
        let m = &run.manifest;
        let title = text_or(&m.suite.title, &m.suite.name);
        page.line(title, Some(Paint::Strong));
        let commit: String = m.tool.commit.chars().take(12).collect();
        let tool = format!("{} {} (commit {commit})", m.tool.name, m.tool.version);
        page.line(&format!("{}, {tool}", stamp(&m.created)), None);
    }
    for drive in &set.drives {
        let info = drive.info;
        let serial = Some(&info.serial).filter(|s| !s.is_empty());
        let serial = serial.map(|s| format!("serial {s}")).unwrap_or_default();
        let parts = [info.model.clone(), capacity(info.capacity_bytes), serial];
        page.line(&format!("{}: {}", drive.heading, joined(parts, ", ")), None);
        if let Some(layers) = info.details.get(LAYERS) {
            let text = format!("not a drive: {layers}");
            page.item("  ", &text, Some(Paint::Caution));
        }
    }
    for text in not_from_drive(set) {
        page.item("!! ", &text, Some(Paint::Alarm));
    }
    limitations(page, set);
    page.blank();
}

/// Warnings that figures are not those of a drive, each once.
fn not_from_drive(set: &DriveSet<'_>) -> Vec<String> {
    let warnings = set.runs.iter().flat_map(|run| &run.warnings);
    let not_a_drives = |warning: &&Warning| {
        [code::NOT_FROM_DRIVE, code::BUFFERED].contains(&warning.code.as_str())
    };
    let mut texts: Vec<String> = Vec::new();
    for warning in warnings.filter(not_a_drives) {
        if !texts.contains(&warning.message) {
            texts.push(warning.message.clone());
        }
    }
    texts
}

/// What preconditioning has written, where the run measured it.
fn preconditioned(page: &mut TextPage, set: &DriveSet<'_>) {
    let mut any = false;
    for point in grid::preparations(set) {
        let value = |name: &str| point.result()?.values.get(name).copied();
        let written_pct = value(AREA_WRITTEN_PCT);
        let parts = [
            written_pct.map(|pct| format!("{} % of the area written", figure(pct))),
            value(SPARE_PCT).map(|pct| {
                let spare = figure(pct);
                format!("written once; the drive's free space ended {spare} % beyond that")
            }),
            value(PROBE_START_PCT).map(|pct| {
                let start = figure(pct);
                format!("the rate is steady, and was {start} % of that at the start")
            }),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() {
            continue;
        }
        any = true;
        let (plan, drive) = (point.plan(), &set.drives[point.drive].heading);
        let (title, parts) = (grid::step_title(plan), parts.join("; "));
        let line = format!("{drive}: {title}: {parts}");
        let paint = written_pct.filter(|pct| *pct < 100.0).map(|_| Paint::Caution);
        page.line(&line, paint.or(Some(Paint::Soft)));
    }
    for (heading, left) in set.left_states() {
        any = true;
        page.line(&format!("{heading}: {}", left.text), Some(Paint::Soft));
    }
    if any {
        page.blank();
    }
}

/// Limitations that apply to all figures.
fn limitations(page: &mut TextPage, set: &DriveSet<'_>) {
    for (i, run) in set.runs.iter().enumerate() {
        let which = match set.runs.len() {
            0 | 1 => String::new(),
            _ => format!("run {}: ", i + 1),
        };
        let mut line = |text: &str, paint| page.line(&format!("{which}{text}"), Some(paint));
        let scale = run.manifest.scale;
        if (scale - 1.0).abs() > f64::EPSILON {
            let text = format!(
                "durations multiplied by {scale} (--scale): not the procedure as published"
            );
            line(&text, Paint::Caution);
        }
        let outcome = match run.outcome {
            Some(RunEnd::Complete) => None,
            Some(RunEnd::Interrupted) => Some(match resume::of_run(run) {
                Some(command) => format!("interrupted: continue with: {command}"),
                None => "interrupted".to_owned(),
            }),
            None => Some("unfinished: killed or still in progress".to_owned()),
        };
        outcome.into_iter().for_each(|text| line(&text, Paint::Caution));
        let damaged = run.damaged_lines.len();
        if damaged > 0 {
            let text = format!("{damaged} damaged lines of the journal were left out");
            line(&text, Paint::Alarm);
        }
    }
}

/// Mean and extremes of a distribution, and its percentiles with enough samples.
fn latency_lines(l: &LatencySummary) -> [String; 2] {
    let list = |shown: &dyn Fn(&Latency) -> bool| {
        let shown = LATENCIES.iter().filter(|latency| shown(latency));
        joined(shown.map(|(name, of, _)| format!("{name} {}", micros(of(l)))), ", ")
    };
    let percentile = |name: &str| name.starts_with('p');
    [
        list(&|(name, ..)| !percentile(name)),
        list(&|(name, _, needed)| {
            percentile(name) && *name != figures::RAREST && l.samples >= *needed
        }),
    ]
}

/// All figures of a drive's result in a cell.
fn job(page: &mut TextPage, section: &Section<'_>, point: &Point<'_>) {
    page.line(&point.name(), Some(Paint::Strong));
    page.line(&section.common().replace(" \u{b7} ", ", "), None);
    if let Some((short, full)) = point.remark() {
        page.line(&format!("{short}: {full}"), Some(Paint::Caution));
    }
    if let Some(result) = point.result() {
        job_figures(page, result);
        if let Some((whose, line)) = predictive::line(point, result) {
            page.pair(whose, &line, None);
        }
    }
    page.blank();
}

fn job_figures(page: &mut TextPage, result: &CellResult) {
    for (operation, o) in figures::operations(result) {
        let (iops, bandwidth) = (figure(o.iops), figure(o.mib_per_s));
        let ios = group_digits(o.ios);
        let text = format!("{iops} IOPS, {bandwidth} MiB/s, {ios} operations");
        page.pair(operation, &text, Some(Paint::Strong));
        let latency = (o.latency_ns.samples > 0).then_some(&o.latency_ns);
        let submitted = o.service_ns.as_ref();
        let names = ["latency, \u{b5}s", "submitted, \u{b5}s"];
        for (name, summary) in names.into_iter().zip([latency, submitted]) {
            if let Some([extremes, percentiles]) = summary.map(latency_lines) {
                page.pair(name, &extremes, None);
                page.pair("", &percentiles, None);
            }
        }
        if let Some((latency, submitted)) = latency.zip(submitted) {
            let mean = micros(latency.mean - submitted.mean);
            let text = format!("mean {mean} (from the intended start to submission)");
            page.pair("lateness, \u{b5}s", &text, None);
        }
        if o.latency_ns.overflow > 0 {
            let text = format!("{} latencies over 73 minutes", o.latency_ns.overflow);
            page.pair("overflow", &text, Some(Paint::Alarm));
        }
        let alarm = (o.errors > 0).then_some(Paint::Alarm);
        page.pair("errors", &group_digits(o.errors), alarm);
    }
    if let Some(load) = &result.host {
        page.pair("host CPU, %", &figures::host_text(load), None);
        if let Some(watts) = load.package_w {
            let text = format!("{watts:.1} (processors, not the drive)");
            page.pair("host power, W", &text, None);
        }
    }
    if let Some(load) = &result.process {
        let (user, system) = (percent(load.cpu_user_pct), percent(load.cpu_system_pct));
        page.pair("own CPU, %", &format!("user {user}, system {system}"), None);
    }
    if let Some(verify) = &result.verify {
        let alarm = (!verify.found.is_empty()).then_some(Paint::Alarm);
        page.pair("verified", &tables::cells::verification(verify), alarm);
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
                verdicts::write(page, &drive.heading.to_string(), verdict);
            }
        }
    }
    for run in set.runs {
        let mut limits = run.verdicts.iter().flatten().filter_map(|v| v.limits.as_ref());
        if let Some(limits) = limits.next() {
            page.line(
                &format!("Limits of the verdict: opinions about {limits}"),
                Some(Paint::Soft),
            );
            page.blank();
        }
    }
}

fn warnings(page: &mut TextPage, set: &DriveSet<'_>) {
    for cause in by_cause(set.warnings()) {
        let subject = subject(set, &cause);
        let mut message = cause.message();
        if !subject.is_empty() {
            message.push_str(&format!(" ({subject})"));
        }
        page.item("warning: ", &message, Some(Paint::Caution));
        page.item("         ", &cause.first().advice, None);
    }
    if set.warnings().next().is_some() {
        page.blank();
    }
}
