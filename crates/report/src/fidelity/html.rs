//! The page as HTML, in the frame and style of a run's report.

use assay_units::text::format_size;
use plotly::common::{DashType, Line, Marker, Mode};
use plotly::layout::{Axis, AxisType};
use plotly::{Layout, Scatter};

use super::{ABOUT, Drive, Figure, Kind, Page, SAME};
use crate::ReportError;
use crate::charts::{Chart, View, colour, plain, symbol};
use crate::format::{escape, figure};
use crate::html::{Shell, write};
use crate::table::{Cell, Column, Name, Number, Row, Table};

/// One self-contained HTML page.
///
/// # Errors
/// When the charts cannot be embedded.
pub fn html(page: &Page) -> Result<String, ReportError> {
    let title = "Fidelity of the simulated drives";
    let mut contents = vec![("summary".to_owned(), "Summary".to_owned())];
    let mut charts = Vec::new();
    let mut body = format!(
        "<section id=\"summary\" aria-label=\"Summary\">\n{}</section>\n",
        write::table(&summary(page))
    );
    let misses = misses(page);
    body.push_str("<section class=\"step\" id=\"misses\" aria-labelledby=\"misses-title\">\n<h2 id=\"misses-title\">What misses its goal</h2>\n");
    if misses.is_empty() {
        body.push_str("<p>Nothing.</p>\n");
    }
    body.push_str(&write::table(&misses));
    body.push_str("</section>\n");
    contents.push(("misses".to_owned(), "Misses".to_owned()));
    for (n, drive) in page.drives.iter().enumerate() {
        let id = format!("fidelity-{}", n + 1);
        let mine = drive_charts(drive, &id)?;
        body.push_str(&section(drive, &id, &mine));
        contents.push((id, drive.name.clone()));
        charts.extend(mine);
    }
    if !page.limits.is_empty() {
        let items: Vec<String> = page
            .limits
            .iter()
            .map(|limit| format!("<li>{}</li>", code(&escape(limit))))
            .collect();
        body.push_str(&format!(
            "<section class=\"step\" id=\"limits\" aria-labelledby=\"limits-title\">\n<h2 id=\"limits-title\">What the model does not have</h2>\n<ul>{}</ul>\n</section>\n",
            items.join("")
        ));
        contents.push(("limits".to_owned(), "Limits".to_owned()));
    }
    let header = format!(
        "<h1>{title}</h1>\n<p class=\"summary\">{}</p>\n<p class=\"banner simulated\" role=\"note\">{}</p>\n",
        escape(ABOUT),
        escape(SAME)
    );
    Shell {
        title,
        header: &header,
        contents: &contents,
        body: &body,
        charts: &charts,
    }
    .page()
}

/// What stands between backticks as code; an odd one is left as it is.
fn code(html: &str) -> String {
    let parts: Vec<&str> = html.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html.to_owned();
    }
    parts
        .iter()
        .enumerate()
        .map(|(n, part)| {
            if n % 2 == 1 {
                format!("<code>{part}</code>")
            } else {
                (*part).to_owned()
            }
        })
        .collect()
}

fn column(label: &str, unit: &'static str) -> Column {
    Column {
        group: None,
        label: label.to_owned(),
        unit,
    }
}

fn grouped(group: &str, label: &str) -> Column {
    Column {
        group: Some(Name::plain(group)),
        label: label.to_owned(),
        unit: "",
    }
}

/// A number; `alarm` when it misses its goal.
fn number(text: String, alarm: bool) -> Cell {
    Cell::Number(Number {
        text,
        alarm,
        ..Number::default()
    })
}

