//! Published figures of a drive beside those that its simulation gives for the same workload.

use assay_store::model::{CellKind, Published, Workload};

use crate::axis::Axis;
use crate::format;
use crate::grid::{Point, Section};
use crate::lineup::Lineup;
use crate::table::{Cell, Column, Name, Number, Row, Table};

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

/// The published figure of a point's very workload, and the simulated one.
///
/// Steps measured for their own sake only: a soak is hot, and drives together share a host.
fn pair<'a>(lineup: &Lineup<'a>, point: &Point<'a>) -> Option<(&'a Published, f64)> {
    if point.plan().kind != CellKind::Measure {
        return None;
    }
    let result = point.result()?;
    let published = &lineup.drives[point.drive].info.published;
    let figure = published.iter().find(|p| same(p, &point.plan().workload))?;
    Some((figure, result.mib_per_s()))
}

fn same(published: &Published, workload: &Workload) -> bool {
    published.rw == workload.rw
        && published.bs_bytes == workload.bs_bytes
        && published.numjobs == workload.numjobs
        && workload.iodepth == 1
        && workload.rate_iops == 0.0
        && published.data == workload.data
}

/// How near each simulated drive comes, in a line per drive and section; empty when nothing of it was published.
pub fn summary(lineup: &Lineup<'_>, sections: &[Section<'_>]) -> Table {
    let mut rows = Vec::new();
    for section in sections {
        for &drive in &section.drives {
            let errors = errors(lineup, section, drive);
            let (Some(median), Some((worst, place))) = (median(&errors), worst(&errors)) else {
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
                    Cell::number(errors.len().to_string()),
                    Cell::number(format!("{median:.1}")),
                    Cell::number(format!("{worst:+.1}")),
                    Cell::Text(place.to_owned()),
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

/// Every comparison of a drive in a section: error in percent of the published figure, and where.
fn errors(lineup: &Lineup<'_>, section: &Section<'_>, drive: usize) -> Vec<(f64, String)> {
    let mut errors = Vec::new();
    for row in 0..section.rows.len() {
        for column in 0..section.columns.len() {
            let point = section.at(row, column, drive);
            if let Some((published, simulated)) = point.and_then(|p| pair(lineup, p)) {
                let place = [&section.rows[row].label, &section.column_label(column)]
                    .into_iter()
                    .filter(|s| !s.is_empty())
                    .cloned()
                    .collect::<Vec<String>>()
                    .join(", ");
                errors.push((error_pct(published, simulated), place));
            }
        }
    }
    errors
}

fn error_pct(published: &Published, simulated: f64) -> f64 {
    100.0 * (simulated / published.mib_per_s - 1.0)
}

fn table(lineup: &Lineup<'_>, section: &Section<'_>, drive: usize) -> Option<Table> {
    let found = |row: usize, column: usize| {
        let point = section.at(row, column, drive)?;
        pair(lineup, point)
    };
    let rows_with = |column: usize| (0..section.rows.len()).any(|r| found(r, column).is_some());
    let shown: Vec<usize> = (0..section.columns.len())
        .filter(|c| rows_with(*c))
        .collect();
    let errors = errors(lineup, section, drive);
    let mut sources: Vec<&str> = Vec::new();
    let mut rows = Vec::new();
    for row in 0..section.rows.len() {
        if shown.iter().all(|c| found(row, *c).is_none()) {
            continue;
        }
        let label = section.rows[row].label.clone();
        let mut cells = Vec::new();
        for &column in &shown {
            let Some((published, simulated)) = found(row, column) else {
                cells.extend([Cell::Empty, Cell::Empty, Cell::Empty]);
                continue;
            };
            if !sources.contains(&published.source.as_str()) {
                sources.push(&published.source);
            }
            let error_pct = error_pct(published, simulated);
            cells.extend([
                Cell::number(format::figure(published.mib_per_s)),
                Cell::number(format::figure(simulated)),
                Cell::Number(Number {
                    text: format!("{error_pct:+.1}"),
                    alarm: error_pct.abs() > FAR_PCT,
                    ..Number::default()
                }),
            ]);
        }
        rows.push(Row {
            name: Name::plain(if section.row_axis.is_some() {
                label
            } else {
                section.title.to_owned()
            }),
            cells,
        });
    }
    let columns = shown
        .iter()
        .flat_map(|c| {
            let label = section.column_label(*c);
            let group = (!label.is_empty()).then(|| Name::plain(label));
            ["published", "simulated", "error, %"].map(|heading| Column {
                group: group.clone(),
                label: heading.to_owned(),
                unit: "",
            })
        })
        .collect();
    let (median, (worst, place)) = (median(&errors)?, worst(&errors)?);
    Some(Table {
        caption: format!(
            "{}: published and simulated, MiB/s",
            lineup.drives[drive].full_name()
        ),
        corner: section.row_axis.map_or("", Axis::title).to_owned(),
        columns,
        rows,
        notes: vec![format!(
            "{} published figures ({}): median error {median:.1} %, greatest {worst:+.1} % ({place})",
            errors.len(),
            sources.join("; ")
        )],
    })
}

fn median(errors: &[(f64, String)]) -> Option<f64> {
    let mut sizes: Vec<f64> = errors.iter().map(|(e, _)| e.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let middle = sizes.len() / 2;
    let upper = *sizes.get(middle)?;
    Some(if sizes.len() % 2 == 1 {
        upper
    } else {
        f64::midpoint(sizes[middle - 1], upper)
    })
}

fn worst(errors: &[(f64, String)]) -> Option<(f64, &str)> {
    errors
        .iter()
        .max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()))
        .map(|(e, place)| (*e, place.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_the_worst_go_by_size_not_sign() {
        let errors = |list: &[f64]| list.iter().map(|e| (*e, e.to_string())).collect::<Vec<_>>();
        assert_eq!(median(&errors(&[-3.0, 1.0, 2.0])), Some(2.0));
        assert_eq!(median(&errors(&[-3.0, 1.0])), Some(2.0));
        assert_eq!(worst(&errors(&[-3.0, 1.0, 2.0])), Some((-3.0, "-3")));
        assert_eq!(median(&[]), None);
    }
}
