//! From a suite, its parameters and the drives named to the cells that will run.

use std::collections::BTreeMap;
use std::fmt;

use assay_device::identity::DriveKind;
use assay_device::session::{DriveSession, Holds};
use assay_ssd::InitialState;
use assay_store::model::{CellKind, CellPlan, Round};
use assay_units::Nanos;
use assay_units::text::format_size;
use assay_workload::plan::Workload;

use crate::SuiteError;
use crate::schema::{Requirement, Suite, SuiteStep};

mod cell;
mod matrix;
mod parameters;
mod rounds;
mod single;

use cell::describe;
use matrix::Combination;
use parameters::parameters;
pub use rounds::RoundCriterion;
pub use single::single_job;

/// More cells than anybody wants: a mistake in a list.
pub const MAX_CELLS: usize = 10_000;
/// Everything that will run.
#[derive(Clone, Debug)]
pub struct RunPlan {
    /// The suite.
    pub suite: Suite,
    /// Parameters in force, as text, before scaling and cutting.
    pub parameters: BTreeMap<String, String>,
    /// Factor on durations.
    pub scale: f64,
    /// Seed.
    pub seed: u64,
    /// Labels of the drives.
    pub labels: Vec<String>,
    /// In the order they run.
    pub cells: Vec<Cell>,
}

/// One cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// What is recorded about it.
    pub plan: CellPlan,
    /// One workload per drive of [`CellPlan::drives`], in that order; empty when skipped.
    pub workloads: Vec<Workload>,
    /// Drop the page cache first.
    pub drop_cache: bool,
    /// The earlier cell this one is compared with.
    pub compare_with: Option<String>,
    /// What the ratio of the two is called: `ratio_to_incompressible`, or after the step.
    pub ratio_name: String,
    /// For a cell of several drives: the cell in which each was alone.
    pub alone: BTreeMap<usize, String>,
    /// Its name without its round.
    pub group: String,
    /// The rule by which the rounds it belongs to come to rest.
    pub rounds: Option<RoundCriterion>,
    /// When it ends before its runtime.
    pub until: Option<StopRule>,
    /// The preconditioning it is the last part of.
    pub leaves: Option<Preconditioning>,
    /// The preconditioning it needs.
    pub wants: Option<String>,
    /// It is skipped because its mix of block sizes is not for this drive.
    pub unsupported_block: Option<UnsupportedBlockSize>,
}

/// A mix of block sizes that a drive cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnsupportedBlockSize {
    /// Its first size that the drive cannot do.
    pub size_bytes: u64,
    /// What the drive addresses.
    pub block_bytes: u32,
}

impl fmt::Display for UnsupportedBlockSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "its mix of block sizes has blocks of {}, and the drive's logical block is {}: nothing smaller can be read or written",
            format_size(self.size_bytes),
            format_size(u64::from(self.block_bytes))
        )
    }
}

/// When a cell ends before its runtime: [`crate::schema::StopCondition`] with its window in force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopRule {
    /// Length of a window.
    pub window: Nanos,
    /// Change of the mean rate from window to window, percent, at most.
    pub rate_pct: f64,
    /// Change of the mean temperature from window to window, degrees Celsius, at most.
    pub celsius: f64,
    /// End at this temperature in any case, degrees Celsius.
    pub limit_c: f64,
}

/// What a step of kind `prepare` leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preconditioning {
    /// Its name.
    pub name: String,
    /// The workload in one line: what must have been the same for an earlier one to stand for it.
    pub workload: String,
    /// Is this the step's last cell?
    pub last: bool,
}

impl Cell {
    /// How long it is planned to take, where time decides.
    pub fn planned_span(&self) -> Option<Nanos> {
        self.workloads
            .iter()
            .filter_map(Workload::planned_span)
            .max()
    }
}

/// Settings of a run besides the suite itself.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// `--set key=value`.
    pub set: Vec<(String, String)>,
    /// `--scale`.
    pub scale: f64,
    /// Seed.
    pub seed: u64,
}

