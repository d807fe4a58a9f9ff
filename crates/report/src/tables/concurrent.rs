//! Drives measured concurrently: alone and together, and interval by interval in the layout of `iostat`.

use assay_stats::HostLoad;
use assay_store::read::{CellDrive, CellRecord};
use assay_store::series::IntervalSample;
use assay_units::{Nanos, rate};

use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, Section};
use crate::metric::ResultMetric;
use crate::table::{Cell, Column, Heading, Row, Table};
use crate::tables::figures::HOST;
use crate::tables::{cell_of, name, remarks};

/// Most rows of a table of intervals; a longer one adds up neighbouring intervals.
pub const MAX_ROWS: usize = 120;

/// A cell that measured several drives concurrently.
#[derive(Clone, Debug)]
pub struct ConcurrentCell<'a> {
    /// The cell.
    pub cell: &'a CellRecord,
    /// Its points, one per drive.
    pub points: Vec<Point<'a>>,
    /// For each, the same workload of that drive alone.
    pub alone: Vec<Option<Point<'a>>>,
}

impl ConcurrentCell<'_> {
    /// Caption of a table or chart: section, workload and content.
    pub fn caption(&self, section: &Section<'_>, what: &str) -> String {
        match self.points[0].coordinates(&section.varying()) {
            none if none.is_empty() => section.caption(what),
            workload => format!("{}, {workload}: {what}", section.title),
        }
    }
}

/// The concurrent cells of a section.
pub fn cells<'a>(section: &Section<'a>, all: &[Section<'a>]) -> Vec<ConcurrentCell<'a>> {
    let mut cells: Vec<ConcurrentCell<'a>> = Vec::new();
    for point in section.points.iter().filter(|p| p.is_concurrent()) {
        let alone = alone(point, section, all);
        let same = |c: &&mut ConcurrentCell<'a>| {
            c.points[0].run == point.run && c.cell.plan.id == point.plan().id
        };
        match cells.iter_mut().find(same) {
            Some(cell) => {
                cell.points.push(point.clone());
                cell.alone.push(alone);
            }
            None => cells.push(ConcurrentCell {
                cell: point.cell,
                points: vec![point.clone()],
                alone: vec![alone],
            }),
        }
    }
    cells
}

/// The same workload of the same drive alone: of the same step, else of any.
fn alone<'a>(point: &Point<'a>, section: &Section<'a>, all: &[Section<'a>]) -> Option<Point<'a>> {
    let same = |p: &&Point<'a>| {
        let (a, b) = (&p.plan().workload, &point.plan().workload);
        !p.is_concurrent()
            && p.drive == point.drive
            && p.result().is_some()
            && (&a.rw, a.bs_bytes, a.numjobs, a.iodepth, &a.data, a.direct)
                == (&b.rw, b.bs_bytes, b.numjobs, b.iodepth, &b.data, b.direct)
    };
    let anywhere = all.iter().flat_map(|s| &s.points);
    section.points.iter().chain(anywhere).find(same).cloned()
}

/// Each drive alone and together.
pub fn comparison(set: &DriveSet<'_>, section: &Section<'_>, cell: &ConcurrentCell<'_>) -> Table {
    use ResultMetric::{Bandwidth, Iops, P99};
    let mut columns = Vec::new();
    for metric in [Bandwidth, Iops, P99] {
        let labels = ["alone", "together", "% of alone"];
        let labels = &labels[..if metric == Bandwidth { 3 } else { 2 }];
        columns.extend(
            labels
                .iter()
                .map(|label| Column::under(metric.title(), label, "")),
        );
    }
    let mut rows: Vec<Row> = Vec::new();
    for (point, alone) in cell.points.iter().zip(&cell.alone) {
        let mut cells = Vec::new();
        for metric in [Bandwidth, Iops, P99] {
            // A suite may record the figure of the drive alone with the result instead of in a cell of its own.
            let key = match metric {
                Bandwidth => "mib_per_s_alone",
                Iops => "iops_alone",
                _ => "",
            };
            let recorded = point.result().and_then(|r| r.values.get(key).copied());
            let measured = alone.as_ref().and_then(|a| metric.of(a.result()?));
            cells.push(match (alone, measured, recorded) {
                (Some(alone), Some(_), _) => cell_of(alone, |r| metric.of(r)),
                (_, _, Some(value)) => Cell::figure(value),
                _ => Cell::Missing(
                    "n/a",
                    "not measured alone with the same workload".to_owned(),
                ),
            });
            cells.push(cell_of(point, |r| metric.of(r)));
            if metric == Bandwidth {
                let together = point.result().and_then(|r| metric.of(r));
                let pair = measured
                    .or(recorded)
                    .zip(together)
                    .filter(|(alone, _)| *alone > 0.0);
                cells.push(
                    pair.map(|(alone, together)| Cell::percent(100.0 * together / alone))
                        .unwrap_or_default(),
                );
            }
        }
        rows.push(Row::new(name(set, point.drive), cells));
    }
    rows.push(total(set, cell));
    let alone = cell.alone.iter().flatten();
    let points: Vec<Point<'_>> = cell.points.iter().chain(alone).cloned().collect();
    let mut notes = remarks(set, &points);
    if let Some(load) = mean_load(cell.cell) {
        let shares = HOST
            .iter()
            .map(|(label, of)| format!("{label} {}", format::percent(of(&load))));
        let shares = shares.collect::<Vec<String>>().join(", ");
        notes.push(format!(
            "host CPU while together, % of all processors: {shares}"
        ));
    }
    Table::of_drives(
        cell.caption(section, "alone and together"),
        columns,
        rows,
        notes,
    )
}

