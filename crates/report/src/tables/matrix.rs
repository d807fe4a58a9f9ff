//! One metric by the axes that vary, such as bandwidth by block size and threads.

use assay_analysis::estimate;

use crate::axis::Axis;
use crate::drive_set::DriveSet;
use crate::format;
use crate::grid::{Point, Section};
use crate::metric::ResultMetric;
use crate::table::{Cell, Column, Heading, Row, Table};
use crate::tables::{cell_of, name, remarks, spread, spread_note};

/// The table of one metric; `None` when nothing varies.
pub fn table(set: &DriveSet<'_>, section: &Section<'_>, metric: ResultMetric) -> Option<Table> {
    if section.rows.len() * section.columns.len() < 2 {
        return None;
    }
    let compared = compared_data(section).filter(|_| !metric.is_latency());
    let mut columns = Vec::new();
    // Drive and column under it; `None` is the ratio of the two columns before it.
    let mut places: Vec<(usize, Option<usize>)> = Vec::new();
    for &drive in &section.drives {
        let heading = name(set, drive);
        for column in 0..section.columns.len() {
            let mut points = section.points.iter();
            if points.any(|p| p.drive == drive && p.column == column) {
                columns.push(Column::of_drive(&heading, section.column_label(column)));
                places.push((drive, Some(column)));
            }
        }
        if let Some((base, other)) = compared {
            let label = format!(
                "{} \u{f7} {}",
                section.column_label(other),
                section.column_label(base)
            );
            columns.push(Column::of_drive(&heading, label));
            places.push((drive, None));
        }
    }
    let value = |row, column, drive| metric.of(section.at(row, column, drive)?.result()?);
    let rows = 0..section.rows.len();
    let of_columns = places.iter().filter_map(|(d, c)| c.map(|c| (*d, c)));
    let largest = of_columns
        .flat_map(|(d, c)| rows.clone().filter_map(move |r| value(r, c, d)))
        .fold(0.0, f64::max);
    let cell = |row, (drive, column): (usize, Option<usize>)| match (column, compared) {
        (Some(column), _) => {
            let rivals = section.drives.iter().filter_map(|d| value(row, column, *d));
            let rivals: Vec<f64> = rivals.collect();
            section
                .at(row, column, drive)
                .map(|point| figure(point, metric, &rivals, largest))
                .unwrap_or_default()
        }
        (None, Some(pair)) => ratio(section, metric, row, drive, pair),
        (None, None) => Cell::Empty,
    };
    let rows: Vec<Row> = rows
        .map(|row| {
            let cells = places.iter().map(|place| cell(row, *place));
            Row::new(Heading::plain(section.row_label(row)), cells.collect())
        })
        .collect();
    let mut notes = remarks(set, &section.points);
    notes.extend(spread_note(&rows));
    let mut results = section.points.iter().filter_map(Point::result);
    if metric.is_latency() && results.any(|r| r.read.ios > 0 && r.write.ios > 0) {
        notes.push("of a mixed workload, the latency of the more frequent operation; the chart and the table of all figures contain both".to_owned());
    }
    if section.drives.len() > 1 {
        let which = if metric.is_latency() {
            "lowest"
        } else {
            "highest"
        };
        notes.push(format!(
            "bold: the {which} of the drives at the same workload"
        ));
    }
    Some(Table {
        caption: section.caption(metric.title()),
        corner: section.row_title().to_owned(),
        columns,
        rows,
        notes,
    })
}

fn figure(point: &Point<'_>, metric: ResultMetric, rivals: &[f64], largest: f64) -> Cell {
    let value = point.result().and_then(|r| metric.of(r)).unwrap_or(0.0);
    let beaten = |v: &f64| {
        if metric.is_latency() {
            *v < value
        } else {
            *v > value
        }
    };
    cell_of(point, |r| metric.of(r)).with(|n| {
        n.spread = half_width(point, metric);
        n.share = (largest > 0.0).then(|| value / largest);
        n.best = rivals.len() > 1 && !rivals.iter().any(beaten);
    })
}

/// Half-width of the confidence interval of a mean; `None` for percentiles, and where too few seconds were measured.
fn half_width(point: &Point<'_>, metric: ResultMetric) -> Option<String> {
    let estimates = estimate::of(point.data?);
    match metric {
        ResultMetric::Bandwidth => spread(estimates.mib_per_s, 1.0),
        ResultMetric::Iops => spread(estimates.iops, 1.0),
        ResultMetric::Mean => spread(estimates.latency_mean_ns, 1e3),
        _ => None,
    }
}

/// The columns whose ratio is shown when only the data differ under a drive: (incompressible, the other).
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
    metric: ResultMetric,
    row: usize,
    drive: usize,
    (base, other): (usize, usize),
) -> Cell {
    let result = |column| section.at(row, column, drive).and_then(|p| p.result());
    let (Some(base), Some(other)) = (result(base), result(other)) else {
        return Cell::Empty;
    };
    let recorded = other.values.get("ratio_to_incompressible").copied();
    let figures = metric
        .of(other)
        .zip(metric.of(base))
        .filter(|(_, base)| *base > 0.0);
    let ratio = recorded.or(figures.map(|(other, base)| other / base));
    let details = "1.00: both kinds of data are treated alike; more: reads are answered without accessing flash";
    ratio
        .map(|ratio| Cell::number(format::ratio(ratio)).with(|n| n.details = details.to_owned()))
        .unwrap_or_default()
}
