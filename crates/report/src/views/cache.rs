//! A block cache in front of a disk.

use super::{KeyFigure, MergeRule, SectionView};
use crate::charts::{Chart, hit_rate, percentiles};
use crate::format::{figure, percent};
use crate::grid::Point;
use crate::tables::cache;

/// Workloads with the hit rate of each.
pub const VIEW: SectionView = SectionView {
    title: Some("With a cold and a warm cache"),
    merge_rule: MergeRule::AllSteps,
    how_to_read: |_| {
        "Hit rate: reads that the cache answered without the disk. A hit takes the time of the \
         cache device, a miss that of the disk, so percentiles jump from one to the other where \
         the hit rate passes them: with 98 % of hits, the 99th percentile is a miss. A second pass \
         over the same data shows what the cache has kept of the first. In write-back mode writes \
         take the time of the cache device until it is full of dirty data, then that of the disk; \
         in write-through mode always that of the disk."
    },
    tables: |section| vec![cache::table(section)],
    charts: |section| {
        let percentiles = percentiles::by_drive(section, &|point| Some(cache::name(point)));
        let charts: [Option<Chart>; 2] = [hit_rate::chart(section), percentiles];
        charts.into_iter().flatten().collect()
    },
    key_figures: |section, drive| {
        let key = |point: &Point<'_>| {
            let hits = cache::hit_pct(point)?;
            Some(KeyFigure {
                label: format!("Hit rate, {}", cache::name(point)),
                value: percent(hits),
                unit: "%",
                details: format!("{} IOPS", figure(point.result()?.iops())),
            })
        };
        section.measured(drive).filter_map(key).collect()
    },
    ..SectionView::DEFAULT
};
