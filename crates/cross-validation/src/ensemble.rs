//! The members of the shipped profiles (`profiles/ensembles/`): numbers that explain a drive's
//! published reads about equally well.
//!
//! The free numbers are those of the profile's recipe, with log-normal priors. The Laplace
//! approximation is taken after further Gauss-Newton steps, beside alternative structures of the
//! read path, and members are weighted by their likelihood, coarsened by [`crate::discrepancy`].

use std::collections::BTreeMap;

use assay_ssd::Profile;
use assay_ssd::profile::ensemble::{Ensemble, Member};
use toml::Value;

use crate::discrepancy::ShippedResiduals;
use crate::folds::MEMBERS;
use crate::learn::{Evidence, learn};
use crate::template::shipped;
use assay_calibrate::CalibrateError;
use assay_calibrate::measurement::{Measurement, Procedure, ReferenceMetric};
use assay_calibrate::numbers::get;
use assay_calibrate::published::published;
use assay_calibrate::structures::{Structure, number};
use assay_calibrate::template::ReferenceDrive;

const LEAST_WEIGHT: f64 = 1e-6;
/// Fewest members of an ensemble that is kept.
pub const LEAST_MEMBERS: usize = 30;

/// Profiles with published rates of steady reads, enough for an ensemble.
pub fn profiles() -> Result<Vec<String>, CalibrateError> {
    let mut out = Vec::new();
    for name in Profile::names() {
        if published(name)?.iter().filter(|m| is_target(m)).count() >= 10 {
            out.push(name.to_owned());
        }
    }
    Ok(out)
}

fn is_target(m: &Measurement) -> bool {
    matches!(m.procedure, Procedure::Steady(_)) && m.metric == ReferenceMetric::MibPerS
}

/// Deterministic by the seed, whatever the number of threads.
pub fn build(
    name: &str,
    residuals: &ShippedResiduals,
    (seed, threads): (u64, usize),
) -> Result<Ensemble, CalibrateError> {
    let drive = ReferenceDrive::new(name)?;
    let template = shipped(&drive)?;
    let (paths, prior) = (template.paths.clone(), template.wide.clone());
    let flip = |path: &str| {
        let on = get(&drive.table, path).and_then(Value::as_bool)?;
        Some(number(path, !on))
    };
    let figures = published(name)?;
    let targets: Vec<Measurement> = figures.into_iter().filter(is_target).collect();
    let mut starts = vec![(Structure::new(), prior.mean.clone())];
    starts.extend(flip("nand.cache_read").map(|s| (s, prior.mean.clone())));
    let seeds = (seed, threads);
    let evidence = Evidence::new(&targets, &[], &residuals.lacks(name));
    let no_targets = || CalibrateError::NoTargets {
        what: name.to_owned(),
        why: "the shipped profile is not a valid drive".to_owned(),
    };
    let learned = learn(template, prior, evidence, &starts, None, seeds).ok_or_else(no_targets)?;
    let mut members: Vec<(f64, BTreeMap<String, Value>)> = Vec::new();
    for member in learned.members(&[], MEMBERS, &[], seeds) {
        // Draws that are no valid drive, or far from the figures.
        if member.weight < LEAST_WEIGHT {
            continue;
        }
        let table = learned.template.table_at(&member.structure, &member.point);
        let mut numbers = BTreeMap::new();
        for path in paths.iter().map(String::as_str).chain(["nand.cache_read"]) {
            match get(&table, path) {
                Some(Value::Array(list)) => {
                    let places = list.iter().enumerate();
                    numbers.extend(places.map(|(n, v)| (format!("{path}[{n}]"), v.clone())));
                }
                Some(value) => {
                    numbers.insert(path.to_owned(), value.clone());
                }
                None => {}
            }
        }
        members.push((member.weight, numbers));
    }
    members.sort_by(|a, b| b.0.total_cmp(&a.0));
    let paths = members.first().map(|m| m.1.keys().cloned().collect());
    let member = |(weight, numbers): (f64, BTreeMap<String, Value>)| Member {
        weight,
        values: numbers.into_values().collect(),
    };
    Ok(Ensemble {
        paths: paths.unwrap_or_default(),
        members: members.into_iter().map(member).collect(),
    })
}