fn summary(page: &Page) -> Table {
    let rows = page
        .drives
        .iter()
        .map(|drive| {
            let random = drive.sum(|f| f.kind == Kind::RandomRead);
            let sequential = drive.sum(|f| f.kind == Kind::SequentialRead);
            let other = drive.sum(|f| f.kind > Kind::SequentialRead);
            let predicted = drive.sum(|f| f.predicted);
            let pct = |count: usize, value: f64, goal: f64| {
                if count > 0 {
                    number(format!("{value:.1}"), value > goal)
                } else {
                    Cell::Empty
                }
            };
            let count = |count: usize| {
                if count > 0 {
                    Cell::number(count.to_string())
                } else {
                    Cell::Empty
                }
            };
            let met = |met: usize, of: usize| {
                if of > 0 {
                    number(format!("{met} of {of}"), met < of)
                } else {
                    Cell::Empty
                }
            };
            Row {
                name: Name::plain(drive.name.clone()),
                cells: vec![
                    count(random.count),
                    pct(random.count, random.median, 3.0),
                    pct(random.count, random.worst, 10.0),
                    count(sequential.count),
                    pct(sequential.count, sequential.worst, 10.0),
                    met(other.met, other.count),
                    met(predicted.met, predicted.count),
                    pct(predicted.count, predicted.median, f64::MAX),
                    pct(predicted.count, predicted.worst, f64::MAX),
                ],
            }
        })
        .collect();
    Table {
        caption: "Errors against published figures, in per cent".to_owned(),
        corner: "drive".to_owned(),
        columns: vec![
            grouped("random read", "cells"),
            grouped("random read", "median"),
            grouped("random read", "worst"),
            grouped("sequential read", "cells"),
            grouped("sequential read", "worst"),
            grouped("all else", "within goal"),
            grouped("predicted", "within goal"),
            grouped("predicted", "median"),
            grouped("predicted", "worst"),
        ],
        rows,
        notes: vec![
            "Goals: a median of 3 and a worst of 10 for random reads, 10 for each sequential read; what misses is marked.".to_owned(),
            "Predicted: figures that were kept back when the profile was fitted; they are counted in the columns to the left, too.".to_owned(),
        ],
    }
}

/// What of a figure is worth a column.
#[derive(Clone, Copy)]
struct Columns {
    predicted: bool,
    source: bool,
}

impl Columns {
    /// Those in which not every figure has the same.
    fn of(figures: &[Figure]) -> Columns {
        let first = figures.first().map(|f| &f.source);
        Columns {
            predicted: figures.iter().any(|f| f.predicted),
            source: figures.iter().any(|f| Some(&f.source) != first),
        }
    }

    fn headings(self) -> Vec<Column> {
        let mut labels = vec!["published", "simulated", "", "error", "goal"];
        labels.extend(self.predicted.then_some(""));
        labels.extend(self.source.then_some("source"));
        labels.into_iter().map(|label| column(label, "")).collect()
    }

    fn cells(self, f: &Figure) -> Vec<Cell> {
        let mut cells = vec![
            Cell::number(figure(f.published)),
            match f.simulated {
                Some(value) => Cell::number(figure(value)),
                None => Cell::Missing(
                    "none",
                    "the simulated drive shows nothing of the kind".to_owned(),
                ),
            },
            Cell::Text(f.unit.clone()),
            match f.error {
                // The bar behind an error is full at its goal.
                Some(error) => Cell::Number(Number {
                    text: f.error_text(),
                    alarm: !f.met,
                    share: Some((error / f.goal).abs()).filter(|share| share.is_finite()),
                    ..Number::default()
                }),
                None => Cell::Missing("-", "no figure, no error".to_owned()),
            },
            Cell::number(format!("{:.0} {}", f.goal, f.error_unit)),
        ];
        if self.predicted {
            cells.push(Cell::Text(words(f).to_owned()));
        }
        if self.source {
            cells.push(Cell::Text(f.source.clone()));
        }
        cells
    }
}

fn words(f: &Figure) -> &'static str {
    if f.predicted { "predicted" } else { "" }
}

fn misses(page: &Page) -> Table {
    let columns = Columns {
        predicted: true,
        source: true,
    };
    let mut headings = columns.headings();
    headings.insert(0, column("figure", ""));
    let mut rows = Vec::new();
    for drive in &page.drives {
        for f in drive.figures.iter().filter(|f| !f.met) {
            let mut cells = columns.cells(f);
            cells.insert(0, Cell::Text(f.title.clone()));
            rows.push(Row {
                name: Name::plain(drive.name.clone()),
                cells,
            });
        }
    }
    Table {
        caption: "Figures further off than their goal".to_owned(),
        corner: "drive".to_owned(),
        columns: headings,
        rows,
        notes: Vec::new(),
    }
}

