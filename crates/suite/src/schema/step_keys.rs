//! The keys of a step as written, and which of them its kind takes.

use assay_store::model::{CellKind, CellView};
use serde::Deserialize;

use super::jobs::{check_jobs, check_options};
use super::procedure::{
    EndRule, IdleSpec, PointSpec, RoundsSpec, SimulatedHostSpec, StartSpec, StopCondition,
};
use super::{Requirement, SUITE_OPTIONS};

/// How a step of kind `prepare` preconditions, where not by its job alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precondition {
    /// A pass in the order that leaves the state of steady random writing, then random writes until
    /// their rate is steady.
    Steady,
}

/// The keys of a `[[step]]`, as written. [`SuiteStep`](super::SuiteStep) is what they say.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepKeys {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) kind: CellKind,
    #[serde(default)]
    pub(super) needs: Vec<Requirement>,
    #[serde(default)]
    pub(super) job: toml::Table,
    #[serde(default)]
    pub(super) matrix: toml::Table,
    #[serde(default)]
    pub(super) jobs: toml::Table,
    pub(super) foreground: Option<String>,
    #[serde(default)]
    pub(super) drop_cache: bool,
    pub(super) alone: Option<bool>,
    pub(super) compare_with: Option<String>,
    pub(super) view: Option<CellView>,
    #[serde(default)]
    pub(super) steady: bool,
    pub(super) variant: Option<String>,
    pub(super) most_threads: Option<u32>,
    pub(super) load_of: Option<String>,
    pub(super) rounds: Option<RoundsSpec>,
    pub(super) repeats: Option<toml::Value>,
    #[serde(alias = "rest")]
    pub(super) idle: Option<IdleSpec>,
    pub(super) deadlines: Option<toml::Value>,
    pub(super) start: Option<StartSpec>,
    pub(super) simulated_host: Option<SimulatedHostSpec>,
    pub(super) until: Option<StopCondition>,
    pub(super) ends: Option<String>,
    pub(super) point: Option<PointSpec>,
    #[serde(alias = "leaves")]
    pub(super) sets_state: Option<String>,
    #[serde(alias = "wants")]
    pub(super) needs_state: Option<String>,
    pub(super) precondition: Option<Precondition>,
}

/// Kinds, and keys that only they have: each with whether the step gives it.
pub(super) type KeysOfKinds<'a> = (&'a [CellKind], &'a [(&'a str, bool)]);

impl StepKeys {
    pub(super) fn has(&self, option: &str) -> bool {
        self.job.contains_key(option) || self.matrix.contains_key(option)
    }

    pub(super) fn has_any(&self, options: &[&str]) -> bool {
        options.iter().any(|option| self.has(option))
    }

    /// Keys that only some kinds have.
    pub(super) fn check_kind(&self) -> Result<(), String> {
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
            (&[Soak], &[("until", self.until.is_some()), ("ends", self.ends.is_some())]),
            (&[Prepare, Purge, Soak], &[("sets_state", self.sets_state.is_some())]),
            (
                &[Measure, Prepare, Soak, Concurrent],
                &[("start, the state in which a workload begins,", start.is_some())],
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
    pub(super) fn contradiction_of_options(&self) -> Option<&'static str> {
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
    pub(super) fn contradiction_of_keys(&self) -> Option<&'static str> {
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
        let ends = ["runtime", "io_size", "random_distribution", "steadystate", "interval"];
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
    pub(super) fn contradiction_of_view(&self) -> Option<&'static str> {
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

    pub(super) fn check(&self) -> Result<(), String> {
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
        self.rounds.as_ref().map_or(Ok(()), |rounds| rounds.check(&self.matrix))
    }
}
