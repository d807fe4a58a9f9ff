//! `assay job` as a plan.

use std::collections::BTreeMap;

use assay_device::session::DriveSession;
use assay_store::model::{CellKind, CellPlan};
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;

use super::{Cell, RunPlan, describe, initial_contents, labels};
use crate::SuiteError;
use crate::schema::{Suite, SuiteStep};

/// The plan of `assay job`: one workload on one drive, as a suite of one cell.
///
/// # Errors
/// When the workload does not fit the drive.
pub fn single_job(options: &JobOptions, drive: &DriveSession) -> Result<RunPlan, SuiteError> {
    let step = SuiteStep {
        id: "job".to_owned(),
        title: "One workload".to_owned(),
        kind: CellKind::Measure,
        ..SuiteStep::default()
    };
    let id = format!("{}/job", drive.info().name);
    let workload =
        Workload::plan(options, &drive.target_properties()).map_err(|source| SuiteError::Cell {
            cell: "job".to_owned(),
            source,
        })?;
    let plan = CellPlan {
        id,
        step: step.id.clone(),
        title: step.title.clone(),
        kind: step.kind,
        drives: vec![0],
        workload: describe(&workload, options, step.kind, &initial_contents(drive)),
        ..CellPlan::default()
    };
    Ok(RunPlan {
        suite: Suite {
            name: "job".to_owned(),
            title: "One workload".to_owned(),
            summary: "A single workload from the command line.".to_owned(),
            source: "the command line".to_owned(),
            steps: vec![step],
            ..Suite::default()
        },
        parameters: BTreeMap::new(),
        scale: 1.0,
        seed: workload.seed,
        labels: labels(std::slice::from_ref(drive)),
        cells: vec![Cell {
            plan,
            workloads: vec![workload],
            ..Cell::default()
        }],
    })
}
