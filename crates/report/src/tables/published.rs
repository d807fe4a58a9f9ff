//! Published figures of a drive beside those of its simulation for the same workload.

use assay_store::model::{CellKind, CellResult, Published, WorkloadRecord};
use assay_units::{MIB, median};

use crate::drive_set::DriveSet;
use crate::format::{distinct, figure, plural};
use crate::grid::{Point, Section};
use crate::metric::{LATENCIES, Latency};
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::tables::stream;

/// Errors above this are marked, percent.
const ALARM_PCT: f64 = 10.0;

/// Columns of a comparison.
const COLUMNS: [&str; 3] = ["published", "simulated", "error, %"];

/// Published rates and latencies beside the simulated ones, each with its summary: one table for
/// all drives.
pub fn all(section: &Section<'_>) -> Vec<(String, Table)> {
    let rates = section.drives.iter().filter_map(|d| Some((*d, table(section, *d)?)));
    let latencies = section.drives.iter().filter_map(|d| Some((*d, latency_table(section, *d)?)));
    let titled = [
        ("Published and simulated rates", "published and simulated, MiB/s", rates.collect()),
        (
            "Published and simulated latencies",
            "published and simulated latency, \u{b5}s",
            latencies.collect(),
        ),
    ];
    let folded = |(summary, what, tables): (&str, &str, Vec<(usize, Table)>)| {
        let rows = tables.iter().map(|(_, table)| table.rows.len()).sum::<usize>();
        let summary =
            format!("{summary}: {}, {}", plural(tables.len(), "drive"), plural(rows, "workload"));
        Some((summary, merged(section, tables, what)?))
    };
    titled.into_iter().filter_map(folded).collect()
}

/// Tables of several drives as one, their names in front of its rows; that of one drive as it is.
fn merged(section: &Section<'_>, mut tables: Vec<(usize, Table)>, what: &str) -> Option<Table> {
    if tables.len() < 2 {
        return tables.pop().map(|(_, table)| table);
    }
    let first = &tables[0].1;
    let mut columns = vec![Column::new(first.corner.clone(), "")];
    columns.extend(distinct(tables.iter().flat_map(|(_, t)| t.columns.iter().cloned())));
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for (drive, table) in &tables {
        let heading = &section.set.drives[*drive].heading;
        for row in &table.rows {
            let cell = |column: &Column| {
                let at = table.columns.iter().position(|c| c == column);
                at.map_or(TableCell::Empty, |at| row.cells[at].clone())
            };
            let mut cells = vec![TableCell::text(row.name.text.clone())];
            cells.extend(columns[1..].iter().map(cell));
            rows.push(Row::new(heading.clone(), cells));
        }
        notes.extend(table.notes.iter().map(|note| format!("{}: {note}", heading.text)));
    }
    Some(section.table(what, columns, rows, notes))
}

/// True when the figure is of this stream. A whole drive has a whole number of chunks.
fn same_stream(published: &Published, workload: &WorkloadRecord) -> bool {
    let chunks = |bytes: u64| bytes / workload.bs_bytes.max(1);
    published.rw == workload.rw
        && published.bs_bytes == workload.bs_bytes
        && published.data == workload.data
        && published.stream_bytes.map(chunks) == Some(chunks(workload.span_bytes))
}

/// True when the figure is of this workload.
fn same(published: &Published, workload: &WorkloadRecord) -> bool {
    published.stream_bytes.is_none()
        && published.rw == workload.rw
        && published.bs_bytes == workload.bs_bytes
        && published.numjobs == workload.numjobs
        && published.iodepth.max(1) == workload.iodepth
        && workload.rate_iops == 0.0
        && published.data == workload.data
}