/// Sums of the concurrent rates.
fn total(set: &DriveSet<'_>, cell: &ConcurrentCell<'_>) -> Row {
    let sum = |metric: ResultMetric| {
        let results = cell.points.iter().filter_map(Point::result);
        Cell::figure(results.filter_map(|r| metric.of(r)).sum())
    };
    let heading = Heading {
        text: "all together".to_owned(),
        simulated: cell
            .points
            .iter()
            .any(|p| set.drives[p.drive].info.simulated),
    };
    let (bandwidth, iops) = (sum(ResultMetric::Bandwidth), sum(ResultMetric::Iops));
    Row::new(
        heading,
        vec![Cell::Empty, bandwidth, Cell::Empty, Cell::Empty, iops],
    )
}

/// The host's mean load in a cell: as recorded with a result, else of its intervals.
fn mean_load(cell: &CellRecord) -> Option<HostLoad> {
    let recorded = cell.drives.iter().find_map(|d| d.result.as_ref()?.host);
    let loads = || {
        cell.host
            .iter()
            .map(|(_, load)| *load)
            .collect::<Vec<HostLoad>>()
    };
    recorded.or_else(|| HostLoad::mean(&loads()))
}

/// Interval by interval: KB/t, tps and MB/s of each drive, and the host's processors.
pub fn intervals(set: &DriveSet<'_>, section: &Section<'_>, cell: &ConcurrentCell<'_>) -> Table {
    let points = cell.points.iter();
    let series: Vec<Vec<IntervalSample>> = points
        .map(|p| p.data.map(CellDrive::intervals).unwrap_or_default())
        .collect();
    let mut indices: Vec<u32> = series.iter().flatten().map(|t| t.index).collect();
    indices.sort_unstable();
    indices.dedup();
    let per_row = indices.len().div_ceil(MAX_ROWS).max(1);
    let mut columns = Vec::new();
    for point in &cell.points {
        let heading = name(set, point.drive);
        columns.extend(["KB/t", "tps", "MB/s"].map(|label| Column::of_drive(&heading, label)));
    }
    let host = &cell.cell.host;
    if !host.is_empty() {
        columns.extend(HOST.map(|(label, _)| Column::under("host CPU, %", label, "")));
    }
    let row = |chunk: &[u32]| {
        let within = chunk[0]..=chunk[chunk.len() - 1];
        // Intervals are sorted by index, so those of a chunk are contiguous.
        let of_chunk = |intervals: &'_ Vec<IntervalSample>| {
            let from = intervals.partition_point(|t| t.index < *within.start());
            let to = intervals.partition_point(|t| t.index <= *within.end());
            from..to
        };
        let all = series
            .iter()
            .flat_map(|intervals| &intervals[of_chunk(intervals)]);
        let end_s = all.map(|t| t.end).max().unwrap_or_default().as_secs_f64();
        let mut cells = Vec::new();
        for intervals in &series {
            cells.extend(transfer_cells(&intervals[of_chunk(intervals)]));
        }
        if !host.is_empty() {
            let loads = host
                .iter()
                .filter(|(i, _)| within.contains(i))
                .map(|(_, load)| *load);
            let load = HostLoad::mean(&loads.collect::<Vec<HostLoad>>());
            cells.extend(HOST.map(|(_, of)| {
                load.as_ref()
                    .map(|l| Cell::percent(of(l)))
                    .unwrap_or_default()
            }));
        }
        let decimals = usize::from((end_s - end_s.round()).abs() >= 0.05);
        Row::new(Heading::plain(format!("{end_s:.decimals$}")), cells)
    };
    let mut notes = vec![
        "as in iostat: KB/t is KiB per transfer, tps transfers per second, MB/s MiB per second"
            .to_owned(),
    ];
    if per_row > 1 {
        notes.push(format!(
            "each row adds up {per_row} intervals; the run folder contains every one"
        ));
    }
    Table {
        caption: cell.caption(section, "interval by interval, all drives concurrently"),
        corner: "until, s".to_owned(),
        columns,
        rows: indices.chunks(per_row).map(row).collect(),
        notes,
    }
}

/// KB/t, tps, MB/s of some intervals of a drive.
fn transfer_cells(intervals: &[IntervalSample]) -> [Cell; 3] {
    let ios: u64 = intervals.iter().map(IntervalSample::ios).sum();
    let bytes: u64 = intervals.iter().map(IntervalSample::bytes).sum();
    let span = intervals
        .iter()
        .fold(Nanos::ZERO, |span, t| span + t.elapsed());
    if span == Nanos::ZERO {
        return [Cell::Empty, Cell::Empty, Cell::Empty];
    }
    let per_transfer = (ios > 0).then(|| Cell::figure(bytes as f64 / ios as f64 / 1024.0));
    [
        per_transfer.unwrap_or_default(),
        Cell::figure(rate::per_second(ios, span)),
        Cell::figure(rate::mib_per_second(bytes, span)),
    ]
}
