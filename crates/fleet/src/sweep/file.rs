use serde::{Deserialize, Serialize};

use super::{Sweep, SweepError, SweepStore};
use crate::PlanId;
use crate::chunks;

#[derive(Clone, Debug, PartialEq)]
pub enum SweepFile {
    Sweep(Sweep),
    Fit(Fit),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fit {
    pub name: String,
    pub fit: FitSection,
    #[serde(default)]
    pub run: FitRun,
    pub store: SweepStore,
}

/// The options of `assay fit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FitSection {
    /// A built-in profile, or the path of a profile file.
    pub profile: String,
    /// A table of measurements, a run folder, or `published`.
    pub to: String,
    /// Label, in a run of several drives.
    pub drive: Option<String>,
    #[serde(default)]
    pub free: Vec<String>,
    #[serde(default)]
    pub hold_out: Vec<String>,
    /// Candidates of each start.
    #[serde(default = "evaluations")]
    pub evaluations: u64,
    /// Name of the new profile; `None`: the old one.
    pub name: Option<String>,
    pub starts: u64,
    /// Starts of a task.
    #[serde(default = "one")]
    pub chunk: u64,
}

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

/// The default of `assay fit`.
fn evaluations() -> u64 {
    2000
}

fn one() -> u64 {
    1
}

impl SweepFile {
    /// `file` is its name in errors. [`SweepError::Invalid`] has the key and what to write.
    pub fn parse(file: &str, text: &str) -> Result<SweepFile, SweepError> {
        let invalid = |why: String| SweepError::Invalid { path: file.to_owned(), why };
        let syntax = |error: toml::de::Error| invalid(error.to_string().trim_end().to_owned());
        let table: toml::Table = toml::from_str(text).map_err(syntax)?;
        let sections = ["sweep", "fit"];
        let there: Vec<&str> = sections.into_iter().filter(|s| table.contains_key(*s)).collect();
        let (name, positive, read) = match there[..] {
            ["sweep"] => return Ok(SweepFile::Sweep(Sweep::parse(file, text)?)),
            ["fit"] => {
                let fit: Fit = toml::from_str(text).map_err(syntax)?;
                let section = &fit.fit;
                let numbers = [section.starts, section.chunk, section.evaluations];
                let keys = "fit.starts, fit.chunk and fit.evaluations";
                (fit.name.clone(), (numbers.to_vec(), keys), SweepFile::Fit(fit))
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
    /// The name and a hash of what the results depend on: the starts but not their chunks, the
    /// texts of profile and figures, and the version of the tool. Never fails: the name was
    /// checked.
    pub fn id(&self, profile: &str, figures: &str, version: &str) -> Result<PlanId, SweepError> {
        let section = FitSection { chunk: 1, ..self.fit.clone() };
        let parts = serde_json::json!({
            "fit": section, "run": self.run, "profile": profile, "figures": figures,
            "version": version,
        });
        Ok(chunks::id(&self.name, &parts)?)
    }
}
