//! Comparison of drives or runs, workload by workload. Runs are grouped by drive: a real one is
//! identified by model and serial, a simulated one by its specification without the seed. Where all
//! runs are of one drive, every run is a group, unless [`sides`] names those before and those after
//! a change. Every other group is compared with the first one by [`assay_stats::compare`].
//! Workloads match when step, variant, figures and access options are the same; areas may differ,
//! because drives differ in size, but not the lengths of streams. Of cells in rounds the last
//! window counts, as one series. There is no overall winner: the relevance of a workload depends on
//! the use.

use assay_stats::compare::{
    Basis, Better, Comparison, ComparisonSettings, Difference, Quantity, RunValue, compare,
};
use assay_stats::mean;
use assay_store::model::CellPlan;
use assay_store::read::Run;

use crate::figure::{self, Figure};

mod gate;
pub mod repeatability;
mod sides;
mod values;
mod workload;

pub use gate::{GateOutcome, SlowerBy};
pub use sides::{SidesError, before_after};
use sides::{groups, is_same_simulation};
use values::{Side, most_frequent};
use workload::{Key, label_workloads, nearest_difference};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// 2^20 bytes per second.
    MibPerS,
    Iops,
    LatencyMean,
    P99,
}

impl Metric {
    /// All metrics, in the order they are shown.
    pub const ALL: [Metric; 4] = [Metric::MibPerS, Metric::Iops, Metric::LatencyMean, Metric::P99];

    /// Comparisons are by operation and in nanoseconds, so that key and label are their own.
    fn figure(self) -> Figure {
        match self {
            Metric::MibPerS => figure::MIB_PER_S,
            Metric::Iops => figure::IOPS,
            Metric::LatencyMean => figure::MEAN_US,
            Metric::P99 => figure::P99_US,
        }
    }

    fn better(self) -> Better {
        self.figure().better.unwrap_or(Better::More)
    }

    fn quantity(self) -> Quantity {
        match self.figure().is_tail {
            true => Quantity::TailPercentile,
            false => Quantity::Mean,
        }
    }

    pub fn key(self) -> &'static str {
        match self {
            Metric::LatencyMean => "latency_mean_ns",
            Metric::P99 => "latency_p99_ns",
            rate => rate.figure().key,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Metric::MibPerS => "bandwidth",
            Metric::Iops => "IOPS",
            Metric::LatencyMean => "mean latency",
            Metric::P99 => "p99 latency",
        }
    }
}

/// A drive with its runs, or one of several runs of the only drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveGroup {
    /// Unique among the groups; without the word "simulated".
    pub name: String,
    pub simulated: bool,
    /// Run, and index into its manifest's drives.
    pub members: Vec<(usize, usize)>,
}

