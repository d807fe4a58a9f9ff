//! Comparison of drives or runs, workload by workload.
//!
//! # Mechanism
//! Runs are grouped by drive: a real one is identified by model and serial, a simulated one by its specification without the
//! seed. Where all runs are of one drive, every run is a group: before and after. The first group is the baseline, and every
//! other is compared with it, workload by workload, by [`assay_stats::compare`].
//!
//! Workloads match when step, variant, figures and access options are the same; areas may differ, because drives differ in size,
//! but not the lengths of streams. Of cells in rounds the last window counts, as one series.
//!
//! # Non-goals
//! An overall winner: the relevance of a workload depends on the use.

use assay_stats::compare::{Better, Comparison, ComparisonSettings, Difference, RunValue, compare};
use assay_stats::mean;
use assay_store::model::{CellPlan, CellResult, DriveRecord};
use assay_store::read::{CellDrive, Run};

use crate::estimate::{self, Estimates};

mod workload;

use workload::{Key, Measured, label_workloads, measured};

/// A compared metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Metric {
    /// MiB (2^20 bytes) per second.
    MibPerS,
    /// Operations per second.
    Iops,
    /// Mean latency, nanoseconds.
    LatencyMean,
    /// Mean over the seconds of their 99th percentile latency, nanoseconds; where seconds hold too few operations, the run's 99th percentile.
    P99,
}

impl Metric {
    /// All, in the order they are shown.
    pub const ALL: [Metric; 4] = [
        Metric::MibPerS,
        Metric::Iops,
        Metric::LatencyMean,
        Metric::P99,
    ];

    /// Its key in JSON, its label for tables, and its better direction.
    fn text(self) -> (&'static str, &'static str, Better) {
        match self {
            Metric::MibPerS => ("mib_per_s", "bandwidth", Better::More),
            Metric::Iops => ("iops", "IOPS", Better::More),
            Metric::LatencyMean => ("latency_mean_ns", "mean latency", Better::Less),
            Metric::P99 => ("latency_p99_ns", "p99 latency", Better::Less),
        }
    }

    /// Its key in JSON.
    pub fn key(self) -> &'static str {
        self.text().0
    }

    /// Label for tables.
    pub fn label(self) -> &'static str {
        self.text().1
    }
}

/// A drive, with its runs; or one of several runs of the only drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveGroup {
    /// Short name, unique among the groups; without the word "simulated".
    pub name: String,
    /// Is it simulated?
    pub simulated: bool,
    /// (run, index into its manifest's drives).
    pub members: Vec<(usize, usize)>,
}

impl DriveGroup {
    /// The name, marked if simulated.
    pub fn full_name(&self) -> String {
        if self.simulated {
            format!("{} (simulated)", self.name)
        } else {
            self.name.clone()
        }
    }
}

/// One metric of one workload.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricComparison {
    /// Which.
    pub metric: Metric,
    /// Mean of the baseline's runs.
    pub baseline: Option<f64>,
    /// Mean of the other group's runs.
    pub other: Option<f64>,
    /// The answer.
    pub comparison: Comparison,
}

/// One workload that both groups have.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadComparison {
    /// The plan, as first met in the baseline.
    pub plan: CellPlan,
    /// Label that distinguishes it from the step's other workloads: `4 KiB, depth 32`; empty when it is the only one.
    pub label: String,
    /// By metric, in the order of [`Metric::ALL`].
    pub metrics: Vec<MetricComparison>,
}

/// Counts of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DifferenceCounts {
    /// Faster.
    pub faster: usize,
    /// Slower.
    pub slower: usize,
    /// Same.
    pub same: usize,
    /// Can't tell.
    pub cannot_tell: usize,
}

impl DifferenceCounts {
    /// Sum of all.
    pub fn total(&self) -> usize {
        self.faster + self.slower + self.same + self.cannot_tell
    }
}

/// A group compared with the baseline.
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
    /// Counts of results for a metric.
    pub fn tally(&self, metric: Metric) -> DifferenceCounts {
        let compared = || self.workloads.iter().flat_map(|w| &w.metrics);
        let count = |answer| {
            let wanted = (metric, answer);
            compared()
                .filter(|c| (c.metric, c.comparison.answer) == wanted)
                .count()
        };
        DifferenceCounts {
            faster: count(Difference::Faster),
            slower: count(Difference::Slower),
            same: count(Difference::Same),
            cannot_tell: count(Difference::CannotTell),
        }
    }

    /// Are IOPS redundant to bandwidth? True for fixed block sizes.
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

