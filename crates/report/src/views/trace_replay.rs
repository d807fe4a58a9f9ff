//! Replayed traces: rate, latency and energy of the whole and by phase (AnandTech Storage Bench,
//! see docs/sources.md).

use assay_analysis::trace_replay::{self, TracePhaseFigures};
use assay_store::model::TraceRecord;
use assay_units::text::group_digits;

use crate::charts::{percentiles, timeline};
use crate::format::{duration, figure, joined, micros};
use crate::grid::{Point, Section};
use crate::table::{Column, Heading, Row, Table, TableCell};
use crate::tables::cells::{axis_columns, latency_cells, point_rows, reason, section_remarks};
use crate::views::descriptor::{KeyFigure, SectionView};

/// A replay of a block trace.
pub const VIEW: SectionView = SectionView {
    how_to_read: |_| {
        "The requests of a recorded trace, in their order. With the times of the trace, a request \
         is due when it was recorded and its latency counts from then, so the data rate is the \
         trace's unless the drive falls behind: compare latencies and energy. In a closed loop the \
         drive gets the next request as soon as there is a free slot: compare data rates. Phases \
         are parts of the trace, one after the other: latencies that grow towards the end show a \
         full write cache or garbage collection."
    },
    tables: |section| vec![totals(section), phases(section)],
    charts: |section| {
        let charts = [timeline::chart(section), percentiles::chart(section)];
        charts.into_iter().flatten().collect()
    },
    key_figures,
    ..SectionView::DEFAULT
};

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let replays = section.measured(drive).filter_map(|point| {
        let total = trace_replay::figures(point.data?)?.total;
        let p99 = |name: &str, summary: &assay_stats::OpSummary| {
            let latency = &summary.latency_ns;
            (summary.ios > 0).then(|| format!("{name} p99 {} \u{b5}s", micros(latency.p99 as f64)))
        };
        let details = [
            p99("read", &total.read),
            p99("write", &total.write),
            total.energy_j.map(|joules| format!("{} J", figure(joules))),
        ];
        Some(KeyFigure {
            label: section.title.to_owned(),
            value: figure(mib_per_s(total.mb_per_s)),
            unit: "MiB/s",
            details: joined(details.into_iter().flatten(), ", "),
        })
    });
    replays.collect()
}

/// Latency shown of each operation, as in [`crate::metric::LATENCIES`].
const LATENCIES: [&str; 2] = ["mean", "p99"];
const OPERATIONS: [&str; 3] = ["read", "write", "flush"];

/// Analysis counts 10^6 bytes, as the published figures of traces; a page has one system.
fn mib_per_s(mb_per_s: f64) -> f64 {
    mb_per_s * 1e6 / f64::from(1 << 20)
}

fn columns() -> Vec<Column> {
    let mut columns = Column::list([("length", ""), ("I/Os", ""), ("data rate", "MiB/s")]);
    for operation in OPERATIONS {
        columns.extend(LATENCIES.map(|latency| Column::under(operation, latency, "\u{b5}s")));
    }
    columns.push(Column::new("energy", "J"));
    columns.push(Column::new("mean power", "W"));
    columns
}

fn cells(phase: &TracePhaseFigures) -> Vec<TableCell> {
    let mut cells = vec![
        TableCell::number(duration(phase.elapsed_ns.0)),
        TableCell::number(group_digits(phase.ios)),
        TableCell::figure(mib_per_s(phase.mb_per_s)),
    ];
    for summary in [&phase.read, &phase.write, &phase.flush] {
        cells.extend(match summary.ios {
            0 => vec![TableCell::Empty; LATENCIES.len()],
            _ => latency_cells(&summary.latency_ns, &LATENCIES),
        });
    }
    cells.push(TableCell::figure(phase.energy_j));
    let elapsed_s = phase.elapsed_ns.as_secs_f64();
    cells.push(TableCell::figure(phase.energy_j.map(|joules| joules / elapsed_s)));
    cells
}

