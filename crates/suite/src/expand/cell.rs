use assay_device::session::DriveSession;
use assay_store::model::{
    CellKind, CellPlan, CellView, JobPlan, OfferedLoad, PointPlan, SimulatedHost,
};
use assay_units::{Rng, parse_duration, parse_size};
use assay_workload::options::JobOptions;
use assay_workload::plan::{PlanError, Workload};

use super::matrix::{Combination, StepOnDrive};
use super::parameters::ENGINE;
use super::words::describe_in_step;
use super::{Cell, PointRule, RoundCriterion, RunPlan, StartRule, StopRule, UnsupportedBlockSize};
use crate::SuiteError;
use crate::schema::{EndRule, NO_UPLINK, SoakEnd, StepWork, SuiteStep};

/// What a cell does on its drives, or why it is skipped.
#[derive(Default)]
struct Planned {
    workloads: Vec<Workload>,
    skip: Option<String>,
    unsupported_block: Option<UnsupportedBlockSize>,
}

/// `drive/step/key=value,...`: unique in a run.
fn cell_id(who: &str, step: &str, axes: &[String]) -> String {
    match axes {
        [] => format!("{who}/{step}"),
        axes => format!("{who}/{step}/{}", axes.join(",")),
    }
}

/// The names of a cell, by its drives, its step and the values of its matrix.
struct CellName {
    id: String,
    /// Without its round and its job.
    group: String,
    matrix: String,
    compare_with: Option<String>,
}

impl CellName {
    fn new(who: &str, step: &SuiteStep, combination: &Combination) -> CellName {
        let mut axes = axis_texts(&combination.axes);
        let group = cell_id(who, &step.id, &axes);
        let matrix = axes.join(",");
        axes.extend((combination.round.as_ref()).map(|round| format!("round={}", round.number)));
        axes.extend((combination.job.as_ref()).map(|job| format!("job={}", job.name)));
        let compare_with = step.compare_with.as_deref();
        CellName {
            id: cell_id(who, &step.id, &axes),
            group,
            matrix,
            compare_with: compare_with.map(|other| cell_id(who, other, &axes)),
        }
    }
}

fn axis_texts(axes: &[(String, String)]) -> Vec<String> {
    let axes = axes.iter();
    axes.map(|(key, value)| format!("{key}={value}")).collect()
}

fn point(step: &SuiteStep) -> Option<PointPlan> {
    step.point().map(|point| PointPlan { of: point.of.clone(), which: point.which })
}

fn load(step: &SuiteStep, combination: &Combination) -> Option<OfferedLoad> {
    Some(OfferedLoad { of: step.load_of.clone()?, percent: combination.load_percent? })
}

impl RunPlan {
    /// The ratio to incompressible data has a fixed name in reports.
    fn ratio_name(&self, step: &SuiteStep, drive: usize) -> String {
        let Some(other) = &step.compare_with else {
            return String::new();
        };
        let by_step = format!("ratio_to_{}", other.replace('-', "_"));
        if step.jobs().is_some() {
            return by_step;
        }
        let compared = |cell: &&Cell| cell.plan.step == *other && cell.plan.drives == [drive];
        match self.cells.iter().find(compared) {
            Some(cell) if cell.plan.workload.data == "incompressible" => {
                "ratio_to_incompressible".to_owned()
            }
            _ => by_step,
        }
    }

    /// A job's workload alone is the cell of the same values in the step it is compared with.
    fn job_plan(
        &self,
        step: &SuiteStep,
        combination: &Combination,
        who: &str,
        cell: &CellName,
    ) -> Option<JobPlan> {
        let job = combination.job.as_ref()?;
        let alone = step.compare_with.as_ref().filter(|_| job.foreground);
        let alone = alone.and_then(|other| {
            let id = cell_id(who, other, &axis_texts(&combination.own_axes));
            let mut cells = self.cells.iter().map(|cell| &cell.plan);
            let alone = cells.find(|plan| plan.step == *other && plan.id == id)?;
            Some(alone.id.clone())
        });
        Some(JobPlan {
            name: job.name.clone(),
            group: cell.group.clone(),
            matrix: cell.matrix.clone(),
            foreground: job.foreground,
            alone,
        })
    }