/// Error statistics of the simulated drives, one row per drive and section; empty without published
/// figures.
pub fn summary(set: &DriveSet<'_>, sections: &[Section<'_>]) -> Table {
    let mut rows = Vec::new();
    for section in sections {
        for &drive in &section.drives {
            let compared = compared(section, drive);
            let (Some(median), Some(worst)) = (median_size(&compared), worst(&compared)) else {
                continue;
            };
            let cells = vec![
                TableCell::text(section.step),
                TableCell::number(compared.len().to_string()),
                TableCell::number(format!("{median:.1}")),
                TableCell::number(format!("{:+.1}", worst.error_pct)),
                TableCell::Text(section.location(worst.row, worst.column)),
            ];
            rows.push(Row::new(set.drives[drive].heading.clone(), cells));
        }
    }
    let labels = ["step", "figures", "median error, %", "greatest, %", "at"];
    Table {
        caption: "Published and simulated bandwidth".to_owned(),
        columns: labels.map(|label| Column::new(label, "")).to_vec(),
        rows,
        ..Table::default()
    }
}

/// A published figure and the simulated one.
struct Compared<'a> {
    row: usize,
    column: usize,
    published: &'a Published,
    simulated_mib_per_s: f64,
    error_pct: f64,
}

/// Every comparison of a drive in a section, row by row. Only measurements count: a soak is hot,
/// and concurrent drives share a host.
fn compared<'a>(section: &Section<'a>, drive: usize) -> Vec<Compared<'a>> {
    let figures = &section.set.drives[drive].info.published;
    let compare = |(row, column)| {
        let point = section.at(row, column, drive)?;
        let workload = &point.plan().workload;
        let mut rated = figures.iter().filter(|p| p.mib_per_s > 0.0);
        let (published, simulated_mib_per_s) = if section.is_stream() {
            let known = rated.find(|p| same_stream(p, workload));
            (known?, stream::mean_at(section, point)?)
        } else {
            let rate = point.result().map(CellResult::mib_per_s);
            (rated.find(|p| same(p, workload))?, rate?)
        };
        (point.plan().kind == CellKind::Measure).then(|| Compared {
            row,
            column,
            published,
            simulated_mib_per_s,
            error_pct: error_pct(published.mib_per_s, simulated_mib_per_s),
        })
    };
    section.locations().filter_map(compare).collect()
}

/// Relative error, percent.
fn error_pct(published: f64, simulated: f64) -> f64 {
    100.0 * (simulated / published - 1.0)
}

/// The publishers, each once.
fn sources<'p>(published: impl Iterator<Item = &'p Published>) -> String {
    distinct(published.map(|p| p.source.as_str())).join("; ")
}

/// The columns of comparisons under their headings.
fn columns<'l>(headings: impl Iterator<Item = &'l str>) -> Vec<Column> {
    headings.flat_map(|heading| Column::all_under(heading, COLUMNS)).collect()
}

fn table(section: &Section<'_>, drive: usize) -> Option<Table> {
    let compared = compared(section, drive);
    let (median, worst) = (median_size(&compared)?, worst(&compared)?);
    let at = |row, column| compared.iter().find(|c| (c.row, c.column) == (row, column));
    let mut shown: Vec<usize> = (0..section.columns.len()).collect();
    shown.retain(|column| compared.iter().any(|c| c.column == *column));
    let rows = (0..section.rows.len()).filter(|row| compared.iter().any(|c| c.row == *row));
    let rows = rows.map(|row| {
        let figures = shown.iter().map(|column| at(row, *column));
        let cells = figures
            .flat_map(|c| comparison(c.map(|c| (c.published.mib_per_s, c.simulated_mib_per_s))));
        Row::new(Heading::plain(section.row_label(row)), cells.collect())
    });
    let labels: Vec<String> = shown.iter().map(|c| section.column_label(*c)).collect();
    let name = section.set.full_name(drive);
    let stream = section.is_stream();
    let corner = if stream { "stream" } else { section.row_title() };
    Some(Table {
        caption: format!("{name}: published and simulated, MiB/s"),
        corner: corner.to_owned(),
        columns: columns(labels.iter().map(String::as_str)),
        rows: rows.collect(),
        notes: vec![format!(
            "{} published figures ({}): median error {median:.1} %, greatest {:+.1} % ({})",
            compared.len(),
            sources(compared.iter().map(|c| c.published)),
            worst.error_pct,
            section.location(worst.row, worst.column)
        )],
    })
}

