//! Streams of chunks: peak and continuous bandwidth (MLE NVMe Streamer, see docs/sources.md).

use assay_store::model::CellView;
use assay_units::Op;
use assay_units::text::format_size;
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::chart::{Chart, ChartView, colour, dash, plain, symbol};
use crate::charts::draw::{Trace, band, linear, panels, set_ticks};
use crate::charts::timeline;
use crate::format::{self, capacity, figure, joined, text_or};
use crate::grid::Section;
use crate::html::elements;
use crate::tables::capacity as verification;
use crate::tables::published;
use crate::tables::stream::{self, DIRECTIONS, DriveStreams, mib, of_section, short_lengths};
use crate::views::descriptor::{KeyFigure, SectionView, alarms, all_figures, causes};

/// Short streams beside a continuous one.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "A stream of chunks, written or read in order with many in flight, timed from the first \
         submission to the last completion. At one chunk the latency of the first command \
         dominates; short streams fit into caches and show the peak; a cliff shows a full cache. \
         The level line is the mean of the continuous stream: a recorder can rely on that rate, \
         and on a higher one only until the cache is full. Points at the level line show a drive \
         that sustains its rate."
    },
    alarms: verification::alarms,
    tables: |section| vec![stream::table(section), stream::lengths(section)],
    charts,
    folded_tables: causes,
    html,
    key_figures,
    ..SectionView::DEFAULT
};

fn html(view: &SectionView, section: &Section<'_>, charts: &[Chart], _id: &str) -> Markup {
    html! {
        (alarms(view, section))
        (elements::table_or_notes(&stream::table(section)))
        (elements::charts(charts))
        (elements::table(&stream::lengths(section)))
        @for (summary, table) in published::all(section) { (elements::folded(&summary, &table)) }
        @for (summary, table) in causes(section) { (elements::folded(summary, &table)) }
        (all_figures(section, None))
    }
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let drives = stream::of_section(section);
    let own = drives.iter().filter(|d| d.drive == drive);
    own.flat_map(|d| stream::DIRECTIONS.map(|(op, noun)| key_figure(d, op, noun)))
        .flatten()
        .collect()
}

/// The rate of the continuous stream, or else that of the best short one.
fn key_figure(streams: &stream::DriveStreams, op: Op, noun: &str) -> Option<KeyFigure> {
    let peak = streams.peak(op);
    let of_length = |bytes: String| format!("a stream of {bytes}");
    let Some(continuous) = streams.continuous(op) else {
        let peak = peak?;
        return Some(KeyFigure {
            label: format!("Peak {noun}"),
            value: figure(peak.mib_per_s),
            unit: "MiB/s",
            details: of_length(format_size(peak.length_bytes)),
        });
    };
    let cache = streams.cache().filter(|_| op == Op::Write);
    let details = [
        peak.map(|peak| format!("peak {}", figure(peak.mib_per_s))),
        cache.map(|cache| format!("write cache {cache}")),
    ];
    let details = joined(details.into_iter().flatten(), ", ");
    let whole = of_length(capacity(continuous.length_bytes));
    Some(KeyFigure {
        label: format!("Continuous {noun}"),
        value: figure(continuous.mib_per_s),
        unit: "MiB/s",
        details: text_or(&details, &whole).to_owned(),
    })
}

/// Height of the chart, pixels.
const HEIGHT: u32 = 460;
/// More labels of lengths than this overlap.
const MAX_LABELS: usize = 9;

/// The rate by length with one view per direction, and the continuous stream over time.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let all = of_section(section);
    let mut charts = Vec::new();
    if all.iter().any(|d| !d.short.is_empty()) {
        // Both directions in one view, and each by itself where several drives would overlap.
        let mut choices: Vec<(&str, &[usize])> = vec![("write and read", &[0, 1])];
        if all.len() > 1 {
            choices.splice(0..0, [("write", &[0][..]), ("read", &[1][..])]);
        }
        let choices = choices.into_iter();
        let views = choices.map(|(label, directions)| view(section, &all, label, directions));
        let title = section.caption("rate by length");
        let note = "points: short streams, each the mean of its repetitions; level lines: mean of \
                    the continuous stream; shaded: the cliff, between the longest fast stream and \
                    the shortest slow one";
        let chart = Chart::new(title, "direction", HEIGHT, views.collect());
        charts.extend(chart.map(|c| c.with_notes(vec![note.to_owned()])));
    }
    let mut continuous = section.clone();
    let points = &mut continuous.points;
    points.retain(|p| p.plan().view == Some(CellView::Continuous));
    if let Some(mut chart) = timeline::chart(&continuous) {
        // Writes are the direction whose rate changes.
        let writes = chart.views.iter().position(|v| v.label.ends_with("write"));
        chart.first = writes.unwrap_or(chart.first);
        chart.title = section.caption("the continuous stream over time");
        charts.push(chart);
    }
    charts
}

