//! Performance consistency of random writes (AnandTech M8Pe, see docs/sources.md).

use super::{KeyFigure, MergeRule, SectionView, causes, or_by_kind};
use crate::charts;
use crate::format::{figure, joined};
use crate::grid::{Point, Section};
use crate::tables::consistency;

/// An hour of random writes, scored over its last part.
pub const VIEW: SectionView = SectionView {
    merge_rule: MergeRule::EqualWorkloads,
    how_to_read: |_| {
        "Every dot is one second of random writes, on a logarithmic axis. A narrow band is a \
         consistent drive; a cloud or two bands indicate stalls or throttling. The first drop is \
         where over-provisioning is used up and garbage collection begins. The last part, shown \
         again below, is scored: its mean is the score, and its mean over standard deviation the \
         consistency (twice the value is half the scatter). The difference between the variants is \
         the gain from additional over-provisioning."
    },
    tables: |section| vec![consistency::table(section)],
    charts: |section| or_by_kind(charts::consistency::charts(section), section),
    switch_legend: Some("Over-provisioning shown"),
    folded_tables: causes,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let key = |point: &Point<'_>| {
        let scored = consistency::score(point)?;
        let score = &scored.score;
        let ratio = score.consistency.map_or_else(
            || "no variation between seconds".to_owned(),
            |c| format!("mean \u{f7} std dev {}", figure(c)),
        );
        let modes = consistency::modes_text(point, &scored)
            .map_or(String::new(), |text| format!(", {text}"));
        Some(KeyFigure {
            label: joined([section.title, point.variant()], ", "),
            value: figure(score.mean),
            unit: "IOPS",
            details: format!("{ratio}, slowest second {}{modes}", figure(score.min)),
        })
    };
    section.measured(drive).filter_map(key).collect()
}
