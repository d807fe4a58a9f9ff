//! Folds, twins and ensembles as units that are computed on any host and in any order, and joined.
//!
//! The text of a unit depends on the unit alone. The folds of reads need the random reads of all
//! drives ([`Study::bases`]), which units computed together compute once. Intervals need the errors
//! of all drives, so they are made when joining, from the tables' digits.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use assay_ssd::Profile;

use crate::discrepancy::ShippedResiduals;
use crate::folds::{FoldGroup, Study};
use crate::score::{self, Scored};
use crate::{ensemble, twins};
use assay_calibrate::CalibrateError;
use assay_calibrate::{predictive, twin_cells};

/// Seed of all starts and members.
pub const SEED: u64 = 18;
/// Between the ensembles of several profiles: the name of the next.
const PROFILE_LINE: &str = "profile ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Folds,
    Twins,
    Ensembles,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// `None` of twins and ensembles.
    pub group: Option<FoldGroup>,
    pub profile: String,
}

impl Unit {
    /// `writes/samsung-951`, `samsung-951`.
    pub fn name(&self) -> String {
        match self.group {
            Some(group) => format!("{}/{}", group.name(), self.profile),
            None => self.profile.clone(),
        }
    }
}

/// Name and text.
pub type ResultFile = (String, String);

impl Part {
    pub fn name(self) -> &'static str {
        match self {
            Part::Folds => "folds",
            Part::Twins => "twins",
            Part::Ensembles => "ensembles",
        }
    }

    /// Units in the order of the tables: of the groups, truths or profiles in `only` (empty: all).
    /// [`CalibrateError::NoTargets`] where a name is unknown.
    pub fn units(self, only: &[String]) -> Result<Vec<Unit>, CalibrateError> {
        let plain = |profile: String| Unit {
            group: None,
            profile,
        };
        let all: Vec<(String, Unit)> = match self {
            Part::Folds => {
                let study = Study::new(SEED, 1)?;
                let mut all = Vec::new();
                for group in FoldGroup::ALL {
                    all.extend(study.drives_of(group)?.into_iter().map(|profile| {
                        let group = Some(group);
                        let unit = Unit { group, profile };
                        (unit.group.map_or("", FoldGroup::name).to_owned(), unit)
                    }));
                }
                all
            }
            Part::Twins => {
                let truths = twins::TRUTHS.into_iter().map(str::to_owned);
                truths.map(|name| (name.clone(), plain(name))).collect()
            }
            Part::Ensembles => {
                let profiles = ensemble::profiles()?.into_iter();
                profiles.map(|name| (name.clone(), plain(name))).collect()
            }
        };
        let is_known = |name: &&String| all.iter().any(|(known, _)| known == *name);
        if let Some(unknown) = only.iter().find(|name| !is_known(name)) {
            let mut names: Vec<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
            names.dedup();
            return Err(CalibrateError::NoTargets {
                what: format!("{unknown:?}"),
                why: format!("there is none of that name; there are {}", names.join(", ")),
            });
        }
        let wanted = |name: &String| only.is_empty() || only.contains(name);
        let units = all.into_iter().filter(|(name, _)| wanted(name));
        Ok(units.map(|(_, unit)| unit).collect())
    }

    /// One text after another; the same whatever the number of threads.
    pub fn compute(self, units: &[Unit], threads: usize) -> Result<String, CalibrateError> {
        match self {
            Part::Folds => folds(units, threads),
            Part::Twins => {
                let mut text = String::new();
                for unit in units {
                    let (_, cells) = twins::study(&unit.profile, threads, &mut |_| {})?;
                    text.push_str(without_heading(&twin_cells::table(&cells)));
                }
                Ok(text)
            }
            Part::Ensembles => {
                let residuals = ShippedResiduals::of(Profile::names(), threads)?;
                let mut text = String::new();
                for Unit { profile, .. } in units {
                    let members = ensemble::build(profile, &residuals, (SEED, threads))?;
                    let _ = writeln!(text, "{PROFILE_LINE}{profile}");
                    text.push_str(&members.to_csv());
                }
                Ok(text)
            }
        }
    }

    /// Files of the result, and a summary as Markdown. Folds and twins that are not among the units
    /// are those of this repository's tables.
    pub fn join(
        self,
        units: &[Unit],
        text: &str,
    ) -> Result<(Vec<ResultFile>, String), CalibrateError> {
        match self {
            Part::Folds => joined_folds(units, text),
            Part::Twins => {
                let mut all = twin_cells::embedded()?;
                all.retain(|cell| !units.iter().any(|unit| unit.profile == cell.truth));
                all.extend(twin_cells::parse(&format!(
                    "{}\n{text}",
                    twin_cells::HEADING
                ))?);
                let place = |truth: &str| twins::TRUTHS.into_iter().position(|t| t == truth);
                all.sort_by_key(|cell| place(&cell.truth));
                let file = ("twins.csv".to_owned(), twin_cells::table(&all));
                Ok((vec![file], twins::markdown(&all)))
            }
            Part::Ensembles => Ok(joined_ensembles(text)),
        }
    }
}

