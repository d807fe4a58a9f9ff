//! Capacity verification: the whole drive written and read back.

use crate::charts::timeline;
use crate::grid::{Point, Section};
use crate::tables::{capacity, cells};
use crate::views::descriptor::{KeyFigure, SectionView};

/// Every block written with its own address, and verified.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Every block was written with its own address and sequence number, and read back. A block \
         with the data of another address means that addresses share flash: the capacity is \
         counterfeit, or the mapping is faulty. The capacity is confirmed only when every block \
         was verified and no fault was found."
    },
    alarms: capacity::alarms,
    tables: |section| vec![capacity::table(section)],
    charts: |section| timeline::chart(section).into_iter().collect(),
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let key = |point: &Point<'_>| {
        let verify = point.result()?.verify.as_ref()?;
        Some(KeyFigure {
            label: section.title.to_owned(),
            value: capacity::outcome(verify).to_owned(),
            unit: "",
            details: cells::verification(verify),
        })
    };
    section.measured(drive).filter_map(key).collect()
}
