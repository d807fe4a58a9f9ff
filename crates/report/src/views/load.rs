//! Latency by offered load in an open loop.

use super::{Context, KeyFigure, SectionView, or_by_kind};
use crate::axis::Axis;
use crate::charts::{self, Chart};
use crate::format::{figure, micros};
use crate::grid::{Point, Section};
use crate::table::Table;
use crate::tables::load;

/// A sweep over offered load.
pub struct OfferedLoad;

impl SectionView for OfferedLoad {
    fn row_axes(&self) -> &'static [Axis] {
        &[Axis::LoadShare]
    }

    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "Open loop: operations are issued at their intended times, whether or not earlier ones have completed, as a service receives requests. Latency counts from the intended start (solid); service time, all that a closed loop can measure, counts from submission (dotted). The knee (ringed) is the highest load with a short tail. Beyond the saturation point the queue grows without limit, so plan for less load than the knee."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        vec![load::table(cx.set, cx.section)]
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        or_by_kind(charts::load::charts(cx.set, cx.section), cx)
    }

    fn switch_legend(&self) -> Option<&'static str> {
        Some("Latency shown")
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let drive = points[0].drive;
        let title = cx.section.title;
        let key = |loads: &Vec<load::LoadResult<'_, '_>>| match load::knee(loads) {
            Some(at) => {
                let load = &loads[at];
                let p99 = micros(load.latency.p99 as f64);
                KeyFigure {
                    label: format!("{title}, knee"),
                    value: figure(load.offered_iops),
                    unit: "IOPS",
                    details: format!("{} % of its best, p99 {p99} \u{b5}s", figure(load.percent)),
                }
            }
            None => KeyFigure {
                label: title.to_owned(),
                value: "none".to_owned(),
                unit: "",
                details: "the lightest load was not sustained".to_owned(),
            },
        };
        let loads = load::loads(cx.set, cx.section);
        loads
            .iter()
            .filter(|o| o[0].point.drive == drive)
            .map(key)
            .collect()
    }
}
