//! Rate, temperature, latency and host CPU over time, in panels on one time axis.

use std::collections::{BTreeMap, BTreeSet};

use assay_stats::{HostLoad, LatencySummary};
use assay_store::read::{CellDrive, Gap};
use assay_store::series::IntervalSample;
use assay_units::{Nanos, Op};
use serde_json::Value;

use crate::chart::{Chart, ChartView, colour, dash};
use crate::charts::draw::{
    Panel, Trace, axis_name, band, linear, logarithmic, panels, thinned_note, thinned_to,
};
use crate::charts::percentiles::preferred;
use crate::charts::phases;
use crate::format::joined;
use crate::grid::{Point, Section};
use crate::tables::concurrent::{ConcurrentCell, caption};
use crate::tables::figures;
use crate::thin::MAX_POINTS;

/// Fewest intervals that are drawn over time.
const MIN_INTERVALS: usize = 3;

/// Drives whose lines are drawn with all of their points.
const MAX_FULL: usize = 2;

/// Chart heights by number of panels, pixels.
const HEIGHTS: [u32; 5] = [290, 290, 370, 430, 520];

/// A drive that takes more times as long as each of the others is cut off at first, so that theirs
/// can be seen.
const MOST_TIMES_AS_LONG: f64 = 3.0;

/// Where the time axis ends at first, if not with the longest line: lines of several drives by
/// their ends, seconds.
fn first_end_s(ends_s: &[f64]) -> Option<f64> {
    let mut ends_s = ends_s.to_vec();
    ends_s.sort_by(f64::total_cmp);
    let [.., next, longest] = ends_s[..] else {
        return None;
    };
    (longest > MOST_TIMES_AS_LONG * next).then_some(1.5 * next)
}

/// The middle of an interval, seconds.
fn middle(start: Nanos, end: Nanos) -> f64 {
    (start.as_secs_f64() + end.as_secs_f64()) / 2.0
}

/// The chart, with one view per row and column, all drives in each; `None` when nothing lasted long
/// enough.
pub fn chart(section: &Section<'_>) -> Option<Chart> {
    let mut drawing = Drawing::default();
    for (row, column) in section.locations() {
        let drives = section.drives.iter();
        let points: Vec<&Point<'_>> = drives.filter_map(|d| section.at(row, column, *d)).collect();
        drawing.add_view(&points, section.location(row, column));
    }
    drawing.chart(section.caption("over time"))
}

/// Several drives measured concurrently, their rates stacked.
pub fn stacked(section: &Section<'_>, cell: &ConcurrentCell<'_, '_>) -> Option<Chart> {
    let mut drawing = Drawing { stacked: true, ..Drawing::default() };
    drawing.add_view(cell, cell[0].coordinates(&section.varying()));
    drawing.chart(caption(section, cell, "all drives concurrently, stacked"))
}

/// The panels, from the top down.
const PANELS: [Panel<'static>; 4] = [
    Panel { share: 1.2, ..linear("MiB/s") },
    Panel { share: 0.6, ..linear("\u{b0}C") },
    logarithmic("latency, \u{b5}s"),
    Panel { share: 0.6, ..linear("host CPU, %") },
];
const RATE: usize = 0;
const TEMPERATURE: usize = 1;
const LATENCY: usize = 2;
const HOST: usize = 3;

/// The views of a chart, and what its notes depend on.
#[derive(Default)]
struct Drawing {
    /// Of a line; the lines of many drives share the points of [`MAX_FULL`].
    most_points: usize,
    stacked: bool,
    views: Vec<ChartView>,
    thinned: bool,
    ramp: bool,
    interrupted: bool,
    /// Where the lines of the present cell are broken, seconds.
    breaks: Vec<f64>,
    most_panels: usize,
    cut_off: bool,
}

