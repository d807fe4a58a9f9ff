//! Hit rate of a block cache over time: a cold cache fills.

use assay_store::model::TelemetryRecord;

use super::draw::{Trace, linear, panels, thinned};
use super::{Chart, ChartView, colour, dash};
use crate::grid::{Point, Section};
use crate::tables::cache;

/// The hit rate between consecutive readings of the counters: time in seconds, percent. Readings
/// between which nothing was read have none.
fn hit_rates(readings: &[TelemetryRecord]) -> Vec<(f64, f64)> {
    let counters = readings
        .iter()
        .filter_map(|reading| Some((reading.at, reading.cache_read_hits?, reading.cache_reads?)));
    let counters: Vec<_> = counters.collect();
    let pairs = counters.windows(2).filter_map(|pair| {
        let ((_, hits_before, reads_before), (at, hits, reads)) = (pair[0], pair[1]);
        let reads = reads.checked_sub(reads_before).filter(|reads| *reads > 0)?;
        let hits = hits.checked_sub(hits_before)?;
        Some((at.as_secs_f64(), 100.0 * hits as f64 / reads as f64))
    });
    pairs.collect()
}

/// One view per drive, a line per cell; `None` where no counters were read.
pub fn chart(section: &Section<'_>) -> Option<Chart> {
    let trace = |(at, point): (usize, &Point<'_>)| {
        let rates = hit_rates(&point.data?.telemetry);
        let trace = Trace {
            name: cache::name(point),
            points: thinned(&rates).0,
            colour: colour(at),
            dash: dash(at / super::PALETTE),
            hover: "%{y:.1f} %".to_owned(),
            ..Trace::default()
        };
        (rates.len() > 1).then(|| trace.json())
    };
    let view = |drive: &usize| {
        let data = section.measured(*drive).enumerate().filter_map(trace);
        let layout = panels("time since the start, s", &[linear("hit rate, %")]);
        ChartView::of(section.set.chart_name(*drive), data.collect(), layout)
    };
    let views = section.drives.iter().filter_map(view).collect();
    let chart = Chart::of(section.caption("hit rate over time"), "drive", 320, views)?;
    Some(Chart {
        log_switch: false,
        ..chart
    })
}
