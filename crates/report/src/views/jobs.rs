//! Jobs that run at once on one drive.

use assay_analysis::interference::{self, Interference};
use assay_stats::{LatencySummary, OpSummary};
use assay_store::model::{CellPlan, CellResult, rw_text};
use assay_units::Op;

use crate::axis::jobs_text;
use crate::chart::Chart;
use crate::charts::percentiles;
use crate::format::{figure, joined, micros, percent, plural, ratio};
use crate::grid::{Point, Section};
use crate::metric::{LATENCIES, Latency};
use crate::table::{Column, Row, Table, TableCell};
use crate::tables::cells::{cell_of, latency_cells, mark, reason, section_remarks};
use crate::tables::figures::operations;
use crate::views::deadlines;
use crate::views::descriptor::{KeyFigure, SectionView};

/// The jobs of a step.
pub const JOBS: SectionView = SectionView {
    how_to_read: |_| {
        "Jobs that ran at once on one drive, each with its own rates and latencies. What a job \
         gets depends on the others: compare it with the same job alone."
    },
    tables,
    charts,
    key_figures,
    ..SectionView::DEFAULT
};

/// One workload alone, and beside several others, each in a step of its own.
pub const INTERFERENCE: SectionView = SectionView {
    how_to_read: |_| {
        "The same workload first alone, then beside other jobs on the same drive. A median that \
         stays, with a 99.99th percentile that is many times as long, means that most operations \
         find their die idle and a few wait behind a program, an erase or a full write buffer. A \
         drive that suspends programs for reads, or that reserves time for them, keeps the tail \
         short. The rate falls with the mean latency where the queue depth is fixed."
    },
    ..JOBS
};

fn tables(section: &Section<'_>) -> Vec<Table> {
    let tables = [slowdowns(section), table(section)];
    tables.into_iter().filter(|t| !t.is_empty()).collect()
}

fn charts(section: &Section<'_>) -> Vec<Chart> {
    let alone_too = section.points.iter().any(|p| interference_of(p).is_some());
    let name = |point: &Point<'_>| match alone_too {
        true => is_compared(point).then(|| jobs_text(point.plan())),
        false => Some(match &point.plan().job {
            Some(job) => joined([&jobs_text(point.plan()), &job.name], ", "),
            None => point.coordinates(&section.varying()),
        }),
    };
    percentiles::by_drive(section, &name).into_iter().collect()
}

fn key_figures(section: &Section<'_>, drive: usize) -> Vec<KeyFigure> {
    let key = |point: &Point<'_>| {
        let found = interference_of(point)?;
        let (name, times) = match (found.p99_99, found.p99) {
            (Some(times), _) => ("p99.99", times),
            (None, times) => ("p99", times?),
        };
        let latency = point.result()?.latency();
        let beside = if name == "p99.99" { latency.p99_99 } else { latency.p99 };
        let rate = found.kept_iops_pct.map_or(String::new(), percent);
        Some(KeyFigure {
            label: format!("{name} {}", lower_first(&jobs_text(point.plan()))),
            value: ratio(times),
            unit: "",
            details: format!("{} \u{b5}s; {rate} % of the rate alone", micros(beside as f64)),
        })
    };
    let keys: Vec<KeyFigure> = section.measured(drive).filter_map(key).collect();
    if !keys.is_empty() {
        return keys;
    }
    let foreground = section.measured(drive).find(|p| is_compared(p));
    let key = |point: &Point<'_>| {
        let result = point.result()?;
        let job = point.plan().job.as_ref()?;
        Some(KeyFigure {
            label: format!("{}: {}", section.title, job.name),
            value: figure(result.iops()),
            unit: "IOPS",
            details: format!("p99 {} \u{b5}s", micros(result.latency().p99 as f64)),
        })
    };
    foreground.and_then(key).into_iter().collect()
}

