//! Expansion of a suite, its parameters and the drives into a plan of cells.

use std::collections::BTreeMap;
use std::fmt;

use assay_device::identity::DriveKind;
use assay_device::session::{DriveSession, InitialContents};
use assay_ssd::InitialState;
use assay_store::model::{CellKind, CellPlan, Round};
use assay_units::text::format_size;
use assay_units::{Nanos, rate};
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;

use crate::SuiteError;
use crate::schema::{Requirement, StepWork, Suite, SuiteStep};

mod areas;
mod cell;
mod matrix;
mod parameters;
mod rounds;
mod segments;
mod shrunk;
mod single;
mod steady;
mod words;

use matrix::{Combination, StepOnDrive};
pub use parameters::ENGINE;
pub use rounds::RoundCriterion;
pub use segments::SEGMENT;
pub use single::{PlannedJob, job_file, jobs_at_once, single_job};
use steady::SteadyPhase;
use words::describe;

/// Largest plan; more cells mean a mistake in a list.
pub const MAX_CELLS: usize = 10_000;
/// Assumed rate of cells without a runtime, bytes per second.
pub const ASSUMED_BYTES_PER_S: u64 = 500 << 20;

#[derive(Clone, Debug)]
pub struct RunPlan {
    pub suite: Suite,
    /// Parameter values as text, before scaling and capacity limits.
    pub parameters: BTreeMap<String, String>,
    pub scale: f64,
    pub seed: u64,
    pub labels: Vec<String>,
    pub cells: Vec<Cell>,
}

#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub plan: CellPlan,
    /// One workload per drive of [`CellPlan::drives`], in that order; empty when skipped.
    pub workloads: Vec<Workload>,
    pub drop_cache: bool,
    pub compare_with: Option<String>,
    pub ratio_name: String,
    /// For a concurrent cell: the cell that measured each drive alone.
    pub alone: BTreeMap<usize, String>,
    /// Its name without its round.
    pub group: String,
    pub rounds: Option<RoundCriterion>,
    /// The step whose rounds it belongs to, where that is not its own.
    pub rounds_of: Option<String>,
    pub point: Option<PointRule>,
    pub by_minute: bool,
    pub until: Option<StopRule>,
    /// It ends when its random writes are steady.
    pub probes_steadiness: bool,
    pub start: Option<StartRule>,
    pub sets_state: Option<Preconditioning>,
    pub needs_state: Option<String>,
    pub unsupported_block: Option<UnsupportedBlockSize>,
    /// Cells that follow each other with the same number run at the same time.
    pub together: Option<usize>,
}

/// A block size of a mix below the logical block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedBlockSize {
    pub size_bytes: u64,
    pub block_bytes: u32,
}

impl fmt::Display for UnsupportedBlockSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "its mix of block sizes contains {}, below the drive's logical block of {}",
            format_size(self.size_bytes),
            format_size(u64::from(self.block_bytes))
        )
    }
}

/// Early stop rule: [`crate::schema::StopCondition`] with its window resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    pub window: Nanos,
    /// Largest change of the mean rate between windows, percent.
    pub rate_pct: f64,
    /// Largest change of the mean temperature between windows, degrees Celsius.
    pub celsius: f64,
    pub limit_c: f64,
}

/// Operating point of a cell: [`crate::schema::PointSpec`] with its limit resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct PointRule {
    pub limit: Nanos,
    /// The workload but for threads and queue depth.
    pub options: JobOptions,
}

/// State in which a cell begins: [`crate::schema::StartSpec`] with its durations resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartRule {
    /// Highest temperature above that of the drive at the start of the run, kelvin.
    pub cool_k: f64,
    pub timeout: Nanos,
    pub idle: Nanos,
}

/// The drive state left by a step of kind `prepare` or `purge`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditioning {
    pub name: String,
    /// The workload in one line; an earlier run's state counts only if it is equal.
    pub workload: String,
    /// Block size of the random writes whose steady state it is.
    pub steady_block_bytes: Option<u64>,
    pub last: bool,
}

impl Cell {
    pub fn writes(&self) -> bool {
        self.workloads.iter().any(Workload::writes)
    }

