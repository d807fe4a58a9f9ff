//! Short workloads on an empty and on a full drive (AnandTech 660p).

use assay_analysis::fill::{self, FillEffect};

use crate::chart::Chart;
use crate::charts::percentiles;
use crate::format::{distinct, figure, joined, percent};
use crate::grid::{Point, Section};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{cell_of, latency_cells, reason, section_remarks};
use crate::views::descriptor::{KeyFigure, SectionView};
use crate::views::jobs::workload_text;

/// The same bursts in several states of fill.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "The same short workloads, one I/O at a time, on a drive with little data and on one that \
         has just been written to the end. Writes that are slower on the full drive no longer find \
         room in its SLC cache; reads that are slower come from multi-bit flash in place of the \
         cache, or wait behind the folding of the cache. What idle time gives back was background \
         work; what deallocation gives back was missing free flash. A drive without a cache has \
         the same figures in all states."
    },
    tables: |section| vec![table(section)],
    charts: |section| charts(section).into_iter().collect(),
    key_figures,
    ..SectionView::DEFAULT
};

fn charts(section: &Section<'_>) -> Option<Chart> {
    let several = section.drives.len() > 1;
    let drives = section.drives.iter();
    let groups = drives.flat_map(|&drive| {
        let lists = by_workload(section, drive).into_iter();
        lists.map(move |points| {
            let name = several.then(|| section.set.chart_name(drive));
            let workload = workload_text(points[0].plan());
            let label = joined(name.into_iter().chain([workload]), ": ");
            let named = points.into_iter().map(|p| (p, p.variant().to_owned()));
            (label, named.collect::<Vec<_>>())
        })
    });
    percentiles::grouped(section, "workload", groups)
}

/// The workload that a state slows down most.
fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let effect = |point: &Point<'_>| effect(point)?.of_empty_pct;
    let found = section.measured(drive).filter_map(|p| Some((p, effect(p)?)));
    let least = found.min_by(|a, b| a.1.total_cmp(&b.1));
    let key = least.and_then(|(point, pct)| {
        let rate = point.result()?.mib_per_s();
        Some(KeyFigure {
            label: format!("{}, {}", workload_text(point.plan()), point.variant()),
            value: percent(pct),
            unit: "% of empty",
            details: format!("{} MiB/s, the slowest of all states", figure(rate)),
        })
    });
    key.into_iter().collect()
}

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
    let mut columns = vec![Column::new("workload", "")];
    for state in &states {
        columns.extend(Column::all_under(state, ["MiB/s", "% of empty", "p99, \u{b5}s"]));
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
    let mut notes = section_remarks(section);
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
