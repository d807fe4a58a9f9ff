//! How the shipped profiles were fitted: recipes, `profiles/fits.toml` at the repository's root, embedded.
//!
//! A recipe says, per profile: seed and evaluations, which numbers were free and within what, which published figures were held
//! out, and from which numbers the search began. That makes the shipped profile a function of the recipe: a fit sets the free numbers
//! to where they began, whatever they are now, and so comes to the same profile again (`make fit`).

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::CalibrateError;
use crate::measurement::{Measurement, Role};
use crate::parameter::{FreeParameter, with_values};
use crate::published::published;

const RECIPES: &str = include_str!("../../../profiles/fits.toml");
const FIDELITY: &str = include_str!("../../../reference/fidelity.csv");

/// How one profile was fitted.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitRecipe {
    /// Seed of the search.
    pub seed: u64,
    /// Candidates tried.
    pub evaluations: u64,
    /// Free numbers as `--free` spells them, beside those of `start`; none of either: those marked as fitted.
    #[serde(default)]
    pub free: Vec<String>,
    /// Figures whose names contain one of these were not fitted to.
    #[serde(default)]
    pub hold_out: Vec<String>,
    /// Where free numbers began, by path.
    #[serde(default)]
    pub start: BTreeMap<String, toml::Value>,
}

impl FitRecipe {
    /// The free numbers, taken apart.
    ///
    /// # Errors
    /// [`CalibrateError::Parameter`] when one is misspelled.
    pub fn free(&self) -> Result<Vec<FreeParameter>, CalibrateError> {
        let mut free: Vec<FreeParameter> = self
            .free
            .iter()
            .map(|text| FreeParameter::parse(text))
            .collect::<Result<_, _>>()?;
        for path in self.start.keys() {
            if !free.iter().any(|f| f.path == *path) {
                free.push(FreeParameter::parse(path)?);
            }
        }
        Ok(free)
    }

    /// A profile's text with the free numbers where they began.
    ///
    /// # Errors
    /// [`CalibrateError::Parameter`] when the profile has no such number.
    pub fn begin(&self, text: &str) -> Result<String, CalibrateError> {
        with_values(text, &self.start)
    }
}

/// The recipes in a text: a table per profile.
///
/// # Errors
/// [`CalibrateError::Table`] with the line when it is no such text.
pub fn recipes(file: &str, text: &str) -> Result<BTreeMap<String, FitRecipe>, CalibrateError> {
    toml::from_str(text).map_err(|error| CalibrateError::Table {
        file: file.to_owned(),
        line: error.span().map_or(1, |span| {
            let before = text.bytes().take(span.start);
            1 + before.filter(|&byte| byte == b'\n').count()
        }),
        column: None,
        what: error.message().to_owned(),
    })
}

/// The recipe of a shipped profile, if it has one.
///
/// # Errors
/// [`CalibrateError::Table`] when the table that came with the program is damaged.
pub fn recipe(profile: &str) -> Result<Option<FitRecipe>, CalibrateError> {
    Ok(recipes("fits.toml", RECIPES)?.remove(profile))
}

/// The published figures of a profile's drive, those held out by its recipe marked so.
///
/// # Errors
/// As [`published`] and [`recipe`].
pub fn figures(profile: &str) -> Result<Vec<Measurement>, CalibrateError> {
    let mut all = published(profile)?;
    if let Some(recipe) = recipe(profile)? {
        hold_out(&mut all, &recipe.hold_out);
    }
    Ok(all)
}

/// Mark the measurements whose name contains one of these as held out; gives back the patterns that are part of no name.
pub fn hold_out(measurements: &mut [Measurement], patterns: &[String]) -> Vec<String> {
    let mut unused = Vec::new();
    for pattern in patterns {
        let mut any = false;
        for measurement in measurements.iter_mut() {
            if measurement.key().contains(pattern.as_str()) {
                measurement.role = Role::HeldOut;
                any = true;
            }
        }
        if !any {
            unused.push(pattern.clone());
        }
    }
    unused
}

/// How near a profile comes to what was published of its drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileFidelity {
    /// Published figures.
    pub figures: u32,
    /// Those within their tolerance.
    pub within: u32,
    /// Median size of the errors in per cent, temperatures left out.
    pub median_pct: f64,
    /// Greatest of them.
    pub worst_pct: f64,
}

/// Heading of `reference/fidelity.csv`.
pub(crate) const FIDELITY_HEADING: &str = "profile,figures,within,median_error_pct,worst_error_pct";

/// What `make fidelity` found for a profile when it was last run; `None` where nothing was published.
pub fn fidelity(profile: &str) -> Option<ProfileFidelity> {
    FIDELITY.lines().find_map(|line| {
        let mut fields = line.trim().split(',');
        (fields.next() == Some(profile)).then_some(())?;
        Some(ProfileFidelity {
            figures: fields.next()?.parse().ok()?,
            within: fields.next()?.parse().ok()?,
            median_pct: fields.next()?.parse().ok()?,
            worst_pct: fields.next()?.parse().ok()?,
        })
    })
}

#[cfg(test)]
#[path = "../tests/unit/shipped.rs"]
mod tests;
