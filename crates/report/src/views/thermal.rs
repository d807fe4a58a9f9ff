//! Thermal throttling under sustained load.

use super::{Context, KeyFigure, SectionView, or_by_kind};
use crate::charts::Chart;
use crate::format::{duration, figure};
use crate::grid::{Point, Section};
use crate::table::Table;
use crate::tables::thermal;

/// A soak until temperature and rate are stable.
pub struct Thermal;

impl SectionView for Thermal {
    fn how_to_read(&self, _section: &Section<'_>) -> &'static str {
        "A sustained load until temperature and rate are stable. Shaded: thermal throttling. Its onset, the temperature at the onset, the remaining rate and the share of throttled time show what the drive achieves without better cooling. A drive with a level rate and temperature needs none."
    }

    fn tables(&self, cx: Context<'_, '_>) -> Vec<Table> {
        vec![thermal::table(cx.set, cx.section)]
    }

    fn charts(&self, cx: Context<'_, '_>) -> Vec<Chart> {
        or_by_kind(Vec::new(), cx)
    }

    fn lists_causes(&self) -> bool {
        true
    }

    fn key_figures(&self, cx: Context<'_, '_>, points: &[&Point<'_>]) -> Vec<KeyFigure> {
        let key = |point: &&Point<'_>| {
            let t = thermal::throttling(cx.set, point)?;
            let before = t
                .before
                .map(|before| format!("of {} MiB/s; ", figure(before.mib_per_s)));
            let at = t.onset_c.map(|c| format!(" at {c:.0} \u{b0}C"));
            let after = duration((t.onset_s * 1e9) as u64);
            Some(KeyFigure {
                label: format!("{}, throttled", cx.section.title),
                value: figure(t.after_mib_per_s),
                unit: "MiB/s",
                details: format!(
                    "{}throttles{} after {after}",
                    before.unwrap_or_default(),
                    at.unwrap_or_default()
                ),
            })
        };
        points.iter().filter_map(key).collect()
    }
}
