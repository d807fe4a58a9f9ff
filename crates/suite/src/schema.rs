//! A suite as TOML. `docs/suites.md` explains it to people who write their own.

use std::collections::BTreeMap;

use assay_stats::steady::SteadyRule;
use assay_store::model::{CellKind, View};
use assay_workload::options::JobOptions;
use serde::Deserialize;

use crate::SuiteError;

mod procedure;

pub use procedure::{IdleSpec, RoundsSpec, SNIA, StopCondition, TrackingVariable};

/// Keys of a job that are the suite's, not the engine's: what a cell is given beyond its workload.
pub const SUITE_OPTIONS: [&str; 4] = ["queue_depth", "load_pct", "power_state", "chunks"];

/// A suite as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Short name, as on the command line.
    pub name: String,
    /// Title.
    pub title: String,
    /// What it does, in a paragraph.
    pub summary: String,
    /// Where the procedure comes from.
    pub source: String,
    /// How long it takes on one drive at scale 1, for people.
    pub duration: String,
    /// What can be set with `--set key=value`.
    #[serde(default)]
    pub parameters: BTreeMap<String, SuiteParameter>,
    /// What is done, in order.
    #[serde(default, rename = "step")]
    pub steps: Vec<SuiteStep>,
    /// Rules for the verdict; without them there is none.
    #[serde(default)]
    pub verdict: Option<VerdictRules>,
    /// The text this was read from.
    #[serde(skip)]
    pub text: String,
}

/// One parameter.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteParameter {
    /// Its value unless set.
    pub default: String,
    /// What it is, for people.
    pub help: String,
    /// `size`, `duration`, `list` or `text`: how its value is checked.
    #[serde(default)]
    pub kind: ParameterKind,
}

/// How a parameter's value is checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterKind {
    /// A size; cut to what the drive has room for.
    Size,
    /// A duration; multiplied by `--scale`.
    Duration,
    /// Values separated by commas.
    List,
    /// Anything.
    #[default]
    Text,
}

/// What a step needs, or its cells are skipped with the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Requirement {
    /// Leave to write: `--destroy`, or a drive that holds nobody's data.
    Write,
    /// A regular file (a file system to read through).
    File,
    /// More than one drive.
    SeveralDrives,
}

/// One step.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteStep {
    /// Short name, unique in the suite.
    pub id: String,
    /// Title for tables.
    pub title: String,
    /// What its cells are for.
    pub kind: CellKind,
    /// What it needs.
    #[serde(default)]
    pub needs: Vec<Requirement>,
    /// The workload, in `assay job`'s words (the fields of [`JobOptions`]); `{parameter}` is replaced by its value.
    #[serde(default)]
    pub job: toml::Table,
    /// Options that take several values: one cell per combination, the first named varies slowest.
    #[serde(default)]
    pub matrix: toml::Table,
    /// Drop the area from the page cache first.
    #[serde(default)]
    pub drop_cache: bool,
    /// Give the ratio of each cell's rate to that of the same cell of this earlier step.
    #[serde(default)]
    pub compare_with: Option<String>,
    /// How its cells are to be read; decides how reports show them.
    #[serde(default)]
    pub view: Option<View>,
    /// Its figures are said to be those of a drive at rest: where they are not, reports mark them and verdicts do not use them.
    #[serde(default)]
    pub steady: bool,
    /// The circumstance that it shares with other steps, and that reports switch between.
    #[serde(default)]
    pub variant: Option<String>,
    /// The option `queue_depth` is spread over at most so many threads.
    #[serde(default)]
    pub most_threads: Option<u32>,
    /// The option `load_pct` is a share of the best rate of this earlier step.
    #[serde(default)]
    pub load_of: Option<String>,
    /// Repeat its cells in rounds until they come to rest.
    #[serde(default)]
    pub rounds: Option<RoundsSpec>,
    /// Repeat all its cells so many times, and take the mean. A number, or a parameter.
    #[serde(default)]
    pub repeats: Option<toml::Value>,
    /// Leave the drive alone before each of its cells.
    #[serde(default)]
    pub rest: Option<IdleSpec>,
    /// End its cells once the drive has settled.
    #[serde(default)]
    pub until: Option<StopCondition>,
    /// What preconditioning it leaves the drive with.
    #[serde(default)]
    pub leaves: Option<String>,
    /// What preconditioning its cells need: without it they are skipped, since a fresh drive's figures are not a steady drive's.
    #[serde(default)]
    pub wants: Option<String>,
}

