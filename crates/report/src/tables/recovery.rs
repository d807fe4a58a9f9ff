//! Recovery of the write rate by idle time (SNIA SSS PTS, host idle recovery).

use assay_analysis::recovery::{self, IdleSegment};

use crate::format::duration;
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::reason;

/// The bursts of a point; `None` for continuous writes.
pub fn segment(point: &Point<'_>) -> Option<IdleSegment> {
    recovery::of_cell(&point.set.runs[point.run], point.cell, point.index)
}

/// Idle time as text.
pub fn idle_text(segment: &IdleSegment) -> String {
    duration((segment.idle_s * 1e9).round() as u64)
}

/// One row per drive and idle time.
pub fn table(section: &Section<'_>) -> Table {
    let columns = Column::list([
        ("idle time", ""),
        ("burst", ""),
        ("bursts", ""),
        ("continuous writes before", "IOPS"),
        ("first burst", "IOPS"),
        ("after idle time", "IOPS"),
        ("recovered", "% of before"),
    ]);
    let rows = section.points.iter().filter_map(|point| {
        let bursts = point.plan().workload.bursts?;
        let mut cells = vec![
            TableCell::Text(duration(bursts.idle_ns)),
            TableCell::Text(duration(bursts.active_ns)),
        ];
        let segment = segment(point).filter(|_| point.result().is_some());
        match segment {
            None => cells.push(reason(point)),
            Some(segment) => {
                let apart = || {
                    let why = "the intervals are too long to tell the bursts apart";
                    TableCell::Missing("n/a", why.to_owned())
                };
                let first = segment.bursts.first().map(|burst| burst.iops);
                cells.extend([
                    TableCell::number(segment.bursts.len().to_string()),
                    TableCell::figure(segment.before_iops),
                    TableCell::figure(first).or(apart),
                    TableCell::figure(segment.iops()).or(apart),
                    TableCell::percent(segment.recovery_pct()),
                ]);
            }
        }
        Some(point.table_row(cells))
    });
    let rows = rows.collect();
    let mut notes = section.remarks();
    notes.push(
        "after idle time: mean of all bursts but the first, which follows continuous writes; \
         before: the last half of the continuous writes before the segment. 100 %: idle time \
         recovers nothing"
            .to_owned(),
    );
    section.table("rate after idle time", columns, rows, notes)
}
