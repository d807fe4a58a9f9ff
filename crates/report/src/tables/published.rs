//! Published figures of a drive beside those that its simulation gives for the same workload.

use assay_stats::LatencySummary;
use assay_store::model::{CellKind, CellResult, Published, View, Workload};

use assay_units::median;

use crate::axis::Axis;
use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Name, Number, Row, Table};
use crate::tables::stream;

/// A simulated figure this far from the published one is marked.
const FAR_PCT: f64 = 10.0;

/// One table per drive of which the section has measured something that was published.
pub fn tables(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Table> {
    section
        .drives
        .iter()
        .filter_map(|drive| table(lineup, section, *drive))
        .collect()
}

/// Was the rate of this stream published? A whole drive is so many whole chunks.
fn same_stream(published: &Published, workload: &Workload) -> bool {
    let chunks = |bytes: u64| bytes / workload.bs_bytes.max(1);
    published.rw == workload.rw
        && published.bs_bytes == workload.bs_bytes
        && published.data == workload.data
        && published.stream_bytes.map(chunks) == Some(chunks(workload.span_bytes))
}

fn same(published: &Published, workload: &Workload) -> bool {
    published.stream_bytes.is_none()
        && published.rw == workload.rw
        && published.bs_bytes == workload.bs_bytes
        && published.numjobs == workload.numjobs
        && published.iodepth.max(1) == workload.iodepth
        && workload.rate_iops == 0.0
        && published.data == workload.data
}

/// How near each simulated drive comes, in a line per drive and section; empty when nothing of it was published.
pub fn summary(lineup: &Lineup<'_>, sections: &[Section<'_>]) -> Table {
    let mut rows = Vec::new();
    for section in sections {
        for &drive in &section.drives {
            let compared = compared(lineup, section, drive);
            let (Some(median), Some(worst)) = (median_size(&compared), worst(&compared)) else {
                continue;
            };
            let entrant = &lineup.drives[drive];
            rows.push(Row {
                name: Name {
                    text: entrant.name.clone(),
                    simulated: entrant.info.simulated,
                },
                cells: vec![
                    Cell::Text(section.step.to_owned()),
                    Cell::number(compared.len().to_string()),
                    Cell::number(format!("{median:.1}")),
                    Cell::number(format!("{:+.1}", worst.error_pct)),
                    Cell::Text(section.place(worst.row, worst.column)),
                ],
            });
        }
    }
    let column = |label: &str| Column {
        label: label.to_owned(),
        ..Column::default()
    };
    Table {
        caption: "Published and simulated bandwidth".to_owned(),
        columns: vec![
            column("step"),
            column("figures"),
            column("median error, %"),
            column("greatest, %"),
            column("at"),
        ],
        rows,
        ..Table::default()
    }
}

/// A place in a section's table where a figure was measured that was published too.
struct Compared<'a> {
    row: usize,
    column: usize,
    published: &'a Published,
    simulated_mib_per_s: f64,
    /// Of the published figure.
    error_pct: f64,
}

/// Every comparison of a drive in a section, row by row.
///
/// Only steps measured for their own sake: a soak is hot, and drives together share a host.
fn compared<'a>(lineup: &Lineup<'a>, section: &Section<'a>, drive: usize) -> Vec<Compared<'a>> {
    let figures = &lineup.drives[drive].info.published;
    let mut compared = Vec::new();
    for row in 0..section.rows.len() {
        for column in 0..section.columns.len() {
            let point = section.at(row, column, drive);
            let Some(point) = point.filter(|p| p.plan().kind == CellKind::Measure) else {
                continue;
            };
            let plan = point.plan();
            let streams = plan.view.is_some_and(View::is_stream);
            let same = if streams { same_stream } else { same };
            let rated = figures.iter().filter(|p| p.mib_per_s > 0.0);
            let figure = rated.into_iter().find(|p| same(p, &plan.workload));
            let rate = if streams {
                stream::mean_at(section, point)
            } else {
                point.result().map(CellResult::mib_per_s)
            };
            let (Some(published), Some(simulated_mib_per_s)) = (figure, rate) else {
                continue;
            };
            compared.push(Compared {
                row,
                column,
                published,
                simulated_mib_per_s,
                error_pct: 100.0 * (simulated_mib_per_s / published.mib_per_s - 1.0),
            });
        }
    }
    compared
}

fn table(lineup: &Lineup<'_>, section: &Section<'_>, drive: usize) -> Option<Table> {
    let compared = compared(lineup, section, drive);
    let (median, worst) = (median_size(&compared)?, worst(&compared)?);
    let at = |row, column| compared.iter().find(|c| (c.row, c.column) == (row, column));
    let columns: Vec<usize> = (0..section.columns.len())
        .filter(|column| compared.iter().any(|c| c.column == *column))
        .collect();
    let rows = (0..section.rows.len())
        .filter(|row| compared.iter().any(|c| c.row == *row))
        .map(|row| Row {
            name: Name::plain(if section.row_axis.is_some() {
                section.rows[row].label.clone()
            } else {
                section.title.to_owned()
            }),
            cells: columns
                .iter()
                .flat_map(|&column| three(at(row, column)))
                .collect(),
        })
        .collect();
    let mut sources: Vec<&str> = Vec::new();
    for one in &compared {
        if !sources.contains(&one.published.source.as_str()) {
            sources.push(&one.published.source);
        }
    }
    Some(Table {
        caption: format!(
            "{}: published and simulated, MiB/s",
            lineup.drives[drive].full_name()
        ),
        corner: if section.view.is_some_and(View::is_stream) {
            "stream"
        } else {
            section.row_axis.map_or("", Axis::title)
        }
        .to_owned(),
        columns: columns
            .iter()
            .flat_map(|column| {
                let label = section.column_label(*column);
                let group = (!label.is_empty()).then(|| Name::plain(label));
                ["published", "simulated", "error, %"].map(|heading| Column {
                    group: group.clone(),
                    label: heading.to_owned(),
                    unit: "",
                })
            })
            .collect(),
        rows,
        notes: vec![format!(
            "{} published figures ({}): median error {median:.1} %, greatest {:+.1} % ({})",
            compared.len(),
            sources.join("; "),
            worst.error_pct,
            section.place(worst.row, worst.column)
        )],
    })
}

