//! The depth that a drive gets per I/O queue (DragonFly NVMe tests, see docs/sources.md).

use assay_analysis::knee::total_depth;

use crate::chart::Chart;
use crate::charts::power;
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::cells::{axis_columns, cell_of, latency_cells, point_rows, section_remarks};
use crate::tables::host;
use crate::tables::interval::{spread_notes, with_spread};
use crate::views::descriptor::SectionView;
use crate::views::measured;

/// The same number of I/Os in flight, by one thread to many.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "The same number of I/Os in flight, from one deep queue to one I/O per thread. Linux gives \
         each processor a queue of the drive and shares them where the drive has fewer, so threads \
         set how many of the drive's queues are in use and how deep each is. Equal rates mean that \
         only the number in flight counts. A rate that falls with few threads is limited by the \
         host's processors (marked), or by a drive that takes little from one queue; one that \
         falls with many threads, by a drive or host that loses time between queues."
    },
    tables: |section| vec![table(section)],
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

/// Properties of a drive that give its number of I/O queues: those that the kernel made, else those
/// that the drive offers.
const QUEUE_COUNTS: [&str; 2] = ["hardware queues", "queue pairs"];

/// Number of I/O queues that the threads of the host share.
fn io_queues(point: &Point<'_>) -> Option<u32> {
    let details = &point.set.drives[point.drive].info.details;
    let mut counts = QUEUE_COUNTS.iter().filter_map(|key| details.get(*key)?.parse().ok());
    counts.find(|count| *count > 0)
}

/// Queues in use, at most one per thread, and I/Os in flight in each.
fn in_use(point: &Point<'_>) -> Option<(u32, f64)> {
    let workload = &point.plan().workload;
    let used = io_queues(point)?.min(workload.numjobs.max(1));
    Some((used, f64::from(total_depth(workload)) / f64::from(used)))
}

/// A mean depth: whole where the queues share the I/Os evenly.
fn depth_cell(depth: f64) -> TableCell {
    TableCell::number(format!("{:.1}", depth).trim_end_matches(".0"))
}

/// One row per drive and number of threads.
pub fn table(section: &Section<'_>) -> Table {
    let latencies = ["mean", "p99", "p99.99"];
    let mut columns = axis_columns(section);
    columns.push(Column::new("depth per thread", ""));
    columns.extend(Column::all_under("I/O queues", ["of the drive", "in use", "depth of each"]));
    columns.extend(Column::list([("rate", "IOPS"), ("bandwidth", "MiB/s"), ("of the best", "%")]));
    columns.extend(Column::all_under("latency, \u{b5}s", latencies));
    columns.extend(host::columns());
    let best = |drive: usize| {
        let rates = section.measured(drive).filter_map(|p| Some(p.result()?.iops()));
        rates.reduce(f64::max).filter(|best| *best > 0.0)
    };
    let rows = point_rows(section, |point| {
        let workload = &point.plan().workload;
        let (used, depth) = in_use(point).unzip();
        let mut cells = vec![
            TableCell::number(workload.iodepth.to_string()),
            io_queues(point)
                .map_or_else(TableCell::unreported, |n| TableCell::number(n.to_string())),
            used.map_or(TableCell::Empty, |n| TableCell::number(n.to_string())),
            depth.map_or(TableCell::Empty, depth_cell),
            with_spread(cell_of(point, |r| Some(r.iops())), point.estimates().iops, 1.0),
        ];
        let Some(result) = point.result() else {
            return cells;
        };
        let share = best(point.drive).map(|best| 100.0 * result.iops() / best);
        cells.push(TableCell::figure(result.mib_per_s()));
        cells.push(TableCell::percent(share));
        cells.extend(latency_cells(result.latency(), &latencies));
        cells.extend(host::cells(point));
        cells
    });
    let mut notes = section_remarks(section);
    notes.push(
        "in use: at most one queue per thread; threads that run on the same processor share its \
         queue"
            .to_owned(),
    );
    notes.extend(host::notes(section.points.iter()));
    let notes = spread_notes(notes, &rows);
    section.table("rate by depth per queue", columns, rows, notes).without_empty_columns()
}
