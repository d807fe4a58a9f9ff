//! Performance consistency of random writes (AnandTech M8Pe, see docs/sources.md).

use super::{Context, KeyFigure, MergeRule, SectionView, or_by_kind};
use crate::charts::{self, Chart};
use crate::format::figure;
use crate::grid::{Point, Section};
use crate::table::Table;
use crate::tables::consistency;

/// An hour of random writes, scored over its last part.
pub struct Consistency;

impl SectionView for Consistency {
    fn merge_rule(&self) -> MergeRule {
        MergeRule::EqualWorkloads
    }

    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "Every dot is one second of random writes, on a logarithmic axis. A narrow band is a consistent drive; a cloud or two bands indicate stalls or throttling. The first drop is where over-provisioning is used up and garbage collection begins. The last part, shown again below, is scored: its mean is the score, and its mean over standard deviation the consistency (twice the value is half the scatter). The difference between the variants is the gain from additional over-provisioning."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        vec![consistency::table(cx.set, cx.section)]
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        or_by_kind(charts::consistency::charts(cx.set, cx.section), cx)
    }

    fn switch_legend(&self) -> Option<&'static str> {
        Some("Over-provisioning shown")
    }

    fn lists_causes(&self) -> bool {
        true
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let key = |point: &&Point<'_>| {
            let score = consistency::score(point)?.score;
            let variant = point.plan().variant.as_ref();
            let ratio = score.consistency.map_or_else(
                || "no variation between seconds".to_owned(),
                |c| format!("mean \u{f7} std dev {}", figure(c)),
            );
            Some(KeyFigure {
                label: format!(
                    "{}{}",
                    cx.section.title,
                    variant.map_or_else(String::new, |v| format!(", {v}"))
                ),
                value: figure(score.mean),
                unit: "IOPS",
                details: format!("{ratio}, slowest second {}", figure(score.min)),
            })
        };
        points.iter().filter_map(key).collect()
    }
}