/// Comparisons of several runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparisons {
    /// The sides; the first is the baseline.
    pub groups: Vec<DriveGroup>,
    /// All runs are of one drive: sides are runs, not drives.
    pub one_drive: bool,
    /// Every other group against the first.
    pub pairs: Vec<GroupComparison>,
}

/// Compare runs. No pairs when there is only one drive in one run.
pub fn of(runs: &[Run], terms: ComparisonSettings) -> Comparisons {
    let (groups, one_drive) = groups(runs);
    let pair = |other| pair(runs, &groups, other, one_drive, terms);
    Comparisons {
        pairs: (1..groups.len()).map(pair).collect(),
        groups,
        one_drive,
    }
}

/// Identity of a drive across manifests.
fn identity(drive: &DriveRecord) -> (bool, String, String) {
    if drive.simulated {
        let is_seed = |option: &&str| option.trim_start().starts_with("seed=");
        let options = drive.spec.split(',').filter(|option| !is_seed(option));
        let options: Vec<&str> = options.collect();
        return (true, options.join(","), String::new());
    }
    let serial = match drive.serial.trim() {
        "" => drive.spec.clone(),
        serial => serial.to_owned(),
    };
    (false, drive.model.clone(), serial)
}

fn groups(runs: &[Run]) -> (Vec<DriveGroup>, bool) {
    let mut groups: Vec<((bool, String, String), DriveGroup)> = Vec::new();
    for (run, r) in runs.iter().enumerate() {
        for (index, drive) in r.manifest.drives.iter().enumerate() {
            let key = identity(drive);
            if let Some((_, group)) = groups.iter_mut().find(|(k, _)| *k == key) {
                group.members.push((run, index));
                continue;
            }
            let name = match drive.label.trim() {
                "" => drive.spec.clone(),
                label => label.to_owned(),
            };
            let group = DriveGroup {
                name,
                simulated: drive.simulated,
                members: vec![(run, index)],
            };
            groups.push((key, group));
        }
    }
    let mut groups: Vec<DriveGroup> = groups.into_iter().map(|(_, group)| group).collect();
    if let [only] = groups.as_slice()
        && only.members.len() > 1
    {
        let side = |&(run, index): &(usize, usize)| DriveGroup {
            name: format!("{}, run {}", only.name, run + 1),
            simulated: only.simulated,
            members: vec![(run, index)],
        };
        return (only.members.iter().map(side).collect(), true);
    }
    let names: Vec<String> = groups.iter().map(|g| g.name.clone()).collect();
    for (i, group) in groups.iter_mut().enumerate() {
        if names.iter().filter(|n| **n == names[i]).count() > 1 {
            let run = group.members.first().map_or(0, |m| m.0);
            group.name = format!("{}, run {}", group.name, run + 1);
        }
    }
    (groups, false)
}

/// Value of a run, with its interval where there is one.
fn repeat(metric: Metric, parts: &[&CellDrive], estimates: &Estimates) -> Option<RunValue> {
    let (estimate, figure): (_, fn(&CellResult) -> f64) = match metric {
        Metric::MibPerS => (estimates.mib_per_s, CellResult::mib_per_s),
        Metric::Iops => (estimates.iops, CellResult::iops),
        Metric::LatencyMean => (estimates.latency_mean_ns, |r| r.latency().mean),
        Metric::P99 => (estimates.p99_ns, |r| r.latency().p99 as f64),
    };
    let results = parts.iter().filter_map(|p| p.result.as_ref());
    let figures: Vec<f64> = results.map(figure).collect();
    // A run in which nothing completed counts: leaving it out would bias its side.
    (!figures.is_empty()).then(|| RunValue {
        value: match (metric, &estimate) {
            // The mean of the intervals' percentiles differs from the result's percentile.
            (Metric::P99, Some(e)) => e.mean,
            _ => mean(&figures),
        },
        estimate,
    })
}

fn pair(
    runs: &[Run],
    groups: &[DriveGroup],
    other: usize,
    one_drive: bool,
    terms: ComparisonSettings,
) -> GroupComparison {
    let (a, b) = (Side::of(runs, &groups[0]), Side::of(runs, &groups[other]));
    let (keys_of_a, keys_of_b) = (a.keys(), b.keys());
    let mut workloads = Vec::new();
    for (key, plan) in keys_of_a.iter().filter(|(key, _)| b.has(key)) {
        let compared = |metric| compared(metric, key, &a, &b, terms);
        workloads.push(WorkloadComparison {
            plan: (*plan).clone(),
            label: String::new(),
            metrics: Metric::ALL.into_iter().filter_map(compared).collect(),
        });
    }
    let unmatched = keys_of_a.len() + keys_of_b.len() - 2 * workloads.len();
    label_workloads(&mut workloads);
    let notes = notes(runs, &groups[0], &groups[other], one_drive, unmatched);
    GroupComparison {
        baseline: 0,
        other,
        workloads,
        notes,
    }
}

