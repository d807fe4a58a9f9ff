//! TOML schema of verdict rules, in suites and in policies, and of data-sheet facts.

use std::collections::BTreeMap;

use assay_calibrate::hardware::Rating;
use serde::Deserialize;

use super::from_toml;
use crate::SuiteError;

/// Verdict rules; those without a measured figure count as missing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRules {
    /// What the limits of the rules were chosen for, with its date: they are opinions, not
    /// standards.
    pub limits: Option<String>,
    /// Limits of the relative modes.
    #[serde(default)]
    pub relative: RelativeLimits,
    /// The rules, one figure each.
    #[serde(default, rename = "rule")]
    pub rules: Vec<VerdictRule>,
    /// Data-sheet facts by drive; the first match counts.
    #[serde(default, rename = "facts")]
    pub facts: Vec<DatasheetFacts>,
}

/// Limits of figures relative to a reference (the best of several drives, or the data sheet),
/// percent of it. Below a reference of 100 %, a figure is good down to `good_pct`, and a reason
/// against the drive below `bad_pct`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RelativeLimits {
    /// Good at or above it.
    pub good_pct: f64,
    /// A reason against below it.
    pub bad_pct: f64,
}

impl Default for RelativeLimits {
    fn default() -> RelativeLimits {
        RelativeLimits {
            good_pct: 80.0,
            bad_pct: 50.0,
        }
    }
}

/// Data-sheet facts of a drive.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasheetFacts {
    /// Part of its model, label or profile name, case-insensitive.
    pub drive: String,
    /// Rated endurance, terabytes (10^12 bytes) written.
    pub endurance_tb: Option<f64>,
    /// Price class; rules can be restricted to one.
    pub price_class: Option<String>,
    /// Rated figures of its data sheet, in the units of their names.
    #[serde(default)]
    pub rated: BTreeMap<Rating, f64>,
    pub source: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRule {
    /// Title.
    pub about: String,
    pub figure: VerdictMetric,
    /// Its step; required except for `errors`, `bad_blocks` and `endurance_tb`.
    pub step: Option<String>,
    /// Its suite, in a policy for several.
    pub suite: Option<String>,
    /// Only for drives of this price class.
    pub price_class: Option<String>,
    /// At or above it (below, with `lower_is_better`): a reason for the drive.
    pub good: Option<f64>,
    /// Below it (above, with `lower_is_better`): a reason against; between the two: a condition.
    pub bad: Option<f64>,
    /// The figure of a data sheet that it is compared with. A rule without `good` and `bad` is
    /// evaluated in the relative modes only.
    pub rating: Option<Rating>,
    /// Smaller figures are better.
    #[serde(default)]
    pub lower_is_better: bool,
    /// Advice, shown unless the figure is good.
    pub advice: String,
}

/// A figure that a rule evaluates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictMetric {
    /// MiB/s of the step's best cell.
    BestRate,
    /// MiB/s of the step's best cell with one thread.
    SingleRate,
    /// MiB/s of the slowest second as a share of the mean, percent.
    SteadinessPct,
    /// Rate of the last fifth as a share of the first fifth, percent.
    EnduringPct,
    /// p99 latency in microseconds of the step's first cell.
    P99Us,
    /// Rate of the cell with most threads as a share of that with fewest at the same block size,
    /// percent, best block size.
    ScalingPct,
    /// Share of the time in the throttled state, from the first throttling on, percent, of the
    /// step's first cell.
    ThrottledPct,
    /// Mean rate from the first throttling on, percent of the rate before, of the step's first
    /// cell.
    ThrottledRatePct,
    /// Highest temperature seen, degrees Celsius.
    HottestC,
    /// Failed I/Os in all steps.
    Errors,
    /// I/Os per second of the step's best cell.
    BestIops,
    /// View consistency: mean I/Os per second of the last ninth.
    ScoreIops,
    /// View consistency: that mean over the standard deviation.
    ScoreSteadiness,
    /// View knee: I/Os per second at the lowest depth that reaches 95 % of the best.
    KneeIops,
    /// View knee: p99.99 latency there, microseconds.
    KneeTailUs,
    /// View load: highest load that is carried with at most twice the latency of the lowest,
    /// percent of the saturated rate.
    LoadKneePct,
    /// Rounds: tracking variables in steady state, percent.
    SteadyPct,
    /// Blocks that failed verification.
    BadBlocks,
    /// Rated endurance, terabytes written, from the policy.
    EnduranceTb,
}

impl VerdictMetric {
    /// Whether it says how good the measured drive is: an unused drive has no errors, and a data
    /// sheet is no measurement.
    pub fn is_of_merit(self) -> bool {
        !matches!(self, VerdictMetric::Errors | VerdictMetric::EnduranceTb)
    }

    /// Whether its value is a rate, a latency or an endurance, whose limits depend on the class and
    /// the year of a drive. Other figures are relative to the drive itself.
    pub fn is_absolute(self) -> bool {
        matches!(
            self,
            VerdictMetric::BestRate
                | VerdictMetric::SingleRate
                | VerdictMetric::P99Us
                | VerdictMetric::BestIops
                | VerdictMetric::ScoreIops
                | VerdictMetric::KneeIops
                | VerdictMetric::KneeTailUs
                | VerdictMetric::EnduranceTb
        )
    }

    /// The unit of its value, in ASCII.
    pub fn unit(self) -> &'static str {
        use VerdictMetric as M;
        match self {
            M::BestRate | M::SingleRate => "MiB/s",
            M::BestIops | M::ScoreIops | M::KneeIops => "IO/s",
            M::P99Us | M::KneeTailUs => assay_units::text::UCUM_MICROSECOND,
            M::SteadinessPct
            | M::EnduringPct
            | M::ScalingPct
            | M::ThrottledPct
            | M::ThrottledRatePct
            | M::LoadKneePct
            | M::SteadyPct => "%",
            M::HottestC => "C",
            M::Errors => "IO",
            M::ScoreSteadiness => "1",
            M::BadBlocks => "blocks",
            M::EnduranceTb => "TB",
        }
    }

    /// A figure of the whole drive, not of one step.
    fn is_of_drive(self) -> bool {
        matches!(
            self,
            VerdictMetric::Errors | VerdictMetric::EnduranceTb | VerdictMetric::BadBlocks
        )
    }
}

impl VerdictRule {
    /// Absolute limits: good, bad.
    pub fn limits(&self) -> Option<(f64, f64)> {
        self.good.zip(self.bad)
    }

    /// Its error, if it lacks its step or its limits.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.step.is_none() && !self.figure.is_of_drive() {
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
    ///
    /// # Errors
    /// When the TOML is malformed, a key is unknown, or a rule lacks its step; the message gives
    /// the position.
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
    ///
    /// # Errors
    /// When the TOML is malformed or a key is unknown; the message gives the position.
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
