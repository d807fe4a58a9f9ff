//! Response times at operating points (SNIA SSS PTS).

use super::{KeyFigure, MergeRule, SectionView};
use crate::charts;
use crate::format::{figure, micros};
use crate::grid::Section;
use crate::tables::response;

/// The same workload at the highest, the middle and the lowest operating point.
pub const VIEW: SectionView = SectionView {
    title: Some("Response times at operating points"),
    merge_rule: MergeRule::AllSteps,
    how_to_read: |_| {
        "The same workload at three demand intensities: the highest rate of the grid with a short \
         mean response time, the rate nearest to the middle of the highest and the lowest, and one \
         operation in flight. The histogram shows where the operations lie: a second hump is a \
         second path through the drive (a full write buffer, garbage collection), which a mean \
         hides. A good drive keeps the humps of higher demand close to that of the minimum."
    },
    tables: |section| vec![response::table(section)],
    charts: charts::response::charts,
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let keys = section.measured(drive).filter_map(|point| {
        let result = point.result()?;
        let latency = result.latency();
        Some(KeyFigure {
            label: format!("Operating point {}", response::name(point)),
            value: figure(result.iops()),
            unit: "IOPS",
            details: format!(
                "mean {} \u{b5}s, p99.999 {} \u{b5}s",
                micros(latency.mean),
                micros(latency.p99_999 as f64)
            ),
        })
    });
    keys.collect()
}
