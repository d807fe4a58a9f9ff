//! A block cache in front of a disk.

use assay_store::model::{CACHE_DIRTY_MIB, CACHE_HIT_PCT, TelemetryRecord};
use assay_units::MIB;
use assay_units::text::format_size;

use crate::chart::{Chart, ChartView, colour, dash};
use crate::charts::draw::{Trace, linear, panels, thinned};
use crate::charts::percentiles;
use crate::format::{figure, joined, percent};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{latency_cells, mark, reason, section_remarks};
use crate::tables::figures::operations;
use crate::views::descriptor::{KeyFigure, SectionView};
use crate::views::jobs::workload_text;

/// Workloads with the hit rate of each.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "Hit rate: reads that the cache answered without the disk. A hit takes the time of the \
         cache device, a miss that of the disk, so percentiles jump from one to the other where \
         the hit rate passes them: with 98 % of hits, the 99th percentile is a miss. A second pass \
         over the same data shows what the cache has kept of the first. In write-back mode writes \
         take the time of the cache device until it is full of dirty data, then that of the disk; \
         in write-through mode always that of the disk."
    },
    tables: |section| vec![table(section)],
    charts: |section| {
        let percentiles = percentiles::by_drive(section, &|point| Some(name(point)));
        let charts: [Option<Chart>; 2] = [chart(section), percentiles];
        charts.into_iter().flatten().collect()
    },
    key_figures: |section, drive| {
        let key = |point: &Point<'_>| {
            let hits = hit_pct(point)?;
            Some(KeyFigure {
                label: format!("Hit rate, {}", name(point)),
                value: percent(hits),
                unit: "%",
                details: format!("{} IOPS", figure(point.result()?.iops())),
            })
        };
        section.measured(drive).filter_map(key).collect()
    },
    ..SectionView::DEFAULT
};

/// Reads that the cache answered, percent.
pub fn hit_pct(point: &Point<'_>) -> Option<f64> {
    point.result()?.values.get(CACHE_HIT_PCT).copied()
}

/// The step of a point and the number of its pass.
pub fn name(point: &Point<'_>) -> String {
    let plan = point.plan();
    let pass = plan.round.as_ref().filter(|round| round.most > 1);
    let pass = pass.map(|round| format!("pass {}", round.number));
    joined([Some(plan.title.clone()), pass].into_iter().flatten(), ", ")
}

/// One row per drive, workload and operation.
pub fn table(section: &Section<'_>) -> Table {
    const NAMES: [&str; 5] = ["mean", "p50", "p99", "p99.9", "max"];
    let mut columns = Column::list([
        ("step", ""),
        ("workload", ""),
        ("operation", ""),
        ("hit rate", "%"),
        ("bandwidth", "MiB/s"),
        ("rate", "IOPS"),
    ]);
    columns.extend(Column::all_under("latency, \u{b5}s", NAMES));
    columns.push(Column::new("dirty at the end", ""));
    let mut rows: Vec<Row> = Vec::new();
    for point in &section.points {
        let leading =
            vec![TableCell::Text(name(point)), TableCell::Text(workload_text(point.plan()))];
        let Some(result) = point.result() else {
            rows.push(point.table_row([leading, vec![reason(point)]].concat()));
            continue;
        };
        let hits = |operation: &str| match (operation, hit_pct(point)) {
            ("read", Some(percent_of_reads)) => TableCell::number(percent(percent_of_reads)),
            ("read", None) => TableCell::Missing("n/a", NO_HITS.to_owned()),
            _ => TableCell::Empty,
        };
        for (operation, summary) in operations(result) {
            let mut cells = leading.clone();
            cells.push(TableCell::text(operation));
            cells.push(hits(operation));
            let rate = TableCell::figure((summary.bytes > 0).then_some(summary.mib_per_s));
            cells.push(rate.with(|n| n.mark = mark(point)));
            cells.push(TableCell::figure(summary.iops));
            cells.extend(latency_cells(&summary.latency_ns, &NAMES));
            let dirty = result
                .values
                .get(CACHE_DIRTY_MIB)
                .filter(|mib| **mib > 0.0)
                .map(|mib| (*mib * MIB as f64) as u64);
            cells.push(dirty.map_or(TableCell::Empty, |bytes| TableCell::Text(format_size(bytes))));
            rows.push(point.table_row(cells));
        }
    }
    let mut notes = section_remarks(section);
    notes.push(
        "hit rate by the cache's own counters, of the reads after the ramp; a read of which it \
         had a part is a miss"
            .to_owned(),
    );
    let table = section.table("hit rate, rate and latency", columns, rows, notes);
    table.without_empty_columns()
}

const NO_HITS: &str = "the device is no bcache, dm-cache or simulated cached disk, its counters \
                       cannot be read (dm-cache: root is required), or they lack most reads of \
                       the cell (bcache adds its counters up every 14 s)";

/// The hit rate between consecutive readings of the counters: time in seconds, percent. Readings
/// between which nothing was read have none.
fn hit_rates(readings: &[TelemetryRecord]) -> Vec<(f64, f64)> {
    let counters = readings
        .iter()
        .filter_map(|reading| Some((reading.at, reading.cache_read_hits?, reading.cache_reads?)));
    let counters: Vec<_> = counters.collect();
    let pairs = counters.windows(2).filter_map(|pair| {
        let ((_, hits_before, reads_before), (at, hits, reads)) = (pair[0], pair[1]);
        let reads = reads.checked_sub(reads_before).filter(|reads| *reads > 0)?;
        let hits = hits.checked_sub(hits_before)?;
        Some((at.as_secs_f64(), 100.0 * hits as f64 / reads as f64))
    });
    pairs.collect()
}

/// One view per drive, a line per cell; `None` where no counters were read.
pub fn chart(section: &Section<'_>) -> Option<Chart> {
    let trace = |(at, point): (usize, &Point<'_>)| {
        let rates = hit_rates(&point.data?.telemetry);
        let trace = Trace {
            name: name(point),
            points: thinned(&rates).0,
            colour: colour(at),
            dash: dash(at / crate::chart::PALETTE),
            hover: "%{y:.1f} %".to_owned(),
            ..Trace::default()
        };
        (rates.len() > 1).then(|| trace.json())
    };
    let view = |drive: &usize| {
        let data = section.measured(*drive).enumerate().filter_map(trace);
        let layout = panels("time since the start, s", &[linear("hit rate, %")]);
        ChartView::new(section.set.chart_name(*drive), data.collect(), layout)
    };
    let views = section.drives.iter().filter_map(view).collect();
    let chart = Chart::new(section.caption("hit rate over time"), "drive", 320, views)?;
    Some(Chart { log_switch: false, ..chart })
}
