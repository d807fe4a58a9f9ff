use std::collections::BTreeMap;

use assay_stats::cohort::FALSE_ALARM;
use assay_stats::cohort::groups::{GroupDifference, paired, welch};
use assay_stats::cohort::multiple::{benjamini_hochberg, holm};
use assay_stats::compare::{Better, Difference};
use assay_stats::confidence::LEVEL;
use serde::Serialize;

use super::conclude::CohortFigure;

/// Drives in both groups that a comparison of drives with themselves needs.
const FEWEST_PAIRS: usize = 2;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupComparison {
    /// Index into [`super::conclude::Cohort::figures`].
    pub figure: usize,
    /// Index into [`super::conclude::Cohort::groups`].
    pub group: usize,
    /// For figures without a better direction, "faster" means higher.
    pub answer: Difference,
    /// Difference from the baseline, share of 1.
    pub difference: f64,
    /// 95 % interval, share of 1, not corrected for the number of figures.
    pub interval: (f64, f64),
    /// Probability by chance, of this comparison alone.
    pub probability: f64,
    /// Corrected by Holm for primary figures, else by Benjamini and Hochberg.
    pub adjusted: f64,
    /// The same drives before and after.
    pub paired: bool,
    /// Drives of the baseline and of the group.
    pub drives: (usize, usize),
}

pub fn compare(
    figures: &[CohortFigure],
    groups: usize,
    minimum_effect: f64,
) -> Vec<GroupComparison> {
    let mut found: Vec<(usize, usize, GroupDifference)> = Vec::new();
    for (at, figure) in figures.iter().enumerate() {
        let of = |group| differs(figure, group).map(|d| (at, group, d));
        found.extend((1..groups).filter_map(of));
    }
    let mut adjusted = vec![1.0; found.len()];
    for primary in [true, false] {
        let own = (0..found.len()).filter(|i| figures[found[*i].0].primary == primary);
        let own: Vec<usize> = own.collect();
        let single: Vec<f64> = own.iter().map(|i| found[*i].2.probability).collect();
        let corrected = if primary { holm(&single) } else { benjamini_hochberg(&single) };
        for (i, corrected) in own.into_iter().zip(corrected) {
            adjusted[i] = corrected;
        }
    }
    let described = |((at, group, d), adjusted): (&(usize, usize, GroupDifference), f64)| {
        let figure = &figures[*at];
        let share = |v: f64| figure.share(v);
        let (difference, interval) = (share(d.difference), (share(d.low), share(d.high)));
        let good = (d.difference > 0.0) != (figure.better == Some(Better::Less));
        let answer = if adjusted <= FALSE_ALARM && difference.abs() >= minimum_effect {
            if good { Difference::Faster } else { Difference::Slower }
        } else if interval.0 >= -minimum_effect && interval.1 <= minimum_effect {
            Difference::Same
        } else {
            Difference::CannotTell
        };
        GroupComparison {
            figure: *at,
            group: *group,
            answer,
            difference,
            interval,
            probability: d.probability,
            adjusted,
            paired: d.paired,
            drives: d.drives,
        }
    };
    found.iter().zip(adjusted).map(described).collect()
}

/// Compares the same drives where at least half of the smaller group are in both, else by Welch.
fn differs(figure: &CohortFigure, group: usize) -> Option<GroupDifference> {
    let of = |group: usize| -> BTreeMap<usize, f64> {
        let own = figure.values.iter().filter(|v| v.group == group);
        own.map(|v| (v.drive, figure.scaled(v.value))).collect()
    };
    let (baseline, other) = (of(0), of(group));
    let pairs: Vec<(f64, f64)> =
        baseline.iter().filter_map(|(drive, before)| Some((*before, *other.get(drive)?))).collect();
    if pairs.len() >= FEWEST_PAIRS && 2 * pairs.len() >= baseline.len().min(other.len()) {
        let (before, after): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
        return paired(&before, &after, LEVEL);
    }
    let values = |side: BTreeMap<usize, f64>| side.into_values().collect::<Vec<f64>>();
    welch(&values(baseline), &values(other), LEVEL)
}
