//! Block size by threads, and its like: rows and columns are the axes that vary.

use assay_analysis::estimate;

use crate::axis::Axis;
use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::metric::Metric;
use crate::table::{Cell, Column, Name, Number, Row, Table};
use crate::tables::{cell_of, name, remarks, spread, spread_note};

/// The table of one metric; `None` when nothing varies, so that there is no table to lay out.
pub fn table(lineup: &Lineup<'_>, section: &Section<'_>, metric: Metric) -> Option<Table> {
    let cells = section.rows.len() * section.columns.len();
    if cells < 2 {
        return None;
    }
    let compared = compared_data(section).filter(|_| metric.more_is_better());
    let mut columns = Vec::new();
    // (drive, column under it); `None` is the ratio of the two columns before it.
    let mut places: Vec<(usize, Option<usize>)> = Vec::new();
    for &drive in &section.drives {
        let group = Some(name(lineup, drive));
        for column in 0..section.columns.len() {
            let occurs = |p: &crate::grid::Point<'_>| p.drive == drive && p.column == column;
            if section.points.iter().any(occurs) {
                columns.push(Column {
                    group: group.clone(),
                    label: section.column_label(column),
                    unit: "",
                });
                places.push((drive, Some(column)));
            }
        }
        if let Some((base, other)) = compared {
            columns.push(Column {
                group,
                label: format!(
                    "{} \u{f7} {}",
                    section.column_label(other),
                    section.column_label(base)
                ),
                unit: "",
            });
            places.push((drive, None));
        }
    }
    let value = |row, column, drive| {
        let point = section.at(row, column, drive)?;
        metric.of(point.result()?)
    };
    let all = places.iter().filter_map(|(d, c)| c.map(|c| (*d, c)));
    let largest = all
        .flat_map(|(d, c)| (0..section.rows.len()).filter_map(move |r| value(r, c, d)))
        .fold(0.0, f64::max);
    let rows: Vec<Row> = (0..section.rows.len())
        .map(|row| Row {
            name: Name::plain(if section.row_axis.is_some() {
                section.rows[row].label.clone()
            } else {
                section.title.to_owned()
            }),
            cells: places
                .iter()
                .map(|&(drive, column)| match (column, compared) {
                    (Some(column), _) => {
                        let rivals: Vec<f64> = section
                            .drives
                            .iter()
                            .filter_map(|d| value(row, column, *d))
                            .collect();
                        figure(section, metric, (row, column, drive), &rivals, largest)
                    }
                    (None, Some(pair)) => ratio(section, metric, row, drive, pair),
                    (None, None) => Cell::Empty,
                })
                .collect(),
        })
        .collect();
    let mut notes = remarks(lineup, &section.points);
    notes.extend(spread_note(&rows));
    let mixed = |r: &assay_store::model::CellResult| r.read.ios > 0 && r.write.ios > 0;
    if metric.is_latency() && section.points.iter().filter_map(Point::result).any(mixed) {
        notes.push("of a mixed workload, the latency of the operation that did more; the chart and the table of all figures have both".to_owned());
    }
    if section.drives.len() > 1 {
        let which = if metric.more_is_better() {
            "highest"
        } else {
            "lowest"
        };
        notes.push(format!(
            "bold: the {which} of the drives at the same workload"
        ));
    }
    Some(Table {
        caption: format!("{}: {}", section.title, metric.title()),
        corner: section.row_axis.map_or("", Axis::title).to_owned(),
        columns,
        rows,
        notes,
    })
}

fn figure(
    section: &Section<'_>,
    metric: Metric,
    (row, column, drive): (usize, usize, usize),
    rivals: &[f64],
    largest: f64,
) -> Cell {
    let Some(point) = section.at(row, column, drive) else {
        return Cell::Empty;
    };
    let cell = cell_of(point, |r| metric.of(r), format::figure);
    let Cell::Number(number) = cell else {
        return cell;
    };
    let value = point.result().and_then(|r| metric.of(r)).unwrap_or(0.0);
    let beaten = |v: &f64| {
        if metric.more_is_better() {
            *v > value
        } else {
            *v < value
        }
    };
    Cell::Number(Number {
        spread: known(point, metric),
        share: (largest > 0.0).then(|| value / largest),
        best: rivals.len() > 1 && !rivals.iter().any(beaten),
        ..number
    })
}

/// How well a mean is known; nothing for percentiles, and where too few seconds were measured.
fn known(point: &Point<'_>, metric: Metric) -> Option<String> {
    let estimates = estimate::of(point.part?);
    match metric {
        Metric::Bandwidth => spread(estimates.mib_per_s, 1.0),
        Metric::Iops => spread(estimates.iops, 1.0),
        Metric::Mean => spread(estimates.latency_mean_ns, 1e3),
        _ => None,
    }
}

/// The two columns to divide when all that differs under a drive is the data: (incompressible, the other).
fn compared_data(section: &Section<'_>) -> Option<(usize, usize)> {
    if section.column_axes != [Axis::Data] || section.columns.len() != 2 {
        return None;
    }
    let base = (0..2).find(|c| section.columns[*c][0].label == "incompressible")?;
    Some((base, 1 - base))
}

/// The ratio as the suite recorded it, else of the two figures beside it.
fn ratio(
    section: &Section<'_>,
    metric: Metric,
    row: usize,
    drive: usize,
    (base, other): (usize, usize),
) -> Cell {
    let result = |column| section.at(row, column, drive).and_then(|p| p.result());
    let (Some(base), Some(other)) = (result(base), result(other)) else {
        return Cell::Empty;
    };
    let recorded = other.values.get("ratio_to_incompressible").copied();
    let computed = match (metric.of(other), metric.of(base)) {
        (Some(other), Some(base)) if base > 0.0 => Some(other / base),
        _ => None,
    };
    match recorded.or(computed) {
        Some(ratio) => Cell::Number(Number {
            text: format::ratio(ratio),
            more: "1.00 means that the drive treats both alike; more means that it never reads its flash"
                .to_owned(),
            ..Number::default()
        }),
        None => Cell::Empty,
    }
}