/// A latency's published name, and what a result has of it, nanoseconds.
type LatencyFigure = (&'static str, fn(&LatencySummary) -> f64);

/// The latencies that are published of some workloads.
const LATENCIES: [LatencyFigure; 4] = [
    ("mean", |l| l.mean),
    ("p50", |l| l.p50 as f64),
    ("p99", |l| l.p99 as f64),
    ("p99.999", |l| l.p99_999 as f64),
];

/// One table per drive of which the section has measured something whose latencies were published.
pub fn latencies(lineup: &Lineup<'_>, section: &Section<'_>) -> Vec<Table> {
    let of = |drive: usize| {
        let figures = &lineup.drives[drive].info.published;
        let mut sources: Vec<&str> = Vec::new();
        let mut rows = Vec::new();
        for point in section.points.iter().filter(|p| p.drive == drive) {
            let known = figures.iter().filter(|p| !p.latency_us.is_empty());
            let known = known.into_iter().find(|p| same(p, &point.plan().workload));
            let (Some(known), Some(result)) = (known, point.result()) else {
                continue;
            };
            let simulated = result.latency();
            if point.plan().kind != CellKind::Measure || simulated.samples == 0 {
                continue;
            }
            if !sources.contains(&known.source.as_str()) {
                sources.push(&known.source);
            }
            let cells = LATENCIES.iter().flat_map(|(name, of)| {
                let Some(published_us) = known.latency_us.get(*name) else {
                    return [Cell::Empty, Cell::Empty, Cell::Empty];
                };
                let us = of(simulated) / 1e3;
                let error_pct = 100.0 * (us / published_us - 1.0);
                triple(*published_us, us, error_pct)
            });
            rows.push(Row {
                name: Name::plain(match section.place(point.row, point.column) {
                    place if place.is_empty() => section.title.to_owned(),
                    place => place,
                }),
                cells: cells.collect(),
            });
        }
        (!rows.is_empty()).then(|| Table {
            caption: format!(
                "{}: published and simulated latency, \u{b5}s",
                lineup.drives[drive].full_name()
            ),
            corner: "workload".to_owned(),
            columns: LATENCIES
                .iter()
                .flat_map(|(name, _)| {
                    ["published", "simulated", "error, %"]
                        .map(|heading| Column::under(name, heading, ""))
                })
                .collect(),
            rows,
            notes: vec![format!("published: {}", sources.join("; "))],
        })
    };
    section.drives.iter().filter_map(|d| of(*d)).collect()
}

/// What was published of the score of a point, and how far the simulated one is from it, in a line.
pub fn score_note(lineup: &Lineup<'_>, point: &Point<'_>, iops: f64) -> Option<String> {
    let plan = point.plan();
    // The whole drive: nothing was published of one with spare area.
    let capacity = lineup.drives[point.drive].info.capacity_bytes;
    if plan.workload.span_bytes * 100 < capacity * 99 {
        return None;
    }
    let known = &lineup.drives[point.drive].info.published;
    let known = known
        .iter()
        .find(|p| p.mib_per_s > 0.0 && same(p, &plan.workload))?;
    let published = known.mib_per_s * (1 << 20) as f64 / known.bs_bytes.max(1) as f64;
    Some(format!(
        "{}: published {} IOPS on average ({}), simulated {} ({:+.1} %)",
        lineup.drives[point.drive].full_name(),
        format::figure(published),
        known.source,
        format::figure(iops),
        100.0 * (iops / published - 1.0)
    ))
}

/// Published, simulated, error.
fn three(compared: Option<&Compared<'_>>) -> [Cell; 3] {
    let Some(one) = compared else {
        return [Cell::Empty, Cell::Empty, Cell::Empty];
    };
    triple(
        one.published.mib_per_s,
        one.simulated_mib_per_s,
        one.error_pct,
    )
}

fn triple(published: f64, simulated: f64, error_pct: f64) -> [Cell; 3] {
    [
        Cell::number(format::figure(published)),
        Cell::number(format::figure(simulated)),
        Cell::Number(Number {
            text: format!("{error_pct:+.1}"),
            alarm: error_pct.abs() > FAR_PCT,
            ..Number::default()
        }),
    ]
}

fn median_size(compared: &[Compared<'_>]) -> Option<f64> {
    median(compared.iter().map(|c| c.error_pct.abs()))
}

fn worst<'c, 'a>(compared: &'c [Compared<'a>]) -> Option<&'c Compared<'a>> {
    compared
        .iter()
        .max_by(|a, b| a.error_pct.abs().total_cmp(&b.error_pct.abs()))
}

#[cfg(test)]
#[path = "../../tests/unit/tables/published.rs"]
mod tests;
