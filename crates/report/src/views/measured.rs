//! Measured workloads: sweeps of block size, threads, queue depth, mix or data pattern.

use assay_store::model::CellResult;
use assay_store::series::IntervalSample;
use maud::{Markup, html};

use crate::axis::Axis;
use crate::chart::Chart;
use crate::charts::{percentiles, power as charts_power, sweep, timeline};
use crate::format::{figure, joined, ratio};
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::metric::ResultMetric;
use crate::table::Table;
use crate::tables::{figures, matrix, power, published};
use crate::views::descriptor::{KeyFigure, SectionView, all_figures};

/// Cells without a specific view.
pub const VIEW: SectionView = SectionView {
    how_to_read,
    tables: |section| {
        let matrix = matrix::table(section, ResultMetric::BANDWIDTH);
        vec![matrix.unwrap_or_else(|| figures::table(section, false))]
    },
    charts,
    html,
    key_figures,
    ..SectionView::DEFAULT
};

fn how_to_read(section: &Section<'_>) -> &'static str {
    let plans = || section.points.iter().map(Point::plan);
    let rw = plans().next().map_or("", |p| p.workload.rw.as_str());
    if section.varying().contains(&Axis::Data) {
        return "The same reads from an area of random data and from one that is blank or zeroed. \
                Equal figures mean that the drive reads its flash in both cases; a ratio well \
                above 1 means that the drive answers reads of the blank area without accessing \
                flash. Benchmarks of blank drives measure the latter.";
    }
    if rw.contains("read") && plans().all(|p| !p.workload.direct) {
        return "Through the file system and its page cache, as an ordinary program reads. \
                Read-ahead can make one thread much faster here than with direct reads; cached \
                data would be faster than any drive.";
    }
    let pure = matches!(rw, "read" | "write" | "randread" | "randwrite");
    match rw {
        _ if pure
            && section.row_axis == Some(Axis::BlockSize)
            && plans().all(|p| p.workload.iodepth * p.workload.numjobs == 1) =>
        {
            "One operation in flight, from the smallest transfer to the largest: the latency of a \
             program that waits for each transfer. Bandwidth that still rises at the right edge \
             means that the drive is not saturated; a step at 4 KiB or below shows the cost of \
             transfers below the drive's mapping unit."
        }
        _ if pure && section.row_axis == Some(Axis::TotalDepth) => {
            "The depth is the number of operations in flight, all threads together. The drive is \
             saturated where a line turns flat: at depth 1 or 2, a single program gets the full \
             rate; at depth 32, the rated figure needs that depth. Compare the percentiles at the \
             depth of the intended use; axes can be linear or logarithmic."
        }
        "randread" if section.row_axis == Some(Axis::BlockSize) => {
            "Each thread reads one block at a random address and waits for it, so the number of \
             threads is the number of reads in flight. Small blocks show the rate of operations; \
             large ones, the bandwidth. Where more threads do not help, the drive is saturated; \
             where they reduce the rate, they contend."
        }
        "randread" => {
            "Random reads. More reads in flight use more flash dies in parallel, up to the depth \
             where only latency grows."
        }
        "read" if plans().all(|p| p.workload.iodepth > 1) => {
            "Sequential reads, several in flight per thread: bandwidth, where more do not raise it."
        }
        "read" => {
            "Each thread reads its own region sequentially, one block in flight. One thread shows \
             the drive's own read-ahead; a rate that rises with the threads was limited by the \
             single request in flight."
        }
        "write" => {
            "Sequential writes. Many drives write to an SLC cache first: the lower level in the \
             chart over time is the rate behind the full cache, and the one that counts for large \
             copies."
        }
        "randwrite" => {
            "Random writes, the hardest workload for flash: garbage collection runs while new data \
             arrive. Consider the variation of the rate over time and the high percentiles."
        }
        _ if section.varying().contains(&Axis::ReadShare) => {
            "Mixed reads and writes, from all writes to all reads. A drive below the straight line \
             between its two ends loses time between the two kinds of operation; their latencies \
             are drawn separately, because reads wait behind writes."
        }
        "rw" | "randrw" | "readwrite" => {
            "Mixed reads and writes. Reads behind writes wait longest: compare the high \
             percentiles of reads with those of reads alone."
        }
        _ => "One row per workload; the chart over time shows whether the figure was steady.",
    }
}

fn charts(section: &Section<'_>) -> Vec<Chart> {
    let mut percentiles = percentiles::chart(section);
    let timeline = timeline::chart(section);
    if let (Some(curves), Some(timeline)) = (&mut percentiles, &timeline) {
        // They are placed side by side.
        curves.height = timeline.height;
    }
    let mut charts = sweep::charts(section);
    charts.extend(percentiles.into_iter().chain(timeline));
    charts.extend(charts_power::chart(section, POWER_PX));
    charts
}

/// Height of the chart of power by rate, pixels.
const POWER_PX: u32 = 340;

/// Tables of at most this many figures are shown beside their chart; larger ones are folded.
const MAX_SHOWN: usize = 20;

fn html(_: &SectionView, section: &Section<'_>, charts: &[Chart], id: &str) -> Markup {
    let (sweeps, others): (Vec<&Chart>, Vec<&Chart>) =
        charts.iter().partition(|c| c.switch == "figure");
    let (by_power, others): (Vec<&Chart>, Vec<&Chart>) =
        others.into_iter().partition(|c| c.switch == charts_power::SWITCH);
    let metrics = section.metrics();
    let tables = metrics.iter().filter_map(|m| matrix::table(section, *m));
    // The tooltip of a cell has all its figures: one table with them is enough.
    let tables = tables.enumerate().map(|(i, t)| if i > 0 { t.without_details() } else { t });
    let tables: Vec<Table> = tables.collect();
    let mut labels: Vec<&str> = metrics.iter().map(|m| m.label).collect();
    labels.retain(|_| !sweeps.is_empty() || !tables.is_empty());
    let switched = html! {
        @for (i, table) in tables.iter().enumerate() {
            div data-metric=(i) hidden[i > 0] { (elements::table(table)) }
        }
        @if tables.is_empty() { (elements::table(&figures::table(section, false))) }
    };
    let figures = tables.first().map_or(0, |t| t.rows.len() * t.columns.len());
    let published = published::all(section);
    html! {
        (elements::switch(id, "Figure shown in table and chart", &labels, 0))
        @if figures > MAX_SHOWN && !sweeps.is_empty() {
            div.pair { @for sweep in &sweeps { (elements::chart(sweep, true)) } }
            details { summary { "Table" } (switched) }
        } @else if sweeps.len() > 1 {
            (switched)
            div.pair { @for sweep in &sweeps { (elements::chart(sweep, true)) } }
        } @else {
            div.beside {
                div { (switched) }
                @for sweep in &sweeps { (elements::chart(sweep, true)) }
            }
        }
        (elements::pairs(section.drives.len(), &others, 0))
        @for (summary, table) in &published { (elements::folded(summary, table)) }
        @if let Some(power) = power::table(section) {
            details {
                summary { "Power and efficiency" }
                (elements::table(&power.without_details()))
                @for chart in by_power { (elements::chart(chart, false)) }
            }
        }
        (all_figures(section, None))
    }
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    if section.varying().contains(&Axis::Data) {
        return data_ratio(section, drive).into_iter().collect();
    }
    let points: Vec<&Point<'_>> = section.measured(drive).collect();
    let random = points.iter().all(|p| p.plan().workload.rw.starts_with("rand"));
    let bandwidth = best(section, &points, CellResult::mib_per_s, "MiB/s");
    let iops = best(section, &points, CellResult::iops, "IOPS").filter(|_| random);
    bandwidth.into_iter().chain(iops).collect()
}

/// The highest rate and its workload; of a single cell in MiB/s, how much the rate varied.
fn best(
    section: &Section<'_>,
    points: &[&Point<'_>],
    of: fn(&CellResult) -> f64,
    unit: &'static str,
) -> Option<KeyFigure> {
    let rates = points.iter().filter_map(|p| Some((of(p.result()?), p)));
    let (rate, point) = rates.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let several = points.len() > 1;
    let details = if several || unit == "IOPS" {
        point.coordinates(&section.varying())
    } else {
        variation(point)
    };
    Some(KeyFigure {
        label: format!("{}{}", section.title, if several { ", peak" } else { "" }),
        value: figure(rate),
        unit,
        details,
    })
}

/// Fastest and slowest interval of an unsteady rate; empty for a steady one.
fn variation(point: &Point<'_>) -> String {
    let intervals = point.measured_intervals();
    let rates = || intervals.iter().map(IntervalSample::mib_per_s);
    match (rates().reduce(f64::min), rates().reduce(f64::max)) {
        (Some(slowest), Some(fastest)) if slowest < 0.7 * fastest => {
            format!("fastest interval {}, slowest {}", figure(fastest), figure(slowest))
        }
        _ => String::new(),
    }
}

/// The largest ratio of the rate on other data to that on incompressible data.
fn data_ratio(section: &Section<'_>, drive: usize) -> Option<KeyFigure> {
    let data = section.column_axes.iter().position(|a| *a == Axis::Data)?;
    let column = |incompressible: bool| {
        let mut columns = section.columns.iter();
        columns.position(|c| (c[data].label == "incompressible") == incompressible)
    };
    let (base, other) = (column(true)?, column(false)?);
    let rate = |row, column| Some(section.at(row, column, drive)?.result()?.mib_per_s());
    let ratios = (0..section.rows.len()).filter_map(|row| {
        let (base, other) = (rate(row, base)?, rate(row, other)?);
        (base > 0.0).then(|| (other / base, row))
    });
    // The first of equal ratios.
    let (times, row) = ratios.reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    let (base, other) = (section.column_label(base), section.column_label(other));
    let columns = format!("{other} against {base}");
    Some(KeyFigure {
        label: section.title.to_owned(),
        value: ratio(times),
        unit: "",
        details: joined([&columns, &section.rows[row].label], ", "),
    })
}
