//! Per interval: rate and temperature, latency, host CPU, one panel above the other on one time axis.

use assay_stats::HostLoad;
use assay_store::read::CellDrive;
use assay_store::series::{IntervalSample, OpSample};
use assay_units::Nanos;
use plotly::common::{DashType, Line, Mode};
use plotly::layout::{
    Axis as PlotAxis, AxisType, RangeMode, Shape, ShapeLayer, ShapeLine, ShapeType,
};
use plotly::{Layout, Scatter};
use serde_json::Value;

use super::percentiles::preferred;
use super::{Chart, View, colour, phases, plain};
use crate::format::for_drawing;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::tables::aboard::Crowd;
use crate::thin;

/// Fewer intervals than this are no course of time.
const FEWEST: usize = 3;

/// Heights of charts of so many panels, pixels.
const HEIGHTS: [u32; 5] = [380, 380, 540, 660, 780];

/// Where an interval's figures are drawn, in seconds.
fn middle(start: Nanos, end: Nanos) -> f64 {
    (start.as_secs_f64() + end.as_secs_f64()) / 2.0
}

/// The host during one drive's cell: the drive's name, its position, and the load at each time.
type HostSeries = (String, usize, Vec<(f64, HostLoad)>);

/// What is stacked in a timeline.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rates {
    /// A line per drive.
    Lines,
    /// Drives on top of each other: the total is the upper edge.
    Stacked,
}

/// The chart, with one view per row and column, all drives in each; `None` when nothing lasted long enough.
///
/// # Errors
/// When plotly's types cannot be serialised.
pub fn chart(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
) -> Result<Option<Chart>, serde_json::Error> {
    let mut views = Vec::new();
    let mut drawing = Drawing::default();
    for row in 0..section.rows.len() {
        for column in 0..section.columns.len() {
            let points: Vec<&Point<'_>> = section
                .drives
                .iter()
                .filter_map(|d| section.at(row, column, *d))
                .collect();
            let place = section.place(row, column);
            views.extend(drawing.view(lineup, &points, Rates::Lines, place)?);
        }
    }
    Ok(drawing.chart(format!("{}: over time", section.title), views))
}

/// Several drives at once, their rates stacked.
///
/// # Errors
/// When plotly's types cannot be serialised.
pub fn stacked(
    lineup: &Lineup<'_>,
    section: &Section<'_>,
    crowd: &Crowd<'_>,
) -> Result<Option<Chart>, serde_json::Error> {
    let mut drawing = Drawing::default();
    let points: Vec<&Point<'_>> = crowd.points.iter().collect();
    let place = crowd.points[0].coordinates(&section.varying());
    let views: Vec<View> = drawing
        .view(lineup, &points, Rates::Stacked, place.clone())?
        .into_iter()
        .collect();
    let title = if place.is_empty() {
        format!("{}: all drives at once, stacked", section.title)
    } else {
        format!("{}, {place}: all drives at once, stacked", section.title)
    };
    Ok(drawing.chart(title, views))
}

/// What is noticed while drawing the views of a chart.
#[derive(Default)]
struct Drawing {
    thinned: bool,
    ramp: bool,
    panels: usize,
}

/// The panels of a view and their traces.
#[derive(Default)]
struct Panels {
    data: Vec<Value>,
    temperature: bool,
    latency: bool,
    host: bool,
    ramp_end: f64,
}

impl Drawing {
    fn chart(self, title: String, views: Vec<View>) -> Option<Chart> {
        if views.is_empty() {
            return None;
        }
        let mut notes = Vec::new();
        if self.ramp {
            notes.push("shaded: ramp, not part of any result".to_owned());
        }
        if self.thinned {
            notes.push(format!(
                "thinned for drawing to at most {} points a line, keeping the smallest and largest value of every group; the run folder holds every interval",
                thin::MOST_POINTS
            ));
        }
        Some(Chart {
            id: String::new(),
            title,
            switch: "cell",
            log_switch: true,
            log_x_switch: false,
            first: preferred(&views),
            height: HEIGHTS[self.panels.min(4)],
            views,
            notes,
        })
    }