fn without_heading(table: &str) -> &str {
    table.split_once('\n').map_or("", |(_, rows)| rows)
}

/// Rows of units, without intervals.
fn folds(units: &[Unit], threads: usize) -> Result<String, CalibrateError> {
    let mut study = Study::new(SEED, threads)?;
    let is_reads = |unit: &Unit| unit.group == Some(FoldGroup::Reads);
    if units.iter().any(is_reads) {
        study.bases(&mut |_, _| {})?;
    }
    let mut text = String::new();
    for unit in units {
        let group = unit.group.expect("a unit of folds has a group");
        let found = study.fold_group(&unit.profile, group)?;
        let rows: Vec<Scored> = found.iter().map(Scored::of).collect();
        text.push_str(without_heading(&score::table(&rows)));
    }
    Ok(text)
}

fn joined_folds(units: &[Unit], text: &str) -> Result<(Vec<ResultFile>, String), CalibrateError> {
    let mut all = score::embedded()?;
    let is_of = |s: &Scored, unit: &Unit| {
        unit.group.is_some() && FoldGroup::of(&s.fold) == unit.group && s.drive == unit.profile
    };
    all.retain(|s| !units.iter().any(|unit| is_of(s, unit)));
    all.extend(score::parse(&format!("{}\n{text}", score::HEADING))?);
    let order = Part::Folds.units(&[])?;
    let mut drives: Vec<&str> = Vec::new();
    for unit in &order {
        if !drives.contains(&unit.profile.as_str()) {
            drives.push(&unit.profile);
        }
    }
    let place = |s: &Scored| {
        let drive = drives.iter().position(|d| *d == s.drive);
        (drive, FoldGroup::of(&s.fold))
    };
    all.sort_by_key(place);
    let scored = score::rescored(&all);
    let intervals = predictive::table(&score::intervals(&scored));
    let files = [
        ("cross_validation.csv", score::table(&scored)),
        ("predictive_intervals.csv", intervals),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text));
    Ok((files.into(), score::markdown(&scored)))
}

/// A file per profile with enough members; the summary says how many each has.
fn joined_ensembles(text: &str) -> (Vec<ResultFile>, String) {
    let mut ensembles: BTreeMap<&str, String> = BTreeMap::new();
    let mut profile = "";
    for line in text.lines() {
        match line.strip_prefix(PROFILE_LINE) {
            Some(next) => {
                profile = next;
                ensembles.insert(profile, String::new());
            }
            None => {
                let lines = ensembles.entry(profile).or_default();
                lines.push_str(line);
                lines.push('\n');
            }
        }
    }
    let mut summary = "| profile | members | |\n|---|--:|---|\n".to_owned();
    let mut files = Vec::new();
    for (profile, table) in ensembles {
        let members = table.lines().count().saturating_sub(1);
        let enough = members >= ensemble::LEAST_MEMBERS;
        let remark = if enough { "" } else { "too few: not written" };
        let _ = writeln!(summary, "| {profile} | {members} | {remark} |");
        if enough {
            files.push((format!("{profile}.csv"), table));
        }
    }
    (files, summary)
}

#[cfg(test)]
#[path = "../tests/unit/units.rs"]
mod tests;