impl DriveGroup {
    /// Marked if simulated.
    pub fn full_name(&self) -> String {
        if self.simulated { format!("{} (simulated)", self.name) } else { self.name.clone() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct MetricComparison {
    pub metric: Metric,
    /// Mean of the runs.
    pub baseline: Option<f64>,
    /// Mean of the runs.
    pub other: Option<f64>,
    pub comparison: Comparison,
}

/// Both groups have the workload.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadComparison {
    /// The plan as first met in the baseline.
    pub plan: CellPlan,
    /// Distinguishes the workload from others of its step: `4 KiB, depth 32`; empty for the only
    /// one.
    pub label: String,
    pub metrics: Vec<MetricComparison>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DifferenceCounts {
    pub faster: usize,
    pub slower: usize,
    pub same: usize,
    pub runs_differ: usize,
    pub runs_agree: usize,
    pub cannot_tell: usize,
}

impl DifferenceCounts {
    pub fn total(&self) -> usize {
        Difference::ALL.iter().map(|answer| self.count(*answer)).sum()
    }

    pub fn count(&self, answer: Difference) -> usize {
        match answer {
            Difference::Faster => self.faster,
            Difference::Slower => self.slower,
            Difference::Same => self.same,
            Difference::RunsDiffer => self.runs_differ,
            Difference::RunsAgree => self.runs_agree,
            Difference::CannotTell => self.cannot_tell,
        }
    }
}

/// Answers that would be a difference by chance alone, if there were none.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct ByChance {
    /// Comparisons with an interval, of distinct metrics.
    pub answers: usize,
    /// At most so many are expected to be different: one less the level of each interval. Nothing
    /// is corrected for their number.
    pub different: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct GroupComparison {
    /// Index into [`Comparisons::groups`].
    pub baseline: usize,
    /// Index into [`Comparisons::groups`].
    pub other: usize,
    /// Workloads that both have.
    pub workloads: Vec<WorkloadComparison>,
    /// Limits of the comparison.
    pub notes: Vec<String>,
}

impl GroupComparison {
    pub fn tally(&self, metric: Metric) -> DifferenceCounts {
        let compared = || self.workloads.iter().flat_map(|w| &w.metrics);
        let count = |answer| {
            let wanted = (metric, answer);
            compared().filter(|c| (c.metric, c.comparison.answer) == wanted).count()
        };
        DifferenceCounts {
            faster: count(Difference::Faster),
            slower: count(Difference::Slower),
            same: count(Difference::Same),
            runs_differ: count(Difference::RunsDiffer),
            runs_agree: count(Difference::RunsAgree),
            cannot_tell: count(Difference::CannotTell),
        }
    }

    /// Geometric mean of a metric's ratios over some workloads; `None` without any.
    pub fn typical_ratio(&self, metric: Metric, of: fn(&CellPlan) -> bool) -> Option<f64> {
        let workloads = self.workloads.iter().filter(|w| of(&w.plan));
        let compared = workloads.flat_map(|w| &w.metrics).filter(|c| c.metric == metric);
        let ratios = compared.filter_map(|c| c.comparison.ratio);
        let logs: Vec<f64> = ratios.filter(|r| r.is_finite() && *r > 0.0).map(f64::ln).collect();
        (!logs.is_empty()).then(|| mean(&logs).exp())
    }

    /// Answers of a metric that rest on this error.
    pub fn decided_by(&self, metric: Metric, basis: Basis) -> usize {
        let compared = self.workloads.iter().flat_map(|w| &w.metrics);
        let decided = compared.filter(|c| {
            c.metric == metric
                && c.comparison.basis == Some(basis)
                && c.comparison.answer != Difference::CannotTell
        });
        decided.count()
    }

    /// IOPS only where block sizes are mixed, else they are proportional to bandwidth.
    pub fn distinct_metrics(&self) -> Vec<Metric> {
        let redundant = |m: Metric| m == Metric::Iops && self.iops_follow_bandwidth();
        let mut metrics = Metric::ALL.to_vec();
        metrics.retain(|m| !redundant(*m) && self.tally(*m).total() > 0);
        metrics
    }

    pub fn by_chance(&self) -> ByChance {
        let metrics = self.distinct_metrics();
        let compared = self.workloads.iter().flat_map(|w| &w.metrics);
        let compared = compared.filter(|c| metrics.contains(&c.metric));
        let levels = compared.filter_map(|c| c.comparison.interval.map(|_| c.comparison.level));
        let levels: Vec<f64> = levels.collect();
        let different = levels.len() as f64 - levels.iter().sum::<f64>();
        ByChance {
            answers: levels.len(),
            // Levels are given in percent: without what the sum rounds.
            different: (different * 1e6).round() / 1e6,
        }
    }

    /// True for fixed block sizes.
    pub fn iops_follow_bandwidth(&self) -> bool {
        self.workloads.iter().all(|w| {
            let ratio = |metric: Metric| {
                let found = w.metrics.iter().find(|c| c.metric == metric);
                found.and_then(|c| c.comparison.ratio)
            };
            match (ratio(Metric::MibPerS), ratio(Metric::Iops)) {
                (Some(a), Some(b)) => (a / b - 1.0).abs() < 1e-6,
                (a, b) => a.is_none() && b.is_none(),
            }
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SideKind {
    Drive,
    Run,
    /// The runs of a drive before a change, or after it.
    BeforeAfter,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Comparisons {
    pub groups: Vec<DriveGroup>,
    pub by: SideKind,
    /// Every other group against the first; of runs before and after, the two sides of each drive.
    pub pairs: Vec<GroupComparison>,
}

/// One read in flight: its latency is that of the drive, not of a queue or a cache.
pub fn is_at_depth_one(plan: &CellPlan) -> bool {
    let w = &plan.workload;
    w.rw.ends_with("read") && w.direct && w.iodepth == 1 && w.numjobs == 1
}

/// No pairs when there is only one drive in one run.
pub fn compare_runs(runs: &[Run], terms: ComparisonSettings) -> Comparisons {
    let (groups, by) = groups(runs);
    let pair = |other| pair(runs, &groups, (0, other), by, terms);
    Comparisons { pairs: (1..groups.len()).map(pair).collect(), groups, by }
}

fn pair(
    runs: &[Run],
    groups: &[DriveGroup],
    (baseline, other): (usize, usize),
    by: SideKind,
    terms: ComparisonSettings,
) -> GroupComparison {
    let sides = [&groups[baseline], &groups[other]];
    let mut members = sides.iter().flat_map(|side| &side.members);
    let order_known = members.all(|(run, _)| runs[*run].manifest.imported.is_none());
    let [a, b] = sides.map(|side| Side::new(runs, side, order_known));
    let (keys_of_a, keys_of_b) = (a.keys(), b.keys());
    let mut workloads = Vec::new();
    for (key, plan) in keys_of_a.iter().filter(|(key, _)| b.has(key)) {
        let compared = |metric: Metric| {
            let terms = ComparisonSettings {
                repeatability: repeatability::known(plan, metric.quantity()),
                ..terms
            };
            compared(metric, key, &a, &b, terms)
        };
        workloads.push(WorkloadComparison {
            plan: (*plan).clone(),
            label: String::new(),
            metrics: Metric::ALL.into_iter().filter_map(compared).collect(),
        });
    }
    let unmatched = keys_of_a.len() + keys_of_b.len() - 2 * workloads.len();
    label_workloads(&mut workloads);
    let mut notes = notes(runs, &groups[baseline], &groups[other], by);
    if unmatched > 0 {
        let alone_in_a = keys_of_a.iter().filter(|(key, _)| !b.has(key));
        let alone_in_b = keys_of_b.iter().filter(|(key, _)| !a.has(key));
        let alone_in_a: Vec<&CellPlan> = alone_in_a.map(|(_, plan)| *plan).collect();
        let alone_in_b: Vec<&CellPlan> = alone_in_b.map(|(_, plan)| *plan).collect();
        let nearest = nearest_difference(&alone_in_a, &alone_in_b);
        let nearest = nearest.map(|what| format!("; the most alike differ by {what}"));
        notes.push(format!(
            "{unmatched} workloads were measured on one side only{}",
            nearest.unwrap_or_default()
        ));
    }
    GroupComparison { baseline, other, workloads, notes }
}

fn compared(
    metric: Metric,
    key: &Key,
    a: &Side<'_>,
    b: &Side<'_>,
    terms: ComparisonSettings,
) -> Option<MetricComparison> {
    let op = most_frequent(a, b, key);
    let (of_a, of_b) = (a.values(metric, op, key), b.values(metric, op, key));
    if of_a.is_empty() && of_b.is_empty() {
        return None;
    }
    let mean = |side: &[RunValue]| {
        let values: Vec<f64> = side.iter().map(|r| r.value).collect();
        (!values.is_empty()).then(|| mean(&values))
    };
    let mut comparison = compare(&of_a, &of_b, metric.quantity(), metric.better(), terms);
    let missing = || a.missing(metric, op, key).or_else(|| b.missing(metric, op, key));
    if comparison.answer == Difference::CannotTell
        && comparison.interval.is_none()
        && comparison.ratio.is_some()
        && let Some(missing) = missing()
    {
        comparison.why =
            Some(format!("a single run per side, and no interval within it: {missing}"));
    }
    Some(MetricComparison { metric, baseline: mean(&of_a), other: mean(&of_b), comparison })
}

fn notes(runs: &[Run], a: &DriveGroup, b: &DriveGroup, by: SideKind) -> Vec<String> {
    let mut notes = Vec::new();
    if a.members.len() == 1 && b.members.len() == 1 {
        let unknown = match by {
            SideKind::Drive => "what a repetition would change is not known",
            SideKind::Run | SideKind::BeforeAfter => {
                "the state of the drive (fill, temperature) may differ between runs as much as \
                 what was changed"
            }
        };
        notes.push(format!(
            "one run on each side: it says whether these runs differ, not which side is faster, \
             unless the ratio is larger than repetition gives; {unknown}: repeat runs, at least \
             three on each side"
        ));
    }
    let repeats = [a, b].into_iter().any(|side| {
        let run = |at: usize| &runs[side.members[at].0];
        let pairs =
            (1..side.members.len()).flat_map(|at| (0..at).map(move |earlier| (earlier, at)));
        let mut pairs = pairs.filter(|(i, j)| side.members[*i].0 != side.members[*j].0);
        pairs.any(|(i, j)| is_same_simulation(run(i), run(j)))
    });
    if repeats {
        let note = "simulated runs with the same seed repeat each other: they show no spread \
                    between runs; run with another --seed";
        notes.push(note.to_owned());
    }
    let members = a.members.iter().chain(&b.members);
    let mut scales: Vec<f64> = members.map(|(run, _)| runs[*run].manifest.scale).collect();
    scales.sort_by(f64::total_cmp);
    scales.dedup();
    if scales.len() > 1 {
        let words: Vec<String> = scales.iter().map(f64::to_string).collect();
        notes.push(format!(
            "runs of different lengths (--scale {}): a shorter one sees less of caches, heat and \
             garbage collection",
            words.join(", ")
        ));
    }
    if a.simulated != b.simulated {
        let note =
            "a simulated drive against a real one: the difference holds the model's errors too";
        notes.push(note.to_owned());
    }
    notes
}

#[cfg(test)]
#[path = "../tests/unit/compare.rs"]
mod tests;
