//! Columns, rows and cells that tables of sections share, and the remarks below them.

use assay_analysis::verified;
use assay_stats::LatencySummary;
use assay_store::model::{CellResult, VerifySummary};
use assay_units::text::group_digits;

use crate::format::{self, distinct, duration, joined, stamp};
use crate::grid::{Point, Section};
use crate::metric::{LATENCIES, known};
use crate::table::{Column, Row, TableCell};
use crate::tables::predictive;

/// Columns of the axes along which the points of a section differ.
pub fn axis_columns(section: &Section<'_>) -> Vec<Column> {
    let axes = section.varying().into_iter();
    axes.map(|axis| Column::new(axis.title(), "")).collect()
}

/// The rows of every point: its values on the axes that vary, and each of these lists of cells.
pub fn rows_of_points<'s, 'a>(
    section: &'s Section<'a>,
    cells: impl Fn(&'s Point<'a>) -> Vec<Vec<TableCell>>,
) -> Vec<Row> {
    let axes = section.varying();
    let mut rows = Vec::new();
    for point in &section.points {
        let values = axes.iter().map(|axis| axis.value(point.plan()).label);
        let leading: Vec<TableCell> = values.map(TableCell::Text).collect();
        let row = |cells| point.table_row([leading.clone(), cells].concat());
        rows.extend(cells(point).into_iter().map(row));
    }
    rows
}

/// One row per point: its values on the axes that vary, and these cells.
pub fn point_rows<'s, 'a>(
    section: &'s Section<'a>,
    cells: impl Fn(&'s Point<'a>) -> Vec<TableCell>,
) -> Vec<Row> {
    rows_of_points(section, |point| vec![cells(point)])
}

/// The reason why a point has no figures.
pub fn reason(point: &Point<'_>) -> TableCell {
    point.remark().map_or(TableCell::Empty, |(short, full)| TableCell::Missing(short, full))
}

/// The short remark on an incomplete result.
pub fn mark(point: &Point<'_>) -> Option<String> {
    point.remark().map(|(short, _)| short.to_owned())
}

/// A figure of a point, marked where the result is incomplete, or the reason why there is none.
pub fn cell_of(point: &Point<'_>, value: impl FnOnce(&CellResult) -> Option<f64>) -> TableCell {
    let Some(result) = point.result() else {
        return reason(point);
    };
    let Some(value) = value(result) else {
        return TableCell::Missing("n/a", "nothing completed".to_owned());
    };
    let errors = result.errors();
    TableCell::figure(value).with(|number| {
        number.alarm = errors > 0;
        number.mark = match errors {
            0 => mark(point),
            1 => Some("1 error".to_owned()),
            n => Some(format!("{} errors", group_digits(n))),
        };
        number.details = summary(point, result);
    })
}

/// The latencies of these names in [`LATENCIES`], as cells.
pub fn latency_cells(summary: &LatencySummary, names: &[&str]) -> Vec<TableCell> {
    let named = LATENCIES.iter().filter(|(name, ..)| names.contains(name));
    named.map(|(_, of, needed)| TableCell::latency(of(summary), summary.samples, *needed)).collect()
}

/// True when any figure of the rows meets the condition.
pub fn any_number(rows: &[Row], condition: impl Fn(&crate::table::Number) -> bool) -> bool {
    let mut cells = rows.iter().flat_map(|r| &r.cells);
    cells.any(|c| matches!(c, TableCell::Number(n) if condition(n)))
}

/// A result in one line.
pub fn summary(point: &Point<'_>, result: &CellResult) -> String {
    let latency = result.latency();
    format!(
        "{}: {} MiB/s, {} IOPS, mean {} \u{b5}s, p99 {} \u{b5}s, {} errors",
        point.plan().id,
        format::figure(result.mib_per_s()),
        format::figure(result.iops()),
        format::micros(latency.mean),
        format::micros(known(latency.p99)),
        result.errors(),
    )
}

/// What verification found: `1,000 blocks, found 1 torn, 2 lost`; `no fault` when every block
/// matched; which blocks are not judged, and why.
pub fn verification(verify: &VerifySummary) -> String {
    let found = verify.found.iter().map(|(kind, n)| format!("{n} {kind}"));
    let found = joined(found, ", ");
    let text = match (verify.blocks_checked, found.is_empty()) {
        (0, true) => "no block".to_owned(),
        (checked, _) => {
            let found = format::text_or(&found, "no fault");
            format!("{} blocks, found {found}", group_digits(checked))
        }
    };
    match verified::not_judged(verify) {
        Some((_, reasons)) => format!("{text}; not judged: {reasons}"),
        None => text,
    }
}

/// Why results are missing or incomplete, each reason once, and further remarks on results.
pub fn remarks(points: &[Point<'_>]) -> Vec<String> {
    let remarks: Vec<_> =
        points.iter().filter_map(|p| Some((p.remark()?, p.plan().id.as_str()))).collect();
    let reasons = distinct(remarks.iter().map(|(reason, _)| reason));
    let text = |reason: &(&str, String)| {
        let (short, full) = reason;
        let same = remarks.iter().filter(|(other, _)| other == reason);
        match distinct(same.map(|(_, id)| *id)).as_slice() {
            [id] => format!("{short}: {full} ({id})"),
            ids => format!("{short}: {full} ({} cells)", ids.len()),
        }
    };
    let mut notes: Vec<String> = reasons.into_iter().map(text).collect();
    for point in points {
        let Some(result) = point.result() else {
            continue;
        };
        let subject = format!("{}, {}", point.name(), point.plan().id);
        let operations = result.operations();
        let overflow: u64 = operations.iter().map(|(_, op)| op.latency_ns.overflow).sum();
        if overflow > 0 {
            notes.push(format!(
                "{subject}: {overflow} latencies were beyond the histogram's range (over 73 \
                 minutes); mean and maximum include them"
            ));
        }
        for gap in point.data.iter().flat_map(|data| &data.gaps) {
            let at = duration(gap.start_ns.0);
            let dates = format!("from {} to {}", stamp(&gap.from), stamp(&gap.to));
            notes.push(match gap.span_ns.0 {
                0 => format!("{subject}: interrupted at {at} ({dates}); virtual time stood still"),
                span => format!("{subject}: interrupted at {at} for {} ({dates})", duration(span)),
            });
        }
        if let Some(verify) = &result.verify {
            notes.push(format!("{subject}: verified {}", verification(verify)));
            notes.extend(verify.examples.iter().map(|e| format!("{subject}: {e}")));
        }
    }
    notes
}

/// The remarks on a section's results, and the predictive intervals of simulated drives.
pub fn section_remarks(section: &Section<'_>) -> Vec<String> {
    let mut remarks = remarks(&section.points);
    remarks.extend(predictive::notes(&section.points));
    remarks
}
