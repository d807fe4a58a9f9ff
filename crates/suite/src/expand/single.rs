//! `assay job` as a plan: a single job, or the jobs of a file.

use std::collections::BTreeMap;

use assay_device::session::DriveSession;
use assay_store::model::{CellPlan, CellView, JobPlan};
use assay_units::Rng;
use assay_workload::options::JobOptions;
use assay_workload::plan::{DEFAULT_SEED, Workload};

use super::cell::trace_view;
use super::{Cell, RunPlan, areas, describe, initial_contents, labels};
use crate::SuiteError;
use crate::schema::{StepWork, Suite, SuiteStep};

#[derive(Clone, Debug, Default)]
pub struct PlannedJob {
    pub name: String,
    pub drive: usize,
    pub options: JobOptions,
    /// Jobs of one stage run at the same time; stages follow each other.
    pub stage: usize,
    /// Drop the area from the page cache first.
    pub drop_cache: bool,
    pub prepares: bool,
}

pub fn single_job(options: &JobOptions, drive: &DriveSession) -> Result<RunPlan, SuiteError> {
    let suite = Suite {
        name: "job".to_owned(),
        title: "One workload".to_owned(),
        summary: "A single workload from the command line.".to_owned(),
        source: "the command line".to_owned(),
        ..Suite::default()
    };
    let job = PlannedJob {
        name: "One workload".to_owned(),
        options: options.clone(),
        ..PlannedJob::default()
    };
    plan(suite, &[("job".to_owned(), job)], std::slice::from_ref(drive))
}

pub fn jobs_at_once(
    jobs: &[(String, JobOptions)],
    drive: &DriveSession,
) -> Result<RunPlan, SuiteError> {
    let suite = Suite {
        name: "job".to_owned(),
        title: "Jobs at once".to_owned(),
        summary: "Several workloads at once on one drive, from the command line.".to_owned(),
        source: "the command line".to_owned(),
        ..Suite::default()
    };
    let planned = jobs.iter().map(|(name, options)| {
        let mut options = options.clone();
        // Jobs with the same seed would access the same blocks at the same time.
        let seed = || Rng::stream(DEFAULT_SEED, name).next_u64() >> 32;
        options.seed = options.seed.or_else(|| Some(seed()));
        let job = PlannedJob { name: "Jobs at once".to_owned(), options, ..PlannedJob::default() };
        (name.clone(), job)
    });
    let planned: Vec<(String, PlannedJob)> = planned.collect();
    let mut plan = plan(suite, &planned, std::slice::from_ref(drive))?;
    plan.seed = DEFAULT_SEED;
    let step = "job";
    let group = format!("{}/{step}", plan.labels[0]);
    for (number, (cell, (name, _))) in plan.cells.iter_mut().zip(jobs).enumerate() {
        cell.plan.id = format!("{group}/job={name}");
        step.clone_into(&mut cell.plan.step);
        cell.plan.view = Some(CellView::Jobs);
        cell.plan.job = Some(JobPlan {
            name: name.clone(),
            group: group.clone(),
            foreground: number == 0,
            ..JobPlan::default()
        });
    }
    plan.suite.steps.truncate(1);
    if let Some(only) = plan.suite.steps.first_mut() {
        step.clone_into(&mut only.id);
    }
    Ok(plan)
}

pub fn job_file(
    name: &str,
    jobs: &[PlannedJob],
    drives: &[DriveSession],
) -> Result<RunPlan, SuiteError> {
    let suite = Suite {
        name: name.to_owned(),
        title: format!("Job file {name}"),
        summary: "The jobs of a fio job file.".to_owned(),
        source: "a fio job file".to_owned(),
        ..Suite::default()
    };
    let mut steps: Vec<(String, PlannedJob)> = Vec::new();
    for job in jobs {
        let slug = slug(&job.name);
        let taken = |id: &str| steps.iter().any(|(known, _)| known == id);
        let numbered = (2..).map(|number| format!("{slug}-{number}"));
        let mut ids = std::iter::once(slug.clone()).chain(numbered);
        let id = ids.find(|id| !taken(id)).unwrap_or_default();
        steps.push((id, job.clone()));
    }
    plan(suite, &steps, drives)
}

/// A step's identifier from a job's name: letters, digits and single hyphens.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    match words.is_empty() {
        true => "job".to_owned(),
        false => words.join("-"),
    }
}

fn plan(
    mut suite: Suite,
    jobs: &[(String, PlannedJob)],
    drives: &[DriveSession],
) -> Result<RunPlan, SuiteError> {
    let labels = labels(drives);
    let mut cells = Vec::new();
    let mut seed = None;
    for (id, job) in jobs {
        let step = SuiteStep {
            id: id.clone(),
            title: job.name.clone(),
            work: match job.prepares {
                true => StepWork::Prepare { sets_state: None, precondition: None },
                false => StepWork::default(),
            },
            ..SuiteStep::default()
        };
        let drive = &drives[job.drive];
        let workload = Workload::plan_on(&job.options, drive);
        let workload = workload.map_err(|source| SuiteError::Cell { cell: id.clone(), source })?;
        seed.get_or_insert(workload.seed);
        let holds = initial_contents(drive);
        let beside = jobs.iter().filter(|(_, other)| other.stage == job.stage);
        cells.push(Cell {
            plan: CellPlan {
                id: format!("{}/{id}", labels[job.drive]),
                step: id.clone(),
                title: step.title.clone(),
                kind: step.kind(),
                view: trace_view(Some(&workload)),
                drives: vec![job.drive],
                workload: describe(&workload, &job.options, step.kind(), &holds),
                ..CellPlan::default()
            },
            workloads: vec![workload],
            drop_cache: job.drop_cache,
            together: (beside.count() > 1).then_some(job.stage),
            ..Cell::default()
        });
        suite.steps.push(step);
    }
    areas::check(&cells)?;
    Ok(RunPlan {
        suite,
        parameters: BTreeMap::new(),
        scale: 1.0,
        seed: seed.unwrap_or(DEFAULT_SEED),
        labels,
        cells,
    })
}
