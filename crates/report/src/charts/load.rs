//! Latency against offered load in an open loop: where queueing begins.

use serde_json::json;

use super::draw::{Panel, Trace, dash_word, panels, symbol_word};
use super::{Chart, View, look};
use crate::grid::Section;
use crate::lineup::Lineup;
use crate::tables::load::{Offer, knee, offers};

/// One chart against operations per second and one against the share of what the drive can do; one view per figure.
pub fn charts(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Chart> {
    let all = offers(lineup, section);
    if all.iter().all(|o| o.len() < 2) {
        return Vec::new();
    }
    type Across = fn(&Offer<'_, '_>) -> f64;
    let mut axes: Vec<(&str, &str, Across)> =
        vec![("offered load, IOPS", "operations per second", |o| o.offered)];
    if all.iter().flatten().all(|o| o.percent > 0.0) {
        axes.insert(
            0,
            (
                "offered load, % of the closed loop's rate",
                "share of its best rate",
                |o| o.percent,
            ),
        );
    }
    axes.into_iter()
        .map(|(title, words, across)| Chart {
            title: format!("{}: latency by {words}", section.title),
            switch: "figure",
            log_switch: true,
            height: 420,
            first: 2,
            views: FIGURES
                .iter()
                .map(|figure| view(lineup, section, &all, title, across, figure))
                .collect(),
            notes: vec![
                "solid: from the moment an operation was due; dotted: from the moment it was sent (service time). Between them is waiting for a free place in the queue".to_owned(),
                "ringed: the knee. Crosses: not sustained, so that latency grows for as long as one measures".to_owned(),
            ],
            ..Chart::default()
        })
        .collect()
}

type Figure = (
    &'static str,
    &'static str,
    fn(&assay_stats::LatencySummary) -> f64,
);

const FIGURES: [Figure; 4] = [
    ("mean", "mean latency, \u{b5}s", |l| l.mean),
    ("median", "median latency, \u{b5}s", |l| l.p50 as f64),
    ("p99", "p99 latency, \u{b5}s", |l| l.p99 as f64),
    ("p99.99", "p99.99 latency, \u{b5}s", |l| l.p99_99 as f64),
];

fn view(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    all: &[Vec<Offer<'_, '_>>],
    x_title: &str,
    across: fn(&Offer<'_, '_>) -> f64,
    (label, title, of): &Figure,
) -> View {
    let mut data = Vec::new();
    for offers in all {
        let Some(first) = offers.first() else {
            continue;
        };
        let (colour, style) = look(section, first.point);
        let drive = lineup.drives[first.point.drive].full_name();
        let name = match section.column_label(first.point.column).as_str() {
            "" => drive,
            column => format!("{drive}, {column}"),
        };
        let line = Trace {
            name: name.clone(),
            points: offers
                .iter()
                .map(|o| (across(o), of(&o.latency) / 1e3))
                .collect(),
            mode: "lines+markers",
            colour: colour.clone(),
            dash: if style == 0 {
                "solid"
            } else {
                dash_word(style + 2)
            },
            symbol: symbol_word(style),
            hover: "%{y:,.4~g} \u{b5}s".to_owned(),
            ..Trace::default()
        };
        let mut line = line.json();
        let symbols: Vec<&str> = offers
            .iter()
            .map(|o| {
                if o.sustained() {
                    symbol_word(style)
                } else {
                    "x"
                }
            })
            .collect();
        line["marker"]["symbol"] = json!(symbols);
        data.push(line);
        let service: Vec<(f64, f64)> = offers
            .iter()
            .filter_map(|o| Some((across(o), of(o.service.as_ref()?) / 1e3)))
            .collect();
        if !service.is_empty() {
            let trace = Trace {
                name: format!("{name}, service"),
                points: service,
                colour: colour.clone(),
                dash: "dot",
                size: 1.5,
                hover: "%{y:,.4~g} \u{b5}s service".to_owned(),
                ..Trace::default()
            };
            data.push(trace.json());
        }
        if let Some(at) = knee(offers).and_then(|k| offers.get(k)) {
            let ring = Trace {
                name: format!("{name}, knee"),
                points: vec![(across(at), of(&at.latency) / 1e3)],
                mode: "markers",
                colour,
                symbol: "circle-open",
                size: 15.0,
                hover: "knee".to_owned(),
                listed: false,
                ..Trace::default()
            };
            let mut ring = ring.json();
            ring["marker"]["line"] = json!({"width": 2.5});
            data.push(ring);
        }
    }
    View {
        label: (*label).to_owned(),
        data,
        layout: panels(
            x_title,
            &[Panel {
                title,
                log: true,
                share: 1.0,
            }],
        ),
    }
}