/// Expand a suite over drives.
///
/// # Errors
/// When a parameter is unknown or unusable, or a workload does not fit its drive.
pub fn expand(
    suite: &Suite,
    settings: &RunSettings,
    drives: &[DriveSession],
) -> Result<RunPlan, SuiteError> {
    if !(0.001..=100.0).contains(&settings.scale) {
        return Err(SuiteError::BadScale(settings.scale));
    }
    let parameters = parameters(suite, &settings.set)?;
    let mut plan = RunPlan {
        suite: suite.clone(),
        parameters,
        scale: settings.scale,
        seed: settings.seed,
        labels: labels(drives),
        cells: Vec::new(),
    };
    // What each drive holds, as far as the steps so far have made it.
    let mut contents: Vec<String> = drives.iter().map(first_contents).collect();
    // Steps on single drives run drive by drive; a step with all drives waits for them and is waited for.
    let mut rest = suite.steps.as_slice();
    while !rest.is_empty() {
        let together = |step: &SuiteStep| step.kind == CellKind::AllAboard;
        let count = rest.iter().position(together).unwrap_or(rest.len());
        let (single, after) = rest.split_at(count);
        for drive in 0..drives.len() {
            for step in single {
                plan.add_single(step, drives, drive, &mut contents)?;
            }
        }
        rest = after;
        if let Some((step, after)) = rest.split_first() {
            plan.add_together(step, drives, &contents)?;
            rest = after;
        }
    }
    // What a drive does not have is told now, and not by a cell that comes after hours of writing.
    for cell in &plan.cells {
        let planned = cell.plan.skipped.is_none();
        if let (true, Some(state)) = (planned, cell.plan.workload.power_state) {
            for &drive in &cell.plan.drives {
                drives[drive].check_power_state(state)?;
            }
        }
    }
    Ok(plan)
}

/// Short names, unique within the run.
fn labels(drives: &[DriveSession]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for drive in drives {
        let name = &drive.info().name;
        let same = labels
            .iter()
            .filter(|l| l.split('#').next() == Some(name))
            .count();
        labels.push(if same == 0 {
            name.clone()
        } else {
            format!("{name}#{}", same + 1)
        });
    }
    labels
}

fn first_contents(drive: &DriveSession) -> String {
    match drive.holds() {
        Holds::AsFound => "as found",
        Holds::Modelled(InitialState::Filled) => "incompressible",
        Holds::Modelled(InitialState::Fresh) => "unwritten",
        Holds::Nothing => "nothing",
    }
    .to_owned()
}

/// Why this step is not for this drive.
fn skip_reason(step: &SuiteStep, drive: &DriveSession, drives: usize) -> Option<String> {
    for need in &step.needs {
        match need {
            Requirement::Write if !drive.may_write() => {
                return Some(format!(
                    "writes to the drive: add --destroy {} to include it",
                    drive.info().serial
                ));
            }
            Requirement::File if drive.info().kind != DriveKind::File => {
                return Some(
                    "reads through a file system: name a file on the drive to include it"
                        .to_owned(),
                );
            }
            Requirement::SeveralDrives if drives < 2 => {
                return Some("needs several drives: name them on one command line".to_owned());
            }
            Requirement::Write | Requirement::File | Requirement::SeveralDrives => {}
        }
    }
    if step.kind == CellKind::Inspect {
        match drive.holds() {
            Holds::Modelled(state) => {
                let state = if state == InitialState::Filled {
                    "filled with incompressible data"
                } else {
                    "never written"
                };
                return Some(format!(
                    "a simulated drive's contents are known: it starts {state}"
                ));
            }
            Holds::Nothing => return Some("the null target holds nothing".to_owned()),
            Holds::AsFound => {}
        }
    }
    if step.writes() && !drive.may_write() {
        return Some(format!(
            "writes to the drive: add --destroy {} to include it",
            drive.info().serial
        ));
    }
    None
}

/// A step's workloads, one line each.
fn step_workload(combinations: &[Combination]) -> String {
    let lines: Vec<String> = combinations
        .iter()
        .map(|c| {
            let mut options = c.options.clone();
            // Which numbers the order came from makes no difference to what is left behind.
            options.seed = None;
            options.command_line()
        })
        .collect();
    lines.join("; ")
}