/// The published latencies of a drive for measured workloads; `None` without any.
fn latency_table(section: &Section<'_>, drive: usize) -> Option<Table> {
    // The latencies that are published of some workloads.
    let published = |(name, ..): &&Latency| ["mean", "p50", "p99", "p99.999"].contains(name);
    let latencies = || LATENCIES.iter().filter(published);
    let figures = &section.set.drives[drive].info.published;
    let mut used: Vec<&Published> = Vec::new();
    let mut rows = Vec::new();
    for point in section.of_drive(drive) {
        let mut known = figures.iter().filter(|p| !p.latency_us.is_empty());
        let known = known.find(|p| same(p, &point.plan().workload));
        let (Some(known), Some(result)) = (known, point.result()) else {
            continue;
        };
        let simulated = result.latency();
        if point.plan().kind != CellKind::Measure || simulated.samples == 0 {
            continue;
        }
        used.push(known);
        let cells = latencies().flat_map(|(name, of, _)| {
            let published_us = known.latency_us.get(*name);
            comparison(published_us.map(|us| (*us, of(simulated) / 1e3)))
        });
        let heading = Heading::plain(section.location_or_title(point.row, point.column));
        rows.push(Row::new(heading, cells.collect()));
    }
    let name = section.set.full_name(drive);
    (!rows.is_empty()).then(|| Table {
        caption: format!("{name}: published and simulated latency, \u{b5}s"),
        corner: "workload".to_owned(),
        columns: columns(latencies().map(|(name, ..)| *name)),
        rows,
        notes: vec![format!("published: {}", sources(used.into_iter()))],
    })
}

/// The published score of a point and the error of the simulated one, as a note.
pub fn score_note(point: &Point<'_>, iops: f64) -> Option<String> {
    let workload = &point.plan().workload;
    let info = point.set.drives[point.drive].info;
    // Published scores are of the whole drive, without additional over-provisioning.
    if workload.span_bytes * 100 < info.capacity_bytes * 99 {
        return None;
    }
    let mut rated = info.published.iter().filter(|p| p.mib_per_s > 0.0);
    let known = rated.find(|p| same(p, workload))?;
    let published = known.mib_per_s * MIB as f64 / known.bs_bytes.max(1) as f64;
    Some(format!(
        "{}: published {} IOPS on average ({}), simulated {} ({:+.1} %)",
        point.name(),
        figure(published),
        known.source,
        figure(iops),
        error_pct(published, iops)
    ))
}

/// Published, simulated, error; empty cells without a pair.
fn comparison(pair: Option<(f64, f64)>) -> [TableCell; 3] {
    let Some((published, simulated)) = pair else {
        return <[TableCell; 3]>::default();
    };
    let error_pct = error_pct(published, simulated);
    let error = TableCell::number(format!("{error_pct:+.1}"));
    [
        TableCell::figure(published),
        TableCell::figure(simulated),
        error.with(|n| n.alarm = error_pct.abs() > ALARM_PCT),
    ]
}

fn median_size(compared: &[Compared<'_>]) -> Option<f64> {
    median(compared.iter().map(|c| c.error_pct.abs()))
}

fn worst<'c, 'a>(compared: &'c [Compared<'a>]) -> Option<&'c Compared<'a>> {
    let size = |c: &Compared<'_>| c.error_pct.abs();
    compared.iter().max_by(|a, b| size(a).total_cmp(&size(b)))
}

#[cfg(test)]
#[path = "../../tests/unit/tables/published.rs"]
mod tests;
