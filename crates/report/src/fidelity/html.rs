//! The fidelity page as HTML, in the style of a run's report.

use assay_units::text::format_size;
use maud::{Markup, html};

use super::{
    ABOUT, ErrorStatistics, FidelityDrive, FidelityFigure, FidelityPage, FigureKind, SAME,
};
use crate::ReportError;
use crate::charts::draw::{Trace, logarithmic, panels};
use crate::charts::{Chart, ChartView, colour, plain, symbol};
use crate::format::for_drawing;
use crate::html::{PageTemplate, elements};
use crate::table::{Cell, Column, Heading, Row, Table};

/// One self-contained HTML page.
///
/// # Errors
/// When the charts cannot be embedded.
pub fn html(page: &FidelityPage) -> Result<String, ReportError> {
    let title = "Fidelity of the simulated drives";
    let entry = |id: &str, title: &str| (id.to_owned(), title.to_owned());
    let mut contents = vec![entry("summary", "Summary"), entry("misses", "Misses")];
    let mut charts = Vec::new();
    let mut drives = Vec::new();
    for (n, drive) in page.drives.iter().enumerate() {
        let id = format!("fidelity-{}", n + 1);
        let own = drive_charts(drive, &id);
        drives.push(section(drive, &id, &own));
        contents.push(entry(&id, &drive.name));
        charts.extend(own);
    }
    if !page.limits.is_empty() {
        contents.push(entry("limits", "Limits"));
    }
    let misses = misses(page);
    let body = html! {
        section id="summary" aria-label="Summary" { (elements::table(&summary(page))) }
        section.step id="misses" aria-labelledby="misses-title" {
            h2 id="misses-title" { "Figures that miss their goals" }
            @if misses.is_empty() { p { "None." } }
            (elements::table(&misses))
        }
        @for drive in &drives { (drive) }
        @if !page.limits.is_empty() {
            section.step id="limits" aria-labelledby="limits-title" {
                h2 id="limits-title" { "Limitations of the model" }
                ul { @for limit in &page.limits { li { (code(limit)) } } }
            }
        }
    };
    let header = html! {
        h1 { (title) }
        p.summary { (ABOUT) }
        p class="banner simulated" role="note" { (SAME) }
    };
    PageTemplate {
        title,
        header: &header,
        contents: &contents,
        body: &body,
        charts: &charts,
    }
    .page()
}

/// Text between backticks as code; text with an odd backtick is left unchanged.
fn code(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (n, part) in parts.iter().enumerate() {
            @if n % 2 == 1 { code { (part) } } @else { (part) }
        }
    }
}

fn summary(page: &FidelityPage) -> Table {
    let row = |drive: &FidelityDrive| {
        let random = drive.statistics(|f| f.kind == FigureKind::RandomRead);
        let sequential = drive.statistics(|f| f.kind == FigureKind::SequentialRead);
        let other = drive.statistics(|f| f.kind > FigureKind::SequentialRead);
        let predicted = drive.statistics(|f| f.predicted);
        let some = |s: &ErrorStatistics, cell: Cell| if s.count > 0 { cell } else { Cell::Empty };
        let count = |s: &ErrorStatistics| some(s, Cell::number(s.count.to_string()));
        let pct = |s: &ErrorStatistics, value: f64, goal: f64| {
            some(
                s,
                Cell::number(format!("{value:.1}")).with(|n| n.alarm = value > goal),
            )
        };
        let met = |s: &ErrorStatistics| {
            some(
                s,
                Cell::number(format!("{} of {}", s.met, s.count))
                    .with(|n| n.alarm = s.met < s.count),
            )
        };
        let cells = vec![
            count(&random),
            pct(&random, random.median, 3.0),
            pct(&random, random.worst, 10.0),
            count(&sequential),
            pct(&sequential, sequential.worst, 10.0),
            met(&other),
            met(&predicted),
            // Predictions have no goal of their own.
            pct(&predicted, predicted.median, f64::INFINITY),
            pct(&predicted, predicted.worst, f64::INFINITY),
        ];
        Row::new(Heading::plain(&drive.name), cells)
    };
    let columns = [
        ("random read", "cells"),
        ("random read", "median"),
        ("random read", "worst"),
        ("sequential read", "cells"),
        ("sequential read", "worst"),
        ("other figures", "within goal"),
        ("predicted", "within goal"),
        ("predicted", "median"),
        ("predicted", "worst"),
    ];
    let notes = [
        "Goals: a median of 3 and a worst of 10 for random reads, 10 for each sequential read; misses are marked.",
        "Predicted: figures held out when the profile was fitted; they are included in the columns to the left.",
    ];
    Table::of_drives(
        "Errors against published figures, in percent".to_owned(),
        columns
            .map(|(group, label)| Column::under(group, label, ""))
            .to_vec(),
        page.drives.iter().map(row).collect(),
        notes.map(str::to_owned).to_vec(),
    )
}

