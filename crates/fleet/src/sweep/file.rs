//! The kinds of sweep files.

use serde::{Deserialize, Serialize};

use super::{Sweep, SweepError, SweepStore};
use crate::PlanId;
use crate::chunks;

/// A checked file.
#[derive(Clone, Debug, PartialEq)]
pub enum SweepFile {
    /// Section `[sweep]`.
    Sweep(Sweep),
    /// Section `[fit]`.
    Fit(Fit),
}

/// A fit from many starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    pub name: String,
    /// What is fitted.
    pub fit: FitSection,
    /// The seed.
    #[serde(default)]
    pub run: FitRun,
    /// Where the results go.
    pub store: SweepStore,
}

/// What is fitted: the options of `assay fit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSection {
    /// A built-in profile, or the path of a profile file.
    pub profile: String,
    /// A table of measurements, a run folder, or `published`.
    pub to: String,
    /// Label of the drive, in a run of several.
    pub drive: Option<String>,
    /// Free parameters, as `--free`.
    #[serde(default)]
    pub free: Vec<String>,
    /// Figures that are not fitted to, as `--hold-out`.
    #[serde(default)]
    pub hold_out: Vec<String>,
    /// Candidates of each start.
    #[serde(default = "evaluations")]
    pub evaluations: u64,
    /// Name of the new profile; none: the old one.
    pub name: Option<String>,
    pub starts: u64,
    /// Starts of a task.
    #[serde(default = "one")]
    pub chunk: u64,
}

/// The seed of a fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitRun {
    /// Seed of start 0, from which those of the others follow.
    pub seed: u64,
}

impl Default for FitRun {
    fn default() -> FitRun {
        FitRun { seed: 1 }
    }
}

/// Default number of candidates, as of `assay fit`.
fn evaluations() -> u64 {
    2000
}

fn one() -> u64 {
    1
}

impl SweepFile {
    /// Reads a file; `file` is its name in errors.
    ///
    /// # Errors
    /// [`SweepError::Invalid`] with the key and what to write; [`SweepError::Name`].
    pub fn parse(file: &str, text: &str) -> Result<SweepFile, SweepError> {
        let invalid = |why: String| SweepError::Invalid {
            path: file.to_owned(),
            why,
        };
        let syntax = |error: toml::de::Error| invalid(error.to_string().trim_end().to_owned());
        let table: toml::Table = toml::from_str(text).map_err(syntax)?;
        let sections = ["sweep", "fit"];
        let there: Vec<&str> = sections
            .into_iter()
            .filter(|s| table.contains_key(*s))
            .collect();
        let (name, positive, read) = match there[..] {
            ["sweep"] => return Ok(SweepFile::Sweep(Sweep::parse(file, text)?)),
            ["fit"] => {
                let fit: Fit = toml::from_str(text).map_err(syntax)?;
                let section = &fit.fit;
                let numbers = [section.starts, section.chunk, section.evaluations];
                let keys = "fit.starts, fit.chunk and fit.evaluations";
                (
                    fit.name.clone(),
                    (numbers.to_vec(), keys),
                    SweepFile::Fit(fit),
                )
            }
            _ => {
                let there = there.len();
                return Err(invalid(format!(
                    "it has {there} of the sections [sweep] and [fit]; write one of them"
                )));
            }
        };
        let (numbers, keys) = positive;
        if numbers.contains(&0) {
            return Err(invalid(format!("{keys} must be whole numbers from 1")));
        }
        chunks::id(&name, &serde_json::Value::Null)?;
        Ok(read)
    }
}

impl Fit {
    /// Its id: the name and a hash of what its results depend on: the starts but not their chunks,
    /// the texts of profile and figures, and the version of the tool.
    ///
    /// # Errors
    /// Never: the name was checked.
    pub fn id(&self, profile: &str, figures: &str, version: &str) -> Result<PlanId, SweepError> {
        let section = FitSection {
            chunk: 1,
            ..self.fit.clone()
        };
        let parts = serde_json::json!({
            "fit": section, "run": self.run, "profile": profile, "figures": figures, "version": version,
        });
        Ok(chunks::id(&self.name, &parts)?)
    }
}