fn section(drive: &Drive, id: &str, charts: &[Chart]) -> String {
    let all = drive.sum(|_| true);
    let predicted = drive.sum(|f| f.predicted);
    let mut words = format!(
        "{} of {} figures within their goal; median error {:.1} %, worst {:.1} %.",
        all.met, all.count, all.median, all.worst
    );
    if predicted.count > 0 {
        words.push_str(&format!(
            " Predicted, not fitted: {} of {} within their goal, median {:.1} %, worst {:.1} %.",
            predicted.met, predicted.count, predicted.median, predicted.worst
        ));
    }
    let mut out = format!(
        "<section class=\"step\" id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n<p class=\"workload\">{}</p>\n<p class=\"how\">{}</p>\n",
        write::drive_name(&drive.name, true),
        escape(&drive.title),
        escape(&words)
    );
    let columns = Columns::of(&drive.figures);
    let mut notes = Vec::new();
    if let (false, Some(first)) = (columns.source, drive.figures.first()) {
        notes.push(format!("Published by: {}.", first.source));
    }
    let table = Table {
        caption: "Published and simulated".to_owned(),
        corner: "figure".to_owned(),
        columns: columns.headings(),
        rows: drive
            .figures
            .iter()
            .map(|f| Row {
                name: Name::plain(f.title.clone()),
                cells: columns.cells(f),
            })
            .collect(),
        notes,
    };
    out.push_str("<div class=\"beside\">\n<div class=\"tall\">");
    out.push_str(&write::table(&table));
    out.push_str("</div>\n");
    for chart in charts {
        out.push_str(&write::chart(chart, false));
    }
    out.push_str("</div>\n</section>\n");
    out
}

/// Published and simulated curves of a drive: one chart for reads by block size, one for streams by length.
fn drive_charts(drive: &Drive, id: &str) -> Result<Vec<Chart>, ReportError> {
    let mut out = Vec::new();
    for (kind, title, x) in [
        (Kind::RandomRead, "Random read by block size", "block size"),
        (Kind::Stream, "Streams by length", "length of the stream"),
    ] {
        let figures: Vec<&Figure> = drive.figures.iter().filter(|f| f.kind == kind).collect();
        if let Some(mut chart) = curves(&figures, title, x)? {
            chart.id = format!("{id}-chart-{}", out.len() + 1);
            out.push(chart);
        }
    }
    Ok(out)
}

fn curves(figures: &[&Figure], title: &str, x_title: &str) -> Result<Option<Chart>, ReportError> {
    let mut names: Vec<&str> = Vec::new();
    let mut sizes: Vec<f64> = Vec::new();
    for (name, size) in figures.iter().filter_map(|f| f.curve.as_ref()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
        if !sizes.contains(size) {
            sizes.push(*size);
        }
    }
    if sizes.len() < 2 {
        return Ok(None);
    }
    sizes.sort_by(f64::total_cmp);
    let mut data = Vec::new();
    for (n, name) in names.iter().enumerate() {
        for simulated in [false, true] {
            let mut points: Vec<(f64, f64)> = figures
                .iter()
                .filter_map(|f| {
                    let (curve, size) = f.curve.as_ref()?;
                    let value = if simulated { f.simulated? } else { f.published };
                    (curve == name).then_some((*size, value))
                })
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
            let labels: Vec<String> = x.iter().map(|&bytes| format_size(bytes as u64)).collect();
            let what = if simulated { "simulated" } else { "published" };
            let dash = if simulated {
                DashType::Dash
            } else {
                DashType::Solid
            };
            let trace = Scatter::new(x, y)
                .name(plain(&format!("{name}, {what}")))
                .mode(Mode::LinesMarkers)
                .text_array(labels)
                .line(Line::new().color(colour(n)).dash(dash).width(if simulated {
                    1.6
                } else {
                    2.4
                }))
                .marker(
                    Marker::new()
                        .color(colour(n))
                        .symbol(symbol(2 * usize::from(simulated) + 3 * n))
                        .size(if simulated { 6 } else { 8 }),
                )
                .hover_template("%{y:,.4~g} MiB/s at %{text}");
            data.push(serde_json::to_value(trace)?);
        }
    }
    let ticks: Vec<String> = sizes
        .iter()
        .map(|&bytes| format_size(bytes as u64))
        .collect();
    let axis = Axis::new()
        .title(x_title)
        .tick_values(sizes)
        .tick_text(ticks)
        .type_(AxisType::Log);
    let layout = Layout::new()
        .x_axis(axis)
        .y_axis(Axis::new().title("MiB/s").type_(AxisType::Log));
    Ok(Some(Chart {
        title: title.to_owned(),
        switch: "figure",
        log_switch: true,
        height: 430,
        views: vec![View {
            label: title.to_owned(),
            data,
            layout: serde_json::to_value(layout)?,
        }],
        ..Chart::default()
    }))
}
