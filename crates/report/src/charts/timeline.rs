//! Rate, temperature, latency and host CPU over time, in panels on one time axis.

use assay_stats::{HostLoad, LatencySummary};
use assay_store::read::CellDrive;
use assay_store::series::IntervalSample;
use assay_units::{Nanos, Op};

use super::draw::{Panel, Trace, axis_name, band, panels, thinned, thinned_note};
use super::percentiles::preferred;
use super::{Chart, ChartView, colour, phases};
use crate::drive_set::DriveSet;
use crate::grid::{Point, Section};
use crate::tables::concurrent::ConcurrentCell;

/// Fewest intervals that are drawn over time.
const MIN_INTERVALS: usize = 3;

/// Chart heights by number of panels, pixels.
const HEIGHTS: [u32; 5] = [380, 380, 540, 660, 780];

/// The middle of an interval, seconds.
fn middle(start: Nanos, end: Nanos) -> f64 {
    (start.as_secs_f64() + end.as_secs_f64()) / 2.0
}

/// The chart, with one view per row and column, all drives in each; `None` when nothing lasted long enough.
pub fn chart(set: &DriveSet<'_>, section: &Section<'_>) -> Option<Chart> {
    let mut drawing = Drawing::new(set, false);
    for row in 0..section.rows.len() {
        for column in 0..section.columns.len() {
            let drives = section.drives.iter();
            let points: Vec<&Point<'_>> =
                drives.filter_map(|d| section.at(row, column, *d)).collect();
            drawing.add_view(&points, section.location(row, column));
        }
    }
    drawing.chart(section.caption("over time"))
}

/// Several drives measured concurrently, their rates stacked.
pub fn stacked(
    set: &DriveSet<'_>,
    section: &Section<'_>,
    cell: &ConcurrentCell<'_>,
) -> Option<Chart> {
    let mut drawing = Drawing::new(set, true);
    let points: Vec<&Point<'_>> = cell.points.iter().collect();
    drawing.add_view(&points, cell.points[0].coordinates(&section.varying()));
    drawing.chart(cell.caption(section, "all drives concurrently, stacked"))
}

/// The panels, from the top down: title, logarithmic, share of the height.
const PANELS: [Panel<'static>; 4] = [
    Panel {
        title: "MiB/s",
        log: false,
        share: 1.2,
    },
    Panel {
        title: "\u{b0}C",
        log: false,
        share: 0.6,
    },
    Panel {
        title: "latency, \u{b5}s",
        log: true,
        share: 1.0,
    },
    Panel {
        title: "host CPU, %",
        log: false,
        share: 0.6,
    },
];
const RATE: usize = 0;
const TEMPERATURE: usize = 1;
const LATENCY: usize = 2;
const HOST: usize = 3;

/// The views of a chart, and what its notes depend on.
struct Drawing<'d, 'a> {
    set: &'d DriveSet<'a>,
    stacked: bool,
    views: Vec<ChartView>,
    thinned: bool,
    ramp: bool,
    most_panels: usize,
}