impl RunPlan {
    fn add_single(
        &mut self,
        step: &SuiteStep,
        drives: &[DriveSession],
        drive: usize,
        contents: &mut [String],
    ) -> Result<(), SuiteError> {
        let skip = skip_reason(step, &drives[drive], drives.len());
        let combinations = self.combinations(step, &drives[drive])?;
        let most = match &step.rounds {
            Some(rounds) => self.max_rounds(step, rounds, &drives[drive])?,
            None => self.repeats(step, &drives[drive])?,
        };
        if let Some(rounds) = &step.rounds {
            self.check_tracked(step, rounds, &combinations, &drives[drive])?;
        }
        let repeated = step.repeats.as_ref().map(|_| most);
        for number in 1..=most {
            for (i, combination) in combinations.iter().enumerate() {
                let mut combination = combination.clone();
                combination.round = match &step.rounds {
                    Some(rounds) => Some(Round {
                        number,
                        most,
                        window: rounds.window,
                        tracked: self.is_tracked(rounds, &combination, &drives[drive]),
                    }),
                    // All repetitions count, whatever they give.
                    None => repeated.map(|most| Round {
                        number,
                        most,
                        window: most,
                        tracked: false,
                    }),
                };
                combination.rest = self.rest(step, &drives[drive], i == 0)?;
                let holds = &contents[drive];
                let skip = skip.clone().or_else(|| combination.skip.clone());
                let mut cell = self.cell(step, &[drive], drives, &combination, skip, holds)?;
                if let Some(name) = &step.leaves {
                    cell.leaves = Some(Preconditioning {
                        name: name.clone(),
                        workload: step_workload(&combinations),
                        last: i + 1 == combinations.len(),
                    });
                }
                self.push(cell)?;
            }
        }
        if step.kind == CellKind::Purge && skip.is_none() {
            contents[drive] = "unwritten".to_owned();
            return Ok(());
        }
        if step.writes() && skip.is_none() {
            let data = step.job.get("data").and_then(toml::Value::as_str);
            contents[drive] = data.unwrap_or("incompressible").to_owned();
        }
        Ok(())
    }

    /// Each drive alone, then all at once.
    fn add_together(
        &mut self,
        step: &SuiteStep,
        drives: &[DriveSession],
        contents: &[String],
    ) -> Result<(), SuiteError> {
        let skip = (0..drives.len()).find_map(|d| skip_reason(step, &drives[d], drives.len()));
        let all: Vec<usize> = (0..drives.len()).collect();
        let kinds: Vec<bool> = drives.iter().map(|d| d.info().simulated).collect();
        let skip = skip.or_else(|| {
            (kinds.iter().any(|&k| k) && kinds.iter().any(|&k| !k)).then(|| {
                "real and simulated drives do not share a clock: run them together among their own kind".to_owned()
            })
        });
        for options in self.combinations(step, &drives[0])? {
            let mut alone = BTreeMap::new();
            if drives.len() > 1 {
                for drive in all.iter().copied() {
                    let cell = self.cell(
                        step,
                        &[drive],
                        drives,
                        &options,
                        skip.clone(),
                        &contents[drive],
                    )?;
                    alone.insert(drive, cell.plan.id.clone());
                    self.push(cell)?;
                }
            }
            let holds = if contents.iter().all(|c| *c == contents[0]) {
                &contents[0]
            } else {
                "various"
            };
            let mut cell = self.cell(step, &all, drives, &options, skip.clone(), holds)?;
            cell.alone = alone;
            self.push(cell)?;
        }
        Ok(())
    }

    fn push(&mut self, cell: Cell) -> Result<(), SuiteError> {
        self.cells.push(cell);
        if self.cells.len() > MAX_CELLS {
            return Err(SuiteError::TooManyCells {
                suite: self.suite.name.clone(),
                cells: self.cells.len(),
                most: MAX_CELLS,
            });
        }
        Ok(())
    }
}
