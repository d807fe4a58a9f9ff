//! Streams of chunks: peak and continuous bandwidth (MLE NVMe Streamer, see docs/sources.md).

use assay_units::Op;
use assay_units::text::format_size;
use maud::{Markup, html};

use super::{Context, KeyFigure, MergeRule, SectionView};
use crate::charts::{self, Chart};
use crate::format::{capacity, figure};
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::table::Table;
use crate::tables::{capacity::alarms, phases, published, stream};

/// Short streams beside a continuous one.
pub struct Streams;

impl SectionView for Streams {
    fn title(&self) -> Option<&'static str> {
        Some("Streams: peak against continuous")
    }

    fn merge_rule(&self) -> MergeRule {
        MergeRule::AllSuites
    }

    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "A stream of chunks, written or read in order with many in flight, timed from the first submission to the last completion. At one chunk the latency of the first command dominates; short streams fit into caches and show the peak; a cliff shows a full cache. The level line is the mean of the continuous stream: a recorder can rely on that rate, and on a higher one only until the cache is full. Points at the level line show a drive that sustains its rate."
    }

    fn alarms(&self, cx: Context<'_, '_>) -> Vec<String> {
        alarms(cx.set, cx.section)
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        vec![
            stream::table(cx.set, cx.section),
            stream::lengths(cx.set, cx.section),
        ]
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        charts::stream::charts(cx.set, cx.section)
    }

    fn html(&self, cx: Context<'_, '_>, charts: &[Chart], _id: &str) -> Markup {
        html! {
            @for alarm in self.alarms(cx) { (elements::alarm(&html! { (alarm) })) }
            (elements::table_or_notes(&stream::table(cx.set, cx.section)))
            (elements::charts(charts))
            (elements::table(&stream::lengths(cx.set, cx.section)))
            @for table in published::tables(cx.set, cx.section) { (elements::table(&table)) }
            (elements::folded("Causes of the rate, and the evidence", &phases::table(cx.set, cx.section)))
            (super::all_figures(cx.set, cx.section, None))
        }
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let drive = points[0].drive;
        let drives = stream::of_section(cx.set, cx.section);
        let own = drives.iter().filter(|d| d.drive == drive);
        own.flat_map(|d| stream::DIRECTIONS.map(|(op, noun)| key_figure(d, op, noun)))
            .flatten()
            .collect()
    }
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
    let details: Vec<String> = details.into_iter().flatten().collect();
    Some(KeyFigure {
        label: format!("Continuous {noun}"),
        value: figure(continuous.mib_per_s),
        unit: "MiB/s",
        details: if details.is_empty() {
            of_length(capacity(continuous.length_bytes))
        } else {
            details.join(", ")
        },
    })
}
