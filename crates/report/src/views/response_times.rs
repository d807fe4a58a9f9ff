//! Response times at operating points (SNIA SSS PTS).

use assay_store::model::{OperatingPoint, POINT_DEPTH, POINT_THREADS};
use assay_units::Nanos;

use crate::chart::{Chart, ChartView, colour, dash};
use crate::charts::draw::{Trace, logarithmic, panels};
use crate::charts::percentiles;
use crate::format::{figure, joined, micros, plural};
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{cell_of, latency_cells, reason, section_remarks};
use crate::views::descriptor::{KeyFigure, SectionView};

/// The same workload at the highest, the middle and the lowest operating point.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "The same workload at three demand intensities: the highest rate of the grid with a short \
         mean response time, the rate nearest to the middle of the highest and the lowest, and one \
         operation in flight. The histogram shows where the operations lie: a second hump is a \
         second path through the drive (a full write buffer, garbage collection), which a mean \
         hides. A good drive keeps the humps of higher demand close to that of the minimum."
    },
    tables: |section| vec![table(section)],
    charts,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let keys = section.measured(drive).filter_map(|point| {
        let result = point.result()?;
        let latency = result.latency();
        Some(KeyFigure {
            label: format!("Operating point {}", name(point)),
            value: figure(result.iops()),
            unit: "IOPS",
            details: format!(
                "mean {} \u{b5}s, p99.999 {} \u{b5}s",
                micros(latency.mean),
                micros(latency.p99_999 as f64)
            ),
        })
    });
    keys.collect()
}

/// Name of the operating point of a cell, with its threads and depth:
/// `maximum: 4 threads, depth 32`.
pub fn name(point: &Point<'_>) -> String {
    let which = match point.plan().point.as_ref().map(|p| p.which) {
        Some(OperatingPoint::Max) => "maximum",
        Some(OperatingPoint::Mid) => "middle",
        Some(OperatingPoint::Min) => "minimum",
        None => return point.plan().title.clone(),
    };
    match threads_and_depth(point) {
        Some((threads, depth)) => {
            format!("{which}: {}, depth {depth}", plural(threads, "thread"))
        }
        None => which.to_owned(),
    }
}

fn threads_and_depth(point: &Point<'_>) -> Option<(usize, usize)> {
    let value = |name: &str| point.result()?.values.get(name).map(|n| *n as usize);
    Some((value(POINT_THREADS)?, value(POINT_DEPTH)?))
}

/// One row per drive and operating point.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = Column::list([("operating point", ""), ("rate", "IOPS")]);
    let labels = ["mean", "p50", "p99", "p99.9", "p99.999", "max"];
    let columns_of_latency = labels.map(|label| Column::under("response time, \u{b5}s", label, ""));
    columns.extend(columns_of_latency);
    let rows = section.points.iter().map(|point| {
        let mut cells = vec![TableCell::Text(name(point))];
        match point.result() {
            None => cells.push(reason(point)),
            Some(result) => {
                cells.push(cell_of(point, |r| Some(r.iops())));
                cells.extend(latency_cells(result.latency(), &labels));
            }
        }
        point.table_row(cells)
    });
    let (rows, mut notes) = (rows.collect(), section_remarks(section));
    notes.push(
        "response times of the operation there was more of, reads or writes; p99.999 are five \
         nines"
            .to_owned(),
    );
    section.table("operating points", columns, rows, notes)
}

/// Bins per decade of the response time.
const BINS_PER_DECADE: f64 = 20.0;

/// The histogram, with a view per drive, and the percentiles.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let drives = section.drives.iter();
    let views = drives.filter_map(|drive| view(section, *drive)).collect();
    let histogram = Chart::new(section.caption("response time histogram"), "drive", 420, views);
    let note = "share of the operations in each of twenty bins per decade";
    let histogram = histogram.map(|chart| chart.with_notes(vec![note.to_owned()]));
    histogram.into_iter().chain(percentiles::chart(section)).collect()
}

fn view(section: &Section<'_>, drive: usize) -> Option<ChartView> {
    let mut data = Vec::new();
    for (at, point) in section.measured(drive).enumerate() {
        let Some(measured) = point.data else { continue };
        let several = measured.distributions.len() > 1;
        for (i, (op, cumulative)) in measured.distributions.iter().enumerate() {
            let operation = if several { op.name() } else { "" };
            let trace = Trace {
                name: joined([name(point).as_str(), operation], ", "),
                points: histogram(cumulative),
                colour: colour(at),
                dash: dash(i),
                hover: "%{y:,.3~g} % at %{x:,.4~g} \u{b5}s".to_owned(),
                ..Trace::default()
            };
            let mut trace = trace.json();
            trace["line"]["shape"] = "hvh".into();
            data.push(trace);
        }
    }
    let mut layout = panels("response time, \u{b5}s", &[logarithmic("operations, %")]);
    layout["xaxis"]["type"] = "log".into();
    ChartView::new(section.set.chart_name(drive), data, layout)
}

/// Middle of each bin in microseconds, and the share of the operations in it, percent; bins without
/// any are left out.
fn histogram(cumulative: &[(Nanos, u64)]) -> Vec<(f64, f64)> {
    let total = cumulative.last().map_or(0, |last| last.1);
    let bin_of = |latency: Nanos| ((latency.0.max(1) as f64).log10() * BINS_PER_DECADE).floor();
    let mut bins: Vec<(f64, u64)> = Vec::new();
    let mut before = 0;
    for &(latency, up_to) in cumulative {
        let (bin, count) = (bin_of(latency), up_to - before);
        before = up_to;
        match bins.last_mut() {
            Some((last, sum)) if *last == bin => *sum += count,
            _ => bins.push((bin, count)),
        }
    }
    let middle_us = |bin: f64| 10_f64.powf((bin + 0.5) / BINS_PER_DECADE) / 1e3;
    bins.into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(bin, count)| (middle_us(bin), 100.0 * count as f64 / total as f64))
        .collect()
}

#[cfg(test)]
#[path = "../../tests/unit/views/response_times.rs"]
mod tests;
