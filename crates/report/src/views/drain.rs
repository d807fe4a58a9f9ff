//! Time until an amount of data is on the drive.

use super::{KeyFigure, SectionView};
use crate::charts::timeline;
use crate::format::figure;
use crate::tables::drain;

/// An amount of data written and flushed, repeated with pauses.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Each repetition writes the same amount of data and ends with a flush: a program that \
         waits for its checkpoint waits this long. A first repetition that is faster than the \
         others went into a write cache that the pauses do not empty; plan with the longest."
    },
    tables: |section| vec![drain::table(section)],
    charts: |section| timeline::chart(section).into_iter().collect(),
    key_figures: |section, drive| {
        let longest = drain::longest(section, drive);
        let key = longest.map(|(seconds, details)| KeyFigure {
            label: format!("{}, longest", section.title),
            value: figure(seconds),
            unit: "s",
            details,
        });
        key.into_iter().collect()
    },
    ..SectionView::DEFAULT
};
