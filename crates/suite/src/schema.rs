//! TOML schema of suites and policies. `docs/suites.md` documents it.

use std::collections::BTreeMap;

use assay_analysis::figure::headline::HeadlineMetric;
use assay_store::model::{CellKind, CellView, Standard};
use assay_trace::replay::SkippedOps;
use assay_workload::options::JobOption;
use serde::Deserialize;

use crate::SuiteError;

mod jobs;
mod procedure;
mod verdict;

pub use jobs::MatrixOption;
pub use procedure::{
    EndRule, IdleSpec, NO_UPLINK, PointSpec, RoundsSpec, SNIA, SimulatedHostSpec, StartSpec,
    StopCondition, TrackingVariable,
};
pub use verdict::{DatasheetFacts, RelativeLimits, VerdictRule, VerdictRules};

/// Keys of a job that are not workload options: evaluated by the suite.
pub const SUITE_OPTIONS: [&str; 6] = [
    "queue_depth",
    "in_flight",
    "load_pct",
    "power_state",
    "chunks",
    "bursts",
];

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Name, as on the command line.
    pub name: String,
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
    pub verdict: Option<VerdictRules>,
    /// Columns of the scoreboard in reports, six to ten.
    #[serde(default, rename = "headline")]
    pub headlines: Vec<HeadlineMetric>,
    /// The two charts of a report's first screen, as `STEP/CHART`.
    #[serde(default)]
    pub first_charts: Vec<String>,
    /// The standard whose test it is.
    pub standard: Option<Standard>,
    /// The TOML text.
    #[serde(skip)]
    pub text: String,
}

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

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteStep {
    /// Name, unique in the suite.
    pub id: String,
    /// Title of its table.
    pub title: String,
    pub kind: CellKind,
    /// Requirements.
    #[serde(default)]
    pub needs: Vec<Requirement>,
    /// The workload: options of `assay job` ([`assay_workload::options::JOB_OPTIONS`]);
    /// `{parameter}` is replaced by its value.
    #[serde(default)]
    pub job: toml::Table,
    /// Options with several values: one cell per combination, the first varies slowest. The table
    /// under the name of a job is of its options.
    #[serde(default)]
    pub matrix: toml::Table,
    /// Jobs that run at once on the drive, by name, in the order written: their options beside
    /// those of `job`, which all have.
    #[serde(default)]
    pub jobs: toml::Table,
    /// The job whose figures are those of the step; the first one unless named.
    pub foreground: Option<String>,
    /// Drop the area from the page cache first.
    #[serde(default)]
    pub drop_cache: bool,
    /// Of kind `all_aboard`: `false` leaves out the cells of each drive alone.
    pub alone: Option<bool>,
    /// Earlier step: each cell's rate is given as ratio to its cell with the same matrix values.
    pub compare_with: Option<String>,
    /// View in reports.
    pub view: Option<CellView>,
    /// Its figures claim steady state: others are marked in reports and not used by verdicts.
    #[serde(default)]
    pub steady: bool,
    /// Variant that it shares with other steps; reports switch between variants.
    pub variant: Option<String>,
    /// Largest number of threads for the option `queue_depth`.
    pub most_threads: Option<u32>,
    /// Earlier step whose best rate is 100 % of `load_pct`.
    pub load_of: Option<String>,
    /// Repeats its cells in rounds until steady state.
    pub rounds: Option<RoundsSpec>,
    /// Repetitions of all its cells, averaged. A number or a parameter.
    pub repeats: Option<toml::Value>,
    /// Idle time before each cell.
    #[serde(alias = "rest")]
    pub idle: Option<IdleSpec>,
    /// Deadlines of its I/Os, durations: how many miss them is counted. A list or a parameter.
    pub deadlines: Option<toml::Value>,
    /// State in which each cell begins.
    pub start: Option<StartSpec>,
    /// For kind `all_aboard`: the one host of all simulated drives.
    pub simulated_host: Option<SimulatedHostSpec>,
    /// Early stop condition of its cells.
    pub until: Option<StopCondition>,
    /// Which of `runtime` and `io_size` ends its cells: `first` or `last`. Or a parameter.
    pub ends: Option<String>,
    /// Operating point of an earlier step's grid that sets threads and queue depth.
    pub point: Option<PointSpec>,
    /// Preconditioning state that it leaves.
    pub leaves: Option<String>,
    /// Preconditioning state that its cells need; without it they are skipped.
    pub wants: Option<String>,
}

fn from_toml<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())
}

