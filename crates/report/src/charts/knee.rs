//! A sweep over queue depth: the rate and the tail of latency, and where more depth brings nothing any more (report D).

use super::draw::{Panel, Trace, dash_word, panels, place_ticks, symbol_word};
use super::{Chart, View, look};
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::tables::knee::{knees, small_blocks};

/// Rate and tail latency against depth, every knee marked.
pub fn charts(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Chart> {
    let Some(axis) = section.row_axis else {
        return Vec::new();
    };
    type Figure = fn(&Point<'_>) -> Option<f64>;
    let rate: (&str, &str, Figure) = if small_blocks(section) {
        ("operations per second", "IOPS", |p| {
            Some(p.result()?.iops())
        })
    } else {
        ("MB/s", "MB/s", |p| {
            Some(p.result()?.mib_per_s() * crate::tables::power::MB_PER_MIB)
        })
    };
    let tail: (&str, &str, Figure) = ("p99.99 latency, \u{b5}s", "\u{b5}s", |p| {
        let latency = p.result()?.latency();
        (latency.samples > 0).then_some(latency.p99_99 as f64 / 1e3)
    });
    let mut data = Vec::new();
    let mut few = false;
    for points in section.series() {
        let Some(first) = points.first() else {
            continue;
        };
        let (colour, style) = look(section, first);
        let drive = lineup.drives[first.drive].full_name();
        let name = match section.column_label(first.column).as_str() {
            "" => drive,
            column => format!("{drive}, {column}"),
        };
        let knee = knees(&points);
        for (i, (axis, (_, unit, figure))) in [("y", rate), ("y2", tail)].into_iter().enumerate() {
            let place = |p: &Point<'_>| {
                let depth = section.rows[p.row].number?;
                Some((depth, figure(p)?))
            };
            let line = Trace {
                name: name.clone(),
                points: points.iter().filter_map(|p| place(p)).collect(),
                mode: "lines+markers",
                colour: colour.clone(),
                dash: dash_word(style),
                symbol: symbol_word(style),
                axis,
                hover: format!("%{{y:,.4~g}} {unit}"),
                listed: i == 0,
                ..Trace::default()
            };
            data.push(line.json());
            if let Some(spot) = knee.and_then(|k| place(points[k])) {
                let ring = Trace {
                    name: format!("{name}, knee"),
                    points: vec![spot],
                    mode: "markers",
                    colour: colour.clone(),
                    symbol: "circle-open",
                    size: 15.0,
                    axis,
                    hover: "knee: the lowest depth with 95 % of the best rate".to_owned(),
                    listed: false,
                    ..Trace::default()
                };
                let mut ring = ring.json();
                ring["marker"]["line"] = serde_json::json!({"width": 2.5});
                data.push(ring);
            }
        }
        few |= points
            .iter()
            .filter_map(|p| p.result())
            .any(|r| (1..10_000).contains(&r.latency().samples));
    }
    if data.is_empty() {
        return Vec::new();
    }
    let mut layout = panels(
        axis.title(),
        &[
            Panel {
                title: rate.0,
                log: false,
                share: 1.2,
            },
            Panel {
                title: tail.0,
                log: true,
                share: 1.0,
            },
        ],
    );
    let values: Vec<f64> = section.rows.iter().filter_map(|r| r.number).collect();
    let labels: Vec<String> = values.iter().map(|v| format!("{v}")).collect();
    place_ticks(&mut layout, &values, &labels);
    let mut notes =
        vec!["ringed: the lowest depth that reaches 95 % of the best rate of the sweep".to_owned()];
    if few {
        notes.push(
            "with fewer than 10,000 operations at a depth, p99.99 is its slowest one".to_owned(),
        );
    }
    vec![Chart {
        title: format!("{} by {}", section.title, axis.title()),
        switch: "figure",
        log_switch: true,
        log_x_switch: true,
        height: 560,
        views: vec![View {
            label: "rate and latency".to_owned(),
            data,
            layout,
        }],
        notes,
        ..Chart::default()
    }]
}
