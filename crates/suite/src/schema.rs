//! TOML schema of suites and policies. `docs/suites.md` documents it.

use std::collections::BTreeMap;

use assay_analysis::figure::headline::HeadlineMetric;
use assay_store::model::Standard;
use serde::Deserialize;

use crate::SuiteError;

mod jobs;
mod procedure;
mod step;
mod step_keys;
mod verdict;

pub use jobs::MatrixOption;
pub use procedure::{
    EndRule, IdleSpec, NO_UPLINK, PointSpec, RoundsSpec, SNIA, SimulatedHostSpec, StartSpec,
    StopCondition, TrackingVariable,
};
pub use step::{Precondition, SoakEnd, StepWork, SuiteStep};
pub use verdict::{DatasheetFacts, RelativeLimits, VerdictRule, VerdictRules};

/// Keys of a job that are not workload options: evaluated by the suite.
pub const SUITE_OPTIONS: [&str; 6] =
    ["queue_depth", "in_flight", "load_pct", "power_state", "chunks", "bursts"];

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    pub name: String,
    pub title: String,
    pub summary: String,
    /// Source of the procedure: publisher, title, date.
    pub source: String,
    /// Duration on one drive at scale 1, as text.
    pub duration: String,
    #[serde(default)]
    pub parameters: BTreeMap<String, SuiteParameter>,
    #[serde(default, rename = "step")]
    pub steps: Vec<SuiteStep>,
    /// Verdict rules; no verdict without them.
    pub verdict: Option<VerdictRules>,
    /// Columns of the scoreboard in reports, six to ten.
    #[serde(default, rename = "headline")]
    pub headlines: Vec<HeadlineMetric>,
    /// The two charts of a report's first screen, as `STEP/CHART`.
    #[serde(default)]
    pub first_charts: Vec<String>,
    /// The standard whose test it is.
    pub standard: Option<Standard>,
    #[serde(skip)]
    pub text: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteParameter {
    pub default: String,
    pub help: String,
    #[serde(default)]
    pub kind: ParameterKind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    Size,
    /// A duration; multiplied by `--scale`.
    Duration,
    /// Values separated by commas.
    List,
    #[default]
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// Write permission: `--destroy`, or a simulated or null drive.
    Write,
    File,
    SeveralDrives,
}

fn from_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())
}

impl Suite {
    pub fn parse(name: &str, text: &str) -> Result<Suite, SuiteError> {
        let checked = |suite: Suite| suite.check().map(|()| suite);
        let suite = from_toml(text).and_then(checked);
        let suite = suite.map_err(|message| SuiteError::invalid("suite", name, message))?;
        Ok(Suite { text: text.to_owned(), ..suite })
    }

    fn check(&self) -> Result<(), String> {
        if self.steps.is_empty() {
            return Err("has no [[step]]".to_owned());
        }
        for (i, step) in self.steps.iter().enumerate() {
            let id = &step.id;
            if self.steps[..i].iter().any(|s| s.id == *id) {
                return Err(format!("two steps have the id {id:?}"));
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
            if id.is_empty() || !id.chars().all(plain) {
                return Err(format!(
                    "step {id:?}: a step's id consists of letters, digits and hyphens"
                ));
            }
            step.check(&self.steps[..i]).map_err(|why| format!("step {id:?}: {why}"))?;
        }
        for rule in self.verdict.iter().flat_map(|verdict| &verdict.rules) {
            if let Some(step) = &rule.step
                && !self.steps.iter().any(|s| s.id == *step)
            {
                return Err(format!(
                    "the verdict rule {:?} names step {step:?}, which does not exist",
                    rule.about
                ));
            }
            rule.check()?;
        }
        let fixed = self.standard.iter().flat_map(|standard| &standard.fixed);
        for name in fixed {
            if !self.parameters.contains_key(name) {
                return Err(format!("standard: {name:?} in fixed is no parameter"));
            }
        }
        self.check_headlines()
    }

    /// Headline metrics have unique keys; they and the first charts name existing steps.
    fn check_headlines(&self) -> Result<(), String> {
        let exists = |step: &str| self.steps.iter().any(|s| s.id == step);
        for (i, metric) in self.headlines.iter().enumerate() {
            let fail = |why: &str| Err(format!("headline {:?}: {why}", metric.key));
            if self.headlines[..i].iter().any(|m| m.key == metric.key) {
                return fail("two have this key");
            }
            if !exists(&metric.step) {
                return fail(&format!("step {:?} does not exist", metric.step));
            }
            metric.check().or_else(|why| fail(&why))?;
        }
        for chart in &self.first_charts {
            if !chart.split_once('/').is_some_and(|(step, _)| exists(step)) {
                return Err(format!(
                    "first_charts: {chart:?} is not STEP/CHART with an existing step"
                ));
            }
        }
        Ok(())
    }

    pub fn writes(&self) -> WriteAccess {
        let needs_write = |step: &SuiteStep| step.needs.contains(&Requirement::Write);
        if !self.steps.iter().any(SuiteStep::writes) {
            WriteAccess::Never
        } else if self.steps.iter().all(needs_write) {
            WriteAccess::Always
        } else {
            WriteAccess::IfAllowed
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAccess {
    Never,
    /// Writes where `--destroy` allows it, and skips the writing cells otherwise.
    IfAllowed,
    /// Needs write permission.
    Always,
}

impl WriteAccess {
    pub fn text(self) -> &'static str {
        match self {
            WriteAccess::Never => "read-only",
            WriteAccess::IfAllowed => {
                "writes if --destroy names the drive; otherwise runs only the read-only steps"
            }
            WriteAccess::Always => "destroys data: needs --destroy",
        }
    }
}
