//! Rounds coming to rest (SNIA SSS PTS): the figure of every round, and the window that the judgement rests on.

use assay_store::model::Steady;
use serde_json::{Value, json};

use super::draw::{Panel, Trace, dash_word, panels, place_ticks, symbol_word};
use super::{Chart, View, colour};
use crate::axis::Axis;
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::tables::rounds::{Drive, Figure, NOT_ACHIEVED, figures, of_section};

/// The means of the window by block size, the convergence of every cell, and the measurement window of every tracked one.
pub fn charts(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Chart> {
    let figures = figures(lineup, section);
    let drives = of_section(lineup, section);
    let mut charts = Vec::new();
    let mut add = |what: &str, switch, views: Vec<View>, notes| {
        if !views.is_empty() {
            charts.push(Chart {
                title: format!("{}: {what}", section.title),
                switch,
                log_switch: true,
                height: 420,
                views,
                notes,
                ..Chart::default()
            });
        }
    };
    let sizes = by_size(lineup, section, &drives, &figures);
    let settled =
        "over the rounds that count: means, of the maximum latency the largest".to_owned();
    add("by block size", "shown", sizes, vec![settled]);
    let converging = figures
        .iter()
        .enumerate()
        .flat_map(|(i, figure)| {
            // The whole way of what is judged, and of the largest latency beside the mean one; of the others, that of the tracked cells.
            let whole = i == 0 || figures[0].is_latency() && figure.largest;
            convergence(lineup, section, &drives, figure, whole)
        })
        .collect();
    let note = "shaded: the rounds that count".to_owned();
    add("round by round", "shown", converging, vec![note]);
    let windows = drives
        .iter()
        .flat_map(|drive| drive.steady.iter().map(move |steady| (drive, steady)))
        .flat_map(|(drive, steady)| {
            let judged = Course::judged(steady);
            let others = figures[1..].iter();
            let others = others.filter_map(|f| Course::beside(drive, steady, f));
            std::iter::once(judged)
                .chain(others)
                .map(|course| window(lineup, section, drive, steady, &course))
                .collect::<Vec<View>>()
        })
        .collect();
    add("measurement window", "tracked", windows, rules(&drives));
    charts
}

/// SNIA's plot of the result: a figure over block sizes, with a line per mix of reads and writes. One view per drive and figure.
fn by_size(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    drives: &[Drive<'_, '_>],
    figures: &[Figure],
) -> Vec<View> {
    let sizes: Vec<f64> = section.rows.iter().filter_map(|r| r.number).collect();
    let labels: Vec<String> = section.rows.iter().map(|r| r.label.clone()).collect();
    if section.row_axis != Some(Axis::BlockSize) || sizes.len() != labels.len() || sizes.len() < 2 {
        return Vec::new();
    }
    let mut views = Vec::new();
    for figure in figures {
        for drive in drives {
            let mut data = Vec::new();
            for column in 0..section.columns.len() {
                let points: Vec<(f64, f64)> = sizes
                    .iter()
                    .enumerate()
                    .filter_map(|(row, size)| Some((*size, drive.settled(row, column, figure)?)))
                    .collect();
                if points.is_empty() {
                    continue;
                }
                let trace = Trace {
                    name: match section.column_label(column) {
                        label if label.is_empty() => section.title.to_owned(),
                        label => label,
                    },
                    points,
                    mode: "lines+markers",
                    colour: colour(column),
                    dash: dash_word(column / super::PALETTE),
                    symbol: symbol_word(column),
                    ..Trace::default()
                };
                data.push(trace.json());
            }
            if data.is_empty() {
                continue;
            }
            let panel = Panel {
                title: figure.title,
                log: false,
                share: 1.0,
            };
            let mut layout = panels(section.row_axis.map_or("", Axis::title), &[panel]);
            place_ticks(&mut layout, &sizes, &labels);
            let name = lineup.drives[drive.drive].full_name();
            let unsteady = match drive.achieved() {
                Some(false) => format!(" ({NOT_ACHIEVED})"),
                _ => String::new(),
            };
            views.push(View {
                label: super::plain(&format!("{}, {name}{unsteady}", figure.label)),
                data,
                layout,
            });
        }
    }
    views
}

/// What the filled dots are, and each rule by which they were judged, once.
fn rules(drives: &[Drive<'_, '_>]) -> Vec<String> {
    let mut notes = vec!["filled: the rounds that count. Dotted: as far as one of them may lie from the mean, where the rule limits that".to_owned()];
    for steady in drives.iter().flat_map(|d| &d.steady) {
        let rule = format!("steady by {}", steady.rule);
        if !steady.rule.is_empty() && !notes.contains(&rule) {
            notes.push(rule);
        }
    }
    notes
}

/// An axis of rounds: no fractions, and no more labels than there is room for.
fn whole_rounds(axis: &mut Value, most: u32) {
    axis["dtick"] = match most {
        0..=12 => 1,
        13..=30 => 5,
        _ => 10,
    }
    .into();
    axis["rangemode"] = "normal".into();
}

/// One view per drive and column with a line per row; of several drives, first one with what is tracked of each. Not `whole`: only the columns in which
/// something is tracked.
fn convergence(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    drives: &[Drive<'_, '_>],
    figure: &Figure,
    whole: bool,
) -> Vec<View> {
    let mut views = Vec::new();
    let layout = |window: Option<(u32, u32)>| {
        let mut layout = panels(
            "round",
            &[Panel {
                title: figure.title,
                log: false,
                share: 1.0,
            }],
        );
        let most = drives.iter().map(|d| d.done).max().unwrap_or(0);
        whole_rounds(&mut layout["xaxis"], most);
        if let Some((from, to)) = window {
            let (from, to) = (f64::from(from) - 0.5, f64::from(to) + 0.5);
            layout["shapes"] = json!([super::draw::band(from, to, "@band")]);
        }
        layout
    };
    if drives.len() > 1 {
        let data: Vec<Value> = drives
            .iter()
            .flat_map(|drive| {
                drive.steady.iter().enumerate().map(|(i, steady)| {
                    let place = drive
                        .place_of(steady)
                        .map(|(r, c)| section.place(r, c))
                        .unwrap_or_default();
                    let course = match drive.judges(steady, figure) {
                        true => Course::judged(steady),
                        false => Course::beside(drive, steady, figure).unwrap_or_default(),
                    };
                    Trace {
                        name: format!("{}, {place}", lineup.drives[drive.drive].full_name()),
                        points: course.points,
                        mode: "lines+markers",
                        colour: colour(drive.drive),
                        dash: dash_word(i),
                        symbol: symbol_word(i),
                        ..Trace::default()
                    }
                    .json()
                })
            })
            .collect();
        if !data.is_empty() {
            views.push(View {
                label: format!("{}: what is tracked of every drive", figure.label),
                data,
                layout: layout(None),
            });
        }
    }
    for drive in drives {
        let tracked: Vec<usize> = drive
            .steady
            .iter()
            .filter_map(|s| Some(drive.place_of(s)?.1))
            .collect();
        for column in (0..section.columns.len()).filter(|c| whole || tracked.contains(c)) {
            let mut data = Vec::new();
            for row in 0..section.rows.len() {
                let points: Vec<(f64, f64)> = (1..=drive.done)
                    .filter_map(|n| Some((f64::from(n), drive.value(row, column, n, figure)?)))
                    .collect();
                if points.is_empty() {
                    continue;
                }
                let trace = Trace {
                    name: match section.rows[row].label.as_str() {
                        "" => section.title.to_owned(),
                        label => label.to_owned(),
                    },
                    points,
                    mode: "lines+markers",
                    colour: colour(row),
                    dash: dash_word(row / super::PALETTE),
                    symbol: symbol_word(row),
                    ..Trace::default()
                };
                data.push(trace.json());
            }
            if !data.is_empty() {
                let drive_name = lineup.drives[drive.drive].full_name();
                views.push(View {
                    label: super::plain(&match section.column_label(column).as_str() {
                        "" => format!("{}, {drive_name}", figure.label),
                        label => format!("{}, {drive_name}, {label}", figure.label),
                    }),
                    data,
                    layout: layout(Some(drive.window)),
                });
            }
        }
    }
    views
}

/// A figure of a tracked cell, round by round, with what the window makes of it.
#[derive(Clone, Debug, Default)]
struct Course {
    title: String,
    points: Vec<(f64, f64)>,
    mean: f64,
    slope: f64,
    band: Option<f64>,
}

impl Course {
    /// Of the figure that the rule judged.
    fn judged(steady: &Steady) -> Course {
        let values = steady.values.iter().enumerate();
        Course {
            title: steady.figure.clone(),
            points: values.map(|(i, v)| ((i + 1) as f64, *v)).collect(),
            mean: steady.mean,
            slope: steady.slope_per_round,
            band: steady.band,
        }
    }

    /// Of another figure of the same cell, which no rule limits.
    fn beside(drive: &Drive<'_, '_>, steady: &Steady, figure: &Figure) -> Option<Course> {
        let (row, column) = drive.place_of(steady)?;
        let value = |n: u32| Some((f64::from(n), drive.value(row, column, n, figure)?));
        let points: Vec<(f64, f64)> = (1..=drive.done).filter_map(value).collect();
        let (from, to) = (f64::from(steady.window.0), f64::from(steady.window.1));
        let window = points.iter().filter(|p| p.0 >= from && p.0 <= to);
        let window: Vec<(f64, f64)> = window.copied().collect();
        if window.is_empty() {
            return None;
        }
        let n = window.len() as f64;
        let mean = window.iter().map(|p| p.1).sum::<f64>() / n;
        let middle = window.iter().map(|p| p.0).sum::<f64>() / n;
        let (mut xy, mut xx) = (0.0, 0.0);
        for (x, y) in &window {
            xy += (x - middle) * (y - mean);
            xx += (x - middle) * (x - middle);
        }
        Some(Course {
            title: figure.title.to_owned(),
            points,
            mean,
            slope: if xx > 0.0 { xy / xx } else { 0.0 },
            band: None,
        })
    }
}

/// What was tracked, its mean, the limits of the range, and the best-fit line.
fn window(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    drive: &Drive<'_, '_>,
    steady: &Steady,
    course: &Course,
) -> View {
    let at = drive.drive;
    let (from, to) = steady.window;
    let (first, last) = (f64::from(from), f64::from(to));
    let rounds = &course.points;
    let inside = |x: f64| x >= first && x <= last;
    let place = drive
        .place_of(steady)
        .map(|(r, c)| section.place(r, c))
        .unwrap_or_default();
    let name = lineup.drives[at].full_name();
    let symbols: Vec<&str> = rounds
        .iter()
        .map(|p| if inside(p.0) { "circle" } else { "circle-open" })
        .collect();
    let mut tracked = Trace {
        name: course.title.clone(),
        points: rounds.clone(),
        mode: "lines+markers",
        colour: colour(at),
        ..Trace::default()
    }
    .json();
    tracked["marker"]["symbol"] = json!(symbols);
    let level = |name: &str, at: f64, dash, size| {
        Trace {
            name: name.to_owned(),
            points: vec![(first, at), (last, at)],
            colour: "@ink".to_owned(),
            dash,
            size,
            ..Trace::default()
        }
        .json()
    };
    let middle = (first + last) / 2.0;
    let line = |x: f64| course.mean + course.slope * (x - middle);
    let fit = Trace {
        name: "best-fit line".to_owned(),
        points: vec![(first, line(first)), (last, line(last))],
        colour: colour(at + 1),
        dash: "longdash",
        size: 2.5,
        ..Trace::default()
    };
    let mut data = vec![
        tracked,
        level("mean of the window", course.mean, "solid", 1.5),
    ];
    if let Some(band) = course.band {
        let share = crate::format::percent(100.0 * band / course.mean.abs().max(f64::MIN_POSITIVE));
        for (sign, at) in [("+", course.mean + band), ("\u{2212}", course.mean - band)] {
            data.push(level(&format!("mean {sign} {share} %"), at, "dot", 1.2));
        }
    }
    data.push(fit.json());
    let mut layout = panels(
        "round",
        &[Panel {
            title: &course.title,
            log: false,
            share: 1.0,
        }],
    );
    whole_rounds(&mut layout["xaxis"], drive.done);
    layout["yaxis"]["rangemode"] = "normal".into();
    layout["yaxis"]["title"] = json!({"text": super::plain(&course.title)});
    layout["shapes"] = json!([super::draw::band(first - 0.5, last + 0.5, "@band")]);
    let state = if steady.achieved {
        format!("steady, rounds {from} to {to}")
    } else {
        NOT_ACHIEVED.to_owned()
    };
    let what = if place.is_empty() {
        String::new()
    } else {
        format!(", {place}")
    };
    View {
        label: super::plain(&format!("{}, {name}{what}: {state}", course.title)),
        data,
        layout,
    }
}
