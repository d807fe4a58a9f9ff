//! Sweeps over queue depth, compared at the knee (AnandTech PBlaze5, see docs/sources.md).

use maud::Markup;

use super::{Context, KeyFigure, SectionView, measured::Measured, or_by_kind};
use crate::axis::Axis;
use crate::charts::{self, Chart};
use crate::format::{figure, micros};
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::table::Table;
use crate::tables::{knee, power};

/// Rate and tail latency by queue depth.
pub struct DepthSweep;

impl SectionView for DepthSweep {
    fn row_axes(&self) -> &'static [Axis] {
        &[Axis::TotalDepth, Axis::Threads, Axis::Depth]
    }

    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "The rate rises with the queue depth until the drive is saturated; beyond that, more depth only adds latency, shown in the lower panel. The ring marks the knee: the lowest depth with 95 % of the best rate. The table compares drives at their knees rather than at one fixed depth, which would favour some. A low depth at the knee is good, and so is a p99.99 that stays flat up to it."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        let knees = knee::table(cx.set, cx.section);
        if knees.is_empty() {
            Measured.tables(cx)
        } else {
            vec![knees]
        }
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        or_by_kind(charts::knee::charts(cx.set, cx.section), cx)
    }

    fn html(&self, cx: Context<'_, '_>, charts: &[Chart], id: &str) -> Markup {
        let knees = knee::table(cx.set, cx.section);
        if knees.is_empty() {
            return Measured.html(cx, charts, id);
        }
        let power = power::table(cx.set, cx.section);
        maud::html! {
            (elements::table(&knees))
            (elements::charts(charts))
            @if let Some(power) = power { (elements::folded("Power at every depth", &power)) }
            (super::all_figures(cx.set, cx.section, None))
        }
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let drive = points[0].drive;
        let key = |series: &Vec<&Point<'_>>| {
            let point = series[knee::index(series)?];
            let result = point.result()?;
            let (value, unit) = if knee::small_blocks(cx.section) {
                (result.iops(), "IOPS")
            } else {
                (result.mib_per_s(), "MiB/s")
            };
            let location = cx.section.location(point.row, point.column);
            let tail = micros(result.latency().p99_99 as f64);
            Some(KeyFigure {
                label: cx.section.title.to_owned(),
                value: figure(value),
                unit,
                details: format!("knee at {location}, p99.99 {tail} \u{b5}s"),
            })
        };
        let series = cx.section.series();
        series
            .iter()
            .filter(|s| s[0].drive == drive)
            .filter_map(key)
            .collect()
    }
}
