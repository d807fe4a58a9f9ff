//! Short workloads on an empty and on a full drive (AnandTech 660p).

use super::{KeyFigure, MergeRule, SectionView};
use crate::charts::{Chart, percentiles};
use crate::format::{figure, joined, percent};
use crate::grid::{Point, Section};
use crate::tables::fill;
use crate::tables::jobs::workload_text;

/// The same bursts in several states of fill.
pub const VIEW: SectionView = SectionView {
    title: Some("Bursts by state of fill"),
    merge_rule: MergeRule::AllSteps,
    how_to_read: |_| {
        "The same short workloads, one I/O at a time, on a drive with little data and on one that \
         has just been written to the end. Writes that are slower on the full drive no longer find \
         room in its SLC cache; reads that are slower come from multi-bit flash in place of the \
         cache, or wait behind the folding of the cache. What idle time gives back was background \
         work; what deallocation gives back was missing free flash. A drive without a cache has \
         the same figures in all states."
    },
    tables: |section| vec![fill::table(section)],
    charts: |section| charts(section).into_iter().collect(),
    key_figures,
    ..SectionView::DEFAULT
};

fn charts(section: &Section<'_>) -> Option<Chart> {
    let several = section.drives.len() > 1;
    let drives = section.drives.iter();
    let groups = drives.flat_map(|&drive| {
        let lists = fill::by_workload(section, drive).into_iter();
        lists.map(move |points| {
            let name = several.then(|| section.set.chart_name(drive));
            let workload = workload_text(points[0].plan());
            let label = joined(name.into_iter().chain([workload]), ": ");
            let named = points.into_iter().map(|p| (p, p.variant().to_owned()));
            (label, named.collect::<Vec<_>>())
        })
    });
    percentiles::grouped(section, "workload", groups)
}

/// The workload that a state slows down most.
fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let effect = |point: &Point<'_>| fill::effect(point)?.of_empty_pct;
    let found = section
        .measured(drive)
        .filter_map(|p| Some((p, effect(p)?)));
    let least = found.min_by(|a, b| a.1.total_cmp(&b.1));
    let key = least.and_then(|(point, pct)| {
        let rate = point.result()?.mib_per_s();
        Some(KeyFigure {
            label: format!("{}, {}", workload_text(point.plan()), point.variant()),
            value: percent(pct),
            unit: "% of empty",
            details: format!("{} MiB/s, the slowest of all states", figure(rate)),
        })
    });
    key.into_iter().collect()
}
