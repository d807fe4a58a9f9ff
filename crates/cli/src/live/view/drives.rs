//! The drives of the live view: with charts, or a row each.

use assay_execute::live::{DriveSnapshot, HistorySecond, LatencyFigures, LiveSnapshot, OpFigures};
use assay_report::figure;
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Color, Style};
use ratatui_core::text::{Line, Span};

use super::super::spark;
use super::{BOLD, CAUTION, CHART, DIM, Rows, fits, is_waiting, name};
use crate::progress::clock_text;

const LATENCY: Style = Style::new().fg(Color::Magenta);
/// Rows of warnings that drives leave free, title included.
const WARNING_ROWS: u16 = 4;
const MOST_CHART_ROWS: u16 = 8;
const LABEL: u16 = 8;
/// Width of the greatest value of a chart.
const GREATEST: u16 = 12;
/// Columns of figures, and the most that one is wide.
const FIGURES: usize = 6;
const FIGURE: usize = 12;
/// Columns of a table that shows p99.9.
const TABLE_WITH_P999: usize = 110;
/// Columns of a table that shows the state beside the figures.
const TABLE_WITH_STATE: usize = 96;
/// Rows per drive from which each has a row of charts.
const CHART_ROWS: u16 = 2;
/// Rows per drive from which each has a row for its cell.
const CELL_ROWS: u16 = 3;

fn micros(ns: f64) -> String {
    figure(ns / 1e3)
}

