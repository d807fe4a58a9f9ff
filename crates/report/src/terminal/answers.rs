//! Statistical comparison of drives: faster, slower, same or can't tell.

use assay_analysis::compare::{Comparisons, GroupComparison, Metric, is_at_depth_one};
use assay_stats::compare::{Basis, Comparison, Difference, FEWEST_TAIL_RUNS};
use assay_stats::confidence::FEWEST_EFFECTIVE;
use assay_store::read::Run;

use super::text::{Paint, TextPage};
use crate::format::{self, distinct, joined, plural, text_or};
use crate::grid::step_title;
use crate::table::{Column, Heading, Row, Table, TableCell};

/// An interval needs this many independent samples of a second, and a margin for the drain.
const LEAST_SECONDS: f64 = FEWEST_EFFECTIVE + 0.5;

/// A pair in a few lines: what both have in common, per metric the ratio and the answers, and why
/// some cannot be told.
pub fn summary(page: &mut TextPage, runs: &[Run], all: &Comparisons, pair: &GroupComparison) {
    let headline = headline(all, pair);
    match &headline {
        Some(text) => page.line(text, Some(Paint::Strong)),
        None => title(page, all, pair),
    }
    if pair.workloads.is_empty() {
        let text = "no workload was measured on both: run the same suite, with the same \
                    parameters, on both";
        page.item("  ", text, Some(Paint::Caution));
    }
    if headline.is_some() {
        page.item("  ", &how_sure(all, pair), Some(Paint::Soft));
    }
    for metric in pair.distinct_metrics() {
        page.item("  ", &metric_summary(pair, metric), None);
    }
    if let Some(text) = by_chance(pair) {
        page.item("  ", &text, Some(Paint::Soft));
    }
    for note in undecided(runs, all, pair).iter().chain(&pair.notes) {
        page.item("  ", note, Some(Paint::Caution));
    }
    page.blank();
}

/// `b: 0.34 times the bandwidth of a, 3.20 times its latency of reads at depth 1`; `None` without a
/// ratio.
fn headline(all: &Comparisons, pair: &GroupComparison) -> Option<String> {
    let (a, b) = (&all.groups[pair.baseline], &all.groups[pair.other]);
    let bandwidth = pair.typical_ratio(Metric::MibPerS, |_| true)?;
    let mut text =
        format!("{}: {} times the bandwidth of {}", b.full_name(), ratio(bandwidth), a.full_name());
    if let Some(latency) = pair.typical_ratio(Metric::LatencyMean, is_at_depth_one) {
        text += &format!(", {} times its latency of random reads at depth 1", ratio(latency));
    }
    Some(text)
}

/// What the answers on the first metric rest on.
fn how_sure(all: &Comparisons, pair: &GroupComparison) -> String {
    let metric = Metric::MibPerS;
    let [baseline, other] = [pair.baseline, pair.other].map(|at| all.groups[at].members.len());
    let tally = pair.tally(metric);
    let decided = |basis| pair.decided_by(metric, basis);
    let parts = [
        (decided(Basis::BetweenRuns), "between runs"),
        (decided(Basis::WithinRuns), "within the runs that are compared"),
        (decided(Basis::Repeatability), "larger than repetition gives"),
        (tally.cannot_tell, "not known"),
    ];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, what)| format!("{count} {what}"));
    format!(
        "how sure, of {} in common: {} ({other} against {baseline} {})",
        plural(tally.total(), "workload"),
        joined(parts, ", "),
        if baseline + other == 2 { "run" } else { "runs" }
    )
}

/// Headline and tables of a pair for the page; `None` without a common workload.
pub fn of_page(all: &Comparisons, pair: &GroupComparison) -> Option<(String, Vec<Table>)> {
    let metrics = pair.distinct_metrics();
    let text = headline(all, pair).filter(|_| !metrics.is_empty())?;
    let text = format!("{text}; {}", how_sure(all, pair));
    Some((text, tables(pair, &metrics)))
}

/// The answer for every workload of a pair.
pub fn details(page: &mut TextPage, all: &Comparisons, pair: &GroupComparison) {
    let metrics = pair.distinct_metrics();
    if metrics.is_empty() {
        return;
    }
    page.blank();
    title(page, all, pair);
    if metrics.contains(&Metric::P99) {
        let note = format!(
            "p99 latency: of whole runs; a tail percentile has no interval within a run, so it \
             has an answer only with {FEWEST_TAIL_RUNS} runs or more on each side"
        );
        page.item("  ", &note, Some(Paint::Soft));
    }
    page.blank();
    for table in tables(pair, &metrics) {
        page.table(&table);
    }
}

fn title(page: &mut TextPage, all: &Comparisons, pair: &GroupComparison) {
    let (a, b) = (&all.groups[pair.baseline], &all.groups[pair.other]);
    let common = plural(pair.workloads.len(), "workload");
    let title = format!("{} against {}: {common} in common", b.full_name(), a.full_name());
    page.line(&title, None);
}

