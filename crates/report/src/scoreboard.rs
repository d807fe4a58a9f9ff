//! The scoreboard of a suite: drives as rows, its headline metrics as columns.
//!
//! A suite's text names the metrics ([`Headlines`]); where it names none (a single job, a folder of
//! an earlier version), the rates of its sections take their place. Whether a drive can be told
//! from the best of a column is decided on the logarithm of both values: their difference must
//! exceed the half-widths of the two intervals, added in quadrature as those of independent errors
//! (JCGM 100:2008, 5.1.2), and [`MINIMUM_EFFECT`].
//!
//! A row is one run of a drive. The ranking is of these runs: how much runs of one drive differ, a
//! single run does not show. Tail percentiles are not ranked, except where every value has the
//! predictive interval of a simulated drive, for one run has no interval of them
//! (docs/statistics.md, "Comparison").

use assay_analysis::figure::headline::{HeadlineMetric, Headlines};
use assay_analysis::figure::{self, Figure, FigureValue};
use assay_stats::compare::MINIMUM_EFFECT;
use assay_store::model::{CellKind, CellPlan, Verdict};

use crate::drive_set::DriveSet;
use crate::format::short_title_among;
use crate::grid::{Point, Section};

/// Most columns of a scoreboard without declared metrics.
const MAX_DERIVED: usize = 8;

/// The scoreboard of one suite.
#[derive(Clone, Debug)]
pub struct Scoreboard<'a> {
    /// Metrics that at least one drive has, each with the position of its section.
    pub columns: Vec<(HeadlineMetric, usize)>,
    /// The drives, best in the first column first.
    pub rows: Vec<ScoreRow<'a>>,
}

/// The scores of one drive.
#[derive(Clone, Debug)]
pub struct ScoreRow<'a> {
    /// Position in the drive set.
    pub drive: usize,
    /// Of the suite, where its run has one.
    pub verdict: Option<&'a Verdict>,
    /// One per column; `None` where nothing was measured.
    pub scores: Vec<Option<Score>>,
}

/// One value of a scoreboard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// In the unit of its figure.
    pub value: f64,
    /// Where the true value is expected, in the same unit.
    pub interval: Option<[f64; 2]>,
    /// What the link of the drive carries, in the same unit, where a predictive interval ends.
    pub most: Option<f64>,
    /// True for a predictive interval of the real drive, false for a confidence interval of the
    /// mean.
    pub predictive: bool,
    /// Marks a partial result: `unfinished`, `not steady`.
    pub mark: Option<String>,
    /// The cell's id.
    pub cell: String,
    /// I/Os in flight there, all threads together; 0 of an open loop, where it is only a limit.
    pub in_flight: u32,
    /// Against the other drives.
    pub standing: Standing,
}

/// A score against those of the other drives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// The best value of these runs.
    Best,
    /// Not the best value, but not distinguishable from it.
    Tied,
    /// Behind the best, or without rivals.
    #[default]
    Behind,
    /// One of several values that are not ranked.
    Unranked,
}

impl Score {
    /// A value from a cell of this section.
    fn new(found: FigureValue<'_>, section: &Section<'_>) -> Score {
        let is_source = |p: &&Point<'_>| {
            let source = found.of.as_ref();
            source.is_some_and(|m| std::ptr::eq(m.cell, p.cell) && m.part.drive == p.index)
        };
        let most = found.of.as_ref().filter(|_| found.is_predictive).and_then(|m| {
            let drive = m.run.manifest.drives.get(m.part.drive)?;
            Some(found.value * drive.most_by_link(m.part.result.as_ref()?))
        });
        let remark = section.points.iter().find(is_source);
        let remark = remark.and_then(Point::remark);
        Score {
            value: found.value,
            interval: found.interval,
            most,
            predictive: found.is_predictive,
            mark: remark.map(|(short, _)| short.to_owned()),
            cell: found.of.map_or(String::new(), |m| m.cell.plan.id.clone()),
            in_flight: found.of.map_or(0, |m| closed_loop_depth(&m.cell.plan)),
            standing: Standing::default(),
        }
    }
}

fn closed_loop_depth(plan: &CellPlan) -> u32 {
    match plan.load.is_none() && plan.workload.rate_iops == 0.0 {
        true => plan.workload.in_flight(),
        false => 0,
    }
}

