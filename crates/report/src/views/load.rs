//! Latency by offered load in an open loop.

use super::{KeyFigure, SectionView, or_by_kind};
use crate::axis::Axis;
use crate::charts;
use crate::format::{figure, micros};
use crate::grid::Section;
use crate::tables::load;

/// A sweep over offered load.
pub const VIEW: SectionView = SectionView {
    row_axes: &[Axis::LoadShare],
    how_to_read: |_| {
        "Open loop: operations are issued at their intended times, whether or not earlier ones \
         have completed, as a service receives requests. Latency counts from the intended start \
         (solid) or, as in a closed loop, from submission (dotted). The table has the parts of the \
         mean: service is what an I/O takes alone, queueing its wait behind others in the drive, \
         lateness its wait for a free slot before submission. Both lines contain the queueing; \
         only lateness separates them. The knee (ringed) is the highest load with a short tail. \
         Beyond the saturation point the wait grows without limit, so plan for less load than the \
         knee."
    },
    tables: |section| vec![load::table(section)],
    charts: |section| or_by_kind(charts::load::charts(section), section),
    switch_legend: Some("Latency shown"),
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let title = section.title;
    let key = |loads: &Vec<load::LoadResult<'_, '_>>| match load::knee(loads) {
        Some(at) => {
            let load = &loads[at];
            let p99 = micros(load.latency.p99 as f64);
            KeyFigure {
                label: format!("{title}, knee"),
                value: figure(load.rates.offered),
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
    let loads = load::loads(section);
    loads
        .iter()
        .filter(|o| o[0].point.drive == drive)
        .map(key)
        .collect()
}