/// Optional columns of a table of figures.
#[derive(Clone, Copy)]
struct OptionalColumns {
    predicted: bool,
    source: bool,
}

impl OptionalColumns {
    /// Columns whose values differ between the figures.
    fn of(figures: &[FidelityFigure]) -> OptionalColumns {
        let first = figures.first().map(|f| &f.source);
        OptionalColumns {
            predicted: figures.iter().any(|f| f.predicted),
            source: figures.iter().any(|f| Some(&f.source) != first),
        }
    }

    fn columns(self) -> Vec<Column> {
        let mut labels = vec!["published", "simulated", "", "error", "goal"];
        labels.extend(self.predicted.then_some(""));
        labels.extend(self.source.then_some("source"));
        labels
            .into_iter()
            .map(|label| Column::of(label, ""))
            .collect()
    }

    fn cells(self, f: &FidelityFigure) -> Vec<Cell> {
        let none = || Cell::Missing("none", "the simulation gives no such figure".to_owned());
        let error = f.error.map(|error| {
            Cell::number(f.error_text()).with(|n| {
                n.alarm = !f.met;
                // The bar behind an error is full at its goal.
                n.share = Some((error / f.goal).abs()).filter(|share| share.is_finite());
            })
        });
        let mut cells = vec![
            Cell::figure(f.published),
            f.simulated.map_or_else(none, Cell::figure),
            Cell::text(&f.unit),
            error.unwrap_or_else(|| Cell::Missing("-", "no figure, no error".to_owned())),
            Cell::number(format!("{:.0} {}", f.goal, f.error_unit)),
        ];
        cells.extend(self.predicted.then(|| Cell::text(f.predicted_text())));
        cells.extend(self.source.then(|| Cell::text(&f.source)));
        cells
    }
}

fn misses(page: &FidelityPage) -> Table {
    let optional = OptionalColumns {
        predicted: true,
        source: true,
    };
    let mut columns = vec![Column::of("figure", "")];
    columns.extend(optional.columns());
    let mut rows = Vec::new();
    for drive in &page.drives {
        for f in drive.figures.iter().filter(|f| !f.met) {
            let mut cells = vec![Cell::text(&f.title)];
            cells.extend(optional.cells(f));
            rows.push(Row::new(Heading::plain(&drive.name), cells));
        }
    }
    Table::of_drives(
        "Figures with errors beyond their goals".to_owned(),
        columns,
        rows,
        Vec::new(),
    )
}