/// The traces of one view, by panel.
type PanelTraces = [Vec<Trace<'static>>; 4];

/// The drive's name, its position, the host's load at each time of its cell, and the breaks of the
/// lines.
type HostSeries = (String, usize, Vec<(f64, HostLoad)>, Vec<f64>);

/// What the drives of one view contribute to it.
#[derive(Default)]
struct ViewParts<'a> {
    traces: PanelTraces,
    hosts: Vec<HostSeries>,
    causes: Vec<phases::PhaseRow<'a>>,
    ends_s: Vec<f64>,
    ramp_end_s: f64,
    gaps: Vec<&'a Gap>,
    /// Positions of stacked intervals, by number and whether they are of the ramp.
    places: BTreeMap<(u32, bool), f64>,
}

impl Drawing {
    fn chart(self, title: String) -> Option<Chart> {
        let ramp = || "shaded: ramp, not part of any result".to_owned();
        let notes = self.ramp.then(ramp).into_iter();
        let notes = notes.chain(self.thinned.then(thinned_note));
        let gaps = || {
            "broken lines: the measurement was interrupted there, and its time passed".to_owned()
        };
        let longer = || {
            "one line is longer than the time axis: a double click on the chart shows all of it"
                .to_owned()
        };
        let notes = notes.chain(self.interrupted.then(gaps));
        let notes = notes.chain(self.cut_off.then(longer)).collect();
        let chart = Chart::new(title, "cell", HEIGHTS[self.most_panels], self.views)?;
        Some(Chart { first: preferred(&chart.views), notes, ..chart })
    }