/// Rules for the verdict: a figure that is missing takes no part.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRules {
    /// The rules, each about one figure.
    #[serde(default, rename = "rule")]
    pub rules: Vec<VerdictRule>,
    /// What cannot be measured, by drive: the first whose words are in the drive's model, label or profile.
    #[serde(default, rename = "facts")]
    pub facts: Vec<DatasheetFacts>,
}

/// What is known of a drive besides what was measured.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DatasheetFacts {
    /// Words of its model, label or profile, in any case of letters.
    pub drive: String,
    /// Rated endurance, terabytes (10^12 bytes) written.
    #[serde(default)]
    pub endurance_tb: Option<f64>,
    /// What it is sold as: rules can be about one class.
    #[serde(default)]
    pub price_class: Option<String>,
    /// Who says so.
    pub source: String,
}

/// One rule.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerdictRule {
    /// What it is about, for people.
    pub about: String,
    /// Which figure.
    pub figure: VerdictMetric,
    /// Of which step; every figure but `errors`, `bad_blocks` and `endurance_tb` needs one.
    #[serde(default)]
    pub step: Option<String>,
    /// Of which suite, where a policy is about several.
    #[serde(default)]
    pub suite: Option<String>,
    /// For drives of this price class only; for all when absent.
    #[serde(default)]
    pub price_class: Option<String>,
    /// At or above (below, with `lower_is_better`) speaks for the drive.
    pub good: f64,
    /// Below (above, with `lower_is_better`) speaks against it; between the two is a condition.
    pub bad: f64,
    /// Smaller figures are better.
    #[serde(default)]
    pub lower_is_better: bool,
    /// What a condition or an objection means, for people.
    pub advice: String,
}

/// A figure a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictMetric {
    /// MiB/s of the step's best cell.
    BestRate,
    /// MiB/s of the step's best cell with one thread.
    SingleRate,
    /// MiB/s of the slowest second as a share of the mean, percent: how steady it is.
    SteadinessPct,
    /// Rate of the last fifth as a share of the first fifth, percent: what a long run loses.
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
    /// View rounds: tracked figures that came to rest, percent.
    SteadyPct,
    /// Blocks that verification found wrong.
    BadBlocks,
    /// Rated endurance, terabytes written: a fact of the policy, not a figure of a run.
    EnduranceTb,
}

impl VerdictMetric {
    /// Is it about the whole drive, not about one step?
    fn is_of_drive(self) -> bool {
        matches!(
            self,
            VerdictMetric::Errors | VerdictMetric::EnduranceTb | VerdictMetric::BadBlocks
        )
    }
}

impl VerdictRule {
    fn needs_a_step(&self) -> String {
        format!(
            "the verdict rule about {:?} must say of which step",
            self.about
        )
    }
}