    /// The workloads of a cell on its drives.
    fn workloads(
        &self,
        step: &SuiteStep,
        on: &[usize],
        drives: &[DriveSession],
        combination: &Combination,
        options: &JobOptions,
        skip: Option<String>,
    ) -> Result<Planned, PlanError> {
        let mut planned = Planned { skip, ..Planned::default() };
        let mut options = options.clone();
        if let Some(engine) = self.parameters.get(ENGINE)
            && options.engine.as_deref() != Some("sync")
        {
            options.engine = Some(engine.clone());
        }
        let options = &options;
        for &drive in on {
            let skip = &mut planned.skip;
            match Workload::plan_on(options, &drives[drive]) {
                Ok(workload) => planned.workloads.push(Workload {
                    counts_coverage: step.kind() == CellKind::Prepare,
                    // Where the cell has a seed of its own, its hot blocks are those of the other
                    // cells.
                    placement_seed: match combination.seed_given {
                        true => workload.seed,
                        false => self.seed,
                    },
                    ..workload
                }),
                // A skipped cell needs no valid plan.
                Err(_) if skip.is_some() => {}
                Err(PlanError::BlockTooLarge { .. }) => {
                    let why =
                        "the drive is too small for this number of threads or this block size";
                    *skip = Some(why.to_owned());
                }
                // What later cells read must have been prepared.
                Err(PlanError::Unsupported(why)) if step.kind() != CellKind::Prepare => {
                    *skip = Some(why)
                }
                Err(PlanError::Misaligned {
                    option: "bs",
                    given_bytes: size_bytes,
                    block_bytes,
                    ..
                }) if is_mix_below_block(options, size_bytes, block_bytes) => {
                    let unsupported = UnsupportedBlockSize { size_bytes, block_bytes };
                    *skip = Some(unsupported.to_string());
                    planned.unsupported_block = Some(unsupported);
                }
                Err(source) => return Err(source),
            }
        }
        Ok(planned)
    }

    fn who(&self, on: &[usize]) -> &str {
        match on {
            [drive] => &self.labels[*drive],
            _ => "together",
        }
    }

    fn options(&self, step: &SuiteStep, combination: &Combination, id: &str) -> JobOptions {
        let mut options = combination.options.clone();
        if needs_own_seed(step, combination) {
            options.seed = Some(Rng::stream(self.seed, id).next_u64() >> 32);
        }
        options
    }

    pub(super) fn cell(
        &self,
        step: &SuiteStep,
        on: &[usize],
        drives: &[DriveSession],
        combination: &Combination,
        skip: Option<String>,
        holds: &str,
    ) -> Result<Cell, SuiteError> {
        let on_drive = self.on(step, &drives[on[0]]);
        let who = self.who(on);
        let name = CellName::new(who, step, combination);
        let job = self.job_plan(step, combination, who, &name);
        let compare_with = (job.as_ref()).map_or(name.compare_with, |job| job.alone.clone());
        // Of jobs that run at once, the first one's idle time and start are those of all.
        let leads = combination.job.as_ref().is_none_or(|job| job.number == 0);
        let options = &self.options(step, combination, &name.id);
        let planned = self.workloads(step, on, drives, combination, options, skip);
        let Planned { mut workloads, skip, unsupported_block } =
            planned.map_err(|source| SuiteError::Cell { cell: name.id.clone(), source })?;
        let first = workloads.first();
        let workload = describe_in_step(first, options, step, combination, holds);
        let view = step.view.or_else(|| trace_view(first));
        if skip.is_some() {
            workloads.clear();
        }
        Ok(Cell {
            plan: CellPlan {
                id: name.id,
                step: step.id.clone(),
                title: step.title.clone(),
                kind: step.kind(),
                drives: on.to_vec(),
                workload,
                view: view.or(combination.job.as_ref().map(|_| CellView::Jobs)),
                steady: step.is_steady(),
                variant: step.variant.clone(),
                round: combination.round.clone(),
                segment: None,
                load: load(step, combination),
                point: point(step),
                job,
                deadlines_ns: on_drive.deadlines_ns()?,
                idle_ns: if leads { combination.idle_before.0 } else { 0 },
                simulated_host: on_drive
                    .simulated_host(on.iter().all(|&d| drives[d].info().simulated))?,
                skipped: skip,
                file: None,
                unfit: None,
            },
            workloads,
            drop_cache: step.drop_cache && leads,
            ratio_name: self.ratio_name(step, on[0]),
            compare_with,
            group: name.group,
            rounds: on_drive.rounds()?,
            point: on_drive.point_rule(options)?,
            until: on_drive.stop_rule()?,
            start: on_drive.start_rule()?.filter(|_| leads),
            needs_state: step.needs_state.clone(),
            unsupported_block,
            ..Cell::default()
        })
    }
}