/// A line by length, and the level of the continuous stream.
fn traces(
    streams: &DriveStreams,
    direction: usize,
    name: &str,
    paint: &str,
    dash: &str,
    ends: Option<(&u64, &u64)>,
) -> Vec<Value> {
    let (op, _) = DIRECTIONS[direction];
    let mut traces = Vec::new();
    let own: Vec<_> = streams.short.iter().filter(|s| s.op == op).collect();
    if !own.is_empty() {
        let points = own.iter().map(|s| (mib(s.length_bytes), s.mib_per_s));
        let line = Trace {
            name: format!("{name}, by length"),
            points: points.collect(),
            mode: "lines+markers",
            colour: paint.to_owned(),
            dash,
            symbol: symbol(direction),
            hover: "%{y:,.4~g} MiB/s at %{text}".to_owned(),
            texts: own.iter().map(|s| format_size(s.length_bytes)).collect(),
            ..Trace::default()
        };
        traces.push(line.json());
    }
    if let (Some(continuous), Some((from, to))) = (streams.continuous(op), ends) {
        let rate = continuous.mib_per_s;
        let length = format::capacity(continuous.length_bytes);
        let level = Trace {
            name: format!("{name}, continuous"),
            points: vec![(mib(*from), rate), (mib(*to), rate)],
            colour: paint.to_owned(),
            dash: "dot",
            size: 1.8,
            hover: format!("%{{y:,.4~g}} MiB/s over {length}"),
            ..Trace::default()
        };
        traces.push(level.json());
    }
    traces
}

fn view(
    section: &Section<'_>,
    all: &[DriveStreams],
    label: &str,
    directions: &[usize],
) -> ChartView {
    let several = all.len() > 1;
    let lengths = short_lengths(all);
    let ends = lengths.first().zip(lengths.last());
    let (mut data, mut shapes, mut annotations) = (Vec::new(), Vec::new(), Vec::new());
    for streams in all {
        for &direction in directions {
            let (op, noun) = DIRECTIONS[direction];
            // With one drive, directions differ by colour; with several, drives do.
            let paint = colour(streams.drive + if several { 0 } else { direction });
            let drive = section.set.chart_name(streams.drive);
            let name = match (several, directions.len()) {
                (false, _) => noun.to_owned(),
                (true, 1) => drive,
                _ => format!("{drive}, {noun}"),
            };
            let both = several && directions.len() > 1;
            let dash = dash(if both { direction } else { 0 });
            data.extend(traces(streams, direction, &name, &paint, dash, ends));
            for cliff in streams.cliffs(op) {
                let (from, to) = (mib(cliff.before_bytes), mib(cliff.after_bytes));
                shapes.push(band(from, to, &format!("{paint}~")));
                if !several {
                    let rates = [cliff.from_mib_per_s, cliff.to_mib_per_s];
                    let [before, after] = rates.map(format::figure);
                    let text = format!("{noun}: {before} \u{2192} {after}");
                    annotations.push(annotation(from, to, &text, annotations.len()));
                }
            }
        }
    }
    let mut layout = panels("length of the stream", &[linear("MiB/s")]);
    let step = lengths.len().div_ceil(MAX_LABELS).max(1);
    let shown = lengths.iter().step_by(step);
    let (values, labels): (Vec<f64>, Vec<String>) =
        shown.map(|&l| (mib(l), format_size(l))).unzip();
    set_ticks(&mut layout, &values, &labels);
    layout["shapes"] = Value::Array(shapes);
    layout["annotations"] = Value::Array(annotations);
    ChartView::with(label.to_owned(), &data, layout)
}

/// The text of a cliff at the upper end of its band. On a logarithmic axis plotly takes positions
/// as powers of ten.
fn annotation(from: f64, to: f64, text: &str, row: usize) -> Value {
    let middle = (from * to).sqrt().log10();
    json!({
        "x": format::for_drawing(middle), "xref": "x", "y": 1.0, "yref": "paper",
        "yshift": -15.0 * row as f64,
        "xanchor": "center", "yanchor": "top", "showarrow": false, "text": plain(text),
        "font": {"size": 11},
    })
}
