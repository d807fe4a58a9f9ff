//! Streams of chunks: peak and continuous bandwidth (MLE NVMe Streamer, see docs/sources.md).

use assay_units::Op;
use assay_units::text::format_size;
use maud::{Markup, html};

use super::{KeyFigure, MergeRule, SectionView, alarms, all_figures, causes};
use crate::charts::{self, Chart};
use crate::format::{capacity, figure, joined, text_or};
use crate::grid::Section;
use crate::html::elements;
use crate::tables::{capacity as verification, published, stream};

/// Short streams beside a continuous one.
pub const VIEW: SectionView = SectionView {
    title: Some("Streams: peak against continuous"),
    merge_rule: MergeRule::AllSuites,
    how_to_read: |_| {
        "A stream of chunks, written or read in order with many in flight, timed from the first \
         submission to the last completion. At one chunk the latency of the first command \
         dominates; short streams fit into caches and show the peak; a cliff shows a full cache. \
         The level line is the mean of the continuous stream: a recorder can rely on that rate, \
         and on a higher one only until the cache is full. Points at the level line show a drive \
         that sustains its rate."
    },
    alarms: verification::alarms,
    tables: |section| vec![stream::table(section), stream::lengths(section)],
    charts: charts::stream::charts,
    folded_tables: causes,
    html,
    key_figures,
    ..SectionView::DEFAULT
};

fn html(section: &Section<'_>, charts: &[Chart], _id: &str) -> Markup {
    html! {
        (alarms(section))
        (elements::table_or_notes(&stream::table(section)))
        (elements::charts(charts))
        (elements::table(&stream::lengths(section)))
        @for (summary, table) in published::all(section) { (elements::folded(&summary, &table)) }
        @for (summary, table) in causes(section) { (elements::folded(summary, &table)) }
        (all_figures(section, None))
    }
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let drives = stream::of_section(section);
    let own = drives.iter().filter(|d| d.drive == drive);
    own.flat_map(|d| stream::DIRECTIONS.map(|(op, noun)| key_figure(d, op, noun)))
        .flatten()
        .collect()
}

/// The rate of the continuous stream, or else that of the best short one.
fn key_figure(streams: &stream::DriveStreams, op: Op, noun: &str) -> Option<KeyFigure> {
    let peak = streams.peak(op);
    let of_length = |bytes: String| format!("a stream of {bytes}");
    let Some(continuous) = streams.continuous(op) else {
        let peak = peak?;
        return Some(KeyFigure {
            label: format!("Peak {noun}"),
            value: figure(peak.mib_per_s),
            unit: "MiB/s",
            details: of_length(format_size(peak.length_bytes)),
        });
    };
    let cache = streams.cache().filter(|_| op == Op::Write);
    let details = [
        peak.map(|peak| format!("peak {}", figure(peak.mib_per_s))),
        cache.map(|cache| format!("write cache {cache}")),
    ];
    let details = joined(details.into_iter().flatten(), ", ");
    let whole = of_length(capacity(continuous.length_bytes));
    Some(KeyFigure {
        label: format!("Continuous {noun}"),
        value: figure(continuous.mib_per_s),
        unit: "MiB/s",
        details: text_or(&details, &whole).to_owned(),
    })
}