fn record<'a>(point: &Point<'a>) -> Option<&'a TraceRecord> {
    point.result()?.trace.as_deref()
}

/// One row per replay.
pub fn totals(section: &Section<'_>) -> Table {
    let mut columns_of_all = axis_columns(section);
    columns_of_all.extend(columns());
    columns_of_all.push(Column::new("late", "%"));
    columns_of_all.push(Column::new("longest lag", "ms"));
    let rows = point_rows(section, |point| {
        let figures = point.data.and_then(trace_replay::figures);
        let Some((figures, record)) = figures.zip(record(point)) else {
            return vec![reason(point)];
        };
        let mut row = cells(&figures.total);
        let late = |value: f64| match record.timed {
            true => TableCell::figure(value),
            false => TableCell::Empty,
        };
        row.push(late(record.late_pct()));
        row.push(late(record.lag.max_ns.0 as f64 / 1e6));
        row
    });
    let table = section.table("whole trace", columns_of_all, rows, notes(section));
    table.without_empty_columns()
}

/// One row per phase of each replay.
pub fn phases(section: &Section<'_>) -> Table {
    let mut all = axis_columns(section);
    all.push(Column::new("from", ""));
    all.extend(columns());
    let axes = section.varying();
    let mut rows = Vec::new();
    for point in &section.points {
        let figures = point.data.and_then(trace_replay::figures);
        let phases = figures.map_or_else(Vec::new, |figures| figures.phases);
        let values = axes.iter().map(|axis| axis.value(point.plan()).label);
        let leading: Vec<TableCell> = values.map(TableCell::Text).collect();
        for (number, phase) in (1..).zip(&phases) {
            let mut row = leading.clone();
            row.push(TableCell::number(duration(phase.start_ns.0)));
            row.extend(cells(phase));
            let drive = &section.set.drives[point.drive].heading;
            // A table that is too wide is continued below: its rows are found by their heading.
            let name = Heading {
                text: format!("{}, phase {number}", drive.text),
                simulated: drive.simulated,
            };
            rows.push(Row::new(name, row));
        }
    }
    section.table("phases of the trace", all, rows, Vec::new()).without_empty_columns()
}

/// What was replayed, how, and what of it the drive did not get.
fn notes(section: &Section<'_>) -> Vec<String> {
    let mut notes = section_remarks(section);
    let mut add = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for point in &section.points {
        let Some(trace) = record(point) else { continue };
        add(format!(
            "{} ({}): {}, addresses {}",
            trace.file, trace.format, trace.timing, trace.map
        ));
        let counts = &trace.counts;
        let changes = [
            (counts.outside, "outside of the area and left out"),
            (counts.clipped, "shortened at its end"),
            (counts.wrapped, "continued at its start"),
            (counts.split, "split into several I/Os"),
            (counts.aligned, "widened or moved to whole blocks"),
            (counts.reordered, "with a time before an earlier one, which they were given"),
            (counts.unusable, "without length or of no known kind, left out"),
        ];
        let changes = changes.into_iter().filter(|(count, _)| *count > 0);
        let changes: Vec<String> =
            changes.map(|(count, what)| format!("{} {what}", group_digits(count))).collect();
        let reached = match trace.whole {
            true => format!("{} requests", group_digits(trace.requests)),
            false => format!(
                "the first {} I/Os of {} requests",
                group_digits(counts.ios),
                group_digits(trace.requests)
            ),
        };
        let name = point.name();
        add(match changes.is_empty() {
            true => format!("{name}: {reached}"),
            false => format!("{name}: {reached}: {}", changes.join(", ")),
        });
    }
    if section.points.iter().any(|point| record(point).is_some_and(|trace| trace.timed)) {
        add(format!(
            "late: submitted more than {} ms after it was due; lag: from due to submission",
            figure(1.0)
        ));
    }
    notes
}