    /// Adds a view unless every series is too short.
    fn add_view(&mut self, points: &[&Point<'_>], label: String) {
        self.most_points = MAX_POINTS * MAX_FULL / points.len().max(MAX_FULL);
        let mut parts = ViewParts::default();
        for point in points {
            self.add_point(&mut parts, point, points.len());
        }
        let ViewParts { mut traces, hosts, causes, ends_s, ramp_end_s, gaps, .. } = parts;
        if traces[RATE].is_empty() {
            return;
        }
        self.host(&mut traces[HOST], &hosts);
        self.ramp |= ramp_end_s > 0.0;
        let shown: Vec<usize> = (0..PANELS.len()).filter(|i| !traces[*i].is_empty()).collect();
        self.most_panels = self.most_panels.max(shown.len());
        let (mut layout, mut data) = drawn_panels(&shown, traces, points.len() > 1);
        if let Some(end_s) = first_end_s(&ends_s) {
            layout["xaxis"]["range"] = vec![0.0, end_s].into();
            self.cut_off = true;
        }
        let shapes = bands(ramp_end_s, &gaps);
        if !shapes.is_empty() {
            layout["shapes"] = shapes.into();
        }
        if !self.stacked {
            phases::put(&mut layout, &mut data, &causes, HEIGHTS[shown.len()]);
        }
        self.views.extend(ChartView::new(label, data, layout));
    }

    /// Adds one of `drives` drives unless its series is too short.
    fn add_point<'a>(&mut self, parts: &mut ViewParts<'a>, point: &'a Point<'_>, drives: usize) {
        let Some(data) = point.data else { return };
        let intervals = data.intervals();
        if intervals.len() < MIN_INTERVALS {
            return;
        }
        self.breaks = data.gaps.iter().map(middle_of_gap).collect();
        self.interrupted |= !data.gaps.is_empty();
        parts.gaps.extend(&data.gaps);
        let name = point.chart_name();
        let ends_s = intervals.last().map(|t| t.end.as_secs_f64());
        parts.ends_s.extend(ends_s);
        let causes = phases::PhaseRow::new(point, name.clone());
        parts.causes.push(causes);
        let ramp = intervals.iter().filter(|t| t.ramp).map(|t| t.end).max();
        let ramp_end_s = ramp.map_or(0.0, Nanos::as_secs_f64);
        parts.ramp_end_s = parts.ramp_end_s.max(ramp_end_s);
        // Stacked lines need common positions: where they differ, plotly takes a missing point for
        // zero.
        let mut place = |t: &IntervalSample| {
            let own = middle(t.start, t.end);
            match self.stacked {
                true => *parts.places.entry((t.index, t.ramp)).or_insert(own),
                false => own,
            }
        };
        let rates = intervals.iter().map(|t| (place(t), t.mib_per_s()));
        let rates = rates.collect();
        let of_several = |trace: Trace<'static>| match drives {
            0 | 1 => trace,
            _ => Trace { dash: dash(point.drive), group: name.clone(), ..trace },
        };
        let trace = self.line(format!("{name}, rate"), rates, point.drive);
        parts.traces[RATE].push(Trace {
            hover: "%{y:,.4~g} MiB/s".to_owned(),
            stack: self.stacked.then_some("rate"),
            ..of_several(trace)
        });
        let readings = data.telemetry.iter();
        let degrees: Vec<(f64, f64)> =
            readings.filter_map(|t| Some((t.at.as_secs_f64(), t.temperature_c?))).collect();
        if !degrees.is_empty() {
            let mut trace = self.line(format!("{name}, temperature"), degrees, point.drive);
            trace.hover = "%{y:.0f} \u{b0}C".to_owned();
            parts.traces[TEMPERATURE].push(of_several(trace));
        }
        let latencies = &mut parts.traces[LATENCY];
        let before = latencies.len();
        self.latency(latencies, &name, point.drive, data, drives);
        for trace in &mut latencies[before..] {
            *trace = of_several(std::mem::take(trace));
        }
        if !point.cell.host.is_empty() && (parts.hosts.is_empty() || !self.stacked) {
            let loads = point.cell.host.iter();
            let loads = loads.filter_map(|(i, load)| Some((middle_of(&intervals, *i)?, *load)));
            let host = (name, point.drive, loads.collect(), self.breaks.clone());
            parts.hosts.push(host);
        }
    }

    fn line(&mut self, name: String, points: Vec<(f64, f64)>, paint: usize) -> Trace<'static> {
        let (points, left_out) = thinned_to(&points, self.most_points);
        self.thinned |= left_out;
        Trace {
            name,
            points: broken(points, &self.breaks),
            colour: colour(paint),
            ..Trace::default()
        }
    }

    fn latency(
        &mut self,
        traces: &mut Vec<Trace<'static>>,
        name: &str,
        drive: usize,
        data: &CellDrive,
        drives: usize,
    ) {
        // Name, latency, line style of the first operation and of the second, width.
        type LatencyLine = (&'static str, fn(&LatencySummary) -> u64, [&'static str; 2], f64);
        const LINES: [LatencyLine; 3] = [
            ("p50", |l| l.p50, ["solid", "dashdot"], 2.0),
            ("p99", |l| l.p99, ["dash", "longdash"], 1.5),
            ("max", |l| l.max, ["dot", "longdashdot"], 1.0),
        ];
        // Of several drives only one line each remains distinguishable.
        let shown = if self.stacked || drives > 1 { &LINES[1..2] } else { &LINES[..] };
        let ops: BTreeSet<Op> = data.series.iter().map(|p| p.op).collect();
        for (i, op) in ops.iter().enumerate() {
            for (label, of, dashes, width) in shown {
                let series = data.series.iter();
                let series = series.filter(|p| p.op == *op && p.latency.samples > 0);
                let values = series.map(|p| (middle(p.start, p.end), of(&p.latency) as f64 / 1e3));
                let values: Vec<(f64, f64)> = values.collect();
                if values.is_empty() {
                    continue;
                }
                let operation = if ops.len() > 1 { op.name() } else { "" };
                let what = joined([operation, label], " ");
                let trace = self.line(format!("{name}, {what}"), values, drive);
                traces.push(Trace {
                    dash: dashes[i.min(1)],
                    size: *width,
                    hover: "%{y:,.4~g} \u{b5}s".to_owned(),
                    ..trace
                });
            }
        }
    }

    /// Host CPU: its shares, stacked, for one cell; the busy share of each for several.
    fn host(&mut self, traces: &mut Vec<Trace<'static>>, hosts: &[HostSeries]) {
        let several = hosts.len() > 1;
        for (name, drive, loads, breaks) in hosts {
            self.breaks.clone_from(breaks);
            let mut add = |name: String, of: fn(&HostLoad) -> f64, paint: usize| {
                let values = loads.iter().map(|(x, h)| (*x, of(h)));
                let trace = self.line(name, values.collect(), paint);
                traces.push(Trace {
                    size: if several { 1.5 } else { 1.0 },
                    stack: (!several).then_some("host"),
                    hover: "%{y:.1f} %".to_owned(),
                    ..trace
                });
            };
            if several {
                add(format!("host busy during {name}"), HostLoad::busy_pct, *drive);
                continue;
            }
            let shares = figures::HOST.into_iter().filter(|(share, _)| *share != "idle");
            for (i, (share, of)) in shares.enumerate() {
                add(format!("host {share}"), of, 4 + i);
            }
        }
    }
}

