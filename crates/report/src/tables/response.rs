//! Response times at operating points (SNIA SSS PTS, demand intensity and composite block
//! workload).

use assay_store::model::{OperatingPoint, POINT_DEPTH, POINT_THREADS};

use crate::format::plural;
use crate::grid::{Point, Section};
use crate::table::{Column, Table, TableCell};
use crate::tables::{cell_of, latency_cells, reason};

/// Name of the operating point of a cell, with its threads and depth:
/// `maximum: 4 threads, depth 32`.
pub fn name(point: &Point<'_>) -> String {
    let which = match point.plan().point.as_ref().map(|p| p.which) {
        Some(OperatingPoint::Max) => "maximum",
        Some(OperatingPoint::Mid) => "middle",
        Some(OperatingPoint::Min) => "minimum",
        None => return point.plan().title.clone(),
    };
    match threads_and_depth(point) {
        Some((threads, depth)) => {
            format!("{which}: {}, depth {depth}", plural(threads, "thread"))
        }
        None => which.to_owned(),
    }
}

fn threads_and_depth(point: &Point<'_>) -> Option<(usize, usize)> {
    let value = |name: &str| point.result()?.values.get(name).map(|n| *n as usize);
    Some((value(POINT_THREADS)?, value(POINT_DEPTH)?))
}

/// One row per drive and operating point.
pub fn table(section: &Section<'_>) -> Table {
    let mut columns = Column::list([("operating point", ""), ("rate", "IOPS")]);
    let labels = ["mean", "p50", "p99", "p99.9", "p99.999", "max"];
    let columns_of_latency = labels.map(|label| Column::under("response time, \u{b5}s", label, ""));
    columns.extend(columns_of_latency);
    let rows = section.points.iter().map(|point| {
        let mut cells = vec![TableCell::Text(name(point))];
        match point.result() {
            None => cells.push(reason(point)),
            Some(result) => {
                cells.push(cell_of(point, |r| Some(r.iops())));
                cells.extend(latency_cells(result.latency(), &labels));
            }
        }
        point.table_row(cells)
    });
    let (rows, mut notes) = (rows.collect(), section.remarks());
    notes.push(
        "response times of the operation there was more of, reads or writes; p99.999 are five \
         nines"
            .to_owned(),
    );
    section.table("operating points", columns, rows, notes)
}
