//! Replayed traces: rate, latency and energy of the whole and by phase (AnandTech Storage Bench,
//! see docs/sources.md).

use assay_analysis::trace_replay;

use super::{KeyFigure, SectionView};
use crate::axis::Axis;
use crate::charts::{percentiles, timeline};
use crate::format::{figure, joined, micros};
use crate::grid::Section;
use crate::tables::trace_replay as tables;

/// A replay of a block trace.
pub const VIEW: SectionView = SectionView {
    row_axes: &[Axis::Trace],
    how_to_read: |_| {
        "The requests of a recorded trace, in their order. With the times of the trace, a request \
         is due when it was recorded and its latency counts from then, so the data rate is the \
         trace's unless the drive falls behind: compare latencies and energy. In a closed loop the \
         drive gets the next request as soon as there is a free slot: compare data rates. Phases \
         are parts of the trace, one after the other: latencies that grow towards the end show a \
         full write cache or garbage collection."
    },
    tables: |section| vec![tables::totals(section), tables::phases(section)],
    charts: |section| {
        let charts = [timeline::chart(section), percentiles::chart(section)];
        charts.into_iter().flatten().collect()
    },
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let replays = section.measured(drive).filter_map(|point| {
        let total = trace_replay::figures(point.data?)?.total;
        let p99 = |name: &str, summary: &assay_stats::OpSummary| {
            let latency = &summary.latency_ns;
            (summary.ios > 0).then(|| format!("{name} p99 {} \u{b5}s", micros(latency.p99 as f64)))
        };
        let details = [
            p99("read", &total.read),
            p99("write", &total.write),
            total.energy_j.map(|joules| format!("{} J", figure(joules))),
        ];
        Some(KeyFigure {
            label: section.title.to_owned(),
            value: figure(total.mb_per_s),
            unit: "MB/s",
            details: joined(details.into_iter().flatten(), ", "),
        })
    });
    replays.collect()
}
