//! Drives measured concurrently: alone and together, and interval by interval in the layout of
//! `iostat`.

use std::collections::BTreeSet;

use assay_stats::HostLoad;
use assay_store::model::HOST_BUSY_PCT;
use assay_store::read::{CellDrive, CellRecord};
use assay_store::series::IntervalSample;
use assay_units::{MIB, Nanos, rate};

use crate::format::{figure, joined, percent, plural};
use crate::grid::{Point, Section};
use crate::metric::ResultMetric;
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::tables::cells::{cell_of, remarks};
use crate::tables::figures::{host_cells, host_columns, host_text};

/// Most rows of a table of intervals; a longer one adds up neighbouring intervals.
pub const MAX_ROWS: usize = 120;

/// The points of a cell that measured several drives concurrently, one per drive.
pub type ConcurrentCell<'s, 'a> = [&'s Point<'a>];

/// The concurrent cells of a section.
pub fn cells<'s, 'a>(section: &'s Section<'a>) -> Vec<Vec<&'s Point<'a>>> {
    let mut cells: Vec<Vec<&'s Point<'a>>> = Vec::new();
    for point in section.points.iter().filter(|p| p.is_concurrent()) {
        let same = |c: &&mut Vec<&Point<'_>>| std::ptr::eq(c[0].cell, point.cell);
        match cells.iter_mut().find(same) {
            Some(cell) => cell.push(point),
            None => cells.push(vec![point]),
        }
    }
    cells
}

/// Caption of a table or chart: section, workload and content.
pub fn caption(section: &Section<'_>, cell: &ConcurrentCell<'_, '_>, what: &str) -> String {
    let workload = cell[0].coordinates(&section.varying());
    format!("{}: {}", section.title, joined([what, &workload], ", "))
}

/// Bandwidth, IOPS and p99, and the keys by which a suite may record the figure of the drive alone
/// with the result instead of in a cell of its own.
const COMPARED: [(ResultMetric, &str); 3] = [
    (ResultMetric::BANDWIDTH, "mib_per_s_alone"),
    (ResultMetric::IOPS, "iops_alone"),
    (ResultMetric::P99, ""),
];

/// Each drive alone and together.
pub fn comparison(section: &Section<'_>, cell: &ConcurrentCell<'_, '_>) -> Table {
    let columns = COMPARED.iter().enumerate().flat_map(|(i, (metric, _))| {
        let labels = ["alone", "together", "% of alone"].into_iter();
        let labels = labels.take(if i == 0 { 3 } else { 2 });
        labels.map(|label| Column::under(metric.title, label, ""))
    });
    let mut rows: Vec<Row> = Vec::new();
    for point in cell {
        let mut cells = Vec::new();
        for (i, (metric, key)) in COMPARED.into_iter().enumerate() {
            let recorded = point.result().and_then(|r| r.values.get(key).copied());
            let alone = point.alone.as_deref();
            let measured = alone.and_then(|a| metric.value(a.result()?));
            cells.push(match (alone, measured, recorded) {
                (Some(alone), Some(_), _) => cell_of(alone, |r| metric.value(r)),
                (_, _, Some(value)) => TableCell::figure(value),
                _ => {
                    let why = "not measured alone with the same workload";
                    TableCell::Missing("n/a", why.to_owned())
                }
            });
            cells.push(cell_of(point, |r| metric.value(r)));
            if i == 0 {
                let together = point.result().and_then(|r| metric.value(r));
                let pair = measured.or(recorded).zip(together);
                let pair = pair.filter(|(alone, _)| *alone > 0.0);
                let share = pair.map(|(alone, together)| 100.0 * together / alone);
                cells.push(TableCell::percent(share));
            }
        }
        rows.push(point.table_row(cells));
    }
    rows.push(total(cell));
    let alone = cell.iter().filter_map(|p| p.alone.as_deref());
    let points: Vec<Point<'_>> = cell.iter().copied().chain(alone).cloned().collect();
    let mut notes = remarks(&points);
    if let Some(load) = mean_load(cell[0].cell) {
        let shares = host_text(&load);
        notes.push(format!("host CPU while together, % of all processors: {shares}"));
    }
    notes.extend(simulated_host(cell));
    let caption = caption(section, cell, "alone and together");
    Table::of_drives(caption, columns.collect(), rows, notes)
}

/// The host that simulated drives shared, and how busy they kept it.
fn simulated_host(cell: &ConcurrentCell<'_, '_>) -> Option<String> {
    let host = cell[0].plan().simulated_host.as_ref()?;
    let shares = (cell.iter()).filter_map(|p| p.result()?.values.get(HOST_BUSY_PCT).copied());
    let busy = percent(shares.sum());
    let uplink = match host.uplink_bytes_per_second {
        Some(bytes) => {
            format!("an uplink of {} MiB/s that all share", figure(bytes as f64 / MIB as f64))
        }
        None => "lanes of its own for each drive".to_owned(),
    };
    Some(format!(
        "one simulated host for all drives: {}, {busy} % busy with their I/Os, and {uplink}",
        plural(host.processors as usize, "processor")
    ))
}

