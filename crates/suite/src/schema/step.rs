//! A step of a suite: what all steps have, and what those of one kind have.

use assay_store::model::{CellKind, CellView};
use assay_trace::replay::SkippedOps;
use serde::Deserialize;

use super::jobs::{check_jobs, check_options};
use super::procedure::{
    EndRule, IdleSpec, PointSpec, RoundsSpec, SimulatedHostSpec, StartSpec, StopCondition,
};
use super::{Requirement, SUITE_OPTIONS};

/// The keys of a `[[step]]`, as written. [`SuiteStep`] is what they say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepKeys {
    pub(super) id: String,
    title: String,
    pub(super) kind: CellKind,
    #[serde(default)]
    needs: Vec<Requirement>,
    #[serde(default)]
    pub(super) job: toml::Table,
    #[serde(default)]
    pub(super) matrix: toml::Table,
    #[serde(default)]
    pub(super) jobs: toml::Table,
    pub(super) foreground: Option<String>,
    #[serde(default)]
    drop_cache: bool,
    pub(super) alone: Option<bool>,
    compare_with: Option<String>,
    pub(super) view: Option<CellView>,
    #[serde(default)]
    pub(super) steady: bool,
    variant: Option<String>,
    pub(super) most_threads: Option<u32>,
    pub(super) load_of: Option<String>,
    pub(super) rounds: Option<RoundsSpec>,
    pub(super) repeats: Option<toml::Value>,
    #[serde(alias = "rest")]
    idle: Option<IdleSpec>,
    deadlines: Option<toml::Value>,
    start: Option<StartSpec>,
    simulated_host: Option<SimulatedHostSpec>,
    pub(super) until: Option<StopCondition>,
    pub(super) ends: Option<String>,
    pub(super) point: Option<PointSpec>,
    #[serde(alias = "leaves")]
    pub(super) sets_state: Option<String>,
    #[serde(alias = "wants")]
    needs_state: Option<String>,
    pub(super) precondition: Option<Precondition>,
}

/// How a step of kind `prepare` preconditions, where not by its job alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// A pass in the order that leaves the state of steady random writing, then random writes until
    /// their rate is steady.
    Steady,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(try_from = "StepKeys")]
pub struct SuiteStep {
    pub id: String,
    pub title: String,
    pub needs: Vec<Requirement>,
    /// `{parameter}` is replaced by its value.
    pub job: toml::Table,
    /// Options with several values: one cell per combination, the first varies slowest.
    pub matrix: toml::Table,
    /// Drop the area from the page cache first.
    pub drop_cache: bool,
    /// Earlier step: each cell's rate is given as ratio to its cell with the same matrix values.
    pub compare_with: Option<String>,
    pub view: Option<CellView>,
    /// Variant that it shares with other steps; reports switch between variants.
    pub variant: Option<String>,
    /// Largest number of threads for the option `queue_depth`.
    pub most_threads: Option<u32>,
    /// Earlier step whose best rate is 100 % of `load_pct`.
    pub load_of: Option<String>,
    /// Repetitions of all its cells, averaged. A number or a parameter.
    pub repeats: Option<toml::Value>,
    pub idle: Option<IdleSpec>,
    /// Deadlines of its I/Os, durations: how many miss them is counted. A list or a parameter.
    pub deadlines: Option<toml::Value>,
    pub start: Option<StartSpec>,
    pub needs_state: Option<String>,
    pub work: StepWork,
}

/// What a step does, with the keys of its kind.
#[derive(Clone, Debug)]
pub enum StepWork {
    Measure {
        /// Its figures claim steady state: others are marked in reports and not used by verdicts.
        steady: bool,
        /// Operating point of an earlier step's grid that sets threads and queue depth.
        point: Option<PointSpec>,
        /// Repeats its cells in rounds until steady state.
        rounds: Option<Box<RoundsSpec>>,
    },
    Jobs {
        /// By name, in the order written: their options beside those of `job`, which all have.
        jobs: toml::Table,
        /// The job whose figures are those of the step; the first one unless named.
        foreground: Option<String>,
    },
    Soak {
        /// As of [`StepWork::Measure`].
        steady: bool,
        point: Option<PointSpec>,
        end: SoakEnd,
        /// Preconditioning state after all its cells.
        sets_state: Option<String>,
    },
    Prepare {
        sets_state: Option<String>,
        precondition: Option<Precondition>,
    },
    Purge {
        sets_state: Option<String>,
    },
    Inspect,
    Idle,
    Concurrent {
        /// Each drive is measured alone first.
        alone: bool,
        simulated_host: Option<SimulatedHostSpec>,
    },
}

impl Default for StepWork {
    fn default() -> StepWork {
        StepWork::Measure {
            steady: false,
            point: None,
            rounds: None,
        }
    }
}

