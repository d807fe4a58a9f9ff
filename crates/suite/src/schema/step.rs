//! A step of a suite: what all steps have, and what those of one kind have.

use assay_store::model::{CellKind, CellView};
use assay_trace::replay::SkippedOps;
use serde::Deserialize;

use super::Requirement;
use super::procedure::{
    IdleSpec, PointSpec, RoundsSpec, SimulatedHostSpec, StartSpec, StopCondition,
};
pub use super::step_keys::Precondition;
use super::step_keys::StepKeys;

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
        StepWork::Measure { steady: false, point: None, rounds: None }
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

impl TryFrom<StepKeys> for SuiteStep {
    type Error = String;

    fn try_from(keys: StepKeys) -> Result<SuiteStep, String> {
        let step = format!("step {:?}", keys.id);
        keys.check().map_err(|why| format!("{step}: {why}"))?;
        let (steady, point, sets_state) = (keys.steady, keys.point, keys.sets_state);
        let work = match keys.kind {
            CellKind::Measure if !keys.jobs.is_empty() => {
                StepWork::Jobs { jobs: keys.jobs, foreground: keys.foreground }
            }
            CellKind::Measure => {
                StepWork::Measure { steady, point, rounds: keys.rounds.map(Box::new) }
            }
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
            CellKind::Prepare => StepWork::Prepare { sets_state, precondition: keys.precondition },
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
            return Err(format!("load_of names {of:?}, which is no earlier step of kind measure"));
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
            return Err(format!("compare_with names {other:?}, which is no earlier step{with}"));
        }
        Ok(())
    }
}