/// `by chance alone, at most 1.2 of these 24 answers would be a difference`; `None` without an
/// answer.
fn by_chance(pair: &GroupComparison) -> Option<String> {
    let chance = pair.by_chance();
    let of = match chance.answers {
        0 => return None,
        1 => "this one answer".to_owned(),
        many => format!("these {many} answers"),
    };
    let different = format::figure(chance.different);
    Some(format!(
        "if nothing differed, at most about {different} of {of} would be a difference by chance \
         alone (5 % of each; not corrected for their number)"
    ))
}

/// `bandwidth: 1.21 times (0.95 to 1.60); faster in 3 of 8, slower in 1, same in 2, can't tell in
/// 2`.
fn metric_summary(pair: &GroupComparison, metric: Metric) -> String {
    let tally = pair.tally(metric);
    let counts = Difference::ALL.map(|answer| (answer, tally.count(answer)));
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let parts = counts.map(|(answer, count)| format!("{} in {count}", answer.label()));
    let parts = joined(parts, ", ");
    let ratios = ratios(pair, metric);
    let extremes = ratios.iter().copied().reduce(f64::min);
    let extremes = extremes.zip(ratios.iter().copied().reduce(f64::max));
    let times = match extremes {
        None => String::new(),
        Some((low, high)) if ratios.len() > 1 => {
            let typical = pair.typical_ratio(metric, |_| true).unwrap_or(low);
            let [typical, low, high] = [typical, low, high].map(ratio);
            format!("{typical} times (geometric mean; {low} to {high}), ")
        }
        Some((only, _)) => format!("{} times, ", ratio(only)),
    };
    format!("{}: {times}{parts}", metric.label())
}

/// Ratios of a metric by workload, where both sides have a value above zero.
fn ratios(pair: &GroupComparison, metric: Metric) -> Vec<f64> {
    let compared = pair.workloads.iter().flat_map(|w| &w.metrics);
    let of_metric = compared.filter(|c| c.metric == metric);
    of_metric.filter_map(|c| c.comparison.ratio.filter(|r| r.is_finite() && *r > 0.0)).collect()
}

/// Why bandwidths cannot be told apart, each reason once with its number of workloads, and what to
/// do about it.
fn undecided(runs: &[Run], all: &Comparisons, pair: &GroupComparison) -> Vec<String> {
    let mut reasons: Vec<(&str, usize)> = Vec::new();
    let mut shortest_ns: Option<u64> = None;
    let mut has_interval = false;
    for workload in &pair.workloads {
        let of_rate = workload.metrics.iter().find(|c| c.metric == Metric::MibPerS);
        let Some(comparison) = of_rate.map(|c| &c.comparison) else {
            continue;
        };
        let Some(why) = comparison.why.as_deref() else {
            continue;
        };
        if comparison.interval.is_some() {
            has_interval = true;
        } else {
            let runtime_ns = Some(workload.plan.workload.runtime_ns).filter(|ns| *ns > 0);
            shortest_ns = shortest_ns.into_iter().chain(runtime_ns).min();
        }
        // Figures are in the details.
        let why = match comparison.interval {
            Some(_) => "the interval of the ratio holds both no difference and one that matters",
            None => why.split_once(": ").map_or(why, |(short, _)| short),
        };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    let lines = reasons.iter().map(|(why, count)| {
        let workloads = plural(*count, "workload");
        format!("can't tell in {workloads}: {why}")
    });
    let mut lines: Vec<String> = lines.collect();
    if let Some(ns) = shortest_ns.filter(|ns| (*ns as f64) < LEAST_SECONDS * 1e9) {
        let members = all.groups[pair.other].members.first();
        let scale = members.map_or(1.0, |(run, _)| runs[*run].manifest.scale);
        let needed = (LEAST_SECONDS * 1e9 / ns as f64 * scale).ceil();
        lines.push(format!(
            "for an interval of every workload: assay run SUITE DRIVE --scale {needed} (at least \
             {FEWEST_EFFECTIVE} seconds per cell), or repeated runs of each drive"
        ));
    } else if shortest_ns.is_some() {
        lines.push(
            "for an interval of every workload: longer cells (--scale), or repeated runs of each \
             drive"
                .to_owned(),
        );
    } else if has_interval {
        lines.push("for a narrower interval: longer cells (--scale), or more runs".to_owned());
    }
    lines
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
        comparison.ratio.map_or(TableCell::Empty, |r| TableCell::number(ratio(r))),
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
    let compared = of_step.flat_map(|w| &w.metrics).filter(|c| metrics.contains(&c.metric));
    let undecided = compared.filter(|c| c.comparison.interval.is_none());
    let reasons = undecided.filter_map(|c| c.comparison.why.as_ref());
    distinct(reasons.map(|why| format!("can't tell: {why}")))
}