impl VerdictRules {
    /// Read a policy: the rules of a verdict in a file of their own.
    ///
    /// # Errors
    /// When the TOML is malformed, a key is unknown, or a rule lacks its step; the message says where.
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
    /// When the TOML is malformed, a key is unknown, or steps do not fit together; the message says where.
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
                return Err(failed(format!("two steps are called {:?}", step.id)));
            }
            if step.id.is_empty()
                || !step
                    .id
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '-')
            {
                return Err(failed(format!(
                    "step {:?}: a step's id is made of letters, digits and hyphens",
                    step.id
                )));
            }
            if let Some(key) = step
                .job
                .keys()
                .chain(step.matrix.keys())
                .find(|key| !SUITE_OPTIONS.contains(&key.as_str()) && !is_job_option(key))
            {
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
                    "step {:?} is compared with {other:?}, which is no earlier step",
                    step.id
                )));
            }
        }
        if let Some(verdict) = &suite.verdict {
            for rule in &verdict.rules {
                match &rule.step {
                    Some(step) if !suite.steps.iter().any(|s| s.id == *step) => {
                        return Err(failed(format!(
                            "the verdict rule about {:?} names step {step:?}, which there is not",
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

    /// Does any step write?
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

/// Is this a field of [`JobOptions`]? Asked of the type itself: an unknown one does not deserialise.
fn is_job_option(key: &str) -> bool {
    let mut table = toml::Table::new();
    table.insert(key.to_owned(), toml::Value::Array(Vec::new()));
    // An array fits no option: the complaint about a known one is its type, about another that it is unknown.
    match table.try_into::<JobOptions>() {
        Ok(_) => true,
        Err(error) => !error.to_string().contains("unknown field"),
    }
}

/// Whether a suite destroys data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteAccess {
    /// Read-only.
    Never,
    /// Writes where `--destroy` allows it, and skips those cells otherwise.
    IfAllowed,
    /// Does nothing without leave to write.
    Always,
}

impl WriteAccess {
    /// In words, for listings.
    pub fn words(self) -> &'static str {
        match self {
            WriteAccess::Never => "read-only",
            WriteAccess::IfAllowed => {
                "writes where --destroy names the drive, else measures only what needs no writing"
            }
            WriteAccess::Always => "destroys data: needs --destroy",
        }
    }
}

impl SuiteStep {
    /// Does it change what the drive holds?
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

    /// Do its own keys fit together, and with the steps before it?
    fn check(&self, before: &[SuiteStep]) -> Result<(), String> {
        let has = |key: &str| self.job.contains_key(key) || self.matrix.contains_key(key);
        let fail = |what: &str| Err(format!("step {:?}: {what}", self.id));
        if has("queue_depth") && (has("iodepth") || has("numjobs")) {
            return fail("queue_depth stands for iodepth and numjobs; give it or them");
        }
        if self.most_threads.is_some() && !has("queue_depth") {
            return fail("most_threads is about the option queue_depth, which it does not have");
        }
        if self.most_threads == Some(0) {
            return fail("most_threads is at least 1");
        }
        if has("load_pct") != self.load_of.is_some() {
            return fail("load_pct and load_of go together: a share, and the step of which");
        }
        if has("load_pct") && (has("rate") || has("rate_iops") || has("rate_bw")) {
            return fail("load_pct is a rate; do not give another");
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
            return fail("only steps of kind prepare or purge leave the drive in a state");
        }
        if self.until.is_some() && !(self.kind == CellKind::Soak && has("runtime")) {
            return fail("until ends a step of kind soak before its runtime, which it must have");
        }
        if has("chunks") && (has("size") || has("runtime") || has("io_size")) {
            return fail(
                "chunks stands for a size that is gone over once; do not give another, nor a runtime",
            );
        }
        if has("chunks") && !has("bs") {
            return fail("chunks is a number of blocks, and needs bs");
        }
        if self.repeats.is_some() && !self.view.is_some_and(View::is_stream) {
            return fail(
                "repeats are averaged by the views peak and continuous; other steps have rounds",
            );
        }
        if self.repeats.is_some() && self.rounds.is_some() {
            return fail("has repeats or rounds, not both");
        }
        if self.view.is_some_and(View::is_stream) && self.kind != CellKind::Measure {
            return fail("the views peak and continuous are of steps of kind measure");
        }
        if self.steady && !matches!(self.kind, CellKind::Measure | CellKind::Soak) {
            return fail("only figures of steps of kind measure or soak can be steady");
        }
        if self.steady && self.rounds.is_some() {
            return fail("rounds have a rule of their own for what is steady; leave out one");
        }
        if self.rest.is_some() && !matches!(self.kind, CellKind::Measure | CellKind::Soak) {
            return fail("rests come before cells of kind measure or soak");
        }
        if let Some(rounds) = &self.rounds {
            if self.kind != CellKind::Measure {
                return fail("rounds repeat steps of kind measure");
            }
            if rounds.window < 2 {
                return fail("a window of rounds has at least 2");
            }
            // A parameter's value is checked when it is known.
            let text = rounds.rule.as_str();
            if text != SNIA && !text.contains('{') {
                SteadyRule::from_fio(text, rounds.window as usize)
                    .map_err(|e| format!("step {:?}: {e}; or `{SNIA}` for SNIA's rule", self.id))?;
            }
            if !(rounds.range_pct > 0.0 && rounds.excursion_pct > 0.0) {
                return fail("range_pct and excursion_pct are above 0");
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
