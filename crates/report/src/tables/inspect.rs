//! What a medium was found to hold, and what preparing it took.

use assay_units::text::format_size;

use crate::format;
use crate::grid::Point;
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Name, Row, Table};
use crate::tables::{name, remarks};

/// What inspection found: one row per cell and drive, one column per value.
pub fn table(lineup: &Lineup<'_>, points: &[Point<'_>], title: &str) -> Table {
    let mut keys: Vec<&str> = points
        .iter()
        .filter_map(Point::result)
        .flat_map(|r| r.values.keys().map(String::as_str))
        .collect();
    keys.sort_unstable();
    keys.dedup();
    let mut columns = vec![Column {
        label: "area".to_owned(),
        ..Column::default()
    }];
    columns.extend(keys.iter().map(|k| Column {
        label: format::humanise(k),
        ..Column::default()
    }));
    let rows = points
        .iter()
        .map(|point| {
            let workload = &point.plan().workload;
            let mut cells = vec![Cell::Text(format!(
                "{} at {}",
                format_size(workload.span_bytes),
                format_size(workload.offset_bytes)
            ))];
            match (point.result(), point.remark()) {
                (Some(result), _) => cells.extend(keys.iter().map(|k| {
                    let value = result.values.get(*k);
                    value.map_or(Cell::Empty, |v| Cell::number(format::figure(*v)))
                })),
                (None, Some((short, full))) => cells.push(Cell::Missing(short, full)),
                (None, None) => {}
            }
            cells.resize(columns.len(), Cell::Empty);
            Row {
                name: name(lineup, point.drive),
                cells,
            }
        })
        .collect();
    Table {
        caption: title.to_owned(),
        corner: "drive".to_owned(),
        columns,
        rows,
        notes: remarks(lineup, points),
    }
}

/// What preparing took: timed, but no result.
pub fn preparations(lineup: &Lineup<'_>, points: &[Point<'_>]) -> Table {
    let labels = ["what", "data", "written", "took", "bandwidth"];
    let columns = labels
        .map(|label| Column {
            group: None,
            label: label.to_owned(),
            unit: if label == "bandwidth" { "MiB/s" } else { "" },
        })
        .to_vec();
    let rows = points
        .iter()
        .map(|point| {
            let plan = point.plan();
            let mut cells = vec![
                Cell::Text(if plan.title.is_empty() {
                    plan.step.clone()
                } else {
                    plan.title.clone()
                }),
                Cell::Text(plan.workload.data.clone()),
            ];
            match (point.result(), point.remark()) {
                (Some(result), _) => {
                    cells.push(Cell::number(format_size(
                        result.read.bytes + result.write.bytes,
                    )));
                    cells.push(Cell::number(format::duration(result.elapsed.0)));
                    cells.push(Cell::number(format::figure(result.mib_per_s())));
                }
                (None, Some((short, full))) => cells.push(Cell::Missing(short, full)),
                (None, None) => {}
            }
            cells.resize(columns.len(), Cell::Empty);
            Row {
                name: Name {
                    ..name(lineup, point.drive)
                },
                cells,
            }
        })
        .collect();
    Table {
        caption: "Preparation of the areas that were measured".to_owned(),
        corner: "drive".to_owned(),
        columns,
        rows,
        notes: remarks(lineup, points),
    }
}
