//! Write saturation test (SNIA SSS PTS).

use super::{KeyFigure, MergeRule, SectionView, causes, or_by_kind};
use crate::charts;
use crate::format::figure;
use crate::grid::Section;
use crate::tables::saturation;

/// Continuous random writes to a purged drive.
pub const VIEW: SectionView = SectionView {
    merge_rule: MergeRule::EqualWorkloads,
    how_to_read: |_| {
        "One continuous write, to a purged drive unless its title says otherwise. The first level \
         is the fresh drive; the drops are caches that fill and over-provisioning that is used up; \
         the last level is the steady state. Plotted over capacities written instead of time, \
         drives of different size and speed are comparable: the position of the last drop, between \
         one and two capacities, depends on the over-provisioning."
    },
    tables: |section| vec![saturation::table(section)],
    charts: |section| or_by_kind(charts::saturation::charts(section), section),
    switch_legend: Some("Horizontal axis"),
    folded_tables: causes,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let series = saturation::series(section);
    let own = series.iter().filter(|s| s.point.drive == drive);
    own.filter_map(|s| Some((s.first()?, s.last()?)))
        .map(|(first, last)| KeyFigure {
            label: format!("{}, at the end", section.title),
            value: figure(last.0),
            unit: "IOPS",
            details: format!("{} at first", figure(first.0)),
        })
        .collect()
}
