use std::collections::BTreeMap;

use assay_analysis::figure::{Figure, Scope};
use assay_calibrate::hardware::Rating;
use serde::Deserialize;

use super::from_toml;
use crate::SuiteError;

/// Verdict rules; those without a measured figure count as missing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRules {
    /// They are opinions, not standards.
    pub limits: Option<String>,
    /// Limits of the relative modes.
    #[serde(default)]
    pub relative: RelativeLimits,
    #[serde(default, rename = "rule")]
    pub rules: Vec<VerdictRule>,
    /// Data-sheet facts by drive; the first match counts.
    #[serde(default, rename = "facts")]
    pub facts: Vec<DatasheetFacts>,
}

/// Below a reference of 100 %, a figure is good down to `good_pct`, and a reason against the drive
/// below `bad_pct`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RelativeLimits {
    pub good_pct: f64,
    pub bad_pct: f64,
}

impl Default for RelativeLimits {
    fn default() -> RelativeLimits {
        RelativeLimits { good_pct: 80.0, bad_pct: 50.0 }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasheetFacts {
    /// Part of its model, label or profile name, case-insensitive.
    pub drive: String,
    /// Rated endurance, terabytes (10^12 bytes) written.
    pub endurance_tb: Option<f64>,
    pub price_class: Option<String>,
    /// Rated figures of its data sheet, in the units of their names.
    #[serde(default)]
    pub rated: BTreeMap<Rating, f64>,
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRule {
    pub about: String,
    pub figure: Figure,
    /// Its step; required except for figures of the whole drive.
    pub step: Option<String>,
    /// Its suite, in a policy for several.
    pub suite: Option<String>,
    /// Only for drives of this price class.
    pub price_class: Option<String>,
    /// At or above it (below, with `lower_is_better`): a reason for the drive.
    pub good: Option<f64>,
    /// Below it (above, with `lower_is_better`): a reason against; between the two: a condition.
    pub bad: Option<f64>,
    /// A rule without `good` and `bad` is evaluated in the relative modes only.
    pub rating: Option<Rating>,
    /// Smaller figures are better; absent: as of the figure.
    pub lower_is_better: Option<bool>,
    pub advice: String,
}

impl VerdictRule {
    pub fn is_lower_better(&self) -> bool {
        self.lower_is_better.unwrap_or_else(|| self.figure.is_lower_better())
    }

    pub fn limits(&self) -> Option<(f64, f64)> {
        self.good.zip(self.bad)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if self.step.is_none() && self.figure.scope == Scope::Step {
            return Err(format!("the verdict rule {:?} needs a step", self.about));
        }
        if self.limits().is_none() && (self.rating.is_none() || self.good.or(self.bad).is_some()) {
            return Err(format!(
                "the verdict rule {:?} needs good and bad, or a rating and neither",
                self.about
            ));
        }
        Ok(())
    }
}

impl VerdictRules {
    /// Read a policy: verdict rules in a file.
    pub fn parse(name: &str, text: &str) -> Result<VerdictRules, SuiteError> {
        let checked = |rules: VerdictRules| {
            if rules.rules.is_empty() {
                return Err("has no [[rule]]".to_owned());
            }
            rules.rules.iter().try_for_each(VerdictRule::check)?;
            Ok(rules)
        };
        from_toml(text)
            .and_then(checked)
            .map_err(|message| SuiteError::invalid("policy", name, message))
    }

    /// Read data-sheet facts: the `[[facts]]` of a policy in a file of their own.
    pub fn parse_facts(name: &str, text: &str) -> Result<Vec<DatasheetFacts>, SuiteError> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct FactsFile {
            facts: Vec<DatasheetFacts>,
        }
        let file: Result<FactsFile, String> = from_toml(text);
        file.map(|file| file.facts)
            .map_err(|message| SuiteError::invalid("data sheet", name, message))
    }
}