/// A title within a sentence.
fn lower_first(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

/// What the jobs beside a point cost it, where it was measured alone too.
pub fn interference_of(point: &Point<'_>) -> Option<Interference> {
    interference::of_cell(&point.set.runs[point.run], point.cell, point.index)
}

/// True for a workload alone, and for the foreground of jobs that run at once.
pub fn is_compared(point: &Point<'_>) -> bool {
    let job = point.plan().job.as_ref();
    job.is_none_or(|job| job.foreground)
}

/// A workload in a few words: `random read, 4 KiB, 2 threads, depth 8, 500 IOPS`; empty where the
/// cell was skipped before its workload was known.
pub fn workload_text(plan: &CellPlan) -> String {
    let w = &plan.workload;
    if w.rw.is_empty() {
        return String::new();
    }
    let mix = w.rwmixread.map_or(String::new(), |share| format!("{share} % reads"));
    let threads = (w.numjobs > 1).then(|| plural(w.numjobs as usize, "thread"));
    let depth = (w.iodepth > 1).then(|| format!("depth {}", w.iodepth));
    let offered = Some(w.rate_iops).filter(|rate| *rate > 0.0);
    let offered = offered.map(|rate| format!("{} IOPS offered", figure(rate)));
    let limit = w.rate_limit_iops.map(|rate| format!("at most {} IOPS", figure(rate)));
    let (rw, size) = (rw_text(&w.rw).to_owned(), w.block_size_text());
    let optional = [threads, depth, offered, limit].into_iter().flatten();
    joined([rw, mix, size].into_iter().chain(optional), ", ")
}

/// One row per drive, job and operation.
pub fn table(section: &Section<'_>) -> Table {
    const NAMES: [&str; 6] = ["mean", "p50", "p99", "p99.9", "p99.99", "max"];
    let mut columns = Column::list([
        ("beside", ""),
        ("job", ""),
        ("workload", ""),
        ("operation", ""),
        ("bandwidth", "MiB/s"),
        ("rate", "IOPS"),
    ]);
    columns.extend(Column::all_under("latency, \u{b5}s", NAMES));
    let due_ns = deadlines::deadlines_ns(&section.points);
    columns.extend(deadlines::columns(&due_ns));
    columns.push(Column::new("errors", ""));
    let first = section.points.first().map(|p| jobs_text(p.plan()));
    let several = (section.points.iter()).any(|p| Some(jobs_text(p.plan())) != first);
    let mixed = section.results().any(|r| operations(r).len() > 1);
    let failed = section.results().any(|r| r.errors() > 0);
    let mut rows: Vec<Row> = Vec::new();
    for point in &section.points {
        let plan = point.plan();
        let leading = vec![
            match several {
                true => TableCell::Text(jobs_text(plan)),
                false => TableCell::Empty,
            },
            (plan.job.as_ref()).map_or(TableCell::Empty, |job| TableCell::text(job.name.as_str())),
            TableCell::Text(workload_text(plan)),
        ];
        let Some(result) = point.result() else {
            rows.push(point.table_row([leading, vec![TableCell::Empty, reason(point)]].concat()));
            continue;
        };
        for (operation, summary) in operations(result) {
            let mut cells = leading.clone();
            cells.push(match mixed {
                true => TableCell::text(operation),
                false => TableCell::Empty,
            });
            let rate = TableCell::figure((summary.mib_per_s > 0.0).then_some(summary.mib_per_s));
            cells.push(rate.with(|n| n.mark = mark(point)));
            cells.push(TableCell::figure(summary.iops));
            cells.extend(latency_cells(&summary.latency_ns, &NAMES));
            cells.extend(deadlines::cells(point, operation, &due_ns));
            cells.push(match failed {
                true => TableCell::fault_count(summary.errors),
                false => TableCell::Empty,
            });
            rows.push(point.table_row(cells));
        }
    }
    let mut notes = section_remarks(section);
    let is_offered = |p: &Point<'_>| p.plan().workload.rate_iops > 0.0;
    if section.points.iter().any(is_offered) {
        notes.push(
            "latency of offered rates counts from the time at which an operation was due"
                .to_owned(),
        );
    }
    if !due_ns.is_empty() {
        notes.push(deadlines::NOTE.to_owned());
    }
    let table = section.table("every job", columns, rows, notes);
    table.without_empty_columns()
}

/// Percentiles that are compared: heading, as in [`LATENCIES`], and the slowdown.
type Compared = (&'static str, fn(&Interference) -> Option<f64>);
const COMPARED: [Compared; 3] = [("p50", |i| i.p50), ("p99", |i| i.p99), ("p99.99", |i| i.p99_99)];

const TOO_FEW: &str = "too few operations alone or beside the others for this percentile";

fn columns_of_slowdowns() -> Vec<Column> {
    let mut columns = Column::list([("beside", ""), ("operation", "")]);
    columns.extend(Column::all_under("rate", ["IOPS", "% of alone"]));
    for (name, _) in COMPARED {
        let latency = format!("{name} latency");
        columns.extend(Column::all_under(&latency, ["\u{b5}s", "\u{f7} alone"]));
    }
    columns
}

/// The foreground beside each load relative to the same workload alone: a row per drive and load.
/// Empty where nothing was measured alone.
pub fn slowdowns(section: &Section<'_>) -> Table {
    let compares = |p: &Point<'_>| p.plan().job.as_ref().is_some_and(|job| job.alone.is_some());
    let points = || section.points.iter().filter(|p| is_compared(p));
    let flushes = points().any(|p| p.result().is_some_and(|r| r.flush.latency_ns.samples > 0));
    if !points().any(compares) {
        return section.table("", Vec::new(), Vec::new(), Vec::new());
    }
    let mut few = false;
    let mut rows: Vec<Row> = Vec::new();
    for point in points() {
        let beside = TableCell::Text(jobs_text(point.plan()));
        let Some(result) = point.result() else {
            rows.push(point.table_row(vec![beside, TableCell::Empty, reason(point)]));
            continue;
        };
        let run = &point.set.runs[point.run];
        let mut measured = vec![(
            TableCell::Empty,
            cell_of(point, |r| Some(r.iops())),
            interference_of(point),
            result.latency(),
        )];
        if flushes {
            measured[0].0 = TableCell::text(main_operation(result));
            measured.push((
                TableCell::text(Op::Flush.name()),
                cell_of(point, |r| Some(r.flush.iops)),
                interference::of_flushes(run, point.cell, point.index),
                &result.flush.latency_ns,
            ));
        }
        for (operation, rate, found, latency) in measured {
            let mut cells = vec![beside.clone(), operation, rate];
            cells.push(TableCell::percent(found.and_then(|i| i.kept_iops_pct)));
            for (name, slowdown) in COMPARED {
                cells.push(latency_of(latency, name));
                let times = found.and_then(|i| slowdown(&i));
                few |= found.is_some() && times.is_none();
                cells.push(match (found, times) {
                    (None, _) => TableCell::Empty,
                    (Some(_), Some(times)) => TableCell::number(ratio(times)),
                    (Some(_), None) => TableCell::Missing("\u{2013}", TOO_FEW.to_owned()),
                });
            }
            rows.push(point.table_row(cells));
        }
    }
    let mut notes = section_remarks(section);
    notes.push(
        "a ratio of tail percentiles of one run has no confidence interval: runs repeated with \
         another seed show how far it varies"
            .to_owned(),
    );
    if few {
        notes.push(
            "\u{2013}: too few samples for this percentile; a longer --scale gives more".to_owned(),
        );
    }
    let table = section.table("rate and latency", columns_of_slowdowns(), rows, notes);
    table.without_empty_columns()
}

/// The operation that a workload did most of, as [`CellResult::latency`] selects it.
fn main_operation(result: &CellResult) -> &'static str {
    let same =
        |(_, summary): &(&str, &OpSummary)| std::ptr::eq(&summary.latency_ns, result.latency());
    let mut operations = result.operations().into_iter();
    operations.find(same).map_or("", |(name, _)| name)
}

/// A latency by its name in [`LATENCIES`], microseconds.
fn latency_of(summary: &LatencySummary, name: &str) -> TableCell {
    let found = LATENCIES.iter().find(|(known, ..)| *known == name);
    let (_, of, needed): &Latency = found.expect("the name is in the list");
    TableCell::latency(of(summary), summary.samples, *needed)
}