/// Position of the section with the metric's cells.
fn section_of(sections: &[Section<'_>], suite: &str, metric: &HeadlineMetric) -> Option<usize> {
    let of_suite = |p: &Point<'_>| p.set.runs[p.run].manifest.suite.name == suite;
    let selected = |p: &Point<'_>| of_suite(p) && metric.selects(p.plan());
    sections.iter().position(|s| s.points.iter().any(selected))
}

/// The headline metrics and first charts that the suite's text declares; empty where it declares
/// none.
pub fn declared(set: &DriveSet<'_>, suite: &str) -> Headlines {
    let mut runs = set.runs.iter();
    let run = runs.find(|run| run.manifest.suite.name == suite);
    run.map_or_else(Headlines::default, Headlines::of_run)
}

/// The headline metrics of a suite, in order.
pub fn metrics(set: &DriveSet<'_>, sections: &[Section<'_>], suite: &str) -> Vec<HeadlineMetric> {
    let declared = declared(set, suite).metrics;
    match declared.is_empty() {
        true => derived(sections, suite),
        false => declared,
    }
}

/// The metrics of a suite that declares none: rates of its sections; of a single cell its rates and
/// latencies.
fn derived(sections: &[Section<'_>], suite: &str) -> Vec<HeadlineMetric> {
    let measures = |s: &&Section<'_>| {
        matches!(s.kind, CellKind::Measure | CellKind::Soak | CellKind::Concurrent)
            && s.suite == suite
            && s.results().next().is_some()
    };
    let sections: Vec<&Section<'_>> = sections.iter().filter(measures).collect();
    if let [only] = sections[..]
        && only.rows.len() * only.columns.len() == 1
    {
        let figures = [
            ("Rate", figure::IOPS),
            ("Bandwidth", figure::MIB_PER_S),
            ("Median latency", figure::P50_US),
            ("p99", figure::P99_US),
            ("p99.9", figure::P99_9_US),
            ("p99.99", figure::P99_99_US),
            ("Temperature", figure::TEMPERATURE_MAX_C),
        ];
        let metric =
            |(title, figure): (&str, Figure)| HeadlineMetric::of_step(only.step, title, figure);
        return figures.map(metric).into();
    }
    let small = |s: &Section<'_>| {
        let small = |p: &Point<'_>| p.plan().workload.bs_bytes <= 16 << 10;
        s.points.iter().any(small)
            && s.points.iter().all(|p| p.plan().workload.rw.starts_with("rand"))
    };
    let rate = |s: &&Section<'_>| {
        let figure = if small(s) { figure::IOPS } else { figure::MIB_PER_S };
        let title = short_title_among(s.title, sections.iter().map(|s| s.title));
        HeadlineMetric::of_step(s.step, title, figure)
    };
    sections.iter().take(MAX_DERIVED).map(rate).collect()
}