fn section(drive: &FidelityDrive, id: &str, charts: &[Chart]) -> Markup {
    let all = drive.statistics(|_| true);
    let predicted = drive.statistics(|f| f.predicted);
    let optional = OptionalColumns::of(&drive.figures);
    let source = drive.figures.first().filter(|_| !optional.source);
    let rows = drive
        .figures
        .iter()
        .map(|f| Row::new(Heading::plain(&f.title), optional.cells(f)));
    let table = Table {
        caption: "Published and simulated".to_owned(),
        corner: "figure".to_owned(),
        columns: optional.columns(),
        rows: rows.collect(),
        notes: source
            .map(|first| format!("Published by: {}.", first.source))
            .into_iter()
            .collect(),
    };
    let within = |s: &ErrorStatistics| format!("{} of {}", s.met, s.count);
    let how = html! {
        (format!(
            "{} figures within their goals; median error {:.1} %, worst {:.1} %.",
            within(&all), all.median, all.worst
        ))
        @if predicted.count > 0 {
            (format!(
                " Predicted, not fitted: {} within their goals, median {:.1} %, worst {:.1} %.",
                within(&predicted), predicted.median, predicted.worst
            ))
        }
    };
    let heading = Heading {
        text: drive.name.clone(),
        simulated: true,
    };
    let content = html! {
        div.beside { div.tall { (elements::table(&table)) } (elements::charts(charts)) }
    };
    elements::step(
        id,
        &elements::drive_name(&heading),
        &drive.title,
        &how,
        &content,
    )
}

/// Published and simulated curves of a drive: one chart for reads by block size, one for streams by length.
fn drive_charts(drive: &FidelityDrive, id: &str) -> Vec<Chart> {
    let charts = [
        (
            FigureKind::RandomRead,
            "Random read by block size",
            "block size",
        ),
        (
            FigureKind::Stream,
            "Streams by length",
            "length of the stream",
        ),
    ];
    let charts = charts.into_iter().filter_map(|(kind, title, x_title)| {
        let figures: Vec<&FidelityFigure> =
            drive.figures.iter().filter(|f| f.kind == kind).collect();
        curves(&figures, title, x_title)
    });
    let numbered = charts.enumerate().map(|(n, chart)| Chart {
        id: format!("{id}-chart-{}", n + 1),
        ..chart
    });
    numbered.collect()
}

fn curves(figures: &[&FidelityFigure], title: &str, x_title: &str) -> Option<Chart> {
    let mut names: Vec<&str> = Vec::new();
    let mut sizes: Vec<f64> = Vec::new();
    for (name, size) in figures.iter().filter_map(|f| f.curve.as_ref()) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
        sizes.push(*size);
    }
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < 2 {
        return None;
    }
    let size_label = |bytes: &f64| format_size(*bytes as u64);
    let mut data = Vec::new();
    for (n, name) in names.iter().enumerate() {
        for (simulated, what, dash, size) in [
            (false, "published", "solid", 2.4),
            (true, "simulated", "dash", 1.6),
        ] {
            let points = figures.iter().filter_map(|f| {
                let (curve, size) = f.curve.as_ref()?;
                let value = if simulated { f.simulated? } else { f.published };
                (curve == name).then_some((*size, value))
            });
            let mut points: Vec<(f64, f64)> = points.collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let trace = Trace {
                name: format!("{name}, {what}"),
                texts: points.iter().map(|p| size_label(&p.0)).collect(),
                points,
                mode: "lines+markers",
                colour: colour(n),
                dash,
                symbol: symbol(2 * usize::from(simulated) + 3 * n),
                size,
                hover: "%{y:,.4~g} MiB/s at %{text}".to_owned(),
                ..Trace::default()
            };
            data.push(trace.json());
        }
    }
    let mut layout = panels(x_title, &[logarithmic("MiB/s")]);
    layout["xaxis"]["tickvals"] = sizes.iter().copied().map(for_drawing).collect();
    layout["xaxis"]["ticktext"] = sizes.iter().map(|size| plain(&size_label(size))).collect();
    layout["xaxis"]["type"] = "log".into();
    Some(Chart {
        title: title.to_owned(),
        switch: "figure",
        log_switch: true,
        height: 430,
        views: vec![ChartView {
            label: title.to_owned(),
            data,
            layout,
        }],
        ..Chart::default()
    })
}