/// What ends the cells of a soak, besides its options.
#[derive(Clone, Debug, Default)]
pub enum SoakEnd {
    #[default]
    Options,
    Settled(StopCondition),
    /// Which of `runtime` and `io_size`: `first` or `last`, or a parameter.
    Which(String),
}

/// Kinds, and keys that only they have: each with whether the step gives it.
type KeysOfKinds<'a> = (&'a [CellKind], &'a [(&'a str, bool)]);

impl StepKeys {
    fn has(&self, option: &str) -> bool {
        self.job.contains_key(option) || self.matrix.contains_key(option)
    }

    fn has_any(&self, options: &[&str]) -> bool {
        options.iter().any(|option| self.has(option))
    }

    /// Keys that only some kinds have.
    fn check_kind(&self) -> Result<(), String> {
        use CellKind::{Concurrent, Measure, Prepare, Purge, Soak};
        let start = self.start.as_ref();
        let keys_of_kinds: [KeysOfKinds<'_>; 7] = [
            (&[Prepare], &[("precondition", self.precondition.is_some())]),
            (
                &[Concurrent],
                &[
                    ("alone", self.alone.is_some()),
                    ("simulated_host", self.simulated_host.is_some()),
                ],
            ),
            (
                &[Measure],
                &[
                    ("jobs", !self.jobs.is_empty()),
                    ("rounds", self.rounds.is_some()),
                    ("trace", self.has("trace")),
                ],
            ),
            (
                &[Measure, Soak],
                &[
                    ("deadlines", self.deadlines.is_some()),
                    ("idle", self.idle.is_some()),
                    ("point", self.point.is_some()),
                    ("steady", self.steady),
                ],
            ),
            (
                &[Soak],
                &[
                    ("until", self.until.is_some()),
                    ("ends", self.ends.is_some()),
                ],
            ),
            (
                &[Prepare, Purge, Soak],
                &[("sets_state", self.sets_state.is_some())],
            ),
            (
                &[Measure, Prepare, Soak, Concurrent],
                &[(
                    "start, the state in which a workload begins,",
                    start.is_some(),
                )],
            ),
        ];
        for (kinds, keys) in keys_of_kinds {
            let given = keys.iter().find(|(_, is_given)| *is_given);
            if let Some((key, _)) = given.filter(|_| !kinds.contains(&self.kind)) {
                let names = kinds.iter().map(|kind| format!("{kind:?}").to_lowercase());
                let names = names.collect::<Vec<_>>().join(" or ");
                return Err(format!("{key} needs kind {names}"));
            }
        }
        if start.is_some_and(|start| !(0.0..=100.0).contains(&start.cool_k)) {
            return Err("start: cool_k is from 0 to 100 kelvin".to_owned());
        }
        Ok(())
    }