impl Suite {
    /// Read a suite.
    ///
    /// # Errors
    /// When the TOML is malformed, a key is unknown, or steps contradict each other; the message
    /// names the step.
    pub fn parse(name: &str, text: &str) -> Result<Suite, SuiteError> {
        let checked = |suite: Suite| suite.check().map(|()| suite);
        let suite = from_toml(text).and_then(checked);
        let suite = suite.map_err(|message| SuiteError::invalid("suite", name, message))?;
        Ok(Suite {
            text: text.to_owned(),
            ..suite
        })
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
            step.check(&self.steps[..i])
                .map_err(|why| format!("step {id:?}: {why}"))?;
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

    /// Whether the suite writes.
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
        let word = |rw: &str| {
            rw.split(':')
                .next()
                .is_some_and(|rw| matches!(rw, "read" | "randread"))
        };
        let writing = |rw: &toml::Value| !rw.as_str().is_some_and(word);
        match self.kind {
            CellKind::Inspect | CellKind::Idle => false,
            CellKind::Purge => true,
            _ if self.values_of("trace").next().is_some() => !self.skips_writes_of_trace(),
            _ => self.values_of("rw").any(|rw| match rw {
                toml::Value::Array(all) => all.iter().any(writing),
                one => writing(one),
            }),
        }
    }

    /// A trace counts as writing, unless its writes and trims are left out.
    fn skips_writes_of_trace(&self) -> bool {
        let skipped = self.job.get("trace_skip").and_then(toml::Value::as_str);
        let skipped = skipped.map(SkippedOps::parse);
        skipped.is_some_and(|ops| ops.is_ok_and(SkippedOps::leaves_reads_only))
    }