    pub fn planned_span(&self) -> Option<Nanos> {
        let spans = self.workloads.iter().filter_map(Workload::planned_span);
        spans.max()
    }

    /// Planned duration; without one, the time for its bytes at [`ASSUMED_BYTES_PER_S`].
    pub fn expected_span(&self) -> Nanos {
        let traces = self.workloads.iter().filter_map(Workload::trace_span);
        self.planned_span().or(traces.max()).unwrap_or_else(|| {
            let bytes = self.workloads.iter().filter_map(Workload::planned_bytes);
            rate::transfer_time(bytes.sum(), ASSUMED_BYTES_PER_S)
        })
    }

    /// Longest planned duration, with the idle time before it.
    pub fn longest_span(&self) -> Nanos {
        let start = self.start.map_or(0, |s| s.timeout.0.max(s.idle.0));
        let idle_ns = self.plan.idle_ns.saturating_add(start);
        Nanos(idle_ns.saturating_add(self.expected_span().0))
    }
}

#[derive(Clone, Debug)]
pub struct RunSettings {
    /// `--set key=value`.
    pub set: Vec<(String, String)>,
    pub scale: f64,
    pub seed: u64,
}

pub fn expand(
    suite: &Suite,
    settings: &RunSettings,
    drives: &[DriveSession],
) -> Result<RunPlan, SuiteError> {
    expand_labelled(suite, settings, drives, labels(drives))
}

/// A drive may have another name than at an earlier start of the run.
pub fn expand_labelled(
    suite: &Suite,
    settings: &RunSettings,
    drives: &[DriveSession],
    labels: Vec<String>,
) -> Result<RunPlan, SuiteError> {
    assert_eq!(labels.len(), drives.len(), "a label per drive");
    if !(0.001..=100.0).contains(&settings.scale) {
        return Err(SuiteError::BadScale(settings.scale));
    }
    shrunk::check(suite, drives)?;
    let parameters = parameters::parameters(suite, &settings.set)?;
    let mut plan = RunPlan {
        suite: suite.clone(),
        parameters,
        scale: settings.scale,
        seed: settings.seed,
        labels,
        cells: Vec::new(),
    };
    // Contents of each drive after the steps so far.
    let mut contents: Vec<String> = drives.iter().map(initial_contents).collect();
    // Single-drive steps run drive by drive; a concurrent step is a barrier.
    let mut remaining = suite.steps.as_slice();
    while !remaining.is_empty() {
        let is_concurrent = |step: &SuiteStep| step.kind() == CellKind::Concurrent;
        let count = remaining.iter().position(is_concurrent);
        let (single, after) = remaining.split_at(count.unwrap_or(remaining.len()));
        for drive in 0..drives.len() {
            for step in single {
                plan.add_single(step, drives, drive, &mut contents)?;
            }
        }
        remaining = after;
        if let Some((step, after)) = remaining.split_first() {
            plan.add_concurrent(step, drives, &contents)?;
            remaining = after;
        }
    }
    // Missing power states are reported now, not after hours of preconditioning.
    for cell in plan.cells.iter().filter(|c| c.plan.skipped.is_none()) {
        if let Some(state) = cell.plan.workload.power_state {
            let mut used = cell.plan.drives.iter();
            used.try_for_each(|&drive| drives[drive].check_power_state(state))?;
        }
    }
    Ok(plan)
}

fn labels(drives: &[DriveSession]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for drive in drives {
        let name = &drive.info().name;
        let same = |label: &&String| label.split('#').next() == Some(name);
        labels.push(match labels.iter().filter(same).count() {
            0 => name.clone(),
            before => format!("{name}#{}", before + 1),
        });
    }
    labels
}

fn initial_contents(drive: &DriveSession) -> String {
    match drive.initial_contents() {
        InitialContents::AsFound => "as found",
        InitialContents::Modelled(InitialState::Filled) => "incompressible",
        InitialContents::Modelled(InitialState::Fresh) => "unwritten",
        InitialContents::Nothing => "nothing",
    }
    .to_owned()
}