    /// Why an option of its job contradicts another one.
    fn contradiction_of_options(&self) -> Option<&'static str> {
        let is = |option: &str, wrong: bool| self.has(option) && wrong;
        if is("queue_depth", self.has_any(&["iodepth", "numjobs"])) {
            return Some("queue_depth sets iodepth and numjobs; give either");
        }
        let depths = self.has_any(&["iodepth", "queue_depth"]);
        if is("in_flight", !self.has("numjobs") || depths) {
            return Some(
                "in_flight sets iodepth by numjobs: it needs numjobs, and no iodepth or \
                 queue_depth",
            );
        }
        if is("load_pct", self.has_any(&["rate", "rate_iops", "rate_bw"])) {
            return Some("load_pct sets the rate; remove the other rate option");
        }
        if is("chunks", self.has_any(&["size", "runtime", "io_size"])) {
            return Some("chunks sets the size of one pass; remove size, io_size and runtime");
        }
        if is("chunks", !self.has("bs")) {
            return Some("chunks is a number of blocks and needs bs");
        }
        if is("bursts", self.has_any(&["runtime", "io_size"])) {
            return Some("bursts sets the runtime; remove runtime and io_size");
        }
        let pauses = self.has("thinktime") && self.has("thinktime_iotime");
        is("bursts", !pauses).then_some(
            "bursts needs thinktime_iotime and thinktime: a burst, and the idle time after it",
        )
    }

    /// Why a key of a step of one job contradicts another one.
    fn contradiction_of_keys(&self) -> Option<&'static str> {
        if self.foreground.is_some() {
            return Some("foreground needs jobs");
        }
        if self.most_threads.is_some() && !self.has("queue_depth") {
            return Some("most_threads needs the option queue_depth");
        }
        if self.most_threads == Some(0) {
            return Some("most_threads is at least 1");
        }
        if self.has("load_pct") != self.load_of.is_some() {
            return Some("load_pct and load_of need each other: a share, and its step");
        }
        if self.sets_state.is_some() && self.kind == CellKind::Soak && self.has("runtime") {
            return Some("sets_state needs kind prepare or purge, or soak without a runtime");
        }
        let ends = [
            "runtime",
            "io_size",
            "random_distribution",
            "steadystate",
            "interval",
        ];
        if self.precondition.is_some() && self.has_any(&ends) {
            return Some(
                "precondition sets order, intervals and end of the writes; remove runtime, \
                 io_size, random_distribution, steadystate and interval",
            );
        }
        if self.until.is_some() && !self.has("runtime") {
            return Some("until needs kind soak and a runtime");
        }
        if self.ends.is_some() && !(self.has("runtime") && self.has("io_size")) {
            return Some("ends needs kind soak, a runtime and an io_size");
        }
        if self.ends.is_some() && self.until.is_some() {
            return Some("has both ends and until; give one");
        }
        if self.point.is_some() && self.has_any(&["numjobs", "iodepth", "queue_depth"]) {
            return Some("point sets numjobs and iodepth; remove them");
        }
        if self.repeats.is_some() && self.rounds.is_some() {
            return Some("has both repeats and rounds; give one");
        }
        if self.steady && self.rounds.is_some() {
            return Some("rounds have their own steady-state rule; remove steady or rounds");
        }
        None
    }

    /// Why its view does not suit it.
    fn contradiction_of_view(&self) -> Option<&'static str> {
        let is_stream = self.view.is_some_and(CellView::is_stream);
        if is_stream && self.kind != CellKind::Measure {
            return Some("the views peak and continuous need kind measure");
        }
        match self.view {
            Some(CellView::Drain) if self.has("runtime") => {
                Some("the view drain is of an amount of data; remove the runtime")
            }
            Some(CellView::Fill) if self.variant.is_none() => {
                Some("the view fill needs a variant: the state of the drive")
            }
            Some(CellView::Wake) if !self.has("thinktime") => {
                Some("the view wake needs thinktime: the idle time before each I/O")
            }
            Some(CellView::Drain | CellView::Cache) => None,
            _ if is_stream || self.repeats.is_none() => None,
            _ => Some(
                "repeats needs the view peak, continuous, drain or cache; use rounds for other \
                 steps",
            ),
        }
    }

    fn check(&self) -> Result<(), String> {
        self.check_kind()?;
        if !self.jobs.is_empty() {
            return check_jobs(self);
        }
        let options = self.job.keys().chain(self.matrix.keys());
        check_options(options.map(String::as_str), &SUITE_OPTIONS, "job")?;
        let contradiction = self
            .contradiction_of_options()
            .or_else(|| self.contradiction_of_view())
            .or_else(|| self.contradiction_of_keys());
        if let Some(why) = contradiction {
            return Err(why.to_owned());
        }
        if let Some(ends) = self.ends.as_ref().filter(|ends| !ends.contains('{')) {
            EndRule::parse(ends)?;
        }
        self.rounds
            .as_ref()
            .map_or(Ok(()), |rounds| rounds.check(&self.matrix))
    }
}

impl TryFrom<StepKeys> for SuiteStep {
    type Error = String;

    fn try_from(keys: StepKeys) -> Result<SuiteStep, String> {
        let step = format!("step {:?}", keys.id);
        keys.check().map_err(|why| format!("{step}: {why}"))?;
        let (steady, point, sets_state) = (keys.steady, keys.point, keys.sets_state);
        let work = match keys.kind {
            CellKind::Measure if !keys.jobs.is_empty() => StepWork::Jobs {
                jobs: keys.jobs,
                foreground: keys.foreground,
            },
            CellKind::Measure => StepWork::Measure {
                steady,
                point,
                rounds: keys.rounds.map(Box::new),
            },
            CellKind::Soak => StepWork::Soak {
                steady,
                point,
                end: match (keys.until, keys.ends) {
                    (Some(until), _) => SoakEnd::Settled(until),
                    (None, Some(which)) => SoakEnd::Which(which),
                    (None, None) => SoakEnd::Options,
                },
                sets_state,
            },
            CellKind::Prepare => StepWork::Prepare {
                sets_state,
                precondition: keys.precondition,
            },
            CellKind::Purge => StepWork::Purge { sets_state },
            CellKind::Inspect => StepWork::Inspect,
            CellKind::Idle => StepWork::Idle,
            CellKind::Concurrent => StepWork::Concurrent {
                alone: keys.alone.unwrap_or(true),
                simulated_host: keys.simulated_host,
            },
        };
        Ok(SuiteStep {
            id: keys.id,
            title: keys.title,
            needs: keys.needs,
            job: keys.job,
            matrix: keys.matrix,
            drop_cache: keys.drop_cache,
            compare_with: keys.compare_with,
            view: keys.view,
            variant: keys.variant,
            most_threads: keys.most_threads,
            load_of: keys.load_of,
            repeats: keys.repeats,
            idle: keys.idle,
            deadlines: keys.deadlines,
            start: keys.start,
            needs_state: keys.needs_state,
            work,
        })
    }
}

