//! Host idle recovery (SNIA SSS PTS).

use super::{KeyFigure, MergeRule, SectionView};
use crate::charts;
use crate::format::{figure, percent};
use crate::grid::Section;
use crate::tables::recovery;

/// Bursts of writes with idle time between them.
pub const VIEW: SectionView = SectionView {
    title: Some("Recovery by idle time"),
    merge_rule: MergeRule::AllSteps,
    how_to_read: |_| {
        "A drive in steady state is written in bursts with idle time between them. What it does \
         with that time, collecting garbage or folding its write cache, is the difference between \
         the rate after idle time and that of the continuous writes before. A drive whose lines \
         coincide recovers nothing while the host is idle; one whose rate grows with the idle time \
         needs pauses, and its steady-state rate applies to loads without them."
    },
    tables: |section| vec![recovery::table(section)],
    charts: charts::recovery::charts,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let segments = section.measured(drive).filter_map(recovery::segment);
    let recovered = segments.filter_map(|s| Some((s.recovery_pct()?, s)));
    let best = recovered.max_by(|a, b| a.0.total_cmp(&b.0));
    let key = best.map(|(pct, segment)| KeyFigure {
        label: "Rate after idle time, at most".to_owned(),
        value: percent(pct),
        unit: "%",
        details: format!(
            "of continuous writes, after {} of idle time: {} against {} IOPS",
            recovery::idle_text(&segment),
            figure(segment.iops().unwrap_or_default()),
            figure(segment.before_iops.unwrap_or_default()),
        ),
    });
    key.into_iter().collect()
}
