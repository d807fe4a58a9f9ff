//! TOML schema of suites and policies. `docs/suites.md` documents it.

use std::collections::BTreeMap;

use assay_stats::steady::SteadyRule;
use assay_store::model::{CellKind, CellView};
use assay_workload::options::JobOption;
use serde::Deserialize;

use crate::SuiteError;

mod procedure;

pub use procedure::{IdleSpec, RoundsSpec, SNIA, StopCondition, TrackingVariable};

/// Keys of a job that are not workload options: evaluated by the suite.
pub const SUITE_OPTIONS: [&str; 4] = ["queue_depth", "load_pct", "power_state", "chunks"];

/// A suite.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Name, as on the command line.
    pub name: String,
    /// Title.
    pub title: String,
    /// Summary, one paragraph.
    pub summary: String,
    /// Source of the procedure: publisher, title, date.
    pub source: String,
    /// Duration on one drive at scale 1, as text.
    pub duration: String,
    /// Parameters for `--set key=value`.
    #[serde(default)]
    pub parameters: BTreeMap<String, SuiteParameter>,
    /// Steps, in order.
    #[serde(default, rename = "step")]
    pub steps: Vec<SuiteStep>,
    /// Verdict rules; no verdict without them.
    #[serde(default)]
    pub verdict: Option<VerdictRules>,
    /// The TOML text.
    #[serde(skip)]
    pub text: String,
}

/// One parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteParameter {
    /// Default value.
    pub default: String,
    /// Description.
    pub help: String,
    /// `size`, `duration`, `list` or `text`.
    #[serde(default)]
    pub kind: ParameterKind,
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// A size; limited to the capacity.
    Size,
    /// A duration; multiplied by `--scale`.
    Duration,
    /// Values separated by commas.
    List,
    /// Any text.
    #[default]
    Text,
}

/// Requirement of a step; its cells are skipped without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// Write permission: `--destroy`, or a simulated or null drive.
    Write,
    /// A regular file, read through its file system.
    File,
    /// More than one drive.
    SeveralDrives,
}

/// One step of a suite.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteStep {
    /// Name, unique in the suite.
    pub id: String,
    /// Title of its table.
    pub title: String,
    /// Kind of its cells.
    pub kind: CellKind,
    /// Requirements.
    #[serde(default)]
    pub needs: Vec<Requirement>,
    /// The workload: options of `assay job` ([`assay_workload::options::JOB_OPTIONS`]); `{parameter}` is replaced by its value.
    #[serde(default)]
    pub job: toml::Table,
    /// Options with several values: one cell per combination, the first varies slowest.
    #[serde(default)]
    pub matrix: toml::Table,
    /// Drop the area from the page cache first.
    #[serde(default)]
    pub drop_cache: bool,
    /// Earlier step: each cell's rate is given as ratio to its cell with the same matrix values.
    #[serde(default)]
    pub compare_with: Option<String>,
    /// View in reports.
    #[serde(default)]
    pub view: Option<CellView>,
    /// Its figures claim steady state: others are marked in reports and not used by verdicts.
    #[serde(default)]
    pub steady: bool,
    /// Variant that it shares with other steps; reports switch between variants.
    #[serde(default)]
    pub variant: Option<String>,
    /// Largest number of threads for the option `queue_depth`.
    #[serde(default)]
    pub most_threads: Option<u32>,
    /// Earlier step whose best rate is 100 % of `load_pct`.
    #[serde(default)]
    pub load_of: Option<String>,
    /// Repeats its cells in rounds until steady state.
    #[serde(default)]
    pub rounds: Option<RoundsSpec>,
    /// Repetitions of all its cells, averaged. A number or a parameter.
    #[serde(default)]
    pub repeats: Option<toml::Value>,
    /// Idle time before each cell.
    #[serde(default)]
    pub rest: Option<IdleSpec>,
    /// Early stop condition of its cells.
    #[serde(default)]
    pub until: Option<StopCondition>,
    /// Preconditioning state that it leaves.
    #[serde(default)]
    pub leaves: Option<String>,
    /// Preconditioning state that its cells need; without it they are skipped.
    #[serde(default)]
    pub wants: Option<String>,
}

/// Verdict rules; those without a measured figure count as missing.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRules {
    /// The rules, one figure each.
    #[serde(default, rename = "rule")]
    pub rules: Vec<VerdictRule>,
    /// Data-sheet facts by drive; the first match counts.
    #[serde(default, rename = "facts")]
    pub facts: Vec<DatasheetFacts>,
}

/// Data-sheet facts of a drive.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasheetFacts {
    /// Part of its model, label or profile name, case-insensitive.
    pub drive: String,
    /// Rated endurance, terabytes (10^12 bytes) written.
    #[serde(default)]
    pub endurance_tb: Option<f64>,
    /// Price class; rules can be restricted to one.
    #[serde(default)]
    pub price_class: Option<String>,
    /// Source.
    pub source: String,
}

