//! Latency of the first I/O by the idle time before it.

use serde_json::Value;

use super::draw::{Trace, logarithmic, panels};
use super::{Chart, ChartView, colour};
use crate::format::joined;
use crate::grid::{Point, Section};
use crate::tables::wake;

/// Name, points, dash and mode.
type Line = (&'static str, Vec<(f64, f64)>, &'static str, &'static str);

/// Median and 99th percentile over the idle time, of all drives and power states.
pub fn chart(section: &Section<'_>) -> Option<Chart> {
    let mut data: Vec<Value> = Vec::new();
    for (at, points) in curves(section).iter().enumerate() {
        let first = points.first()?;
        let state = first.plan().workload.power_state;
        let state = state.map_or(String::new(), |state| format!("power state {state}"));
        let name = joined([first.chart_name(), state], ", ");
        let found: Vec<_> = points.iter().filter_map(|p| wake::of(p)).collect();
        let idle: Vec<_> = found.iter().filter(|wake| wake.idle_ns > 0).collect();
        let (Some(shortest), Some(longest)) = (idle.first(), idle.last()) else {
            continue;
        };
        let seconds = |ns: u64| ns as f64 / 1e9;
        let micros = |ns: u64| ns as f64 / 1e3;
        let p50 = idle.iter().map(|w| (seconds(w.idle_ns), micros(w.p50_ns)));
        let p99 = idle.iter();
        let p99 = p99.filter_map(|w| Some((seconds(w.idle_ns), micros(w.p99_ns?))));
        let without = found.iter().filter(|wake| wake.idle_ns == 0);
        let ends = [shortest, longest].map(|wake| seconds(wake.idle_ns));
        let without = without.flat_map(|w| ends.map(|at_s| (at_s, micros(w.p50_ns))));
        let lines: [Line; 3] = [
            ("median", p50.collect(), "solid", "lines+markers"),
            ("p99", p99.collect(), "dot", "lines+markers"),
            (
                "median without idle time",
                without.collect(),
                "dash",
                "lines",
            ),
        ];
        for (what, points, dash, mode) in lines {
            if points.is_empty() {
                continue;
            }
            let trace = Trace {
                name: joined([name.as_str(), what], ", "),
                points,
                mode,
                colour: colour(at),
                dash,
                hover: "%{y:,.4~g} \u{b5}s".to_owned(),
                ..Trace::default()
            };
            data.push(trace.json());
        }
    }
    let mut layout = panels("idle time, s", &[logarithmic("latency, \u{b5}s")]);
    layout["xaxis"]["type"] = "log".into();
    let view = ChartView::of("latency by idle time", data, layout);
    Chart::of(
        section.caption("latency by idle time"),
        "shown",
        420,
        view.into_iter().collect(),
    )
}

/// The points of each drive and power state, by idle time.
fn curves<'s, 'a>(section: &'s Section<'a>) -> Vec<Vec<&'s Point<'a>>> {
    let mut curves: Vec<Vec<&Point<'_>>> = Vec::new();
    for &drive in &section.drives {
        for point in section.measured(drive) {
            let key = |p: &Point<'_>| (p.drive, p.plan().workload.power_state);
            match curves.iter_mut().find(|c| key(c[0]) == key(point)) {
                Some(curve) => curve.push(point),
                None => curves.push(vec![point]),
            }
        }
    }
    for curve in &mut curves {
        curve.sort_by_key(|p| p.plan().workload.idle_before_io_ns);
    }
    curves
}
