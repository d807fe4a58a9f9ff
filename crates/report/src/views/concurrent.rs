//! Drives measured concurrently.

use maud::{Markup, html};

use crate::chart::Chart;
use crate::charts::timeline;
use crate::format::{figure, percent};
use crate::grid::{Point, Section};
use crate::html::elements;
use crate::tables::concurrent;
use crate::views::descriptor::{KeyFigure, SectionView, all_figures};

/// Every drive alone and then all together.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Every drive first alone, then all concurrently. Near 100 % of alone means that the drives \
         are independent; less means a shared limit: the host's processors (see idle), a PCIe \
         switch or the memory. The table of intervals has the layout of iostat."
    },
    tables: |section| {
        let cells = concurrent::cells(section);
        let first = cells.first();
        first.map(|cell| concurrent::comparison(section, cell)).into_iter().collect()
    },
    charts: |section| {
        let cells = concurrent::cells(section);
        cells.iter().filter_map(|cell| timeline::stacked(section, cell)).collect()
    },
    html,
    key_figures,
    ..SectionView::DEFAULT
};

fn html(_: &SectionView, section: &Section<'_>, charts: &[Chart], _id: &str) -> Markup {
    html! {
        @for (i, cell) in concurrent::cells(section).iter().enumerate() {
            @let shown = html! {
                (elements::table(&concurrent::comparison(section, cell)))
                @if let Some(chart) = charts.get(i) { (elements::chart(chart, false)) }
            };
            @if i == 0 { (shown) } @else { (elements::further(cell.len(), "More cells", &shown)) }
            @let intervals = concurrent::intervals(section, cell);
            @if !intervals.is_empty() {
                details {
                    summary { "Interval by interval" } div.tall { (elements::table(&intervals)) }
                }
            }
        }
        (all_figures(section, None))
    }
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let rate = |point: &Point<'_>| point.result().map(|r| r.mib_per_s());
    let key = |point: &Point<'_>| {
        let together = rate(point)?;
        let alone = point.alone.as_deref().and_then(rate).filter(|alone| *alone > 0.0)?;
        let simulated = section.set.drives[drive].info.simulated;
        let marker = if simulated { ", simulated" } else { "" };
        Some(KeyFigure {
            label: section.title.to_owned(),
            value: percent(100.0 * together / alone),
            unit: "% of alone",
            details: format!("{} of {} MiB/s{marker}", figure(together), figure(alone)),
        })
    };
    section.measured(drive).find_map(key).into_iter().collect()
}