/// The workloads of each run of a group, with their estimates.
struct Side<'a>(Vec<Vec<(Measured<'a>, Estimates)>>);

impl<'a> Side<'a> {
    fn of(runs: &'a [Run], group: &DriveGroup) -> Side<'a> {
        let with_estimates = |measured: Measured<'a>| {
            let estimates = estimate::of_several(measured.parts.iter().copied());
            (measured, estimates)
        };
        let of_run = |&(run, drive): &(usize, usize)| {
            let measured = measured(&runs[run], drive).into_iter();
            measured.map(with_estimates).collect()
        };
        Side(group.members.iter().map(of_run).collect())
    }

    fn has(&self, key: &Key) -> bool {
        self.0.iter().flatten().any(|(m, _)| m.key == *key)
    }

    /// Each workload once.
    fn keys(&self) -> Vec<(&Key, &'a CellPlan)> {
        let mut keys: Vec<(&Key, &CellPlan)> = Vec::new();
        for (m, _) in self.0.iter().flatten() {
            if !keys.iter().any(|(k, _)| **k == m.key) {
                keys.push((&m.key, m.plan));
            }
        }
        keys
    }

    /// Values of a workload, by run; `whole`: without estimates.
    fn values(&self, metric: Metric, key: &Key, whole: bool) -> Vec<RunValue> {
        let value = |run: &Vec<(Measured<'_>, Estimates)>| {
            let (m, estimates) = run.iter().find(|(m, _)| m.key == *key)?;
            let none = Estimates::default();
            repeat(metric, &m.parts, if whole { &none } else { estimates })
        };
        self.0.iter().filter_map(value).collect()
    }
}

fn compared(
    metric: Metric,
    key: &Key,
    a: &Side<'_>,
    b: &Side<'_>,
    terms: ComparisonSettings,
) -> Option<MetricComparison> {
    let values = |whole| (a.values(metric, key, whole), b.values(metric, key, whole));
    let (mut of_a, mut of_b) = values(false);
    if of_a.is_empty() && of_b.is_empty() {
        return None;
    }
    // Percentiles of intervals and of whole runs are different quantities.
    if metric == Metric::P99 && of_a.iter().chain(&of_b).any(|r| r.estimate.is_none()) {
        (of_a, of_b) = values(true);
    }
    let mean = |side: &[RunValue]| {
        let values: Vec<f64> = side.iter().map(|r| r.value).collect();
        (!values.is_empty()).then(|| mean(&values))
    };
    Some(MetricComparison {
        metric,
        baseline: mean(&of_a),
        other: mean(&of_b),
        comparison: compare(&of_a, &of_b, metric.text().2, terms),
    })
}

fn notes(
    runs: &[Run],
    a: &DriveGroup,
    b: &DriveGroup,
    one_drive: bool,
    unmatched: usize,
) -> Vec<String> {
    let mut notes = Vec::new();
    if a.members.len() == 1 && b.members.len() == 1 {
        notes.push(match one_drive {
            false => "one run of each drive: intervals hold what varies within a run; what a repetition would change is not known, so repeat runs before a small difference is believed".to_owned(),
            true => "one run on each side: intervals hold what varies within a run; the state of the drive (fill, temperature) may differ between runs as much as what was changed".to_owned(),
        });
    }
    let members = a.members.iter().chain(&b.members);
    let mut scales: Vec<f64> = members.map(|(run, _)| runs[*run].manifest.scale).collect();
    scales.sort_by(f64::total_cmp);
    scales.dedup();
    if scales.len() > 1 {
        let words: Vec<String> = scales.iter().map(f64::to_string).collect();
        notes.push(format!(
            "runs of different lengths (--scale {}): a shorter one sees less of caches, heat and garbage collection",
            words.join(", ")
        ));
    }
    if a.simulated != b.simulated {
        let note =
            "a simulated drive against a real one: the difference holds the model's errors too";
        notes.push(note.to_owned());
    }
    if unmatched > 0 {
        notes.push(format!(
            "{unmatched} workloads were measured on one side only"
        ));
    }
    notes
}

#[cfg(test)]
#[path = "../tests/unit/compare.rs"]
mod tests;
