//! Capacity verification: the whole drive written and read back.

use assay_units::text::group_digits;

use super::{Context, KeyFigure, MergeRule, SectionView};
use crate::charts::{Chart, timeline};
use crate::grid::{Point, Section};
use crate::table::Table;
use crate::tables::capacity;

/// Every block written with its own address, and verified.
pub struct CapacityCheck;

impl SectionView for CapacityCheck {
    fn title(&self) -> Option<&'static str> {
        Some("Every block, written and read back")
    }

    fn merge_rule(&self) -> MergeRule {
        MergeRule::AllSteps
    }

    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "Every block was written with its own address and sequence number, and read back. A block with the data of another address means that addresses share flash: the capacity is counterfeit, or the mapping is faulty. The capacity is confirmed only when every block was verified and no fault was found."
    }

    fn alarms(&self, cx: Context<'_, '_>) -> Vec<String> {
        capacity::alarms(cx.set, cx.section)
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        vec![capacity::table(cx.set, cx.section)]
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        timeline::chart(cx.set, cx.section).into_iter().collect()
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let key = |point: &&Point<'_>| {
            let checked = point.result()?.verify.as_ref()?.blocks_checked;
            let bad = capacity::bad_blocks_of(point);
            let value = if bad == 0 {
                capacity::VERIFIED
            } else {
                capacity::MISCOMPARE
            };
            Some(KeyFigure {
                label: cx.section.title.to_owned(),
                value: value.to_owned(),
                unit: "",
                details: format!(
                    "{} of {} blocks mismatched",
                    group_digits(bad),
                    group_digits(checked)
                ),
            })
        };
        points.iter().filter_map(key).collect()
    }
}