    /// One view; `None` when nothing lasted long enough.
    fn view(
        &mut self,
        lineup: &Lineup<'_>,
        points: &[&Point<'_>],
        rates: Rates,
        label: String,
    ) -> Result<Option<View>, serde_json::Error> {
        let mut panels = Panels::default();
        let mut hosts: Vec<HostSeries> = Vec::new();
        let mut causes = Vec::new();
        for point in points {
            let Some(part) = point.part else { continue };
            let samples = part.intervals();
            if samples.len() < FEWEST {
                continue;
            }
            let name = lineup.drives[point.drive].full_name();
            causes.push(phases::Row {
                name: name.clone(),
                colour: colour(point.drive),
                phases: phases::of(lineup, point),
            });
            self.rate(&mut panels, &name, point.drive, &samples, rates)?;
            self.temperature(&mut panels, &name, point.drive, part)?;
            self.latency(&mut panels, &name, point.drive, part, (rates, points.len()))?;
            if !point.cell.host.is_empty() && (hosts.is_empty() || rates == Rates::Lines) {
                let at = |index: u32| {
                    // Samples are sorted by index; the interval in which the ramp ends has two.
                    let from = samples.partition_point(|t| t.index < index);
                    let of_index = samples[from..].iter().take_while(|t| t.index == index);
                    let end = of_index.map(|t| t.end).max()?;
                    Some(middle(samples[from].start, end))
                };
                let loads = point.cell.host.iter();
                let loads = loads
                    .filter_map(|(i, load)| Some((at(*i)?, *load)))
                    .collect();
                hosts.push((name, point.drive, loads));
            }
        }
        if panels.data.is_empty() {
            return Ok(None);
        }
        self.host(&mut panels, &hosts)?;
        self.ramp |= panels.ramp_end > 0.0;
        let shown = panels.shown().len();
        self.panels = self.panels.max(shown);
        let mut layout = panels.layout()?;
        let mut data = panels.data;
        if rates == Rates::Lines {
            phases::put(&mut layout, &mut data, &causes, HEIGHTS[shown.min(4)]);
        }
        Ok(Some(View {
            label: plain(&label),
            data,
            layout,
        }))
    }

    fn rate(
        &mut self,
        panels: &mut Panels,
        name: &str,
        drive: usize,
        samples: &[IntervalSample],
        rates: Rates,
    ) -> Result<(), serde_json::Error> {
        let ramp = samples.iter().filter(|t| t.ramp).map(|t| t.end).max();
        panels.ramp_end = panels.ramp_end.max(ramp.map_or(0.0, Nanos::as_secs_f64));
        let values: Vec<(f64, f64)> = samples
            .iter()
            .map(|t| (middle(t.start, t.end), t.mib_per_s()))
            .collect();
        let (x, y) = self.thinned(&values);
        let mut trace = Scatter::new(x, y)
            .name(format!("{}, rate", plain(name)))
            .mode(Mode::Lines)
            .line(Line::new().color(colour(drive)).width(2.0))
            .hover_template("%{y:,.4~g} MiB/s");
        if rates == Rates::Stacked {
            trace = trace.stack_group("rate");
        }
        panels.data.push(serde_json::to_value(trace)?);
        Ok(())
    }

    fn temperature(
        &mut self,
        panels: &mut Panels,
        name: &str,
        drive: usize,
        part: &CellDrive,
    ) -> Result<(), serde_json::Error> {
        let values: Vec<(f64, f64)> = part
            .telemetry
            .iter()
            .filter_map(|t| Some((t.at.as_secs_f64(), t.temperature_c?)))
            .collect();
        if values.is_empty() {
            return Ok(());
        }
        panels.temperature = true;
        let (x, y) = self.thinned(&values);
        let trace = Scatter::new(x, y)
            .name(format!("{}, temperature", plain(name)))
            .mode(Mode::Lines)
            .y_axis("y2")
            .line(Line::new().color(colour(drive)).width(2.0))
            .hover_template("%{y:.0f} \u{b0}C");
        panels.data.push(serde_json::to_value(trace)?);
        Ok(())
    }

    fn latency(
        &mut self,
        panels: &mut Panels,
        name: &str,
        drive: usize,
        part: &CellDrive,
        (rates, drives): (Rates, usize),
    ) -> Result<(), serde_json::Error> {
        // The more lines there are, the fewer of each can be told apart.
        let shown: &[&str] = match (rates, drives) {
            (Rates::Stacked, _) | (_, 3..) => &["p99"],
            (_, 2) => &["p50", "p99"],
            _ => &["p50", "p99", "max"],
        };
        type Line3 = (&'static str, fn(&OpSample) -> u64, DashType, f64);
        let lines: [Line3; 3] = [
            ("p50", |p| p.latency.p50, DashType::Solid, 2.0),
            ("p99", |p| p.latency.p99, DashType::Dash, 1.5),
            ("max", |p| p.latency.max, DashType::Dot, 1.0),
        ];
        let mut ops: Vec<assay_units::Op> = part.series.iter().map(|p| p.op).collect();
        ops.sort_unstable();
        ops.dedup();
        for (second, op) in ops.iter().enumerate().map(|(i, op)| (i > 0, op)) {
            for (label, of, dash, width) in &lines {
                // Beside reads, writes have the same lines broken by dots or longer dashes.
                let dash = match dash {
                    DashType::Solid if second => DashType::DashDot,
                    DashType::Dash if second => DashType::LongDash,
                    DashType::Dot if second => DashType::LongDashDot,
                    same => same.clone(),
                };
                if !shown.contains(label) {
                    continue;
                }
                let values: Vec<(f64, f64)> = part
                    .series
                    .iter()
                    .filter(|p| p.op == *op && p.latency.samples > 0)
                    .map(|p| (middle(p.start, p.end), of(p) as f64 / 1e3))
                    .collect();
                if values.is_empty() {
                    continue;
                }
                panels.latency = true;
                let (x, y) = self.thinned(&values);
                let what = if ops.len() > 1 {
                    format!("{} {label}", op.name())
                } else {
                    (*label).to_owned()
                };
                let trace = Scatter::new(x, y)
                    .name(format!("{}, {what}", plain(name)))
                    .mode(Mode::Lines)
                    .y_axis("y3")
                    .line(Line::new().color(colour(drive)).dash(dash).width(*width))
                    .hover_template("%{y:,.4~g} \u{b5}s");
                panels.data.push(serde_json::to_value(trace)?);
            }
        }
        Ok(())
    }

    /// The host: split and stacked for one cell, one line per cell for several.
    fn host(&mut self, panels: &mut Panels, hosts: &[HostSeries]) -> Result<(), serde_json::Error> {
        type Part = (&'static str, fn(&HostLoad) -> f64);
        const PARTS: [Part; 4] = [
            ("user", |h| h.user_pct),
            ("system", |h| h.system_pct),
            ("irq", |h| h.irq_pct),
            ("iowait", |h| h.iowait_pct),
        ];
        for (name, drive, loads) in hosts {
            panels.host = true;
            if hosts.len() > 1 {
                let values: Vec<(f64, f64)> =
                    loads.iter().map(|(x, h)| (*x, h.busy_pct())).collect();
                let (x, y) = self.thinned(&values);
                let trace = Scatter::new(x, y)
                    .name(format!("host busy during {}", plain(name)))
                    .mode(Mode::Lines)
                    .y_axis("y4")
                    .line(Line::new().color(colour(*drive)).width(1.5))
                    .hover_template("%{y:.1f} %");
                panels.data.push(serde_json::to_value(trace)?);
                continue;
            }
            for (i, (part, of)) in PARTS.iter().enumerate() {
                let values: Vec<(f64, f64)> = loads.iter().map(|(x, h)| (*x, of(h))).collect();
                let (x, y) = self.thinned(&values);
                let trace = Scatter::new(x, y)
                    .name(format!("host {part}"))
                    .mode(Mode::Lines)
                    .y_axis("y4")
                    .stack_group("host")
                    .line(Line::new().color(colour(4 + i)).width(1.0))
                    .hover_template("%{y:.1f} %");
                panels.data.push(serde_json::to_value(trace)?);
            }
        }
        Ok(())
    }

    fn thinned(&mut self, values: &[(f64, f64)]) -> (Vec<f64>, Vec<f64>) {
        let y: Vec<f64> = values.iter().map(|v| v.1).collect();
        let kept = thin::min_max(&y, thin::MOST_POINTS);
        self.thinned |= kept.len() < values.len();
        let points = kept
            .into_iter()
            .map(|i| (for_drawing(values[i].0), for_drawing(values[i].1)));
        points.unzip()
    }
}

impl Panels {
    /// From top to bottom, as far as each is there: rate, temperature, latency, host. With their shares of the height.
    fn shown(&self) -> Vec<(&'static str, f64)> {
        let all = [
            ("y", true, 1.2),
            ("y2", self.temperature, 0.6),
            ("y3", self.latency, 1.0),
            ("y4", self.host, 0.6),
        ];
        all.iter().filter(|p| p.1).map(|p| (p.0, p.2)).collect()
    }

    fn layout(&self) -> Result<Value, serde_json::Error> {
        let gap = 0.06;
        let shown = self.shown();
        let room = 1.0 - gap * (shown.len() - 1) as f64;
        let all: f64 = shown.iter().map(|s| s.1).sum();
        let mut top = 1.0;
        let mut domains = Vec::new();
        for (axis, share) in &shown {
            let height = room * share / all;
            domains.push((*axis, [(top - height).max(0.0), top]));
            top -= height + gap;
        }
        let domain = |axis: &str| domains.iter().find(|d| d.0 == axis).map(|d| d.1);
        let lowest = domains.last().map_or("y", |d| d.0);
        let mut layout = Layout::new()
            .x_axis(
                PlotAxis::new()
                    .title("time since the start, s")
                    .anchor(lowest)
                    .range_mode(RangeMode::ToZero),
            )
            .y_axis(
                PlotAxis::new()
                    .title("MiB/s")
                    .type_(AxisType::Linear)
                    .range_mode(RangeMode::ToZero)
                    .domain(&domain("y").unwrap_or([0.0, 1.0])),
            );
        if let Some(domain) = domain("y2") {
            layout = layout.y_axis2(PlotAxis::new().title("\u{b0}C").domain(&domain));
        }
        if let Some(domain) = domain("y3") {
            layout = layout.y_axis3(
                PlotAxis::new()
                    .title("latency, \u{b5}s")
                    .type_(AxisType::Log)
                    .domain(&domain),
            );
        }
        if let Some(domain) = domain("y4") {
            layout = layout.y_axis4(
                PlotAxis::new()
                    .title("host CPU, %")
                    .range_mode(RangeMode::ToZero)
                    .domain(&domain),
            );
        }
        if self.ramp_end > 0.0 {
            layout = layout.shapes(vec![
                Shape::new()
                    .shape_type(ShapeType::Rect)
                    .layer(ShapeLayer::Below)
                    .x_ref("x")
                    .y_ref("paper")
                    .x0(0.0)
                    .x1(self.ramp_end)
                    .y0(0.0)
                    .y1(1.0)
                    .fill_color("@band")
                    .line(ShapeLine::new().width(0.0)),
            ]);
        }
        serde_json::to_value(layout)
    }
}
