//! Recovery by idle time: the rate over time, burst by burst, and by idle time (SNIA SSS PTS, host
//! idle recovery).

use serde_json::{Value, json};

use super::draw::{Trace, band, linear, panels, thinned, thinned_note};
use super::{Chart, ChartView, colour};
use crate::grid::{Point, Section};
use crate::tables::recovery::{idle_text, segment};

/// The rate after idle time, and the rate over the whole test.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let by_idle = Chart::of(
        section.caption("rate by idle time"),
        "shown",
        420,
        by_idle_time(section).into_iter().collect(),
    );
    let by_idle = by_idle.map(|chart| {
        let note = "solid: mean of the bursts that follow idle time; dotted: the continuous \
                    writes before each segment";
        chart.with_notes(vec![note.to_owned()])
    });
    let mut left_out = false;
    let drives = section.drives.iter();
    let views = drives.filter_map(|drive| over_time(section, *drive, &mut left_out));
    let over_time = Chart::of(section.caption("over time"), "drive", 420, views.collect());
    let mut notes = vec![
        "a dot is a burst, drawn at its time; shaded: segments with idle time between the bursts, \
         each followed by continuous writes"
            .to_owned(),
    ];
    notes.extend(left_out.then(thinned_note));
    by_idle
        .into_iter()
        .chain(over_time.map(|chart| chart.with_notes(notes)))
        .collect()
}

/// Both rates over the idle time, of all drives.
fn by_idle_time(section: &Section<'_>) -> Option<ChartView> {
    let mut data: Vec<Value> = Vec::new();
    for &drive in &section.drives {
        let segments = section.measured(drive).filter_map(segment);
        let mut rates: Vec<(f64, f64, f64)> = segments
            .filter_map(|s| Some((s.idle_s, s.iops()?, s.before_iops?)))
            .collect();
        rates.sort_by(|a, b| a.0.total_cmp(&b.0));
        if rates.is_empty() {
            continue;
        }
        let name = section.set.chart_name(drive);
        let lines = [
            (format!("{name}, after idle time"), "solid", true),
            (format!("{name}, continuous before"), "dot", false),
        ];
        for (name, dash, after) in lines {
            let rate = |r: &(f64, f64, f64)| (r.0, if after { r.1 } else { r.2 });
            let trace = Trace {
                name,
                points: rates.iter().map(rate).collect(),
                mode: "lines+markers",
                colour: colour(drive),
                dash,
                hover: "%{y:,.4~g} IOPS".to_owned(),
                ..Trace::default()
            };
            data.push(trace.json());
        }
    }
    ChartView::of(
        "rate by idle time",
        data,
        panels("idle time between bursts, s", &[linear("IOPS")]),
    )
}

/// The cells of a drive one after the other: a dot per burst, a line for continuous writes.
fn over_time(section: &Section<'_>, drive: usize, left_out: &mut bool) -> Option<ChartView> {
    let mut data: Vec<Value> = Vec::new();
    let mut shapes = Vec::new();
    let mut start_s = 0.0;
    let points: Vec<&Point<'_>> = section.measured(drive).collect();
    for point in points {
        let intervals = point.measured_intervals();
        let Some(last) = intervals.last() else {
            continue;
        };
        let segment = segment(point);
        let drawn: Vec<(f64, f64)> = match &segment {
            Some(segment) => {
                let bursts = segment.bursts.iter();
                bursts.map(|b| (start_s + b.start_s, b.iops)).collect()
            }
            None => intervals
                .iter()
                .map(|i| (start_s + i.end_s(), i.iops()))
                .collect(),
        };
        let (drawn, any) = thinned(&drawn);
        *left_out |= any;
        let end_s = start_s + last.end_s();
        let is_burst = segment.is_some();
        if is_burst {
            shapes.push(band(start_s, end_s, "@band"));
        }
        let name = match &segment {
            Some(segment) => format!("{} idle", idle_text(segment)),
            None => "continuous".to_owned(),
        };
        let trace = Trace {
            name,
            points: drawn,
            mode: if is_burst { "markers" } else { "lines" },
            colour: colour(drive + usize::from(is_burst)),
            size: if is_burst { 4.0 } else { 1.2 },
            hover: "%{y:,.4~g} IOPS".to_owned(),
            ..Trace::default()
        };
        data.push(trace.json());
        start_s = end_s;
    }
    let mut layout = panels(
        "time since the start of the first segment, s",
        &[linear("IOPS")],
    );
    layout["shapes"] = json!(shapes);
    ChartView::of(section.set.chart_name(drive), data, layout)
}