impl StepOnDrive<'_> {
    fn rounds(&self) -> Result<Option<RoundCriterion>, SuiteError> {
        let rounds = self.step.rounds();
        rounds.map(|rounds| self.round_criterion(rounds)).transpose()
    }

    fn start_rule(&self) -> Result<Option<StartRule>, SuiteError> {
        let Some(start) = &self.step.start else {
            return Ok(None);
        };
        let idle = start.idle.as_deref().map(|idle| self.duration(idle));
        Ok(Some(StartRule {
            cool_k: start.cool_k,
            timeout: self.duration(&start.timeout)?,
            idle: idle.transpose()?.unwrap_or_default(),
        }))
    }

    fn simulated_host(&self, is_simulated: bool) -> Result<Option<SimulatedHost>, SuiteError> {
        let StepWork::Concurrent { simulated_host: Some(host), .. } = &self.step.work else {
            return Ok(None);
        };
        if !is_simulated {
            return Ok(None);
        }
        let (processors, uplink) =
            (self.substitute(&host.processors), self.substitute(&host.uplink));
        let whole = processors.parse().ok().filter(|number| *number > 0);
        let bytes = match uplink == NO_UPLINK {
            true => None,
            false => {
                Some(parse_size(&uplink).ok().filter(|bytes| *bytes > 0).ok_or_else(|| {
                    let why = "bytes per second, such as 4g, or none";
                    self.failed(&format!("simulated_host.uplink = {uplink:?}: {why}"))
                })?)
            }
        };
        let wrong = || {
            let why = "a whole number from 1";
            self.failed(&format!("simulated_host.processors = {processors:?}: {why}"))
        };
        Ok(Some(SimulatedHost {
            processors: whole.ok_or_else(wrong)?,
            uplink_bytes_per_second: bytes,
        }))
    }

    fn deadlines_ns(&self) -> Result<Vec<u64>, SuiteError> {
        let Some(deadlines) = &self.step.deadlines else {
            return Ok(Vec::new());
        };
        let texts = self.list("deadlines", deadlines)?;
        let spans = texts.iter().map(|text| {
            let text = self.resolve(text);
            parse_duration(&text).map_err(|e| self.failed(&format!("deadlines: {e}")))
        });
        let mut ns: Vec<u64> = spans.map(|span| Ok(span?.0)).collect::<Result<_, SuiteError>>()?;
        ns.sort_unstable();
        ns.dedup();
        Ok(ns)
    }

    fn point_rule(&self, options: &JobOptions) -> Result<Option<PointRule>, SuiteError> {
        let Some(point) = self.step.point() else {
            return Ok(None);
        };
        Ok(Some(PointRule { limit: self.duration(&point.limit)?, options: options.clone() }))
    }

    pub(super) fn end_rule(&self) -> Result<EndRule, SuiteError> {
        match &self.step.work {
            StepWork::Soak { end: SoakEnd::Which(which), .. } => {
                EndRule::parse(&self.substitute(which)).map_err(|why| self.failed(&why))
            }
            _ => Ok(EndRule::First),
        }
    }

    fn stop_rule(&self) -> Result<Option<StopRule>, SuiteError> {
        let StepWork::Soak { end: SoakEnd::Settled(until), .. } = &self.step.work else {
            return Ok(None);
        };
        Ok(Some(StopRule {
            window: self.duration(&until.settle_window)?,
            rate_pct: until.rate_pct,
            celsius: until.celsius,
            limit_c: until.limit_c,
        }))
    }
}

/// With the run's seed, each cell of random writes would write the blocks that the one before
/// wrote, in the same order: garbage collection then finds whole blocks invalid, and write
/// amplification falls from cell to cell.
fn needs_own_seed(step: &SuiteStep, combination: &Combination) -> bool {
    let rw = combination.options.rw.as_deref().unwrap_or_default();
    let writes = rw.starts_with("randw") || rw.starts_with("randrw");
    let varies = writes && step.kind() != CellKind::Prepare
        || combination.job.is_some()
        || step.view == Some(CellView::Cache);
    varies && !combination.seed_given
}

/// Such a mix is skipped, while sizes in a list are dropped one by one; a larger size that is no
/// multiple of the block is an error.
fn is_mix_below_block(options: &JobOptions, size_bytes: u64, block_bytes: u32) -> bool {
    let mix = options.bs.as_ref().is_some_and(|bs| bs.contains(':'));
    mix && size_bytes < u64::from(block_bytes)
}

/// The view of a cell that replays a trace.
pub(super) fn trace_view(workload: Option<&Workload>) -> Option<CellView> {
    let is_replay = workload.is_some_and(|workload| workload.trace.is_some());
    is_replay.then_some(CellView::TraceReplay)
}
