//! Statistical comparison of drives: faster, slower, same or can't tell.

use assay_analysis::compare::{Comparisons, GroupComparison, Metric};
use assay_stats::compare::{Comparison, Difference};

use super::text::{Paint, TextPage};
use crate::format::{distinct, joined, plural, text_or};
use crate::grid::step_title;
use crate::table::{Column, Heading, Row, Table, TableCell};

/// The answers of every pair, with a summary per metric.
pub fn show(page: &mut TextPage, all: &Comparisons) {
    for pair in &all.pairs {
        let (a, b) = (&all.groups[pair.baseline], &all.groups[pair.other]);
        page.blank();
        let title = format!("{} against {}", b.full_name(), a.full_name());
        page.line(&title, Some(Paint::Strong));
        if pair.workloads.is_empty() {
            page.line("No workload was measured on both.", Some(Paint::Caution));
        }
        let metrics = shown(pair);
        for metric in &metrics {
            page.line(&summary(pair, *metric), None);
        }
        for note in &pair.notes {
            page.item("  ", note, Some(Paint::Caution));
        }
        if metrics.contains(&Metric::P99) {
            let note = "p99 latency is compared by the mean of the p99 of every second where seconds have enough samples, not by the p99 of the whole run";
            page.item("  ", note, Some(Paint::Soft));
        }
        page.blank();
        for table in tables(pair, &metrics) {
            page.table(&table);
        }
    }
}

/// The metrics shown: IOPS only where block sizes are mixed, else they are proportional to bandwidth.
fn shown(pair: &GroupComparison) -> Vec<Metric> {
    let redundant = |m: Metric| m == Metric::Iops && pair.iops_follow_bandwidth();
    let metrics = Metric::ALL.into_iter();
    metrics
        .filter(|m| !redundant(*m) && pair.tally(*m).total() > 0)
        .collect()
}

/// `bandwidth: of 8 workloads faster in 3, slower in 1, same in 2, can't tell in 2`.
fn summary(pair: &GroupComparison, metric: Metric) -> String {
    let tally = pair.tally(metric);
    let counts = [
        (Difference::Faster, tally.faster),
        (Difference::Slower, tally.slower),
        (Difference::Same, tally.same),
        (Difference::CannotTell, tally.cannot_tell),
    ];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let parts = counts.map(|(answer, count)| format!("{} in {count}", answer.label()));
    let (all, parts) = (plural(tally.total(), "workload"), joined(parts, ", "));
    format!("{}: of {all} {parts}", metric.label())
}

/// One table per step: ratio, interval and answer of every workload and metric.
fn tables(pair: &GroupComparison, metrics: &[Metric]) -> Vec<Table> {
    let mut tables: Vec<(&str, Table)> = Vec::new();
    for workload in &pair.workloads {
        let plan = &workload.plan;
        let title = step_title(plan);
        let cells = metrics.iter().flat_map(|metric| {
            let compared = workload.metrics.iter().find(|c| c.metric == *metric);
            compared.map_or_else(<[TableCell; 3]>::default, |c| answer(&c.comparison))
        });
        let heading = Heading::plain(text_or(&workload.label, title));
        let row = Row::new(heading, cells.collect());
        match tables.iter_mut().find(|(step, _)| *step == plan.step) {
            Some((_, table)) => table.rows.push(row),
            None => tables.push((
                &plan.step,
                Table {
                    caption: format!("{title}: ratio to the baseline, with its 95 % interval"),
                    corner: "workload".to_owned(),
                    columns: columns(metrics),
                    rows: vec![row],
                    notes: notes(pair, &plan.step, metrics),
                },
            )),
        }
    }
    tables.into_iter().map(|(_, table)| table).collect()
}

fn columns(metrics: &[Metric]) -> Vec<Column> {
    let labels = ["ratio", "interval", "answer"];
    let of = |metric: &Metric| Column::all_under(metric.label(), labels);
    metrics.iter().flat_map(of).collect()
}

fn answer(comparison: &Comparison) -> [TableCell; 3] {
    let interval = comparison.interval;
    let interval = interval.map(|(low, high)| format!("{}-{}", ratio(low), ratio(high)));
    [
        comparison
            .ratio
            .map_or(TableCell::Empty, |r| TableCell::number(ratio(r))),
        interval.map_or(TableCell::Empty, TableCell::Text),
        TableCell::text(comparison.answer.label()),
    ]
}

/// A ratio with as many digits as its distance from one needs.
fn ratio(ratio: f64) -> String {
    if !ratio.is_finite() || ratio >= 1e6 {
        "many".to_owned()
    } else if ratio >= 9.995 {
        format!("{ratio:.0}")
    } else if (0.95..1.05).contains(&ratio) {
        format!("{ratio:.3}")
    } else {
        format!("{ratio:.2}")
    }
}

/// Reasons of undecided comparisons without an interval, each once.
fn notes(pair: &GroupComparison, step: &str, metrics: &[Metric]) -> Vec<String> {
    let of_step = pair.workloads.iter().filter(|w| w.plan.step == step);
    let compared = of_step
        .flat_map(|w| &w.metrics)
        .filter(|c| metrics.contains(&c.metric));
    let undecided = compared.filter(|c| c.comparison.interval.is_none());
    let reasons = undecided.filter_map(|c| c.comparison.why.as_ref());
    distinct(reasons.map(|why| format!("can't tell: {why}")))
}