/// Sums of the concurrent rates.
fn total(cell: &ConcurrentCell<'_, '_>) -> Row {
    let sum = |metric: ResultMetric| {
        let results = cell.iter().filter_map(|p| p.result());
        TableCell::figure(results.filter_map(|r| metric.value(r)).sum::<f64>())
    };
    let mut drives = cell.iter().map(|p| p.set.drives[p.drive].info);
    let heading =
        Heading { text: "all together".to_owned(), simulated: drives.any(|d| d.simulated) };
    let [bandwidth, iops] = [ResultMetric::BANDWIDTH, ResultMetric::IOPS].map(sum);
    let cells = vec![TableCell::Empty, bandwidth, TableCell::Empty, TableCell::Empty, iops];
    Row::new(heading, cells)
}

/// The host's mean load in a cell: as recorded with a result, else of its intervals.
fn mean_load(cell: &CellRecord) -> Option<HostLoad> {
    let recorded = cell.drives.iter().find_map(|d| d.result.as_ref()?.host);
    let loads = || -> Vec<HostLoad> { cell.host.iter().map(|(_, load)| *load).collect() };
    recorded.or_else(|| HostLoad::mean(&loads()))
}

/// Interval by interval: KiB/t, tps and MiB/s of each drive, and the host's processors.
pub fn intervals(section: &Section<'_>, cell: &ConcurrentCell<'_, '_>) -> Table {
    let intervals = |p: &&Point<'_>| p.data.map(CellDrive::intervals).unwrap_or_default();
    let series: Vec<Vec<IntervalSample>> = cell.iter().map(intervals).collect();
    let indices: BTreeSet<u32> = series.iter().flatten().map(|t| t.index).collect();
    let indices = Vec::from_iter(indices);
    let per_row = indices.len().div_ceil(MAX_ROWS).max(1);
    let mut columns = Vec::new();
    for point in cell {
        let heading = &point.set.drives[point.drive].heading;
        columns.extend(["KiB/t", "tps", "MiB/s"].map(|label| Column::of_drive(heading, label)));
    }
    let host = &cell[0].cell.host;
    if !host.is_empty() {
        columns.extend(host_columns());
    }
    let row = |chunk: &[u32]| {
        let within = chunk[0]..=chunk[chunk.len() - 1];
        // Intervals are sorted by index, so those of a chunk are contiguous.
        let of_chunk = |intervals: &'_ Vec<IntervalSample>| {
            let from = intervals.partition_point(|t| t.index < *within.start());
            let to = intervals.partition_point(|t| t.index <= *within.end());
            from..to
        };
        let all = series.iter().flat_map(|s| &s[of_chunk(s)]);
        let end_s = all.map(|t| t.end).max().unwrap_or_default().as_secs_f64();
        let mut cells = Vec::new();
        for intervals in &series {
            cells.extend(transfer_cells(&intervals[of_chunk(intervals)]));
        }
        if !host.is_empty() {
            let loads = host.iter().filter(|(i, _)| within.contains(i));
            let loads: Vec<HostLoad> = loads.map(|(_, load)| *load).collect();
            cells.extend(host_cells(HostLoad::mean(&loads).as_ref()));
        }
        let decimals = usize::from((end_s - end_s.round()).abs() >= 0.05);
        Row::new(Heading::plain(format!("{end_s:.decimals$}")), cells)
    };
    let mut notes =
        vec!["as in iostat: KiB/t is KiB per transfer, tps transfers per second".to_owned()];
    if per_row > 1 {
        notes.push(format!(
            "each row adds up {per_row} intervals; the run folder contains every one"
        ));
    }
    Table {
        caption: caption(section, cell, "interval by interval, all drives concurrently"),
        corner: "until, s".to_owned(),
        columns,
        rows: indices.chunks(per_row).map(row).collect(),
        notes,
    }
}

/// KiB/t, tps, MiB/s of some intervals of a drive.
fn transfer_cells(intervals: &[IntervalSample]) -> [TableCell; 3] {
    let ios: u64 = intervals.iter().map(IntervalSample::ios).sum();
    let bytes: u64 = intervals.iter().map(IntervalSample::bytes).sum();
    let spans = intervals.iter().map(IntervalSample::elapsed);
    let span = spans.fold(Nanos::ZERO, |sum, span| sum + span);
    if span == Nanos::ZERO {
        return <[TableCell; 3]>::default();
    }
    [
        TableCell::figure((ios > 0).then(|| bytes as f64 / ios as f64 / 1024.0)),
        TableCell::figure(rate::per_second(ios, span)),
        TableCell::figure(rate::mib_per_second(bytes, span)),
    ]
}