fn skip_reason(step: &SuiteStep, drive: &DriveSession, drives: usize) -> Option<String> {
    let info = drive.info();
    let needs_permission = || {
        let serial = &info.serial;
        let why = format!("writes to the drive: add --destroy {serial} to include it");
        (!drive.may_write()).then_some(why)
    };
    let unmet = |need: &Requirement| match need {
        Requirement::Write => needs_permission(),
        Requirement::File => (info.kind != DriveKind::File).then(|| {
            "reads through a file system: name a file on the drive to include it".to_owned()
        }),
        Requirement::SeveralDrives => {
            (drives < 2).then(|| "needs several drives: name them on one command line".to_owned())
        }
    };
    let nothing_to_inspect = || {
        let state = match drive.initial_contents() {
            InitialContents::AsFound => return None,
            InitialContents::Nothing => return Some("the null target has no contents".to_owned()),
            InitialContents::Modelled(InitialState::Filled) => "filled with incompressible data",
            InitialContents::Modelled(InitialState::Fresh) => "never written",
        };
        Some(format!("the contents of a simulated drive are known: it starts {state}"))
    };
    let unmet = step.needs.iter().find_map(unmet);
    unmet.or_else(|| match step.kind() {
        CellKind::Inspect => nothing_to_inspect(),
        _ if step.writes() => needs_permission(),
        _ => None,
    })
}

/// Beside fewer jobs, the figures of the others would be those of another load.
fn skip_together(cells: &mut [Cell]) {
    let skipped = cells.iter().find_map(|cell| cell.plan.skipped.clone());
    for cell in cells.iter_mut().filter(|_| skipped.is_some()) {
        cell.plan.skipped = cell.plan.skipped.take().or_else(|| skipped.clone());
        cell.workloads.clear();
    }
}

/// What a step that writes leaves on the drive.
fn contents_after(step: &SuiteStep) -> &str {
    let data = step.values_of("data").find_map(toml::Value::as_str);
    match step.kind() {
        CellKind::Purge => "unwritten",
        _ => data.unwrap_or("incompressible"),
    }
}

fn step_workload(combinations: &[Combination]) -> String {
    let line = |combination: &Combination| {
        let mut options = combination.options.clone();
        // The seed does not affect the resulting state.
        options.seed = None;
        options.command_line()
    };
    combinations.iter().map(line).collect::<Vec<_>>().join("; ")
}