/// Shows as much detail as the rows allow.
pub(super) fn draw(rows: &mut Rows<'_>, live: &LiveSnapshot) {
    let count = live.drives.len() as u16;
    let warnings = match live.warning_count() {
        0 => 1,
        _ => WARNING_ROWS.min(live.warning_count() as u16 + 2),
    };
    let room = rows.left.height.saturating_sub(warnings);
    let each = room / count.max(1);
    if each >= Detail::LEAST_ROWS {
        let detail = Detail::fitting(each);
        for drive in &live.drives {
            detailed(rows, drive, detail);
        }
    } else {
        // The head takes a row.
        table(rows, &live.drives, room.saturating_sub(1) / count.max(1));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Detail {
    iops_rows: u16,
    p99_rows: u16,
}

impl Detail {
    /// Name, cell, head, reads, writes, condition, two charts of one row.
    const LEAST_ROWS: u16 = 8;

    fn fitting(rows: u16) -> Detail {
        let more = rows - Detail::LEAST_ROWS;
        // The last row stays empty, between two drives.
        let charts = more.saturating_sub(1);
        let p99_rows = 1 + (charts / 2).min(MOST_CHART_ROWS - 2);
        let iops_rows = 1 + (charts - (p99_rows - 1)).min(MOST_CHART_ROWS - 1);
        Detail { iops_rows, p99_rows }
    }
}

fn detailed(rows: &mut Rows<'_>, drive: &DriveSnapshot, detail: Detail) {
    let before = rows.left.height;
    let model = match drive.model.is_empty() {
        true => String::new(),
        false => format!("  {}", drive.model),
    };
    let title = Line::from(vec![Span::styled(name(drive), BOLD), Span::styled(model, DIM)]);
    rows.ends(title, virtual_time(drive));
    let (cell, at) = cell_text(drive);
    rows.ends(labelled("cell", cell), at);
    let head = ["IOPS", "MiB/s", "p50, µs", "p99, µs", "p99.9, µs", "errors"];
    let wide = usize::from(rows.left.width.saturating_sub(LABEL)) / FIGURES;
    let wide = wide.min(FIGURE);
    let head: String = head.iter().map(|text| format!("{text:>wide$}")).collect();
    rows.line(Span::styled(format!("{:width$}{head}", "", width = usize::from(LABEL)), DIM));
    rows.line(labelled("read", op_text(&drive.read, wide)));
    rows.line(labelled("write", op_text(&drive.write, wide)));
    if let Some(area) = rows.take(detail.iops_rows) {
        iops_chart(rows.buffer, area, &drive.history);
    }
    if let Some(area) = rows.take(detail.p99_rows) {
        p99_chart(rows.buffer, area, &drive.history);
    }
    rows.line(condition(drive));
    if before - rows.left.height < Detail::LEAST_ROWS + detail.iops_rows + detail.p99_rows - 1 {
        rows.take(1);
    }
}

fn labelled(label: &str, text: String) -> Line<'static> {
    let width = usize::from(LABEL);
    Line::from(vec![Span::styled(format!("{label:width$}"), DIM), Span::raw(text)])
}

fn virtual_time(drive: &DriveSnapshot) -> String {
    let Some(speed_up) = drive.speed_up else {
        return String::new();
    };
    format!(
        "{} of virtual time, {} times real time",
        clock_text(drive.drive_time),
        figure(speed_up)
    )
}

fn cell_text(drive: &DriveSnapshot) -> (String, String) {
    let phase = drive.phase.text();
    let Some(cell) = &drive.cell else {
        return ("-".to_owned(), phase.to_owned());
    };
    let prefix = format!("{}/", drive.label);
    let id = cell.id.strip_prefix(&prefix).unwrap_or(&cell.id);
    let what = match cell.title.is_empty() {
        true => id.to_owned(),
        false => format!("{id}: {}", cell.title),
    };
    let at_s = cell.at.as_secs_f64();
    let at = match cell.planned {
        _ if is_waiting(drive) => phase.to_owned(),
        Some(planned) => format!("{phase}, {at_s:.0} of {:.0} s", planned.as_secs_f64()),
        None => format!("{phase}, {at_s:.0} s"),
    };
    (what, at)
}

fn op_text(op: &OpFigures, wide: usize) -> String {
    let latency = |of: fn(&LatencyFigures) -> u64| match &op.latency {
        Some(latency) => micros(of(latency) as f64),
        None => "-".to_owned(),
    };
    let rate = |value: f64| match value > 0.0 {
        true => figure(value),
        false => "-".to_owned(),
    };
    let columns = [
        rate(op.iops),
        rate(op.bytes_per_s / f64::from(1 << 20)),
        latency(|figures| figures.p50.0),
        latency(|figures| figures.p99.0),
        latency(|figures| figures.p999.0),
        op.errors.to_string(),
    ];
    columns.iter().map(|text| format!("{text:>wide$}")).collect()
}

fn chart_columns(width: u16) -> usize {
    usize::from(width.saturating_sub(LABEL + 1 + GREATEST))
}

fn iops_chart(buffer: &mut Buffer, area: Rect, history: &[HistorySecond]) {
    let columns = spark::columns(history, chart_columns(area.width), spark::mean_iops);
    chart(buffer, area, "IOPS", &columns, CHART, figure);
}

fn p99_chart(buffer: &mut Buffer, area: Rect, history: &[HistorySecond]) {
    let columns = spark::columns(history, chart_columns(area.width), spark::greatest_p99);
    chart(buffer, area, "p99", &columns, LATENCY, |ns| format!("{} µs", micros(ns)));
}

fn chart(
    buffer: &mut Buffer,
    area: Rect,
    label: &str,
    columns: &[spark::Column],
    style: Style,
    text: impl Fn(f64) -> String,
) {
    let most = columns.iter().map(|c| c.value).fold(0.0, f64::max);
    buffer.set_stringn(area.x, area.y, label, usize::from(LABEL), DIM);
    if most > 0.0 {
        let text = format!(" {}", text(most));
        let x = area.right().saturating_sub(GREATEST);
        buffer.set_stringn(x, area.y, text, usize::from(GREATEST), DIM);
        if area.height > 1 {
            buffer.set_stringn(x, area.bottom() - 1, " 0", usize::from(GREATEST), DIM);
        }
    }
    let inside =
        Rect { x: area.x + LABEL, width: area.width.saturating_sub(LABEL + GREATEST + 1), ..area };
    spark::draw(buffer, inside, columns, most, style, DIM);
}

fn condition(drive: &DriveSnapshot) -> Line<'static> {
    let mut texts = Vec::new();
    if let Some(celsius) = drive.temperature_c {
        texts.push(format!("{celsius:.0} °C"));
    }
    if let Some(power_mw) = drive.power_mw {
        texts.push(format!("{:.1} W", power_mw as f64 / 1e3));
    }
    let mut spans = vec![
        Span::styled(format!("{:width$}", "state", width = usize::from(LABEL)), DIM),
        Span::raw(texts.join("  ")),
    ];
    if let Some(condition) = &drive.condition {
        let details = condition.details.as_ref();
        let details = details.map_or(String::new(), |details| format!(" ({details})"));
        let space = if texts.is_empty() { "" } else { "  " };
        spans.push(Span::styled(format!("{space}{}{details}", condition.label), CAUTION));
    } else if texts.is_empty() {
        spans.push(Span::raw("-"));
    }
    Line::from(spans)
}

fn charts(buffer: &mut Buffer, area: Rect, drive: &DriveSnapshot) {
    let half = area.width / 2;
    let left = Rect { x: area.x + 2, width: half - 2, ..area };
    let right = Rect { x: area.x + half, width: area.width - half, ..area };
    iops_chart(buffer, left, &drive.history);
    p99_chart(buffer, right, &drive.history);
}

