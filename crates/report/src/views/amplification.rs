//! Write amplification by size, alignment and order of the writes.

use super::{KeyFigure, MergeRule, SectionView};
use crate::tables::amplification;

/// The unit in which a drive maps its data.
pub const VIEW: SectionView = SectionView {
    title: Some("Write amplification"),
    merge_rule: MergeRule::AllSteps,
    how_to_read: |_| {
        "Without garbage collection a drive programs what the host writes, once. Random writes of \
         less than its mapping unit have it read and program whole units: their amplification is \
         the unit over their size, and each halving of the size doubles it. Writes across two \
         units cost both. Sequential writes complete their units in the write buffer, at any size. \
         A program that writes at random should use multiples of the unit, aligned to it."
    },
    tables: |section| vec![amplification::table(section)],
    key_figures: |section, drive| {
        let unit = amplification::unit_text(section, drive);
        let key = unit.map(|value| KeyFigure {
            label: "Mapping unit".to_owned(),
            value,
            unit: "",
            details: "smallest random write without amplification".to_owned(),
        });
        key.into_iter().collect()
    },
    ..SectionView::DEFAULT
};
