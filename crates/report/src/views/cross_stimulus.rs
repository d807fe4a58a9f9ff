//! Cross stimulus recovery (SNIA SSS PTS).

use super::{KeyFigure, MergeRule, SectionView};
use crate::charts;
use crate::format::{duration, figure, joined, percent};
use crate::grid::Section;
use crate::tables::stimulus;

/// Sequential, random and sequential writes without a pause.
pub const VIEW: SectionView = SectionView {
    title: Some("Change of the workload"),
    merge_rule: MergeRule::AllSteps,
    how_to_read: |_| {
        "Sequential writes, then random writes, then the same sequential writes again, without a \
         pause. Random writes leave blocks in which valid and stale data are mixed, so the second \
         sequential phase begins below the level of the first until the drive has rewritten them. \
         The table has the level of each phase, the time until it, and the second sequential level \
         relative to the first; a drive that recovers at once keeps the two apart."
    },
    tables: |section| vec![stimulus::table(section)],
    charts: charts::stimulus::charts,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let measured = section.measured(drive);
    let keys = measured.filter_map(|point| {
        let found = stimulus::of(point)?;
        let reached = match found.settled_s {
            Some(0.0) => "at once".to_owned(),
            Some(s) => format!("after {}", duration((s * 1e9) as u64)),
            None => "not settled".to_owned(),
        };
        let recovered = stimulus::recovered_pct(point)
            .map(|pct| format!("{} % of the level before", percent(pct)));
        Some(KeyFigure {
            label: point.plan().title.clone(),
            value: figure(found.level_mib_per_s),
            unit: "MiB/s",
            details: joined([Some(reached), recovered].into_iter().flatten(), ", "),
        })
    });
    keys.collect()
}