impl RunPlan {
    fn on<'a>(&'a self, step: &'a SuiteStep, drive: &'a DriveSession) -> StepOnDrive<'a> {
        StepOnDrive { plan: self, step, drive }
    }

    fn add_single(
        &mut self,
        step: &SuiteStep,
        drives: &[DriveSession],
        drive: usize,
        contents: &mut [String],
    ) -> Result<(), SuiteError> {
        if self.runs_in_rounds(step) {
            return Ok(());
        }
        let skip = skip_reason(step, &drives[drive], drives.len());
        let on_drive = self.on(step, &drives[drive]);
        let combinations = on_drive.combinations()?;
        let most = match step.rounds() {
            Some(rounds) => on_drive.max_rounds(rounds)?,
            None => on_drive.repeats()?,
        };
        if let Some(rounds) = step.rounds() {
            on_drive.check_tracked(rounds, &combinations)?;
        }
        self.check_count(combinations.len() as u128 * u128::from(most))?;
        for number in 1..=most {
            self.add_before_round(step, (number, most), drives, drive, &contents[drive])?;
            for (i, combination) in combinations.iter().enumerate() {
                let on_drive = self.on(step, &drives[drive]);
                let mut combination = combination.clone();
                combination.round = on_drive.round(number, most, &combination);
                combination.idle_before = on_drive.idle_before(i == 0)?;
                let holds = &contents[drive];
                let skip = skip.clone().or_else(|| combination.skip.clone());
                let mut cell = self.cell(step, &[drive], drives, &combination, skip, holds)?;
                if let Some(job) = &combination.job {
                    self.push_job(step, job.number, cell)?;
                    continue;
                }
                cell.probes_steadiness = combination.phase == Some(SteadyPhase::Probe);
                cell.sets_state = step.sets_state().map(|name| Preconditioning {
                    name: name.to_owned(),
                    workload: step_workload(&combinations),
                    steady_block_bytes: steady::block_bytes(&combinations),
                    last: i + 1 == combinations.len(),
                });
                let parts = match combination.phase {
                    Some(SteadyPhase::Pass) => steady::segments(cell),
                    _ => segments::segments(cell, self.on(step, &drives[drive]).end_rule()?),
                };
                parts.into_iter().try_for_each(|part| self.push(part))?;
            }
        }
        if step.writes() && skip.is_none() {
            contents[drive] = contents_after(step).to_owned();
        }
        Ok(())
    }

    /// The jobs of a step are cells one after the other.
    fn push_job(&mut self, step: &SuiteStep, number: usize, cell: Cell) -> Result<(), SuiteError> {
        let first = self.cells.len() - number;
        self.push(Cell { together: Some(first), ..cell })?;
        if Some(number + 1) == step.jobs().map(toml::Table::len) {
            skip_together(&mut self.cells[first..]);
            areas::check(&self.cells[first..])?;
        }
        Ok(())
    }

    fn runs_in_rounds(&self, step: &SuiteStep) -> bool {
        let mut steps = self.suite.steps.iter();
        steps.any(|s| s.rounds().is_some_and(|r| r.before.as_ref() == Some(&step.id)))
    }

    fn add_before_round(
        &mut self,
        step: &SuiteStep,
        (number, most): (u32, u32),
        drives: &[DriveSession],
        drive: usize,
        holds: &str,
    ) -> Result<(), SuiteError> {
        let Some(rounds) = step.rounds() else {
            return Ok(());
        };
        let mut steps = self.suite.steps.iter();
        let Some(before) = steps.find(|s| rounds.before.as_ref() == Some(&s.id)).cloned() else {
            return Ok(());
        };
        let skip = skip_reason(&before, &drives[drive], drives.len());
        for mut combination in self.on(&before, &drives[drive]).combinations()? {
            combination.round = Some(Round { number, most, window: rounds.window, tracked: false });
            let skip = skip.clone().or_else(|| combination.skip.clone());
            let mut cell = self.cell(&before, &[drive], drives, &combination, skip, holds)?;
            cell.rounds_of = Some(step.id.clone());
            self.push(cell)?;
        }
        Ok(())
    }

    fn add_concurrent(
        &mut self,
        step: &SuiteStep,
        drives: &[DriveSession],
        contents: &[String],
    ) -> Result<(), SuiteError> {
        let Some(first) = drives.first() else {
            return Ok(());
        };
        let all: Vec<usize> = (0..drives.len()).collect();
        let simulated = |drive: &DriveSession| drive.info().simulated;
        let alone_first = matches!(step.work, StepWork::Concurrent { alone: true, .. });
        let mixed = drives.iter().any(simulated) && !drives.iter().all(simulated);
        let mut skip = mixed.then(|| {
            "real and simulated drives have different clocks: run them in separate runs".to_owned()
        });
        let reason = |drive| skip_reason(step, drive, drives.len());
        skip = drives.iter().find_map(reason).or(skip);
        for options in self.on(step, first).combinations()? {
            let mut alone = BTreeMap::new();
            if drives.len() > 1 && alone_first {
                for &drive in &all {
                    let holds = &contents[drive];
                    let cell = self.cell(step, &[drive], drives, &options, skip.clone(), holds)?;
                    alone.insert(drive, cell.plan.id.clone());
                    self.push(cell)?;
                }
            }
            let holds = match contents {
                [first, others @ ..] if others.iter().all(|c| c == first) => first,
                _ => "various",
            };
            let mut cell = self.cell(step, &all, drives, &options, skip.clone(), holds)?;
            cell.alone = alone;
            self.push(cell)?;
        }
        Ok(())
    }

    fn push(&mut self, cell: Cell) -> Result<(), SuiteError> {
        self.check_count(1)?;
        self.cells.push(cell);
        Ok(())
    }

    fn check_count(&self, more: u128) -> Result<(), SuiteError> {
        let cells = self.cells.len() as u128 + more;
        if cells > MAX_CELLS as u128 {
            return Err(SuiteError::TooManyCells { suite: self.suite.name.clone(), cells });
        }
        Ok(())
    }
}