impl<'a> Scoreboard<'a> {
    /// The scoreboard of a suite; without columns where it measured nothing.
    pub fn new(set: &DriveSet<'a>, sections: &[Section<'a>], suite: &'a str) -> Scoreboard<'a> {
        let metrics = metrics(set, sections, suite);
        // Position in the set, run, and index in the run's manifest.
        let drives: Vec<(usize, usize, usize)> = set
            .drives
            .iter()
            .enumerate()
            .filter_map(|(drive, d)| {
                let of_suite =
                    |(run, _): &&(usize, usize)| set.runs[*run].manifest.suite.name == suite;
                let (run, index) = *d.origins.iter().find(of_suite)?;
                Some((drive, run, index))
            })
            .collect();
        let mut columns = Vec::new();
        let mut all: Vec<Vec<Option<Score>>> = Vec::new();
        for metric in metrics {
            let Some(at) = section_of(sections, suite, &metric) else {
                continue;
            };
            let of_drive = |(_, run, index): &(usize, usize, usize)| {
                let found = metric.of_drive(&set.runs[*run], *index)?;
                Some(Score::new(found, &sections[at]))
            };
            let mut scores: Vec<Option<Score>> = drives.iter().map(of_drive).collect();
            if scores.iter().all(Option::is_none) {
                continue;
            }
            stand(&mut scores, metric.figure);
            columns.push((metric, at));
            all.push(scores);
        }
        let rows = drives.iter().enumerate().map(|(i, (drive, run, index))| ScoreRow {
            drive: *drive,
            verdict: set.runs[*run].verdicts.get(*index).and_then(Option::as_ref),
            scores: all.iter().map(|scores| scores[i].clone()).collect(),
        });
        let mut rows: Vec<ScoreRow<'a>> = rows.collect();
        if let Some((first, _)) = columns.first() {
            let lower = first.figure.is_lower_better();
            // Drives without a value come last.
            let order = |row: &ScoreRow<'_>| match &row.scores[0] {
                Some(score) if lower => score.value,
                Some(score) => -score.value,
                None => f64::INFINITY,
            };
            rows.sort_by(|a, b| order(a).total_cmp(&order(b)));
        }
        Scoreboard { columns, rows }
    }

    /// How often each drive is best, most often first: (drive, columns, columns in which no other
    /// drive is as good).
    pub fn leaders(&self) -> Vec<(usize, usize, usize)> {
        let count = |row: &ScoreRow<'a>| {
            let best = |column: &usize| {
                let score = row.scores[*column].as_ref();
                score.is_some_and(|s| s.standing == Standing::Best)
            };
            let alone = |column: &usize| {
                let mut others = self.rows.iter().filter(|r| r.drive != row.drive);
                !others.any(|r| {
                    let score = r.scores[*column].as_ref();
                    score.is_some_and(|s| s.standing == Standing::Tied)
                })
            };
            let best: Vec<usize> = (0..self.columns.len()).filter(best).collect();
            let alone = best.iter().filter(|c| alone(c)).count();
            (row.drive, best.len(), alone)
        };
        let mut counts: Vec<(usize, usize, usize)> = self.rows.iter().map(count).collect();
        counts.retain(|c| c.1 > 0);
        counts.sort_by_key(|c| std::cmp::Reverse((c.1, c.2)));
        counts
    }

    /// Queue depth of a column's rates or latencies, where it is the same of all drives and the
    /// title does not say it.
    pub fn depth(&self, column: usize) -> Option<String> {
        let metric = &self.columns[column].0;
        let named = ["QD", "thread", "in flight"].iter().any(|word| metric.title.contains(word));
        let of_depth = ["IOPS", "MiB/s", "\u{b5}s"].contains(&metric.figure.unit.text());
        let mut depths = self.rows.iter().filter_map(|r| r.scores[column].as_ref());
        let first = depths.next()?.in_flight;
        let same = depths.all(|score| score.in_flight == first);
        (of_depth && !named && same && first > 0).then(|| format!("QD{first}"))
    }

    /// True where a column is not ranked.
    pub fn has_unranked(&self) -> bool {
        let mut scores = self.rows.iter().flat_map(|r| r.scores.iter().flatten());
        scores.any(|s| s.standing == Standing::Unranked)
    }

    /// Share of the largest value of a column, for a bar.
    pub fn share(&self, column: usize, score: &Score) -> f64 {
        let values = self.rows.iter().filter_map(|r| r.scores[column].as_ref());
        let most = values.map(|s| s.value).fold(0.0, f64::max);
        if most > 0.0 { (score.value / most).clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Ranks the scores of a column with at least two values.
fn stand(scores: &mut [Option<Score>], figure: Figure) {
    if figure.better.is_none() {
        return;
    }
    let lower = figure.is_lower_better();
    let better = |a: f64, b: f64| if lower { a < b } else { a > b };
    if figure.is_tail
        && scores.iter().flatten().count() > 1
        && scores.iter().flatten().any(|s| !s.predictive)
    {
        for score in scores.iter_mut().flatten() {
            score.standing = Standing::Unranked;
        }
        return;
    }
    let present = scores.iter().flatten();
    let best = present.reduce(|a, b| if better(b.value, a.value) { b } else { a });
    let Some(best) = best.cloned().filter(|_| scores.iter().flatten().count() > 1) else {
        return;
    };
    for score in scores.iter_mut().flatten() {
        score.standing = if score.value == best.value {
            Standing::Best
        } else if is_tied(&best, score, figure) {
            Standing::Tied
        } else {
            Standing::Behind
        };
    }
}

/// True when `other` cannot be told from `best`.
fn is_tied(best: &Score, other: &Score, figure: Figure) -> bool {
    if figure.resolution > 0.0 {
        return (best.value - other.value).abs() < figure.resolution;
    }
    let (low, high) = match figure.is_lower_better() {
        true => (best, other),
        false => (other, best),
    };
    // Half-widths towards each other, as differences of logarithms. The predictive interval of a
    // simulated drive is about the real one: between simulated drives the figures are exact.
    let width = |score: &Score, end: usize| match score.interval {
        Some(ends) if !score.predictive && score.value > 0.0 && ends[end] > 0.0 => {
            (ends[end] / score.value).ln()
        }
        _ => 0.0,
    };
    let noise = width(low, 1).hypot(width(high, 0));
    let apart = (high.value / low.value).ln();
    apart.is_nan() || apart <= noise.max(MINIMUM_EFFECT.ln_1p())
}

#[cfg(test)]
#[path = "../tests/unit/scoreboard.rs"]
mod tests;
