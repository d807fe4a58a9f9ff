//! Rate and latency over consecutive workloads (SNIA SSS PTS, cross stimulus recovery).

use serde_json::{Value, json};

use super::draw::{Trace, band, linear, logarithmic, panels, thinned, thinned_note};
use super::{Chart, ChartView, colour};
use crate::grid::Section;
use crate::tables::stimulus::samples;

/// Height of the chart, pixels.
const HEIGHT: u32 = 560;

/// One view per drive: the workloads one after the other.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let mut left_out = false;
    let drives = section.drives.iter();
    let views = drives.filter_map(|drive| view(section, *drive, &mut left_out));
    let title = section.caption("rate and latency over time");
    let chart = Chart::of(title, "drive", HEIGHT, views.collect());
    let mut notes = vec!["shaded: the random writes between the sequential ones".to_owned()];
    notes.extend(left_out.then(thinned_note));
    chart.map(|c| c.with_notes(notes)).into_iter().collect()
}

fn view(section: &Section<'_>, drive: usize, left_out: &mut bool) -> Option<ChartView> {
    let mut data: Vec<Value> = Vec::new();
    let mut shapes = Vec::new();
    let mut start_s = 0.0;
    for (at, point) in section.measured(drive).enumerate() {
        let samples = samples(point);
        let Some(last) = point.data.and_then(|data| data.series.last()) else {
            continue;
        };
        let end_s = start_s + last.end.as_secs_f64();
        if point.plan().workload.rw.starts_with("rand") {
            shapes.push(band(start_s, end_s, "@band"));
        }
        let lines = [
            ("rate", "y", "MiB/s", "solid", 1.8),
            ("mean latency", "y2", "ms", "solid", 1.8),
            ("maximum latency", "y2", "ms", "dot", 1.2),
        ];
        for (figure, (what, axis, unit, dash, size)) in lines.into_iter().enumerate() {
            let values = samples
                .iter()
                .map(|(x, values)| (start_s + x, values[figure]));
            let (points, any) = thinned(&values.collect::<Vec<_>>());
            *left_out |= any;
            let trace = Trace {
                name: format!("{}, {what}", point.plan().title),
                points,
                colour: colour(drive + at),
                dash,
                size,
                axis,
                hover: format!("%{{y:,.4~g}} {unit}"),
                ..Trace::default()
            };
            data.push(trace.json());
        }
        start_s = end_s;
    }
    let rate = super::draw::Panel {
        share: 1.3,
        ..linear("MiB/s")
    };
    let mut layout = panels(
        "time since the start, s",
        &[rate, logarithmic("latency, ms")],
    );
    layout["shapes"] = json!(shapes);
    ChartView::of(section.set.chart_name(drive), data, layout)
}
