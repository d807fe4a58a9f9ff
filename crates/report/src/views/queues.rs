//! The depth that a drive gets per I/O queue (DragonFly NVMe tests, see docs/sources.md).

use super::{SectionView, measured};
use crate::axis::Axis;
use crate::charts::{Chart, power};
use crate::grid::Section;
use crate::tables::queues;

/// The same number of I/Os in flight, by one thread to many.
pub const VIEW: SectionView = SectionView {
    row_axes: &[Axis::Threads],
    how_to_read: |_| {
        "The same number of I/Os in flight, from one deep queue to one I/O per thread. Linux gives \
         each processor a queue of the drive and shares them where the drive has fewer, so threads \
         set how many of the drive's queues are in use and how deep each is. Equal rates mean that \
         only the number in flight counts. A rate that falls with few threads is limited by the \
         host's processors (marked), or by a drive that takes little from one queue; one that \
         falls with many threads, by a drive or host that loses time between queues."
    },
    tables: |section| vec![queues::table(section)],
    charts,
    key_figures: measured::VIEW.key_figures,
    ..SectionView::DEFAULT
};

/// Those of any measured workload; power by rate beside the rate.
fn charts(section: &Section<'_>) -> Vec<Chart> {
    let mut charts = (measured::VIEW.charts)(section);
    if let Some(at) = charts.iter().position(|c| c.switch == power::SWITCH) {
        let by_rate = charts.remove(at);
        let height = charts.first().map_or(by_rate.height, |c| c.height);
        let place = charts.len().min(1);
        charts.insert(place, Chart { height, ..by_rate });
    }
    charts
}