/// A verdict rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRule {
    /// Title.
    pub about: String,
    /// The figure.
    pub figure: VerdictMetric,
    /// Its step; required except for `errors`, `bad_blocks` and `endurance_tb`.
    #[serde(default)]
    pub step: Option<String>,
    /// Its suite, in a policy for several.
    #[serde(default)]
    pub suite: Option<String>,
    /// Only for drives of this price class.
    #[serde(default)]
    pub price_class: Option<String>,
    /// At or above it (below, with `lower_is_better`): a reason for the drive.
    pub good: f64,
    /// Below it (above, with `lower_is_better`): a reason against; between the two: a condition.
    pub bad: f64,
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
    /// Rate of the cell with most threads as a share of that with fewest at the same block size, percent, best block size.
    ScalingPct,
    /// Share of the time in the throttled state, from the first throttling on, percent, of the step's first cell.
    ThrottledPct,
    /// Mean rate from the first throttling on, percent of the rate before, of the step's first cell.
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
    /// View load: highest load that is carried with at most twice the latency of the lowest, percent of the saturated rate.
    LoadKneePct,
    /// Rounds: tracking variables in steady state, percent.
    SteadyPct,
    /// Blocks that failed verification.
    BadBlocks,
    /// Rated endurance, terabytes written, from the policy.
    EnduranceTb,
}

impl VerdictMetric {
    /// A figure of the whole drive, not of one step.
    fn is_of_drive(self) -> bool {
        matches!(
            self,
            VerdictMetric::Errors | VerdictMetric::EnduranceTb | VerdictMetric::BadBlocks
        )
    }
}

impl VerdictRule {
    fn needs_a_step(&self) -> String {
        format!("the verdict rule {:?} needs a step", self.about)
    }
}

impl VerdictRules {
    /// Read a policy: verdict rules in a file.
    ///
    /// # Errors
    /// When the TOML is malformed, a key is unknown, or a rule lacks its step; the message gives the position.
    pub fn parse(name: &str, text: &str) -> Result<VerdictRules, SuiteError> {
        let failed = |message: String| SuiteError::Policy {
            name: name.to_owned(),
            message,
        };
        let rules: VerdictRules =
            toml::from_str(text).map_err(|e| failed(e.to_string().trim_end().to_owned()))?;
        if rules.rules.is_empty() {
            return Err(failed("has no [[rule]]".to_owned()));
        }
        match rules
            .rules
            .iter()
            .find(|r| r.step.is_none() && !r.figure.is_of_drive())
        {
            Some(rule) => Err(failed(rule.needs_a_step())),
            None => Ok(rules),
        }
    }
}

impl Suite {
    /// Read a suite.
    ///
    /// # Errors
    /// When the TOML is malformed, a key is unknown, or steps contradict each other; the message names the step.
    pub fn parse(name: &str, text: &str) -> Result<Suite, SuiteError> {
        let failed = |message: String| SuiteError::Text {
            name: name.to_owned(),
            message,
        };
        let mut suite: Suite =
            toml::from_str(text).map_err(|e| failed(e.to_string().trim_end().to_owned()))?;
        suite.text = text.to_owned();
        if suite.steps.is_empty() {
            return Err(failed("has no [[step]]".to_owned()));
        }
        for (i, step) in suite.steps.iter().enumerate() {
            if suite.steps[..i].iter().any(|s| s.id == step.id) {
                return Err(failed(format!("two steps have the id {:?}", step.id)));
            }
            if step.id.is_empty()
                || !step
                    .id
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-')
            {
                return Err(failed(format!(
                    "step {:?}: a step's id consists of letters, digits and hyphens",
                    step.id
                )));
            }
            if let Some(key) = step.job.keys().chain(step.matrix.keys()).find(|key| {
                !SUITE_OPTIONS.contains(&key.as_str()) && JobOption::find(key).is_none()
            }) {
                return Err(failed(format!(
                    "step {:?}: {key:?} is not an option of a job; `assay job --help` lists them",
                    step.id
                )));
            }
            step.check(&suite.steps[..i]).map_err(&failed)?;
            if let Some(other) = &step.compare_with
                && !suite.steps[..i].iter().any(|s| s.id == *other)
            {
                return Err(failed(format!(
                    "step {:?}: compare_with names {other:?}, which is no earlier step",
                    step.id
                )));
            }
        }
        if let Some(verdict) = &suite.verdict {
            for rule in &verdict.rules {
                match &rule.step {
                    Some(step) if !suite.steps.iter().any(|s| s.id == *step) => {
                        return Err(failed(format!(
                            "the verdict rule {:?} names step {step:?}, which does not exist",
                            rule.about
                        )));
                    }
                    None if !rule.figure.is_of_drive() => {
                        return Err(failed(rule.needs_a_step()));
                    }
                    _ => {}
                }
            }
        }
        Ok(suite)
    }

