//! Peak against continuous: the rate by the length of the stream, what the stream without end averages, and the cliff between them.

use assay_units::text::format_size;
use serde_json::{Value, json};

use super::draw::{Panel, Trace, dash_word, panels, place_ticks, symbol_word};
use super::{Chart, View, colour, timeline};
use crate::format;
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::tables::stream::{Course, WAYS, courses, mib};

/// Height of the chart, pixels.
const HEIGHT: u32 = 460;
/// More labels of lengths than this run into each other.
const MOST_LABELS: usize = 9;

/// The rate by length with one view per way, and the course of the stream without end over time.
///
/// # Errors
/// When plotly's types cannot be serialised.
pub fn charts(lineup: &Lineup<'_>, section: &Section<'_>) -> Result<Vec<Chart>, serde_json::Error> {
    let courses = courses(lineup, section);
    let views: Vec<View> = views(lineup, &courses);
    let mut charts = Vec::new();
    if !views.is_empty() {
        charts.push(Chart {
            title: format!("{}: rate by length", section.title),
            switch: "way",
            log_switch: true,
            height: HEIGHT,
            views,
            notes: vec![
                "points: short streams, each the mean of its repetitions; level lines: the average of the stream without end. Shaded: the cliff, between the longest stream that was fast and the shortest that was not".to_owned(),
            ],
            ..Chart::default()
        });
    }
    let mut endless = section.clone();
    endless
        .points
        .retain(|p| p.plan().view == Some(assay_store::model::View::Continuous));
    if let Some(mut chart) = timeline::chart(lineup, &endless)? {
        // Writing is what changes on the way.
        let writes = chart.views.iter().position(|v| v.label.ends_with("write"));
        chart.first = writes.unwrap_or(chart.first);
        chart.title = format!("{}: the stream without end, over time", section.title);
        charts.push(chart);
    }
    Ok(charts)
}

/// Both ways in one view, and each by itself where several drives would make that a tangle.
fn views(lineup: &Lineup<'_>, courses: &[Course]) -> Vec<View> {
    if courses.iter().all(|c| c.short.is_empty()) {
        return Vec::new();
    }
    let mut sets: Vec<(&str, Vec<usize>)> = vec![("write and read", vec![0, 1])];
    if courses.len() > 1 {
        sets.insert(0, ("write", vec![0]));
        sets.insert(1, ("read", vec![1]));
    }
    let view = |(label, ways): (&str, Vec<usize>)| one(lineup, courses, label, &ways);
    sets.into_iter().map(view).collect()
}

fn one(lineup: &Lineup<'_>, courses: &[Course], label: &str, ways: &[usize]) -> View {
    let mut lengths: Vec<u64> = courses
        .iter()
        .flat_map(|c| &c.short)
        .map(|s| s.length_bytes)
        .collect();
    lengths.sort_unstable();
    lengths.dedup();
    let ends = lengths.first().copied().zip(lengths.last().copied());
    let (mut data, mut shapes, mut words) = (Vec::new(), Vec::new(), Vec::new());
    for course in courses {
        for &way in ways {
            let (op, word) = WAYS[way];
            // Of one drive the ways differ by colour, of several the drives do.
            let paint = colour(course.drive + if courses.len() > 1 { 0 } else { way });
            let drive = lineup.drives[course.drive].full_name();
            let who = match (courses.len(), ways.len()) {
                (1, _) => word.to_owned(),
                (_, 1) => drive,
                _ => format!("{drive}, {word}"),
            };
            let own: Vec<_> = course.short.iter().filter(|s| s.op == op).collect();
            let dash = dash_word(if courses.len() > 1 && ways.len() > 1 {
                way
            } else {
                0
            });
            if !own.is_empty() {
                let line = Trace {
                    name: format!("{who}, by length"),
                    points: own
                        .iter()
                        .map(|s| (mib(s.length_bytes), s.mib_per_s))
                        .collect(),
                    mode: "lines+markers",
                    colour: paint.clone(),
                    dash,
                    symbol: symbol_word(way),
                    hover: "%{y:,.4~g} MiB/s at %{text}".to_owned(),
                    texts: own.iter().map(|s| format_size(s.length_bytes)).collect(),
                    ..Trace::default()
                };
                data.push(line.json());
            }
            if let (Some(endless), Some((from, to))) = (course.continuous(op), ends) {
                let level = Trace {
                    name: format!("{who}, continuous"),
                    points: vec![(mib(from), endless.mib_per_s), (mib(to), endless.mib_per_s)],
                    colour: paint.clone(),
                    dash: "dot",
                    size: 1.8,
                    hover: format!(
                        "%{{y:,.4~g}} MiB/s over {}",
                        format::capacity(endless.length_bytes)
                    ),
                    ..Trace::default()
                };
                data.push(level.json());
            }
            for cliff in course.cliffs(op) {
                let (from, to) = (mib(cliff.before_bytes), mib(cliff.after_bytes));
                shapes.push(super::draw::band(from, to, &format!("{paint}~")));
                if courses.len() == 1 {
                    words.push(mark(
                        from,
                        to,
                        &format!(
                            "{word}: {} \u{2192} {}",
                            format::figure(cliff.from_mib_per_s),
                            format::figure(cliff.to_mib_per_s)
                        ),
                        words.len(),
                    ));
                }
            }
        }
    }
    let mut layout = panels(
        "length of the stream",
        &[Panel {
            title: "MiB/s",
            log: false,
            share: 1.0,
        }],
    );
    let step = lengths.len().div_ceil(MOST_LABELS).max(1);
    let shown: Vec<u64> = lengths.iter().copied().step_by(step).collect();
    let (values, labels): (Vec<f64>, Vec<String>) =
        shown.iter().map(|&l| (mib(l), format_size(l))).unzip();
    place_ticks(&mut layout, &values, &labels);
    layout["shapes"] = Value::Array(shapes);
    layout["annotations"] = Value::Array(words);
    View {
        label: label.to_owned(),
        data,
        layout,
    }
}

/// The words of a cliff, at the upper end of its band. plotly takes places on a logarithmic axis as powers of ten.
fn mark(from: f64, to: f64, words: &str, row: usize) -> Value {
    let middle = (from * to).sqrt().log10();
    json!({
        "x": format::for_drawing(middle), "xref": "x", "y": 1.0, "yref": "paper", "yshift": -15 * i64::try_from(row).unwrap_or(0),
        "xanchor": "center", "yanchor": "top", "showarrow": false, "text": super::plain(words), "font": {"size": 11},
    })
}
