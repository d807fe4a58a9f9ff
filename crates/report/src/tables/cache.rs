//! Hit rate, rate and latency of workloads on a disk with a block cache.

use assay_store::model::{CACHE_DIRTY_MIB, CACHE_HIT_PCT};
use assay_units::MIB;
use assay_units::text::format_size;

use crate::format::{joined, percent};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::figures::operations;
use crate::tables::jobs::workload_text;
use crate::tables::{latency_cells, mark, reason};

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
    columns.push(Column::of("dirty at the end", ""));
    let mut rows: Vec<Row> = Vec::new();
    for point in &section.points {
        let leading = vec![
            TableCell::Text(name(point)),
            TableCell::Text(workload_text(point.plan())),
        ];
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
            cells.push(dirty.map_or(TableCell::Empty, |bytes| {
                TableCell::Text(format_size(bytes))
            }));
            rows.push(point.table_row(cells));
        }
    }
    let mut notes = section.remarks();
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
