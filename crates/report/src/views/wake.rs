//! Latency of the first I/O after idle time (AnandTech 2021).

use super::{KeyFigure, MergeRule, SectionView};
use crate::charts::wake as wake_chart;
use crate::format::{duration, micros};
use crate::grid::Section;
use crate::tables::wake;

/// One I/O at a time, with idle time before each.
pub const VIEW: SectionView = SectionView {
    merge_rule: MergeRule::EqualWorkloads,
    how_to_read: |_| {
        "One read at a time, each after the same idle time. A step of the latency is a transition: \
         the drive has entered a non-operational power state after that much idle time (Autonomous \
         Power State Transition), and the next command waits for its exit latency, or for the end \
         of the entry and then the exit. Compare the steps with the exit latencies of the drive's \
         power states. A line that stays level shows a drive, or a host, that saves no power while \
         idle: see the power beside it."
    },
    tables: |section| vec![wake::table(section)],
    charts: |section| wake_chart::chart(section).into_iter().collect(),
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let found = section.measured(drive).filter_map(wake::of);
    let longest = found.max_by_key(|wake| wake.idle_ns);
    let key = longest.and_then(|wake| {
        Some(KeyFigure {
            label: format!("Wake-up latency after {}", duration(wake.idle_ns)),
            value: micros(wake.added_p50_ns?),
            unit: "\u{b5}s",
            details: format!(
                "median {} \u{b5}s in place of {} without idle time",
                micros(wake.p50_ns as f64),
                micros(wake.p50_ns as f64 - wake.added_p50_ns?)
            ),
        })
    });
    key.into_iter().collect()
}
