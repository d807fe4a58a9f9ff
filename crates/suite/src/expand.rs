//! From a suite, its parameters and the drives named to the cells that will run.

use std::collections::BTreeMap;

use assay_engine::options::JobOptions;
use assay_engine::plan::{Pacing, PlanError, Workload};
use assay_engine::session::{DriveSession, Holds};
use assay_ssd::InitialState;
use assay_store::model::{self, CellKind, CellPlan};
use assay_target::identity::DriveKind;
use assay_units::{Nanos, parse_duration, parse_size, text};

use crate::SuiteError;
use crate::schema::{Need, Parameter, ParameterKind, Step, Suite};

mod single;
mod values;

pub use single::single_job;
use values::{parameters, plain, typed};

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
#[derive(Clone, Debug)]
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
        let together = |step: &Step| step.kind == CellKind::AllAboard;
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
fn skip_reason(step: &Step, drive: &DriveSession, drives: usize) -> Option<String> {
    for need in &step.needs {
        match need {
            Need::Write if !drive.may_write() => {
                return Some(format!(
                    "writes to the drive: add --destroy {} to include it",
                    drive.info().serial
                ));
            }
            Need::File if drive.info().kind != DriveKind::File => {
                return Some(
                    "reads through a file system: name a file on the drive to include it"
                        .to_owned(),
                );
            }
            Need::SeveralDrives if drives < 2 => {
                return Some("needs several drives: name them on one command line".to_owned());
            }
            Need::Write | Need::File | Need::SeveralDrives => {}
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

impl RunPlan {
    fn add_single(
        &mut self,
        step: &Step,
        drives: &[DriveSession],
        drive: usize,
        contents: &mut [String],
    ) -> Result<(), SuiteError> {
        let skip = skip_reason(step, &drives[drive], drives.len());
        for options in self.combinations(step, &drives[drive])? {
            let cell = self.cell(
                step,
                &[drive],
                drives,
                &options,
                skip.clone(),
                &contents[drive],
            )?;
            self.push(cell)?;
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
        step: &Step,
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

    /// The step's workload for every combination of its lists: (axes, options).
    fn combinations(
        &self,
        step: &Step,
        drive: &DriveSession,
    ) -> Result<Vec<(String, JobOptions)>, SuiteError> {
        let failed = |message: String| SuiteError::Text {
            name: self.suite.name.clone(),
            message: format!("step {:?}: {message}", step.id),
        };
        let mut combinations: Vec<Vec<(&str, toml::Value)>> = vec![Vec::new()];
        for (key, value) in &step.matrix {
            let values = self.list(step, value, drive)?;
            combinations = combinations
                .into_iter()
                .flat_map(|chosen| {
                    values.iter().map(move |value| {
                        let mut chosen = chosen.clone();
                        chosen.push((key.as_str(), value.clone()));
                        chosen
                    })
                })
                .collect();
        }
        combinations
            .into_iter()
            .map(|chosen| {
                let mut table = toml::Table::new();
                for (key, value) in &step.job {
                    table.insert(key.clone(), self.substituted(value, drive));
                }
                let axes: Vec<String> = chosen
                    .iter()
                    .map(|(key, value)| format!("{key}={}", plain(value)))
                    .collect();
                for (key, value) in chosen {
                    table.insert(key.to_owned(), value);
                }
                for (key, value) in &mut table {
                    *value = typed(key, value).map_err(&failed)?;
                }
                let mut options: JobOptions = table
                    .try_into()
                    .map_err(|e: toml::de::Error| failed(e.to_string()))?;
                options.seed = options.seed.or(Some(self.seed));
                Ok((axes.join(","), options))
            })
            .collect()
    }

    fn list(
        &self,
        step: &Step,
        value: &toml::Value,
        drive: &DriveSession,
    ) -> Result<Vec<toml::Value>, SuiteError> {
        let values = match value {
            toml::Value::Array(values) => {
                values.iter().map(|v| self.substituted(v, drive)).collect()
            }
            other => match self.substituted(other, drive) {
                toml::Value::String(text) => text
                    .split(',')
                    .map(|part| toml::Value::String(part.trim().to_owned()))
                    .filter(|part| part.as_str() != Some(""))
                    .collect(),
                single => vec![single],
            },
        };
        let block = u64::from(drive.info().min_io_bytes);
        // Blocks below what the drive addresses cannot be measured on it.
        let possible = |value: &toml::Value| {
            let size = parse_size(&plain(value)).unwrap_or(u64::MAX);
            size >= block
        };
        let is_bs = step
            .matrix
            .get("bs")
            .is_some_and(|bs| std::ptr::eq(bs, value));
        let values: Vec<toml::Value> = values
            .into_iter()
            .filter(|v| !is_bs || possible(v))
            .collect();
        if values.is_empty() {
            return Err(SuiteError::Text {
                name: self.suite.name.clone(),
                message: format!(
                    "step {:?}: a list in its matrix is empty (for drive {})",
                    step.id,
                    drive.info().spec
                ),
            });
        }
        Ok(values)
    }

    /// Replace `{parameter}` in a text.
    fn substituted(&self, value: &toml::Value, drive: &DriveSession) -> toml::Value {
        let toml::Value::String(text) = value else {
            return value.clone();
        };
        let mut text = text.clone();
        for (key, raw) in &self.parameters {
            let pattern = format!("{{{key}}}");
            if text.contains(&pattern) {
                let parameter = &self.suite.parameters[key];
                text = text.replace(&pattern, &self.effective(parameter, raw, drive));
            }
        }
        toml::Value::String(text)
    }

    /// A parameter's value in force on a drive: durations scaled, sizes cut to the drive.
    fn effective(&self, parameter: &Parameter, raw: &str, drive: &DriveSession) -> String {
        match parameter.kind {
            ParameterKind::Duration => {
                let ns = parse_duration(raw).unwrap_or(Nanos::ZERO).0 as f64 * self.scale;
                // Whole milliseconds, at least one unless nothing was asked for.
                let ms = (ns / 1e6).round().max(if ns > 0.0 { 1.0 } else { 0.0 });
                format!("{ms}ms")
            }
            ParameterKind::Size => {
                let unit = u64::from(drive.info().min_io_bytes.max(4096));
                let room = drive.info().capacity_bytes / unit * unit;
                let bytes = parse_size(raw).unwrap_or(u64::MAX).min(room.max(unit));
                text::compact_size(bytes)
            }
            ParameterKind::List | ParameterKind::Text => raw.to_owned(),
        }
    }

    /// The ratio that every reader of such a comparison looks for has a name of its own.
    fn ratio_name(&self, step: &Step, drive: usize) -> String {
        let Some(other) = &step.compare_with else {
            return String::new();
        };
        let compared = |cell: &&Cell| cell.plan.step == *other && cell.plan.drives == [drive];
        match self.cells.iter().find(compared) {
            Some(cell) if cell.plan.workload.data == "incompressible" => {
                "ratio_to_incompressible".to_owned()
            }
            _ => format!("ratio_to_{}", other.replace('-', "_")),
        }
    }

    fn cell(
        &self,
        step: &Step,
        on: &[usize],
        drives: &[DriveSession],
        (axes, options): &(String, JobOptions),
        skip: Option<String>,
        holds: &str,
    ) -> Result<Cell, SuiteError> {
        let who = if on.len() == 1 {
            self.labels[on[0]].as_str()
        } else {
            "together"
        };
        let id = |step: &str| {
            if axes.is_empty() {
                format!("{who}/{step}")
            } else {
                format!("{who}/{step}/{axes}")
            }
        };
        let mut workloads = Vec::new();
        let mut skip = skip;
        for &drive in on {
            match Workload::plan(options, &drives[drive].facts()) {
                Ok(workload) => workloads.push(workload),
                Err(PlanError::BlockTooLarge { .. }) if skip.is_none() => {
                    skip = Some(
                        "the drive is too small for this many threads or this block size"
                            .to_owned(),
                    );
                }
                // A cell that is not run need not fit.
                Err(_) if skip.is_some() => {}
                Err(source) => {
                    return Err(SuiteError::Cell {
                        cell: id(&step.id),
                        source,
                    });
                }
            }
        }
        let workload = workloads
            .first()
            .map_or_else(model::Workload::default, |w| {
                describe(w, options, step, holds)
            });
        if skip.is_some() {
            workloads.clear();
        }
        Ok(Cell {
            plan: CellPlan {
                id: id(&step.id),
                step: step.id.clone(),
                title: step.title.clone(),
                kind: step.kind,
                drives: on.to_vec(),
                workload,
                skipped: skip,
                ..CellPlan::default()
            },
            workloads,
            drop_cache: step.drop_cache,
            ratio_name: self.ratio_name(step, on[0]),
            compare_with: step.compare_with.as_deref().map(&id),
            alone: BTreeMap::new(),
        })
    }
}

/// A workload in the figures that tables and charts use.
pub fn describe(w: &Workload, options: &JobOptions, step: &Step, holds: &str) -> model::Workload {
    let data = if step.kind == CellKind::Inspect || !w.writes() {
        holds.to_owned()
    } else {
        w.data.to_string()
    };
    model::Workload {
        rw: w.rw.clone(),
        bs_bytes: u64::from(w.access.block_sizes.max_bytes()),
        iodepth: w.iodepth,
        numjobs: w.numjobs,
        engine: w.engine.name().to_owned(),
        direct: w.direct,
        span_bytes: w.area.size_bytes,
        offset_bytes: w.area.offset_bytes,
        data,
        runtime_ns: w.runtime.unwrap_or(Nanos::ZERO).0,
        ramp_ns: w.ramp.0,
        rate_iops: match w.pacing {
            Pacing::Open { iops, .. } => iops.get() as f64,
            Pacing::Closed | Pacing::Limited { .. } => 0.0,
        },
        rwmixread: (1..=99).contains(&w.read_percent).then_some(w.read_percent),
        power_state: None,
        options: options.command_line(),
    }
}
