//! Histogram of response times at operating points (SNIA SSS PTS).

use assay_units::Nanos;

use super::draw::{Trace, logarithmic, panels};
use super::percentiles;
use super::{Chart, ChartView, colour, dash};
use crate::format::joined;
use crate::grid::Section;
use crate::tables::response::name;

/// Bins per decade of the response time.
const BINS_PER_DECADE: f64 = 20.0;

/// The histogram, with a view per drive, and the percentiles.
pub fn charts(section: &Section<'_>) -> Vec<Chart> {
    let drives = section.drives.iter();
    let views = drives.filter_map(|drive| view(section, *drive)).collect();
    let histogram = Chart::of(
        section.caption("response time histogram"),
        "drive",
        420,
        views,
    );
    let note = "share of the operations in each of twenty bins per decade";
    let histogram = histogram.map(|chart| chart.with_notes(vec![note.to_owned()]));
    histogram
        .into_iter()
        .chain(percentiles::chart(section))
        .collect()
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
    ChartView::of(section.set.chart_name(drive), data, layout)
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
#[path = "../../tests/unit/charts/response.rs"]
mod tests;