impl SuiteStep {
    /// Whether it ends in thermal steady state.
    pub fn settles(&self) -> bool {
        let StepWork::Soak { end, .. } = &self.work else {
            return false;
        };
        matches!(end, SoakEnd::Settled(_))
    }

    pub fn kind(&self) -> CellKind {
        match self.work {
            StepWork::Measure { .. } | StepWork::Jobs { .. } => CellKind::Measure,
            StepWork::Soak { .. } => CellKind::Soak,
            StepWork::Prepare { .. } => CellKind::Prepare,
            StepWork::Purge { .. } => CellKind::Purge,
            StepWork::Inspect => CellKind::Inspect,
            StepWork::Idle => CellKind::Idle,
            StepWork::Concurrent { .. } => CellKind::Concurrent,
        }
    }

    pub fn jobs(&self) -> Option<&toml::Table> {
        match &self.work {
            StepWork::Jobs { jobs, .. } => Some(jobs),
            _ => None,
        }
    }

    pub fn rounds(&self) -> Option<&RoundsSpec> {
        match &self.work {
            StepWork::Measure { rounds, .. } => rounds.as_deref(),
            _ => None,
        }
    }

    pub fn point(&self) -> Option<&PointSpec> {
        match &self.work {
            StepWork::Measure { point, .. } | StepWork::Soak { point, .. } => point.as_ref(),
            _ => None,
        }
    }

    pub fn is_steady(&self) -> bool {
        let work = &self.work;
        matches!(work, StepWork::Measure { steady, .. } | StepWork::Soak { steady, .. } if *steady)
    }

    /// Preconditioning state after all its cells succeeded.
    pub fn sets_state(&self) -> Option<&str> {
        match &self.work {
            StepWork::Soak { sets_state, .. }
            | StepWork::Prepare { sets_state, .. }
            | StepWork::Purge { sets_state } => sets_state.as_deref(),
            _ => None,
        }
    }

    pub fn precondition(&self) -> Option<Precondition> {
        match self.work {
            StepWork::Prepare { precondition, .. } => precondition,
            _ => None,
        }
    }

    /// Whether it changes the drive's contents.
    pub(crate) fn writes(&self) -> bool {
        let read = |rw: &str| matches!(rw.split(':').next(), Some("read" | "randread"));
        let writing = |rw: &toml::Value| !rw.as_str().is_some_and(read);
        match self.work {
            StepWork::Inspect | StepWork::Idle => false,
            StepWork::Purge { .. } => true,
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

    /// Check what it says of earlier steps.
    pub(super) fn check(&self, before: &[SuiteStep]) -> Result<(), String> {
        let earlier = |is: &dyn Fn(&SuiteStep) -> bool| before.iter().any(is);
        let measures_one_job = |s: &SuiteStep| matches!(s.work, StepWork::Measure { .. });
        if let Some(of) = &self.load_of
            && !earlier(&|s| s.id == *of && measures_one_job(s))
        {
            return Err(format!(
                "load_of names {of:?}, which is no earlier step of kind measure"
            ));
        }
        if let Some(state) = &self.needs_state
            && !earlier(&|s| s.sets_state() == Some(state))
        {
            return Err(format!("needs_state {state:?}: no earlier step sets it"));
        }
        let grid = |s: &SuiteStep| {
            let both = ["numjobs", "iodepth"];
            s.rounds().is_some() && both.iter().all(|key| s.matrix.contains_key(*key))
        };
        if let Some(point) = self.point()
            && !earlier(&|s| s.id == point.of && grid(s))
        {
            return Err(format!(
                "point names {:?}, which is no earlier step in rounds with numjobs and iodepth in \
                 its matrix",
                point.of
            ));
        }
        let once = |s: &SuiteStep| {
            let others = s.repeats.is_some() || s.load_of.is_some() || s.point().is_some();
            measures_one_job(s) && s.rounds().is_none() && !others
        };
        if let Some(before_each) = self.rounds().and_then(|rounds| rounds.before.as_ref())
            && !earlier(&|s| s.id == *before_each && once(s))
        {
            return Err(format!(
                "rounds: before names {before_each:?}, which is no earlier step of kind measure \
                 without jobs, rounds, repeats, load_of and point"
            ));
        }
        let is_compared = |s: &SuiteStep| self.jobs().is_none() || s.jobs().is_none();
        if let Some(other) = &self.compare_with
            && !earlier(&|s| s.id == *other && is_compared(s))
        {
            let with = match self.jobs() {
                Some(_) => " with one job",
                None => "",
            };
            return Err(format!(
                "compare_with names {other:?}, which is no earlier step{with}"
            ));
        }
        Ok(())
    }
}
