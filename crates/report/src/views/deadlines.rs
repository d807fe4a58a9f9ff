//! I/Os that missed their deadlines.

use assay_analysis::deadlines::of_all;
use assay_units::Nanos;

use super::{KeyFigure, SectionView};
use crate::axis::Axis;
use crate::charts::percentiles;
use crate::format::figure;
use crate::grid::{Point, Section};
use crate::tables::deadlines;

/// Misses per million by workload.
pub const VIEW: SectionView = SectionView {
    row_axes: &[Axis::Rate, Axis::BlockSize],
    how_to_read,
    tables: |section| vec![deadlines::table(section)],
    charts: |section| percentiles::chart(section).into_iter().collect(),
    key_figures: |section, drive| {
        let keys = section.measured(drive).filter_map(|point| {
            let deadline = Nanos(*point.plan().deadlines_ns.first()?);
            let misses = of_all(point.data?, deadline)?;
            let at = point.coordinates(&section.varying());
            Some(KeyFigure {
                label: format!("{}: missed {deadline}", section.title),
                value: figure(misses.per_million()),
                unit: "per million",
                details: at,
            })
        });
        // The heaviest load is the last.
        keys.last().into_iter().collect()
    },
    ..SectionView::DEFAULT
};

fn how_to_read(section: &Section<'_>) -> &'static str {
    let due = |point: &Point<'_>| point.plan().workload.rate_iops > 0.0;
    if section.points.iter().any(due) {
        return "I/Os are due at a fixed rate, whether or not earlier ones have completed, and \
                each has a deadline. A million of them is what a busy server does in minutes: a \
                few hundred misses per million are stalls that users see. Read the table from \
                the lowest rate up: a drive carries the highest rate whose misses are acceptable.";
    }
    "Each I/O is submitted when the one before it has completed, and has a deadline. A million of \
     them is what a busy server does in minutes: a few hundred misses per million are stalls that \
     users see. A closed loop submits less while the drive stalls, so that with arrivals at a \
     fixed rate more would be late."
}