/// The layout of the panels shown, and their traces.
fn drawn_panels(shown: &[usize], mut traces: PanelTraces, several: bool) -> (Value, Vec<Value>) {
    let mut shown_panels: Vec<Panel<'_>> = shown.iter().map(|i| PANELS[*i]).collect();
    if let Some(at) = shown.iter().position(|i| *i == LATENCY && several) {
        shown_panels[at].title = "p99, \u{b5}s";
    }
    let mut layout = panels("time since the start, s", &shown_panels);
    let mut data = Vec::new();
    for (place, panel) in shown.iter().enumerate() {
        let axis = axis_name(place);
        if *panel == TEMPERATURE {
            layout[axis.replace('y', "yaxis")]["rangemode"] = "normal".into();
        }
        for trace in std::mem::take(&mut traces[*panel]) {
            data.push(Trace { axis, ..trace }.json());
        }
    }
    (layout, data)
}

/// The ramp, and the time of interruptions.
fn bands(ramp_end_s: f64, gaps: &[&Gap]) -> Vec<Value> {
    let ramp = (ramp_end_s > 0.0).then(|| band(0.0, ramp_end_s, "@band"));
    let long = gaps.iter().filter(|gap| gap.span_ns > Nanos::ZERO);
    let bands = long.map(|gap| {
        let from_s = gap.start_ns.as_secs_f64();
        band(from_s, from_s + gap.span_ns.as_secs_f64(), "@band")
    });
    ramp.into_iter().chain(bands).collect()
}

fn middle_of_gap(gap: &Gap) -> f64 {
    middle(gap.start_ns, Nanos(gap.start_ns.0.saturating_add(gap.span_ns.0)))
}

/// Points with one that is not drawn at each break, so that no line bridges it.
fn broken(points: Vec<(f64, f64)>, breaks: &[f64]) -> Vec<(f64, f64)> {
    let mut left = breaks.iter().peekable();
    let mut broken = Vec::with_capacity(points.len() + breaks.len());
    for point in points {
        while let Some(at) = left.next_if(|at| **at <= point.0) {
            broken.push((*at, f64::NAN));
        }
        broken.push(point);
    }
    broken
}

/// The middle of interval `index`; the one in which the ramp ends has two parts.
fn middle_of(intervals: &[IntervalSample], index: u32) -> Option<f64> {
    let from = intervals.partition_point(|t| t.index < index);
    let of_index = intervals[from..].iter().take_while(|t| t.index == index);
    let end = of_index.map(|t| t.end).max()?;
    Some(middle(intervals[from].start, end))
}

#[cfg(test)]
#[path = "../../tests/unit/charts/timeline.rs"]
mod tests;