/// The traces of one view, by panel.
type PanelTraces = [Vec<Trace<'static>>; 4];

/// The drive's name, its position, and the host's load at each time of its cell.
type HostSeries = (String, usize, Vec<(f64, HostLoad)>);

impl<'d, 'a> Drawing<'d, 'a> {
    fn new(set: &'d DriveSet<'a>, stacked: bool) -> Drawing<'d, 'a> {
        Drawing {
            set,
            stacked,
            views: Vec::new(),
            thinned: false,
            ramp: false,
            most_panels: 0,
        }
    }

    fn chart(self, title: String) -> Option<Chart> {
        let mut notes = Vec::new();
        if self.ramp {
            notes.push("shaded: ramp, not part of any result".to_owned());
        }
        if self.thinned {
            notes.push(thinned_note());
        }
        (!self.views.is_empty()).then(|| Chart {
            title,
            switch: "cell",
            log_switch: true,
            first: preferred(&self.views),
            height: HEIGHTS[self.most_panels],
            views: self.views,
            notes,
            ..Chart::default()
        })
    }

    /// Adds a view unless every series is too short.
    fn add_view(&mut self, points: &[&Point<'_>], label: String) {
        let mut traces = PanelTraces::default();
        let mut hosts: Vec<HostSeries> = Vec::new();
        let mut causes = Vec::new();
        let mut ramp_end_s = 0.0f64;
        for point in points {
            let Some(data) = point.data else { continue };
            let intervals = data.intervals();
            if intervals.len() < MIN_INTERVALS {
                continue;
            }
            let name = self.set.full_name(point.drive);
            causes.push(phases::PhaseRow {
                name: name.clone(),
                colour: colour(point.drive),
                phases: phases::of(self.set, point),
            });
            let ramp = intervals.iter().filter(|t| t.ramp).map(|t| t.end).max();
            ramp_end_s = ramp_end_s.max(ramp.map_or(0.0, Nanos::as_secs_f64));
            let rates = intervals
                .iter()
                .map(|t| (middle(t.start, t.end), t.mib_per_s()));
            let mut trace = self.line(format!("{name}, rate"), rates.collect(), point.drive);
            trace.hover = "%{y:,.4~g} MiB/s".to_owned();
            trace.stack = self.stacked.then_some("rate");
            traces[RATE].push(trace);
            let readings = data.telemetry.iter();
            let degrees: Vec<(f64, f64)> = readings
                .filter_map(|t| Some((t.at.as_secs_f64(), t.temperature_c?)))
                .collect();
            if !degrees.is_empty() {
                let mut trace = self.line(format!("{name}, temperature"), degrees, point.drive);
                trace.hover = "%{y:.0f} \u{b0}C".to_owned();
                traces[TEMPERATURE].push(trace);
            }
            self.latency(&mut traces[LATENCY], &name, point.drive, data, points.len());
            if !point.cell.host.is_empty() && (hosts.is_empty() || !self.stacked) {
                let loads = point.cell.host.iter();
                let loads = loads.filter_map(|(i, load)| Some((middle_of(&intervals, *i)?, *load)));
                hosts.push((name, point.drive, loads.collect()));
            }
        }
        if traces[RATE].is_empty() {
            return;
        }
        self.host(&mut traces[HOST], &hosts);
        self.ramp |= ramp_end_s > 0.0;
        let shown: Vec<usize> = (0..PANELS.len())
            .filter(|i| !traces[*i].is_empty())
            .collect();
        self.most_panels = self.most_panels.max(shown.len());
        let panel = |i: &usize| Panel { ..PANELS[*i] };
        let shown_panels: Vec<Panel<'_>> = shown.iter().map(panel).collect();
        let mut layout = panels("time since the start, s", &shown_panels);
        let mut data = Vec::new();
        for (place, panel) in shown.iter().enumerate() {
            if *panel == TEMPERATURE {
                layout[axis_name(place).replace('y', "yaxis")]["rangemode"] = "normal".into();
            }
            for trace in std::mem::take(&mut traces[*panel]) {
                let axis = axis_name(place);
                data.push(Trace { axis, ..trace }.json());
            }
        }
        if ramp_end_s > 0.0 {
            layout["shapes"] = vec![band(0.0, ramp_end_s, "@band")].into();
        }
        if !self.stacked {
            phases::put(&mut layout, &mut data, &causes, HEIGHTS[shown.len()]);
        }
        self.views.push(ChartView {
            label,
            data,
            layout,
        });
    }

    fn line(
        &mut self,
        name: String,
        points: Vec<(f64, f64)>,
        colour_index: usize,
    ) -> Trace<'static> {
        let (points, left_out) = thinned(&points);
        self.thinned |= left_out;
        Trace {
            name,
            points,
            colour: colour(colour_index),
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
        type LatencyLine = (
            &'static str,
            fn(&LatencySummary) -> u64,
            [&'static str; 2],
            f64,
        );
        const LINES: [LatencyLine; 3] = [
            ("p50", |l| l.p50, ["solid", "dashdot"], 2.0),
            ("p99", |l| l.p99, ["dash", "longdash"], 1.5),
            ("max", |l| l.max, ["dot", "longdashdot"], 1.0),
        ];
        // The more drives, the fewer lines of each remain distinguishable.
        let shown = match (self.stacked, drives) {
            (true, _) | (_, 3..) => &LINES[1..2],
            (_, 2) => &LINES[..2],
            _ => &LINES[..],
        };
        let mut ops: Vec<Op> = data.series.iter().map(|p| p.op).collect();
        ops.sort_unstable();
        ops.dedup();
        for (i, op) in ops.iter().enumerate() {
            for (label, of, dashes, width) in shown {
                let series = data
                    .series
                    .iter()
                    .filter(|p| p.op == *op && p.latency.samples > 0);
                let values = series.map(|p| (middle(p.start, p.end), of(&p.latency) as f64 / 1e3));
                let values: Vec<(f64, f64)> = values.collect();
                if values.is_empty() {
                    continue;
                }
                let what = if ops.len() > 1 {
                    format!("{} {label}", op.name())
                } else {
                    (*label).to_owned()
                };
                let mut trace = self.line(format!("{name}, {what}"), values, drive);
                trace.dash = dashes[i.min(1)];
                trace.size = *width;
                trace.hover = "%{y:,.4~g} \u{b5}s".to_owned();
                traces.push(trace);
            }
        }
    }

    /// Host CPU: its shares, stacked, for one cell; the busy share of each for several.
    fn host(&mut self, traces: &mut Vec<Trace<'static>>, hosts: &[HostSeries]) {
        type HostShare = (&'static str, fn(&HostLoad) -> f64);
        const SHARES: [HostShare; 4] = [
            ("user", |h| h.user_pct),
            ("system", |h| h.system_pct),
            ("irq", |h| h.irq_pct),
            ("iowait", |h| h.iowait_pct),
        ];
        for (name, drive, loads) in hosts {
            let values =
                |of: fn(&HostLoad) -> f64| loads.iter().map(|(x, h)| (*x, of(h))).collect();
            let mut new = Vec::new();
            if hosts.len() > 1 {
                let mut trace = self.line(
                    format!("host busy during {name}"),
                    values(HostLoad::busy_pct),
                    *drive,
                );
                trace.size = 1.5;
                new.push(trace);
            } else {
                for (i, (share, of)) in SHARES.iter().enumerate() {
                    let mut trace = self.line(format!("host {share}"), values(*of), 4 + i);
                    trace.size = 1.0;
                    trace.stack = Some("host");
                    new.push(trace);
                }
            }
            for trace in &mut new {
                trace.hover = "%{y:.1f} %".to_owned();
            }
            traces.extend(new);
        }
    }
}

/// The middle of interval `index`; the one in which the ramp ends has two parts.
fn middle_of(intervals: &[IntervalSample], index: u32) -> Option<f64> {
    let from = intervals.partition_point(|t| t.index < index);
    let of_index = intervals[from..].iter().take_while(|t| t.index == index);
    let end = of_index.map(|t| t.end).max()?;
    Some(middle(intervals[from].start, end))
}
