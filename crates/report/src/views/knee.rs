//! Sweeps over queue depth, compared at the knee (AnandTech PBlaze5, see docs/sources.md).

use maud::Markup;

use super::{KeyFigure, SectionView, default_html, measured, or_by_kind};
use crate::axis::Axis;
use crate::charts::{self, Chart};
use crate::format::{figure, micros};
use crate::grid::{Point, Section};
use crate::tables::host::CPU_LIMITED;
use crate::tables::{knee, power};

/// Rate and tail latency by queue depth.
pub const VIEW: SectionView = SectionView {
    row_axes: &[Axis::TotalDepth, Axis::Threads, Axis::Depth],
    how_to_read: |_| {
        "The rate rises with the queue depth until the drive is saturated; beyond that, more depth \
         only adds latency, shown in the lower panel. The ring marks the knee: the lowest depth \
         with 95 % of the best rate. The table compares drives at their knees rather than at one \
         fixed depth, which would favour some. A low depth at the knee is good, and so is a p99.99 \
         that stays flat up to it. Where the host's processors set the rate (crosses, \
         CPU-limited), the drive can do more with a faster host. Power by rate shows what each \
         step up costs."
    },
    tables: |section| {
        let knees = knee::table(section);
        if knees.is_empty() {
            return (measured::VIEW.tables)(section);
        }
        vec![knees]
    },
    charts: |section| {
        let mut charts = charts::knee::charts(section);
        if !charts.is_empty() {
            charts.extend(charts::power::chart(section, charts::knee::HEIGHT));
        }
        or_by_kind(charts, section)
    },
    folded_tables: |section| {
        let power = power::table(section);
        power
            .map(|table| ("Power at every depth", table))
            .into_iter()
            .collect()
    },
    html,
    key_figures,
    ..SectionView::DEFAULT
};

fn html(section: &Section<'_>, charts: &[Chart], id: &str) -> Markup {
    if knee::table(section).is_empty() {
        return (measured::VIEW.html)(section, charts, id);
    }
    default_html(section, charts, id)
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let key = |series: &Vec<&Point<'_>>| {
        let point = series[knee::index(series)?];
        let result = point.result()?;
        let (value, unit) = if knee::small_blocks(section) {
            (result.iops(), "IOPS")
        } else {
            (result.mib_per_s(), "MiB/s")
        };
        let location = section.location(point.row, point.column);
        let limited = if point.is_host_limited() {
            format!(", {CPU_LIMITED}")
        } else {
            String::new()
        };
        let tail = micros(result.latency().p99_99 as f64);
        Some(KeyFigure {
            label: section.title.to_owned(),
            value: figure(value),
            unit,
            details: format!("knee at {location}{limited}, p99.99 {tail} \u{b5}s"),
        })
    };
    let series = section.series();
    series
        .iter()
        .filter(|s| s[0].drive == drive)
        .filter_map(key)
        .collect()
}
