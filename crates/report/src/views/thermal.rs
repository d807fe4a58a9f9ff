//! Thermal throttling under sustained load.

use super::{KeyFigure, SectionView, causes, or_by_kind};
use crate::format::{duration, figure};
use crate::grid::{Point, Section};
use crate::tables::{temperature, thermal};

/// A soak until temperature and rate are stable.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "A sustained load until temperature and rate are stable. Shaded: thermal throttling. Its \
         onset, the temperature at the onset, the remaining rate and the share of throttled time \
         show what the drive achieves without better cooling. A drive with a level rate and \
         temperature needs none."
    },
    tables: |section| {
        let temperatures = temperature::table(section);
        std::iter::once(thermal::table(section))
            .chain(temperatures)
            .collect()
    },
    charts: |section| or_by_kind(Vec::new(), section),
    folded_tables: causes,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let key = |point: &Point<'_>| {
        let t = thermal::throttling(point)?;
        let before = t
            .before
            .map(|before| format!("of {} MiB/s; ", figure(before.mib_per_s)));
        let before = before.unwrap_or_default();
        let at = t
            .onset_c
            .map(|c| format!(" at {c:.0} \u{b0}C"))
            .unwrap_or_default();
        let after = duration((t.onset_s * 1e9) as u64);
        Some(KeyFigure {
            label: format!("{}, throttled", section.title),
            value: figure(t.after_mib_per_s),
            unit: "MiB/s",
            details: format!("{before}throttles{at} after {after}"),
        })
    };
    section.measured(drive).filter_map(key).collect()
}
