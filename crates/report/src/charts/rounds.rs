//! Rounds coming to rest (SNIA SSS PTS): the figure of every round, and the window that the judgement rests on.

use assay_store::model::Steady;
use serde_json::{Value, json};

use super::draw::{Panel, Trace, dash_word, panels, symbol_word};
use super::{Chart, View, colour};
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::tables::rounds::{Drive, Figure, NOT_ACHIEVED, figures, of_section};

/// The convergence of every cell, and the measurement window of every tracked one.
pub fn charts(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Chart> {
    let figures = figures(lineup, section);
    let drives = of_section(lineup, section);
    let Some(figure) = figures.first() else {
        return Vec::new();
    };
    let mut charts = Vec::new();
    let converging = convergence(lineup, section, &drives, figure);
    if !converging.is_empty() {
        charts.push(Chart {
            title: format!("{}: round by round", section.title),
            switch: "shown",
            log_switch: true,
            height: 420,
            views: converging,
            notes: vec!["shaded: the rounds that count".to_owned()],
            ..Chart::default()
        });
    }
    let windows: Vec<View> = drives
        .iter()
        .flat_map(|drive| {
            drive
                .steady
                .iter()
                .map(|steady| window(lineup, section, drive, steady))
        })
        .collect();
    if !windows.is_empty() {
        charts.push(Chart {
            title: format!("{}: measurement window", section.title),
            switch: "tracked",
            log_switch: true,
            height: 420,
            views: windows,
            notes: rules(&drives),
            ..Chart::default()
        });
    }
    charts
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

/// One view per drive and column with a line per row; of several drives, first one with what is tracked of each.
fn convergence(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    drives: &[Drive<'_, '_>],
    figure: &Figure,
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
                    let values = steady.values.iter().enumerate();
                    Trace {
                        name: format!("{}, {place}", lineup.drives[drive.drive].full_name()),
                        points: values.map(|(n, v)| ((n + 1) as f64, *v)).collect(),
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
                label: "tracked figure of every drive".to_owned(),
                data,
                layout: layout(None),
            });
        }
    }
    for drive in drives {
        for column in 0..section.columns.len() {
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
                        "" => drive_name,
                        label => format!("{drive_name}, {label}"),
                    }),
                    data,
                    layout: layout(Some(drive.window)),
                });
            }
        }
    }
    views
}

/// What was tracked, its mean, the limits of the range, and the best-fit line.
fn window(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    drive: &Drive<'_, '_>,
    steady: &Steady,
) -> View {
    let at = drive.drive;
    let (from, to) = steady.window;
    let (first, last) = (f64::from(from), f64::from(to));
    let rounds: Vec<(f64, f64)> = steady
        .values
        .iter()
        .enumerate()
        .map(|(i, v)| ((i + 1) as f64, *v))
        .collect();
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
        name: steady.figure.clone(),
        points: rounds,
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
    let line = |x: f64| steady.mean + steady.slope_per_round * (x - middle);
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
        level("mean of the window", steady.mean, "solid", 1.5),
    ];
    if let Some(band) = steady.band {
        let share = crate::format::percent(100.0 * band / steady.mean.abs().max(f64::MIN_POSITIVE));
        for (sign, at) in [("+", steady.mean + band), ("\u{2212}", steady.mean - band)] {
            data.push(level(&format!("mean {sign} {share} %"), at, "dot", 1.2));
        }
    }
    data.push(fit.json());
    let mut layout = panels(
        "round",
        &[Panel {
            title: &steady.figure,
            log: false,
            share: 1.0,
        }],
    );
    whole_rounds(&mut layout["xaxis"], drive.done);
    layout["yaxis"]["rangemode"] = "normal".into();
    layout["yaxis"]["title"] = json!({"text": super::plain(&steady.figure)});
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
        label: super::plain(&format!("{name}{what}: {state}")),
        data,
        layout,
    }
}
