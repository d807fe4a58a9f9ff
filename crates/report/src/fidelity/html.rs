//! The fidelity page as HTML, in the style of a run's report.

use assay_units::text::format_size;
use maud::{Markup, html};

use crate::ReportError;
use crate::chart::{Chart, ChartView, colour, numbered, plain, symbol};
use crate::charts::draw::{Trace, logarithmic, panels};
use crate::fidelity::{
    ABOUT, ErrorStatistics, FidelityDrive, FidelityFigure, FidelityPage, FigureKind, SAME,
};
use crate::format::{distinct, for_drawing};
use crate::html::{Entry, PageTemplate, elements};
use crate::table::{Column, Heading, Row, Table, TableCell};

/// One self-contained HTML page.
///
/// # Errors
/// When the charts cannot be embedded.
pub fn html(page: &FidelityPage) -> Result<String, ReportError> {
    let title = "Fidelity of the simulated drives";
    let mut contents = vec![Entry::new("summary", "Summary"), Entry::new("misses", "Misses")];
    let mut charts = Vec::new();
    let mut drives = Vec::new();
    for (n, drive) in page.drives.iter().enumerate() {
        let id = format!("fidelity-{}", n + 1);
        let own = drive_charts(drive, &id);
        drives.push(section(drive, &id, &own));
        contents.push(Entry::new(&id, &drive.name));
        charts.extend(own);
    }
    if !page.limits.is_empty() {
        contents.push(Entry::new("limits", "Limits"));
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
    PageTemplate { title, header: &header, contents: &contents, body: vec![body], charts }.page()
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
        let [random, sequential, other, predicted] = drive.summary();
        let some = |s: &ErrorStatistics, text: String, alarm: bool| match s.count {
            0 => TableCell::Empty,
            _ => TableCell::number(text).with(|n| n.alarm = alarm),
        };
        let count = |s: &ErrorStatistics| some(s, s.count.to_string(), false);
        let pct = |s, value: f64, goal| some(s, format!("{value:.1}"), value > goal);
        let met = |s: &ErrorStatistics| some(s, within(s), s.met < s.count);
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
    let mut columns = Vec::new();
    columns.extend(Column::all_under("random read", ["cells", "median", "worst"]));
    columns.extend(Column::all_under("sequential read", ["cells", "worst"]));
    columns.extend(Column::all_under("other figures", ["within goal"]));
    let predicted = ["within goal", "median", "worst"];
    columns.extend(Column::all_under("predicted", predicted));
    let notes = [
        "Goals: a median of 3 and a worst of 10 for random reads, 10 for each sequential read; \
         misses are marked.",
        "Predicted: figures held out when the profile was fitted; they are included in the \
         columns to the left.",
    ];
    Table::of_drives(
        "Errors against published figures, in percent".to_owned(),
        columns,
        page.drives.iter().map(row).collect(),
        notes.map(str::to_owned).to_vec(),
    )
}

/// `8 of 9`: figures within their goals.
fn within(s: &ErrorStatistics) -> String {
    format!("{} of {}", s.met, s.count)
}

/// Optional columns of a table of figures.
#[derive(Clone, Copy)]
struct OptionalColumns {
    predicted: bool,
    source: bool,
}

impl OptionalColumns {
    /// Columns whose values differ between the figures.
    fn new(figures: &[FidelityFigure]) -> OptionalColumns {
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
        let labels = labels.into_iter();
        labels.map(|label| Column::new(label, "")).collect()
    }

    fn cells(self, f: &FidelityFigure) -> Vec<TableCell> {
        let none = || TableCell::Missing("none", "the simulation gives no such figure".to_owned());
        let error = f.error.map(|error| {
            TableCell::number(f.error_text()).with(|n| {
                n.alarm = !f.met;
                // The bar behind an error is full at its goal.
                n.share = Some((error / f.goal).abs()).filter(|share| share.is_finite());
            })
        });
        let mut cells = vec![
            TableCell::figure(f.published),
            f.simulated.map_or_else(none, TableCell::figure),
            TableCell::text(&f.unit),
            error.unwrap_or_else(|| TableCell::Missing("-", "no figure, no error".to_owned())),
            TableCell::number(format!("{:.0} {}", f.goal, f.error_unit)),
        ];
        cells.extend(self.predicted.then(|| TableCell::text(f.predicted_text())));
        cells.extend(self.source.then(|| TableCell::text(&f.source)));
        cells
    }
}

fn misses(page: &FidelityPage) -> Table {
    let optional = OptionalColumns { predicted: true, source: true };
    let mut columns = vec![Column::new("figure", "")];
    columns.extend(optional.columns());
    let rows = page.misses().map(|(drive, f)| {
        let mut cells = vec![TableCell::text(&f.title)];
        cells.extend(optional.cells(f));
        Row::new(Heading::plain(&drive.name), cells)
    });
    let caption = "Figures with errors beyond their goals".to_owned();
    Table::of_drives(caption, columns, rows.collect(), Vec::new())
}

fn section(drive: &FidelityDrive, id: &str, charts: &[Chart]) -> Markup {
    let all = drive.statistics(|_| true);
    let predicted = drive.statistics(|f| f.predicted);
    let optional = OptionalColumns::new(&drive.figures);
    let source = drive.figures.first().filter(|_| !optional.source);
    let figures = drive.figures.iter();
    let rows = figures.map(|f| Row::new(Heading::plain(&f.title), optional.cells(f)));
    let table = Table {
        caption: "Published and simulated".to_owned(),
        corner: "figure".to_owned(),
        columns: optional.columns(),
        rows: rows.collect(),
        notes: Vec::from_iter(source.map(|first| format!("Published by: {}.", first.source))),
    };
    let mut sentence = format!(
        "{} figures within their goals; median error {:.1} %, worst {:.1} %",
        within(&all),
        all.median,
        all.worst
    );
    if predicted.count > 0 {
        sentence.push_str(&format!(
            ". Predicted, not fitted: {} within their goals, median {:.1} %, worst {:.1} %",
            within(&predicted),
            predicted.median,
            predicted.worst
        ));
    }
    let heading = Heading { text: drive.name.clone(), simulated: true };
    let content = html! {
        div.beside { div.tall { (elements::table(&table)) } (elements::charts(charts)) }
    };
    let name = elements::drive_name(&heading);
    elements::step(id, &name, &drive.title, &sentence, &html! {}, &content)
}

/// Published and simulated curves of a drive: one chart for reads by block size, one for streams by
/// length.
fn drive_charts(drive: &FidelityDrive, id: &str) -> Vec<Chart> {
    let of = |kind, title, x_title| {
        let figures = drive.figures.iter().filter(|f| f.kind == kind);
        curves(&figures.collect::<Vec<_>>(), title, x_title)
    };
    let (random, stream) = (FigureKind::RandomRead, FigureKind::Stream);
    let charts = [
        of(random, "Random read by block size", "block size"),
        of(stream, "Streams by length", "length of the stream"),
    ];
    numbered(charts.into_iter().flatten().collect(), id)
}

fn curves(figures: &[&FidelityFigure], title: &str, x_title: &str) -> Option<Chart> {
    let known = figures.iter().filter_map(|f| f.curve.as_ref());
    let names = distinct(known.clone().map(|(name, _)| name.as_str()));
    let mut sizes: Vec<f64> = known.map(|(_, size)| *size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < 2 {
        return None;
    }
    let size_label = |bytes: &f64| format_size(*bytes as u64);
    let mut data = Vec::new();
    for (n, name) in names.iter().enumerate() {
        for (simulated, what, dash, size) in
            [(false, "published", "solid", 2.4), (true, "simulated", "dash", 1.6)]
        {
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
    let views = ChartView::new(title, data, layout).into_iter().collect();
    Chart::new(title.to_owned(), "figure", 430, views)
}
