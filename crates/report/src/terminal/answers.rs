//! Faster, slower, same or can't tell: the answers of a comparison.

use assay_analysis::compare::{Comparisons, Metric, Pair};
use assay_stats::compare::{Answer, Comparison};

use super::text::{Page, Paint};
use crate::table::{Cell, Column, Name, Row, Table};

/// The answers of every pair, and in a line what they come to.
pub fn show(page: &mut Page, all: &Comparisons) {
    for pair in &all.pairs {
        let (a, b) = (&all.groups[pair.baseline], &all.groups[pair.other]);
        page.blank();
        page.line(
            &format!("{} against {}", b.full_name(), a.full_name()),
            Some(Paint::Strong),
        );
        if pair.workloads.is_empty() {
            page.line("No workload was measured on both.", Some(Paint::Caution));
        }
        for metric in shown(pair) {
            page.line(&summary(pair, metric), None);
        }
        for note in &pair.notes {
            page.item("  ", note, Some(Paint::Caution));
        }
        if shown(pair).contains(&Metric::P99) {
            let what = "p99 latency is compared by the mean of the seconds' own p99 where seconds are long enough, not by the whole run's";
            page.item("  ", what, Some(Paint::Soft));
        }
        page.blank();
        for table in tables(pair) {
            page.table(&table);
        }
    }
}

/// Bandwidth says what IOPS would, unless block sizes are mixed.
fn shown(pair: &Pair) -> Vec<Metric> {
    let repeats = pair.iops_follow_bandwidth();
    Metric::ALL
        .into_iter()
        .filter(|m| !(repeats && *m == Metric::Iops) && pair.tally(*m).total() > 0)
        .collect()
}

/// `bandwidth: faster in 3 of 8 workloads, slower in 1, same in 2, can't tell in 2`.
fn summary(pair: &Pair, metric: Metric) -> String {
    let tally = pair.tally(metric);
    let parts: Vec<String> = [
        (Answer::Faster, tally.faster),
        (Answer::Slower, tally.slower),
        (Answer::Same, tally.same),
        (Answer::CannotTell, tally.cannot_tell),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(answer, count)| format!("{} in {count}", answer.words()))
    .collect();
    let workloads = if tally.total() == 1 {
        "workload"
    } else {
        "workloads"
    };
    format!(
        "{}: of {} {workloads} {}",
        metric.words(),
        tally.total(),
        parts.join(", ")
    )
}

/// One table per step: ratio, interval and answer of every workload and metric.
fn tables(pair: &Pair) -> Vec<Table> {
    let metrics = shown(pair);
    let mut tables: Vec<(String, Table)> = Vec::new();
    for workload in &pair.workloads {
        let plan = &workload.plan;
        let title = if plan.title.is_empty() {
            &plan.step
        } else {
            &plan.title
        };
        let cells = metrics
            .iter()
            .flat_map(|metric| {
                let found = workload.metrics.iter().find(|c| c.metric == *metric);
                match found {
                    Some(compared) => answer(&compared.comparison),
                    None => [Cell::Empty, Cell::Empty, Cell::Empty],
                }
            })
            .collect();
        let row = Row {
            name: Name::plain(if workload.place.is_empty() {
                title.clone()
            } else {
                workload.place.clone()
            }),
            cells,
        };
        match tables.iter_mut().find(|(step, _)| *step == plan.step) {
            Some((_, table)) => table.rows.push(row),
            None => tables.push((
                plan.step.clone(),
                Table {
                    caption: format!("{title}: times the baseline, with its 95 % interval"),
                    corner: "workload".to_owned(),
                    columns: columns(&metrics),
                    rows: vec![row],
                    notes: Vec::new(),
                },
            )),
        }
    }
    for (step, table) in &mut tables {
        table.notes = notes(pair, step, &metrics);
    }
    tables.into_iter().map(|(_, table)| table).collect()
}

fn columns(metrics: &[Metric]) -> Vec<Column> {
    metrics
        .iter()
        .flat_map(|metric| {
            ["ratio", "interval", "answer"].map(|label| Column {
                group: Some(Name::plain(metric.words())),
                label: label.to_owned(),
                unit: "",
            })
        })
        .collect()
}

fn answer(comparison: &Comparison) -> [Cell; 3] {
    let ratio = comparison
        .ratio
        .map_or(Cell::Empty, |r| Cell::number(times(r)));
    let interval = comparison.interval.map_or(Cell::Empty, |(low, high)| {
        Cell::Text(format!("{}-{}", times(low), times(high)))
    });
    [
        ratio,
        interval,
        Cell::Text(comparison.answer.words().to_owned()),
    ]
}

/// A ratio with as many digits as its distance from one needs.
fn times(ratio: f64) -> String {
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

/// Why nobody can tell, where the interval does not say so itself; each reason once.
fn notes(pair: &Pair, step: &str, metrics: &[Metric]) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    let of_step = pair.workloads.iter().filter(|w| w.plan.step == step);
    for compared in of_step.flat_map(|w| &w.metrics) {
        if !metrics.contains(&compared.metric) || compared.comparison.interval.is_some() {
            continue;
        }
        if let Some(why) = &compared.comparison.why {
            let note = format!("can't tell: {why}");
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}
