//! Short workloads on a drive in several states of fill: empty, full, after idle time, deallocated.

use assay_analysis::fill::{self, FillEffect};

use super::jobs::workload_text;
use super::{cell_of, latency_cells, reason};
use crate::format::distinct;
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};

/// What the state of fill costs the workload of a point; `None` on the empty drive.
pub fn effect(point: &Point<'_>) -> Option<FillEffect> {
    fill::of_cell(&point.set.runs[point.run], point.cell, point.index)
}

/// The points of a drive, one list per workload, in the order of their first occurrence.
pub fn by_workload<'s, 'a>(section: &'s Section<'a>, drive: usize) -> Vec<Vec<&'s Point<'a>>> {
    let mut lists: Vec<Vec<&Point<'_>>> = Vec::new();
    for point in section.of_drive(drive) {
        let same = |list: &&mut Vec<&Point<'_>>| fill::same_workload(list[0].plan(), point.plan());
        match lists.iter_mut().find(same) {
            Some(list) => list.push(point),
            None => lists.push(vec![point]),
        }
    }
    lists
}

/// One row per drive and workload, three columns per state.
pub fn table(section: &Section<'_>) -> Table {
    let states = distinct(section.points.iter().map(Point::variant));
    let mut columns = vec![Column::of("workload", "")];
    for state in &states {
        columns.extend(Column::all_under(
            state,
            ["MiB/s", "% of empty", "p99, \u{b5}s"],
        ));
    }
    let mut rows: Vec<Row> = Vec::new();
    for &drive in &section.drives {
        for points in by_workload(section, drive) {
            let first = points[0];
            let mut cells = vec![TableCell::Text(workload_text(first.plan()))];
            for state in &states {
                match points.iter().rfind(|p| p.variant() == *state) {
                    None => cells.extend([TableCell::Empty, TableCell::Empty, TableCell::Empty]),
                    Some(point) => cells.extend(of_state(point)),
                }
            }
            rows.push(first.table_row(cells));
        }
    }
    let mut notes = section.remarks();
    if let Some(first) = states.first() {
        notes.push(format!(
            "% of empty: rate relative to that of the same workload in the first state ({first})"
        ));
    }
    let table = section.table("rate and latency", columns, rows, notes);
    table.without_empty_columns()
}

fn of_state(point: &Point<'_>) -> [TableCell; 3] {
    let Some(result) = point.result() else {
        return [reason(point), TableCell::Empty, TableCell::Empty];
    };
    let pct = effect(point).and_then(|effect| effect.of_empty_pct);
    let p99 = latency_cells(result.latency(), &["p99"]).pop();
    [
        cell_of(point, |r| Some(r.mib_per_s())),
        TableCell::percent(pct),
        p99.unwrap_or(TableCell::Empty),
    ]
}
