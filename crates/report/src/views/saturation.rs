//! Write saturation test (SNIA SSS PTS).

use super::{Context, KeyFigure, MergeRule, SectionView, or_by_kind};
use crate::charts::{self, Chart};
use crate::format::figure;
use crate::grid::{Point, Section};
use crate::table::Table;
use crate::tables::saturation;

/// Continuous random writes to a purged drive.
pub struct WriteSaturation;

impl SectionView for WriteSaturation {
    fn merge_rule(&self) -> MergeRule {
        MergeRule::EqualWorkloads
    }

    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "One continuous write to a purged drive. The first level is the fresh drive; the drops are caches that fill and over-provisioning that is used up; the last level is the steady state. Plotted over capacities written instead of time, drives of different size and speed are comparable: the position of the last drop, between one and two capacities, depends on the over-provisioning."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        vec![saturation::table(cx.set, cx.section)]
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        or_by_kind(charts::saturation::charts(cx.set, cx.section), cx)
    }

    fn switch_legend(&self) -> Option<&'static str> {
        Some("Horizontal axis")
    }

    fn lists_causes(&self) -> bool {
        true
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let drive = points[0].drive;
        let series = saturation::series(cx.set, cx.section);
        let own = series.iter().filter(|s| s.point.drive == drive);
        own.filter_map(|s| s.ends())
            .map(|(first, last)| KeyFigure {
                label: format!("{}, at the end", cx.section.title),
                value: figure(last),
                unit: "IOPS",
                details: format!("{} at first", figure(first)),
            })
            .collect()
    }
}
