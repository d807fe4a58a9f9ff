//! Recipes of the shipped profiles' fits (`profiles/fits.toml`, embedded) and their last fidelity.
//! A fit begins at the recipe's start values, whatever the profile holds now, so that a shipped
//! profile is a function of its recipe (`make fit`).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::CalibrateError;
use crate::measurement::{Measurement, Role};
use crate::parameter::FreeParameter;
use crate::published::published;
use crate::residual::ErrorSummary;

const RECIPES: &str = include_str!("../../../profiles/fits.toml");
const FIDELITY: &str = include_str!("../../../reference/fidelity.csv");

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitRecipe {
    pub seed: u64,
    pub evaluations: u64,
    /// In the form of `--free`, beside those of `start`; without any, the fitted ones.
    #[serde(default)]
    pub free: Vec<String>,
    /// Figures whose names contain one of these are held out.
    #[serde(default)]
    pub hold_out: Vec<String>,
    /// Start values of free parameters, by path.
    #[serde(default)]
    pub start: BTreeMap<String, toml::Value>,
}

impl FitRecipe {
    pub fn free(&self) -> Result<Vec<FreeParameter>, CalibrateError> {
        let given = self.free.iter().map(|text| FreeParameter::parse(text));
        let mut free = given.collect::<Result<Vec<_>, _>>()?;
        for path in self.start.keys() {
            if !free.iter().any(|f| f.path == *path) {
                free.push(FreeParameter::parse(path)?);
            }
        }
        Ok(free)
    }
}

/// A table per profile; [`CalibrateError::Table`] names the line that cannot be parsed.
pub fn recipes(file: &str, text: &str) -> Result<BTreeMap<String, FitRecipe>, CalibrateError> {
    toml::from_str(text).map_err(|error| {
        let before = text.bytes().take(error.span().map_or(0, |span| span.start));
        let line = 1 + before.filter(|&byte| byte == b'\n').count();
        CalibrateError::table(file, line, None, error.message())
    })
}

/// The published figures of a profile's drive, with the roles of its recipe.
pub fn figures(profile: &str) -> Result<Vec<Measurement>, CalibrateError> {
    let mut all = published(profile)?;
    if let Some(recipe) = recipes("fits.toml", RECIPES)?.remove(profile) {
        hold_out(&mut all, &recipe.hold_out);
    }
    Ok(all)
}

/// Hold out measurements whose name contains a pattern; returns the patterns that match none.
pub fn hold_out(measurements: &mut [Measurement], patterns: &[String]) -> Vec<String> {
    let mut unused = patterns.to_vec();
    for measurement in measurements {
        let key = measurement.key();
        if patterns.iter().any(|pattern| key.contains(pattern)) {
            measurement.role = Role::HeldOut;
        }
        unused.retain(|pattern| !key.contains(pattern));
    }
    unused
}

pub(crate) const FIDELITY_HEADING: &str = "profile,figures,within,median_error_pct,worst_error_pct";

/// The result of the last `make fidelity`; `None` where nothing is published.
pub fn fidelity(profile: &str) -> Option<ErrorSummary> {
    FIDELITY.lines().find_map(|line| {
        let mut fields = line.trim().split(',');
        (fields.next() == Some(profile)).then_some(())?;
        Some(ErrorSummary {
            count: fields.next()?.parse().ok()?,
            met: fields.next()?.parse().ok()?,
            median_pct: fields.next()?.parse().ok()?,
            worst_pct: fields.next()?.parse().ok()?,
        })
    })
}

#[cfg(test)]
#[path = "../tests/unit/shipped.rs"]
mod tests;
