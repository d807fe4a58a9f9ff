//! One metric by the axes that vary, such as bandwidth by block size and threads.

use crate::axis::Axis;
use crate::format;
use crate::grid::{Point, Section};
use crate::metric::ResultMetric;
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::tables::cells::{cell_of, section_remarks};
use crate::tables::interval::{set_spread, spread_notes};
use crate::tables::predictive;

/// The table of one metric; `None` when nothing varies.
pub fn table(section: &Section<'_>, metric: ResultMetric) -> Option<Table> {
    if section.rows.len() * section.columns.len() < 2 {
        return None;
    }
    let compared = compared_data(section).filter(|_| !metric.is_latency());
    let mut columns = Vec::new();
    // Drive and column under it; `None` is the ratio of the two columns before it.
    let mut sources: Vec<(usize, Option<usize>)> = Vec::new();
    for &drive in &section.drives {
        let heading = &section.set.drives[drive].heading;
        for column in 0..section.columns.len() {
            if section.of_drive(drive).any(|p| p.column == column) {
                columns.push(Column::of_drive(heading, section.column_label(column)));
                sources.push((drive, Some(column)));
            }
        }
        if let Some((base, other)) = compared {
            let (base, other) = (section.column_label(base), section.column_label(other));
            columns.push(Column::of_drive(heading, format!("{other} \u{f7} {base}")));
            sources.push((drive, None));
        }
    }
    let value = |row, column, drive| metric.value(section.at(row, column, drive)?.result()?);
    let rows = 0..section.rows.len();
    let of_columns = sources.iter().filter_map(|(d, c)| c.map(|c| (*d, c)));
    let largest = of_columns
        .flat_map(|(d, c)| rows.clone().filter_map(move |r| value(r, c, d)))
        .fold(0.0, f64::max);
    let cell = |row, (drive, column): (usize, Option<usize>)| match (column, compared) {
        (Some(column), _) => {
            let rivals = section.drives.iter().filter_map(|d| value(row, column, *d));
            let rivals: Vec<f64> = rivals.collect();
            let point = section.at(row, column, drive);
            point.map_or(TableCell::Empty, |p| figure(p, metric, &rivals, largest))
        }
        (None, Some(pair)) => ratio(section, metric, row, drive, pair),
        (None, None) => TableCell::Empty,
    };
    let rows: Vec<Row> = rows
        .map(|row| {
            let cells = sources.iter().map(|source| cell(row, *source));
            Row::new(Heading::plain(section.row_label(row)), cells.collect())
        })
        .collect();
    let mut notes = spread_notes(section_remarks(section), &rows);
    if metric.is_latency() && section.results().any(|r| r.read.ios > 0 && r.write.ios > 0) {
        notes.push(
            "of a mixed workload, the latency of the more frequent operation; the chart and the \
             table of all figures contain both"
                .to_owned(),
        );
    }
    if section.drives.len() > 1 {
        let latency = metric.is_latency();
        let which = if latency { "lowest" } else { "highest" };
        notes.push(format!("bold: the {which} of the drives at the same workload"));
    }
    Some(Table {
        caption: section.caption(metric.title),
        corner: section.row_title().to_owned(),
        columns,
        rows,
        notes,
    })
}

fn figure(point: &Point<'_>, metric: ResultMetric, rivals: &[f64], largest: f64) -> TableCell {
    let value = point.result().and_then(|r| metric.value(r)).unwrap_or(0.0);
    let latency = metric.is_latency();
    let beaten = |v: &f64| if latency { *v < value } else { *v > value };
    let estimates = point.estimates();
    // Percentiles have no estimate.
    let (estimate, unit) = match metric.label {
        "Bandwidth" => (Some(estimates.mib_per_s), 1.0),
        "IOPS" => (Some(estimates.iops), 1.0),
        "Mean latency" => (Some(estimates.latency_mean_ns), 1e3),
        _ => (None, 1.0),
    };
    cell_of(point, |r| metric.value(r)).with(|n| {
        // Of a simulated drive, what matters is how far the real one may be from it, which the
        // table's note says, not the run's sampling noise.
        let [predicted, _] = predictive::factors_of_point(point);
        if let Some(estimate) = estimate.filter(|_| predicted.is_none()) {
            set_spread(n, estimate, unit);
        }
        n.share = (largest > 0.0).then(|| value / largest);
        n.best = rivals.len() > 1 && !rivals.iter().any(beaten);
    })
}

/// The columns whose ratio is shown when only the data differ under a drive: (incompressible, the
/// other).
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
) -> TableCell {
    let result = |column| section.at(row, column, drive).and_then(|p| p.result());
    let (Some(base), Some(other)) = (result(base), result(other)) else {
        return TableCell::Empty;
    };
    let recorded = other.values.get("ratio_to_incompressible").copied();
    let figures = metric.value(other).zip(metric.value(base));
    let figures = figures.filter(|(_, base)| *base > 0.0);
    let ratio = recorded.or(figures.map(|(other, base)| other / base));
    let details = "1.00: both kinds of data are treated alike; more: reads are answered without \
                   accessing flash";
    ratio.map_or(TableCell::Empty, |ratio| {
        TableCell::number(format::ratio(ratio)).with(|n| n.details = details.to_owned())
    })
}