/// The condition of the drive, or what its cell is at, with the style of each.
fn state(drive: &DriveSnapshot, at: &str) -> (String, Style) {
    match &drive.condition {
        Some(condition) => (condition.label.to_owned(), CAUTION),
        None => (at.to_owned(), DIM),
    }
}

/// Figures, state and cell of a drive in one row.
fn one_row(rows: &mut Rows<'_>, drive: &DriveSnapshot, figures: String) {
    let (cell, at) = cell_text(drive);
    let (state, style) = state(drive, &at);
    let state = Span::styled(format!("{state}, "), style);
    rows.line(Line::from(vec![Span::raw(figures), state, Span::raw(cell)]));
}

/// Figures of a drive, then its cell; the state is beside the figures where they leave room.
fn two_rows(rows: &mut Rows<'_>, drive: &DriveSnapshot, figures: String, is_wide: bool) {
    let (cell, at) = cell_text(drive);
    let (state, style) = state(drive, &at);
    let state = Span::styled(state, style);
    let cell = labelled("  cell", cell);
    let mut figures = Line::from(Span::raw(figures));
    if !is_wide {
        rows.line(figures);
        rows.ends(cell, state);
        return;
    }
    figures.push_span(state);
    rows.line(figures);
    // Where the state has taken the place of the phase, the phase comes here.
    let phase = drive.condition.is_some().then_some(at);
    let time = Some(virtual_time(drive)).filter(|time| !time.is_empty());
    let all = phase.iter().chain(&time).cloned().collect::<Vec<_>>();
    let all = all.join(", ");
    let right = match fits(&cell, &all, rows) {
        true => all,
        false => phase.unwrap_or_default(),
    };
    rows.ends(cell, right);
}

/// A row of figures per drive, and with more rows a chart, the cell, an empty row.
fn table(rows: &mut Rows<'_>, drives: &[DriveSnapshot], each: u16) {
    let width = usize::from(rows.left.width);
    // Where every drive is simulated, a line above says so.
    let all_simulated = drives.iter().all(|drive| drive.simulated);
    let name = |drive: &DriveSnapshot| match all_simulated {
        true => drive.label.clone(),
        false => name(drive),
    };
    let labels = drives.iter().map(|drive| name(drive).chars().count());
    let label = labels.max().unwrap_or(0).clamp(5, width / 3);
    let has_p999 = width >= TABLE_WITH_P999;
    let p999 = |text: &str| match has_p999 {
        true => format!(" {text:>9}"),
        false => String::new(),
    };
    let is_wide = width >= TABLE_WITH_STATE;
    let last = match each >= CELL_ROWS {
        true if is_wide => "state",
        true => "",
        false => "state, cell",
    };
    let head = format!(
        "{:label$} {:>9} {:>6} {:>7} {:>8}{} {:>3} {:>4}  {last}",
        "drive",
        "IOPS",
        "MiB/s",
        "p50, µs",
        "p99, µs",
        p999("p99.9, µs"),
        "°C",
        "W"
    );
    rows.line(Span::styled(head, DIM));
    for drive in drives {
        let latency = |of: fn(&LatencyFigures) -> u64| {
            let each = [&drive.read, &drive.write].into_iter();
            let most = each.filter_map(|op| op.latency.as_ref().map(of)).max();
            most.map_or_else(|| "-".to_owned(), |ns| micros(ns as f64))
        };
        let iops = drive.read.iops + drive.write.iops;
        let bytes = drive.read.bytes_per_s + drive.write.bytes_per_s;
        let celsius = drive.temperature_c.map_or("-".into(), |c| format!("{c:.0}"));
        let watts = drive.power_mw;
        let watts = watts.map_or("-".into(), |mw| format!("{:.1}", mw as f64 / 1e3));
        let shown: String = name(drive).chars().take(label).collect();
        let text = format!(
            "{shown:label$} {:>9} {:>6} {:>7} {:>8}{} {celsius:>3} {watts:>4}  ",
            figure(iops),
            figure(bytes / f64::from(1 << 20)),
            latency(|figures| figures.p50.0),
            latency(|figures| figures.p99.0),
            p999(&latency(|figures| figures.p999.0)),
        );
        match each >= CELL_ROWS {
            true => two_rows(rows, drive, text, is_wide),
            false => one_row(rows, drive, text),
        }
        if each >= CHART_ROWS
            && let Some(area) = rows.take(1)
        {
            charts(rows.buffer, area, drive);
        }
        if each > CELL_ROWS {
            rows.take(1);
        }
    }
}
