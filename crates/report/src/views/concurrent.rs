//! Drives measured concurrently.

use maud::{Markup, html};

use super::{Context, KeyFigure, SectionView};
use crate::charts::{Chart, timeline};
use crate::format::{figure, percent};
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::table::Table;
use crate::tables::concurrent;

/// Every drive alone and then all together.
pub struct ConcurrentDrives;

impl SectionView for ConcurrentDrives {
    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "Every drive first alone, then all concurrently. Near 100 % of alone means that the drives are independent; less means a shared limit: the host's processors (see idle), a PCIe switch or the memory. The table of intervals has the layout of iostat."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        let cells = concurrent::cells(cx.section, cx.all);
        let first = cells.first();
        first
            .map(|cell| concurrent::comparison(cx.set, cx.section, cell))
            .into_iter()
            .collect()
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        let cells = concurrent::cells(cx.section, cx.all);
        cells
            .iter()
            .filter_map(|cell| timeline::stacked(cx.set, cx.section, cell))
            .collect()
    }

    fn html(&self, cx: Context<'_, '_>, charts: &[Chart], _id: &str) -> Markup {
        html! {
            @for (i, cell) in concurrent::cells(cx.section, cx.all).iter().enumerate() {
                (elements::table(&concurrent::comparison(cx.set, cx.section, cell)))
                @if let Some(chart) = charts.get(i) { (elements::chart(chart, false)) }
                @let intervals = concurrent::intervals(cx.set, cx.section, cell);
                @if !intervals.is_empty() {
                    details { summary { "Interval by interval" } div.tall { (elements::table(&intervals)) } }
                }
            }
            (super::all_figures(cx.set, cx.section, None))
        }
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let drive = points[0].drive;
        let rate = |point: &Point<'_>| point.result().map(|r| r.mib_per_s());
        let key = |(point, alone): (&Point<'_>, &Option<Point<'_>>)| {
            let together = rate(point).filter(|_| point.drive == drive)?;
            let alone = alone.as_ref().and_then(rate).filter(|alone| *alone > 0.0)?;
            let simulated = if cx.set.drives[drive].info.simulated {
                ", simulated"
            } else {
                ""
            };
            Some(KeyFigure {
                label: cx.section.title.to_owned(),
                value: percent(100.0 * together / alone),
                unit: "% of alone",
                details: format!("{} of {} MiB/s{simulated}", figure(together), figure(alone)),
            })
        };
        let cells = concurrent::cells(cx.section, cx.all);
        let mut pairs = cells
            .iter()
            .flat_map(|cell| cell.points.iter().zip(&cell.alone));
        pairs.find_map(key).into_iter().collect()
    }
}