    /// Whether the suite writes.
    pub fn writes(&self) -> WriteAccess {
        let writing = self.steps.iter().filter(|s| s.writes()).count();
        match writing {
            0 => WriteAccess::Never,
            _ if self
                .steps
                .iter()
                .all(|s| s.needs.contains(&Requirement::Write)) =>
            {
                WriteAccess::Always
            }
            _ => WriteAccess::IfAllowed,
        }
    }
}

/// Whether a suite destroys data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAccess {
    /// Read-only.
    Never,
    /// Writes where `--destroy` allows it, and skips those cells otherwise.
    IfAllowed,
    /// Needs write permission.
    Always,
}

impl WriteAccess {
    /// Text for listings.
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

impl SuiteStep {
    /// Whether it changes the drive's contents.
    pub fn writes(&self) -> bool {
        let writing = |rw: &toml::Value| !matches!(rw.as_str(), Some("read" | "randread"));
        match self.kind {
            CellKind::Inspect | CellKind::Idle => false,
            CellKind::Purge => true,
            _ => {
                self.job.get("rw").is_some_and(writing)
                    || match self.matrix.get("rw") {
                        Some(toml::Value::Array(all)) => all.iter().any(writing),
                        Some(one) => writing(one),
                        None => false,
                    }
            }
        }
    }

    /// Check the keys against each other and against earlier steps.
    fn check(&self, before: &[SuiteStep]) -> Result<(), String> {
        let has = |key: &str| self.job.contains_key(key) || self.matrix.contains_key(key);
        let fail = |what: &str| Err(format!("step {:?}: {what}", self.id));
        if has("queue_depth") && (has("iodepth") || has("numjobs")) {
            return fail("queue_depth sets iodepth and numjobs; give either");
        }
        if self.most_threads.is_some() && !has("queue_depth") {
            return fail("most_threads needs the option queue_depth");
        }
        if self.most_threads == Some(0) {
            return fail("most_threads is at least 1");
        }
        if has("load_pct") != self.load_of.is_some() {
            return fail("load_pct and load_of need each other: a share, and its step");
        }
        if has("load_pct") && (has("rate") || has("rate_iops") || has("rate_bw")) {
            return fail("load_pct sets the rate; remove the other rate option");
        }
        if let Some(of) = &self.load_of
            && !before
                .iter()
                .any(|s| s.id == *of && s.kind == CellKind::Measure)
        {
            return Err(format!(
                "step {:?}: load_of names {of:?}, which is no earlier step of kind measure",
                self.id
            ));
        }
        if let Some(wants) = &self.wants
            && !before.iter().any(|s| s.leaves.as_ref() == Some(wants))
        {
            return Err(format!(
                "step {:?}: wants {wants:?}, which no earlier step leaves",
                self.id
            ));
        }
        if self.leaves.is_some() && !matches!(self.kind, CellKind::Prepare | CellKind::Purge) {
            return fail("leaves needs kind prepare or purge");
        }
        if self.until.is_some() && !(self.kind == CellKind::Soak && has("runtime")) {
            return fail("until needs kind soak and a runtime");
        }
        if has("chunks") && (has("size") || has("runtime") || has("io_size")) {
            return fail("chunks sets the size of one pass; remove size, io_size and runtime");
        }
        if has("chunks") && !has("bs") {
            return fail("chunks is a number of blocks and needs bs");
        }
        if self.repeats.is_some() && !self.view.is_some_and(CellView::is_stream) {
            return fail("repeats needs the view peak or continuous; use rounds for other steps");
        }
        if self.repeats.is_some() && self.rounds.is_some() {
            return fail("has both repeats and rounds; give one");
        }
        if self.view.is_some_and(CellView::is_stream) && self.kind != CellKind::Measure {
            return fail("the views peak and continuous need kind measure");
        }
        if self.steady && !matches!(self.kind, CellKind::Measure | CellKind::Soak) {
            return fail("steady needs kind measure or soak");
        }
        if self.steady && self.rounds.is_some() {
            return fail("rounds have their own steady-state rule; remove steady or rounds");
        }
        if self.rest.is_some() && !matches!(self.kind, CellKind::Measure | CellKind::Soak) {
            return fail("rest needs kind measure or soak");
        }
        if let Some(rounds) = &self.rounds {
            if self.kind != CellKind::Measure {
                return fail("rounds needs kind measure");
            }
            if rounds.window < 2 {
                return fail("a window has at least 2 rounds");
            }
            // A parameter's value is checked in the plan.
            let text = rounds.rule.as_str();
            if text != SNIA && !text.contains('{') {
                SteadyRule::from_fio(text, rounds.window as usize)
                    .map_err(|e| format!("step {:?}: {e}; or `{SNIA}` for SNIA's rule", self.id))?;
            }
            if !(rounds.range_pct > 0.0 && rounds.excursion_pct > 0.0) {
                return fail("range_pct and excursion_pct must be above 0");
            }
            if let Some(key) = rounds
                .track
                .keys()
                .find(|key| !self.matrix.contains_key(*key))
            {
                return Err(format!(
                    "step {:?}: tracks {key:?}, which is not in its matrix",
                    self.id
                ));
            }
        }
        Ok(())
    }
}
