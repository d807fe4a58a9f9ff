//! Drives unlike the others, and whether their hosts explain it.

use std::collections::BTreeMap;

use assay_stats::cohort::hosts::compare_hosts;
use assay_stats::cohort::multiple::{benjamini_hochberg, holm};
use assay_stats::cohort::outliers::{Distances, FEWEST_DRIVES, distances_within, limit_of_groups};
use assay_stats::cohort::{FALSE_ALARM, spread};
use assay_stats::compare::Better;
use serde::Serialize;

use super::conclude::CohortFigure;

/// Whether repeated runs confirm an outlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Confirmation {
    /// One run, or not every run is beyond the limit by itself.
    Suspected,
    /// At least two runs, each beyond the limit by itself.
    Confirmed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Separation {
    /// Unlike the other drives of its host, which are like the cohort.
    Drive,
    /// Like the other drives of its host, which are unlike the cohort as well.
    Host,
    /// Unlike the other drives of its host, which are unlike the cohort as well.
    DriveAndHost,
    /// No other drive on its host, or the host is unknown.
    NotSeparable,
}

impl Separation {
    pub fn label(self) -> &'static str {
        match self {
            Separation::Drive => "drive",
            Separation::Host => "host",
            Separation::DriveAndHost => "drive and host",
            Separation::NotSeparable => "not separable",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outlier {
    /// Index into [`super::conclude::Cohort::drives`].
    pub drive: usize,
    /// Index into [`super::conclude::Cohort::figures`].
    pub figure: usize,
    pub value: f64,
    /// Deviation from the median of the group, share of 1.
    pub deviation: f64,
    /// The deviation in units of Q_n.
    pub distance: f64,
    /// Limit in units of Q_n.
    pub limit: f64,
    /// `None` for figures without a better direction.
    pub worse: Option<bool>,
    pub confirmation: Confirmation,
    pub separation: Separation,
    /// Runs behind the value.
    pub runs: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HostFinding {
    /// Probability by chance, corrected over the figures; `None` where hosts and drives cannot be
    /// separated.
    pub adjusted: Option<f64>,
    /// Name and deviation, share of 1, of hosts off by more than chance and the minimum effect.
    pub off: Vec<(String, f64)>,
}

struct Residual {
    drive: usize,
    group: usize,
    host: String,
    value: f64,
    residual: f64,
    runs: Vec<f64>,
}

/// A drive's mean over its groups of value less median; groups with too few drives are left out.
fn residuals(figure: &CohortFigure, groups: usize) -> (Vec<Residual>, usize) {
    let mut found: BTreeMap<usize, Vec<Residual>> = BTreeMap::new();
    let mut left_out = 0;
    for group in 0..groups {
        let own: Vec<_> = figure.values.iter().filter(|v| v.group == group).collect();
        if own.len() < FEWEST_DRIVES {
            left_out += own.len();
            continue;
        }
        let scaled: Vec<f64> = own.iter().map(|v| figure.scaled(v.value)).collect();
        let median = assay_stats::median(&scaled);
        for (v, value) in own.iter().zip(&scaled) {
            found.entry(v.drive).or_default().push(Residual {
                drive: v.drive,
                group,
                host: v.host.clone(),
                value: v.value,
                residual: value - median,
                runs: v.runs.iter().map(|r| figure.scaled(*r) - median).collect(),
            });
        }
    }
    let joined = |own: Vec<Residual>| {
        let each: Vec<f64> = own.iter().map(|r| r.residual).collect();
        let mut own = own.into_iter();
        let mut first = own.next()?;
        first.residual = assay_stats::mean(&each);
        for other in own {
            first.host = other.host;
            first.value = other.value;
            first.runs.extend(other.runs);
        }
        Some(first)
    };
    (found.into_values().filter_map(joined).collect(), left_out)
}

fn no_spread(values: &[f64]) -> Option<String> {
    let differ = values.iter().filter(|v| v.abs() > 1e-9).count();
    (values.len() >= FEWEST_DRIVES && differ > 0).then(|| {
        format!(
            "more than half of the drives have the same value, {differ} another: no spread to \
             judge them by"
        )
    })
}

fn outlier(
    at: usize,
    figure: &CohortFigure,
    drive: &Residual,
    found: &Distances,
    position: usize,
    separation: Separation,
) -> Outlier {
    let limit = found.limit * found.qn;
    let side = (drive.residual - found.median).signum();
    let mut runs = drive.runs.iter();
    let repeated = drive.runs.len() > 1 && runs.all(|r| (r - found.median) * side > limit);
    let higher = drive.residual > found.median;
    Outlier {
        drive: drive.drive,
        figure: at,
        value: drive.value,
        deviation: figure.share(drive.residual),
        distance: found.distances[position],
        limit: found.limit,
        worse: figure.better.map(|better| (better == Better::More) != higher),
        confirmation: match repeated {
            true => Confirmation::Confirmed,
            false => Confirmation::Suspected,
        },
        separation,
        runs: drive.runs.len(),
    }
}

/// Completes the figures' spread, limit, tails, hosts and notes.
pub fn find(figures: &mut [CohortFigure], groups: usize, minimum_effect: f64) -> Vec<Outlier> {
    let mut outliers = Vec::new();
    let mut hosts = Vec::new();
    let mut limits: BTreeMap<Vec<usize>, Option<f64>> = BTreeMap::new();
    for (at, figure) in figures.iter_mut().enumerate() {
        let (drives, left_out) = residuals(figure, groups);
        if left_out > 0 {
            let note = format!(
                "{left_out} drives in groups of fewer than {FEWEST_DRIVES}: no outliers are \
                 looked for among them"
            );
            figure.notes.push(note);
        }
        let values: Vec<f64> = drives.iter().map(|d| d.residual).collect();
        let sizes = group_sizes(&drives);
        let limit = *(limits.entry(sizes)).or_insert_with_key(|sizes| limit_of_groups(sizes));
        let Some(found) = limit.and_then(|limit| distances_within(&values, limit)) else {
            hosts.push(by_host(&drives, &[]));
            figure.notes.extend(no_spread(&values));
            continue;
        };
        figure.spread = found.qn;
        figure.limit = Some(found.limit * found.qn);
        let far = |at: &usize| {
            let off = figure.share(values[*at]).abs();
            off >= minimum_effect
        };
        let beyond: Vec<usize> = found.beyond().into_iter().filter(far).collect();
        let ends: Vec<usize> = beyond.iter().take(2).copied().collect();
        let inner = values.iter().enumerate().filter(|(at, _)| !ends.contains(at));
        figure.heavy_tails = spread::heavy_tails(&inner.map(|(_, v)| *v).collect::<Vec<f64>>());
        let placed = drives.iter().map(|d| (d.host.as_str(), d.residual));
        let placed: Vec<(&str, f64)> = placed.collect();
        let mut own = Vec::new();
        for position in beyond {
            let drive = &drives[position];
            let separation = separation(&placed, position, found.qn, found.limit);
            if separation == Separation::Drive {
                own.push(drive.drive);
            }
            outliers.push(outlier(at, figure, drive, &found, position, separation));
        }
        hosts.push(by_host(&drives, &own));
    }
    conclude_hosts(figures, &hosts, minimum_effect);
    outliers.sort_by(|a, b| {
        let key = |o: &Outlier| (!figures[o.figure].primary, o.figure);
        let (a_key, b_key) = (key(a), key(b));
        a_key.cmp(&b_key).then(b.distance.abs().total_cmp(&a.distance.abs()))
    });
    outliers
}

/// Counts each drive in its first group.
fn group_sizes(drives: &[Residual]) -> Vec<usize> {
    let mut sizes: BTreeMap<usize, usize> = BTreeMap::new();
    for drive in drives {
        *sizes.entry(drive.group).or_default() += 1;
    }
    sizes.into_values().collect()
}

/// A host and the residuals of its drives.
type HostValues = Vec<(String, Vec<f64>)>;

/// Without drives that are unlike their host's others: one such drive would make its host appear
/// off. Empty where a host is unknown.
fn by_host(drives: &[Residual], left_out: &[usize]) -> HostValues {
    let mut hosts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for drive in drives.iter().filter(|d| !left_out.contains(&d.drive)) {
        hosts.entry(&drive.host).or_default().push(drive.residual);
    }
    if hosts.contains_key("") {
        return Vec::new();
    }
    let named = hosts.into_iter().map(|(host, values)| (host.to_owned(), values));
    named.collect()
}

/// The drive against its host's other drives, and those against the cohort: differences of medians
/// in units of the error that Q_n and their numbers give. `drives` are the hosts of all and their
/// residuals.
pub(super) fn separation(
    drives: &[(&str, f64)],
    position: usize,
    qn: f64,
    limit: f64,
) -> Separation {
    let (host, residual) = drives[position];
    let others = drives.iter().enumerate();
    let others = others.filter(|(at, d)| *at != position && d.0 == host);
    let others: Vec<f64> = others.map(|(_, d)| d.1).collect();
    if others.is_empty() || host.is_empty() {
        return Separation::NotSeparable;
    }
    let count = others.len() as f64;
    let middle = assay_stats::median(&others);
    // The drive was chosen as the farthest of all: the cohort's limit. Its host was not: two
    // standard errors.
    let unlike_host = (residual - middle).abs() > limit * qn * (1.0 / count + 1.0).sqrt();
    let host_off = middle * residual.signum() > 2.0 * qn / count.sqrt();
    match (unlike_host, host_off) {
        (true, true) => Separation::DriveAndHost,
        (true, false) => Separation::Drive,
        (false, true) => Separation::Host,
        // Too near to its host's drives to stand out from so few.
        (false, false) => Separation::NotSeparable,
    }
}

fn conclude_hosts(figures: &mut [CohortFigure], hosts: &[HostValues], minimum_effect: f64) {
    let comparisons: Vec<_> = hosts
        .iter()
        .map(|hosts| {
            let values: Vec<Vec<f64>> = hosts.iter().map(|(_, values)| values.clone()).collect();
            compare_hosts(&values)
        })
        .collect();
    for primary in [true, false] {
        let own = (0..figures.len()).filter(|at| figures[*at].primary == primary);
        let own: Vec<usize> = own.filter(|at| comparisons[*at].is_some()).collect();
        let single = own.iter().filter_map(|at| comparisons[*at].as_ref());
        let single: Vec<f64> = single.map(|c| c.probability).collect();
        let adjusted = if primary { holm(&single) } else { benjamini_hochberg(&single) };
        for (at, adjusted) in own.into_iter().zip(adjusted) {
            let Some(comparison) = &comparisons[at] else {
                continue;
            };
            let mut off = Vec::new();
            if adjusted <= FALSE_ALARM {
                for ((host, _), (deviation, probability)) in hosts[at].iter().zip(&comparison.hosts)
                {
                    let share = figures[at].share(*deviation);
                    if *probability <= FALSE_ALARM && share.abs() >= minimum_effect {
                        off.push((host.clone(), share));
                    }
                }
            }
            figures[at].hosts = HostFinding { adjusted: Some(adjusted), off };
        }
    }
}
