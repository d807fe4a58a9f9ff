//! From observations to conclusions. The drive is the unit: several runs of a drive in the same
//! group are one value, their mean on the figure's scale (logarithms where every value is positive
//! and the unit is no temperature, so that differences are ratios). Spread, outliers and hosts are
//! judged on residuals: a drive's value less the median of its group, so that a difference between
//! groups hides no outlier and makes none.

use std::collections::BTreeMap;

use assay_stats::cohort::{FALSE_ALARM, spread};
use assay_stats::compare::Better;
use serde::Serialize;

use super::audit::{self, AuditComparison};
use super::drift::{self, ErrorRate, SoakDrift};
use super::groups::{self, GroupComparison};
use super::outliers::{self, HostFinding, Outlier};
use super::progress::RunProgress;
use super::settings::{CohortSettings, Grouping};
use super::{Observation, Soaks, observe};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CohortDrive {
    pub serial: String,
    pub model: String,
    /// Firmware of the last run.
    pub firmware: String,
    /// Host of the last run; empty where unknown.
    pub host: String,
    /// Slot of the last run; empty where unknown.
    pub slot: String,
    /// Several groups where the drive was measured before and after a change.
    pub groups: Vec<String>,
    /// Runs with figures.
    pub runs: usize,
    pub simulated: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriveValue {
    /// Index into [`Cohort::drives`].
    pub drive: usize,
    /// Index into [`Cohort::groups`].
    pub group: usize,
    /// Of the drive's last run in the group.
    #[serde(skip)]
    pub host: String,
    /// Mean of the runs (the geometric one on logarithms), in the figure's unit.
    pub value: f64,
    /// Values of the runs, in the figure's unit.
    #[serde(skip)]
    pub runs: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CohortFigure {
    pub figure: String,
    pub unit: String,
    pub better: Option<Better>,
    /// Declared before measuring.
    pub primary: bool,
    /// Differences are ratios.
    pub logarithmic: bool,
    pub drives: usize,
    /// Median of the drives, in the figure's unit.
    pub median: f64,
    /// Lowest and highest value, in the figure's unit.
    pub range: (f64, f64),
    /// Robust standard deviation between drives of a group (Q_n): share of 1 on logarithms, else in
    /// the figure's unit.
    pub spread: f64,
    /// Share of the variance of runs that is between runs of a drive; `None` where no drive ran
    /// twice.
    pub run_share: Option<f64>,
    /// Standard deviation between runs of a drive, as [`CohortFigure::spread`].
    pub run_spread: Option<f64>,
    /// The tails are heavier than normal: chance makes more outliers than 5 % of cohorts. `None`
    /// where not judged.
    pub heavy_tails: Option<bool>,
    /// Distance from the median beyond which a drive is an outlier, as [`CohortFigure::spread`].
    pub limit: Option<f64>,
    pub hosts: HostFinding,
    /// Limits of the conclusions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub values: Vec<DriveValue>,
}

impl CohortFigure {
    /// Value on the scale on which the figure is judged.
    pub fn scaled(&self, value: f64) -> f64 {
        if self.logarithmic { value.ln() } else { value }
    }

    /// Of a difference on that scale: share of 1 (of the median where the scale is linear; infinite
    /// for a median of zero).
    pub fn share(&self, difference: f64) -> f64 {
        match self.logarithmic {
            true => difference.exp_m1(),
            false if difference == 0.0 => 0.0,
            false => difference / self.median.abs(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FalseCalls {
    /// Figures in which outliers were looked for.
    pub outlier_figures: usize,
    /// Expected in a cohort without any outlier.
    pub expected_outlier_figures: f64,
    /// Figures of soaks in which drifting drives were looked for.
    pub drift_figures: usize,
    /// Expected in a cohort without any drifting drive.
    pub expected_drift_figures: f64,
    pub primary_comparisons: usize,
    /// Level of Holm's correction: share of families of primary comparisons with a false call.
    pub primary_probability: f64,
    /// Comparisons of other figures that became significant.
    pub exploratory_significant: usize,
    /// Level of Benjamini and Hochberg's correction times that number.
    pub exploratory_expected_false: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cohort {
    pub settings: CohortSettings,
    pub drives: Vec<CohortDrive>,
    /// The baseline comes first.
    pub groups: Vec<String>,
    /// Primary ones first, in the order declared, then in the order first seen.
    pub figures: Vec<CohortFigure>,
    /// Primary figures first, the farthest first.
    pub outliers: Vec<Outlier>,
    pub soaks: Vec<SoakDrift>,
    pub error_rates: Vec<ErrorRate>,
    /// Against the baseline.
    pub comparisons: Vec<GroupComparison>,
    /// Set by [`Cohort::with_audits`].
    pub audits: Vec<AuditComparison>,
    pub false_calls: FalseCalls,
    pub left_out: Vec<String>,
}

/// In the order of their first observations.
fn by_figure<'o>(observations: &[&'o Observation]) -> Vec<(&'o str, Vec<&'o Observation>)> {
    let mut by_figure: Vec<(&str, Vec<&Observation>)> = Vec::new();
    let mut position: BTreeMap<&str, usize> = BTreeMap::new();
    for &o in observations {
        let at = *position.entry(&o.figure).or_insert_with(|| {
            by_figure.push((&o.figure, Vec::new()));
            by_figure.len() - 1
        });
        by_figure[at].1.push(o);
    }
    by_figure
}

fn false_calls(
    figures: &[CohortFigure],
    comparisons: &[GroupComparison],
    drifts: &[SoakDrift],
) -> FalseCalls {
    let significant = |primary: bool| {
        let of = |c: &&GroupComparison| figures[c.figure].primary == primary;
        let all: Vec<&GroupComparison> = comparisons.iter().filter(of).collect();
        let found = all.iter().filter(|c| c.adjusted <= FALSE_ALARM).count();
        (all.len(), found)
    };
    let drift_figures = drifts.iter().filter(|d| d.spread_and_limit.is_some()).count();
    let looked = figures.iter().filter(|f| f.limit.is_some()).count();
    let (primary_comparisons, _) = significant(true);
    let (_, exploratory_significant) = significant(false);
    FalseCalls {
        outlier_figures: looked,
        expected_outlier_figures: looked as f64 * FALSE_ALARM,
        drift_figures,
        expected_drift_figures: drift_figures as f64 * FALSE_ALARM,
        primary_comparisons,
        primary_probability: if primary_comparisons > 0 { FALSE_ALARM } else { 0.0 },
        exploratory_significant,
        exploratory_expected_false: exploratory_significant as f64 * FALSE_ALARM,
    }
}

pub fn conclude(observations: &[Observation], soaks: &Soaks, settings: &CohortSettings) -> Cohort {
    let mut settings = settings.clone();
    let mut left_out = Vec::new();
    let usable = |o: &&Observation| o.value.is_finite() && !o.serial.is_empty();
    let unusable = observations.len() - observations.iter().filter(usable).count();
    let why = || format!("{unusable} values without a number or without a drive's serial");
    left_out.extend((unusable > 0).then(why));
    let observations: Vec<&Observation> = observations.iter().filter(usable).collect();
    // A soak that is not finished has no observations.
    let of_soaks = soaks.about().filter(|about| !about.serial.is_empty());
    let known: Vec<&Observation> = observations.iter().copied().chain(of_soaks).collect();
    settings.grouping = settings.grouping.resolved(&known);
    let groups = group_names(&known, &settings);
    let drives = drives(&known, settings.grouping);
    let index: BTreeMap<&str, usize> =
        (drives.iter().enumerate()).map(|(at, drive)| (drive.serial.as_str(), at)).collect();
    let mut by_figure = by_figure(&observations);
    let rank = |figure: &str| {
        let mut primary = settings.primary.iter();
        primary.position(|p| observe::is_named(figure, p))
    };
    for name in &settings.primary {
        let is_named = |(figure, _): &(&str, _)| observe::is_named(figure, name);
        if !by_figure.iter().any(is_named) {
            left_out.push(format!("primary figure {name}: no drive has it"));
        }
    }
    by_figure.sort_by_key(|(figure, _)| rank(figure).unwrap_or(usize::MAX));
    let figure = |(name, observations): &(&str, Vec<&Observation>)| {
        figure(name, observations, rank(name).is_some(), &index, &groups, settings.grouping)
    };
    let mut figures: Vec<CohortFigure> = by_figure.iter().map(figure).collect();
    let all = drives.len();
    for f in figures.iter().filter(|f| f.primary && f.drives < all) {
        let missing = all - f.drives;
        left_out.push(format!("{}: {missing} of {all} drives have no value", f.figure));
    }
    let outliers = outliers::find(&mut figures, groups.len(), settings.minimum_effect);
    let comparisons = groups::compare(&figures, groups.len(), settings.minimum_effect);
    let error_rates = drift::error_rates(soaks, &index, &settings);
    let drifts = drift::conclude(soaks, &index, &groups, &settings, &mut left_out);
    left_out.extend(drift::unused_limits(soaks, &settings));
    let false_calls = false_calls(&figures, &comparisons, &drifts);
    Cohort {
        settings,
        drives,
        groups,
        figures,
        outliers,
        soaks: drifts,
        error_rates,
        comparisons,
        audits: Vec::new(),
        false_calls,
        left_out,
    }
}

impl Cohort {
    #[must_use]
    pub fn with_audits(mut self, runs: &[RunProgress]) -> Cohort {
        self.audits = audit::compare(runs, self.settings.minimum_effect);
        self
    }
}

fn group_names(observations: &[&Observation], settings: &CohortSettings) -> Vec<String> {
    let names = observations.iter().map(|o| settings.grouping.name(o));
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names.sort_by_key(|name| *name != settings.baseline);
    names
}

fn drives(observations: &[&Observation], grouping: Grouping) -> Vec<CohortDrive> {
    let mut by_serial: BTreeMap<&str, Vec<&Observation>> = BTreeMap::new();
    for o in observations {
        by_serial.entry(&o.serial).or_default().push(o);
    }
    let drive = |(serial, own): (&str, Vec<&Observation>)| {
        let distinct = |of: &dyn Fn(&Observation) -> String| {
            let mut found: Vec<String> = own.iter().map(|o| of(o)).collect();
            found.sort();
            found.dedup();
            found
        };
        let last = own.iter().max_by_key(|o| &o.began);
        let text =
            |of: fn(&Observation) -> &String| last.map_or_else(String::new, |o| of(o).clone());
        CohortDrive {
            serial: serial.to_owned(),
            model: text(|o| &o.model),
            firmware: text(|o| &o.firmware),
            host: text(|o| &o.host),
            slot: text(|o| &o.slot),
            groups: distinct(&|o| grouping.name(o).to_owned()),
            runs: distinct(&|o| o.run_id.clone()).len(),
            simulated: own.iter().any(|o| o.simulated),
        }
    };
    by_serial.into_iter().map(drive).collect()
}

fn figure(
    name: &str,
    observations: &[&Observation],
    primary: bool,
    index: &BTreeMap<&str, usize>,
    groups: &[String],
    grouping: Grouping,
) -> CohortFigure {
    let first = observations[0];
    let logarithmic = observations.iter().all(|o| o.value > 0.0) && first.unit != "\u{b0}C";
    let mut of_drives: BTreeMap<(usize, usize), Vec<&Observation>> = BTreeMap::new();
    for o in observations {
        let group = groups.iter().position(|g| g == grouping.name(o)).unwrap_or(0);
        let drive = index[o.serial.as_str()];
        of_drives.entry((group, drive)).or_default().push(o);
    }
    let scale = |v: f64| if logarithmic { v.ln() } else { v };
    let value = |((group, drive), own): (&(usize, usize), &Vec<&Observation>)| {
        let scaled: Vec<f64> = own.iter().map(|o| scale(o.value)).collect();
        let mean = assay_stats::mean(&scaled);
        let last = own.iter().max_by_key(|o| &o.began);
        DriveValue {
            drive: *drive,
            group: *group,
            host: last.map_or_else(String::new, |o| o.host.clone()),
            value: if logarithmic { mean.exp() } else { mean },
            runs: own.iter().map(|o| o.value).collect(),
        }
    };
    let values: Vec<DriveValue> = of_drives.iter().map(value).collect();
    let scaled_runs = |v: &DriveValue| v.runs.iter().map(|r| scale(*r)).collect::<Vec<f64>>();
    let components =
        spread::variance_components(&values.iter().map(scaled_runs).collect::<Vec<_>>());
    let plain: Vec<f64> = values.iter().map(|v| v.value).collect();
    let mut drives: Vec<usize> = values.iter().map(|v| v.drive).collect();
    drives.sort_unstable();
    drives.dedup();
    CohortFigure {
        figure: name.to_owned(),
        unit: first.unit.clone(),
        better: first.better,
        primary,
        logarithmic,
        drives: drives.len(),
        median: assay_stats::median(&plain),
        range: (
            plain.iter().copied().fold(f64::INFINITY, f64::min),
            plain.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ),
        spread: 0.0,
        run_share: components.and_then(|c| c.share_within()),
        run_spread: components.map(|c| c.within.sqrt()),
        heavy_tails: None,
        limit: None,
        hosts: HostFinding::default(),
        notes: Vec::new(),
        values,
    }
}

#[cfg(test)]
#[path = "../../tests/unit/cohort/conclude.rs"]
mod tests;