    /// Check the keys against each other and against earlier steps.
    fn check(&self, before: &[SuiteStep]) -> Result<(), String> {
        use CellKind::{Measure, Prepare, Purge, Soak};
        if !self.jobs.is_empty() {
            return self.check_jobs(before);
        }
        if self.foreground.is_some() {
            return Err("foreground needs jobs".to_owned());
        }
        if self.simulated_host.is_some() && self.kind != CellKind::Concurrent {
            return Err("simulated_host is for steps of kind all_aboard".to_owned());
        }
        let mut keys = self.job.keys().chain(self.matrix.keys());
        let is_option = |key: &str| SUITE_OPTIONS.contains(&key) || JobOption::find(key).is_some();
        if let Some(key) = keys.find(|key| !is_option(key)) {
            return Err(format!(
                "{key:?} is not an option of a job; `assay job --help` lists them"
            ));
        }
        let has = |key: &str| self.job.contains_key(key) || self.matrix.contains_key(key);
        let has_any = |keys: &[&str]| keys.iter().any(|key| has(key));
        let is = |kinds: &[CellKind]| kinds.contains(&self.kind);
        let stream = self.view.is_some_and(CellView::is_stream);
        let fail = |what: &str| Err(what.to_owned());
        let earlier = |is: &dyn Fn(&SuiteStep) -> bool| before.iter().any(is);
        if has("trace") && !is(&[Measure]) {
            return fail("trace needs kind measure");
        }
        if has("queue_depth") && has_any(&["iodepth", "numjobs"]) {
            return fail("queue_depth sets iodepth and numjobs; give either");
        }
        if has("in_flight") && (!has("numjobs") || has_any(&["iodepth", "queue_depth"])) {
            return fail(
                "in_flight sets iodepth by numjobs: it needs numjobs, and no iodepth or \
                 queue_depth",
            );
        }
        if self.alone.is_some() && !is(&[CellKind::Concurrent]) {
            return fail("alone needs kind all_aboard");
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
        if has("load_pct") && has_any(&["rate", "rate_iops", "rate_bw"]) {
            return fail("load_pct sets the rate; remove the other rate option");
        }
        if let Some(of) = &self.load_of
            && !earlier(&|s| s.id == *of && s.kind == Measure && s.jobs.is_empty())
        {
            return Err(format!(
                "load_of names {of:?}, which is no earlier step of kind measure"
            ));
        }
        if let Some(wants) = &self.wants
            && !earlier(&|s| s.leaves.as_ref() == Some(wants))
        {
            return Err(format!("wants {wants:?}, which no earlier step leaves"));
        }
        let fills = is(&[Soak]) && !has("runtime");
        if self.leaves.is_some() && !is(&[Prepare, Purge]) && !fills {
            return fail("leaves needs kind prepare or purge, or soak without a runtime");
        }
        if self.until.is_some() && !(is(&[Soak]) && has("runtime")) {
            return fail("until needs kind soak and a runtime");
        }
        if has("chunks") && has_any(&["size", "runtime", "io_size"]) {
            return fail("chunks sets the size of one pass; remove size, io_size and runtime");
        }
        if has("chunks") && !has("bs") {
            return fail("chunks is a number of blocks and needs bs");
        }
        if let Some(ends) = &self.ends {
            if !(is(&[Soak]) && has("runtime") && has("io_size")) {
                return fail("ends needs kind soak, a runtime and an io_size");
            }
            if self.until.is_some() {
                return fail("has both ends and until; give one");
            }
            // A parameter's value is checked in the plan.
            if !ends.contains('{') {
                EndRule::parse(ends)?;
            }
        }
        if let Some(point) = &self.point {
            if !is(&[Measure, Soak]) {
                return fail("point needs kind measure or soak");
            }
            if has_any(&["numjobs", "iodepth", "queue_depth"]) {
                return fail("point sets numjobs and iodepth; remove them");
            }
            let grid = |s: &SuiteStep| {
                let both = ["numjobs", "iodepth"];
                s.rounds.is_some() && both.iter().all(|key| s.matrix.contains_key(*key))
            };
            if !earlier(&|s| s.id == point.of && grid(s)) {
                return Err(format!(
                    "point names {:?}, which is no earlier step in rounds with numjobs and \
                     iodepth in its matrix",
                    point.of
                ));
            }
        }
        if has("bursts") && has_any(&["runtime", "io_size"]) {
            return fail("bursts sets the runtime; remove runtime and io_size");
        }
        if has("bursts") && !(has("thinktime") && has("thinktime_iotime")) {
            return fail(
                "bursts needs thinktime_iotime and thinktime: a burst, and the idle time after it",
            );
        }
        let drain = self.view == Some(CellView::Drain);
        let shows_repeats = drain || self.view == Some(CellView::Cache);
        if self.repeats.is_some() && !stream && !shows_repeats {
            return fail(
                "repeats needs the view peak, continuous, drain or cache; use rounds for other \
                 steps",
            );
        }
        if drain && has("runtime") {
            return fail("the view drain is of an amount of data; remove the runtime");
        }
        if self.view == Some(CellView::Fill) && self.variant.is_none() {
            return fail("the view fill needs a variant: the state of the drive");
        }
        if self.view == Some(CellView::Wake) && !has("thinktime") {
            return fail("the view wake needs thinktime: the idle time before each I/O");
        }
        if self.deadlines.is_some() && !is(&[Measure, Soak]) {
            return fail("deadlines need kind measure or soak");
        }
        if self.repeats.is_some() && self.rounds.is_some() {
            return fail("has both repeats and rounds; give one");
        }
        if stream && !is(&[Measure]) {
            return fail("the views peak and continuous need kind measure");
        }
        if self.steady && !is(&[Measure, Soak]) {
            return fail("steady needs kind measure or soak");
        }
        if self.steady && self.rounds.is_some() {
            return fail("rounds have their own steady-state rule; remove steady or rounds");
        }
        if self.idle.is_some() && !is(&[Measure, Soak]) {
            return fail("idle needs kind measure or soak");
        }
        if let Some(start) = &self.start {
            if is(&[Purge, CellKind::Inspect, CellKind::Idle]) {
                return fail("start needs a kind with a workload");
            }
            if !(0.0..=100.0).contains(&start.cool_k) {
                return fail("start: cool_k is from 0 to 100 kelvin");
            }
        }
        if let Some(rounds) = &self.rounds {
            if !is(&[Measure]) {
                return fail("rounds needs kind measure");
            }
            rounds.check(&self.matrix)?;
            let plain = |s: &SuiteStep| {
                s.kind == Measure
                    && s.jobs.is_empty()
                    && s.leaves.is_none()
                    && s.rounds.is_none()
                    && s.repeats.is_none()
                    && s.load_of.is_none()
                    && s.point.is_none()
            };
            if let Some(before_each) = &rounds.before
                && !earlier(&|s| s.id == *before_each && plain(s))
            {
                return Err(format!(
                    "rounds: before names {before_each:?}, which is no earlier step of kind \
                     measure without jobs, rounds, repeats, leaves, load_of and point"
                ));
            }
        }
        if let Some(other) = &self.compare_with
            && !earlier(&|s| s.id == *other)
        {
            return Err(format!(
                "compare_with names {other:?}, which is no earlier step"
            ));
        }
        Ok(())
    }
}
