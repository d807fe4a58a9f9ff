use std::sync::Arc;

use assay_device::session::{DriveSession, SessionOptions};
use assay_integrity::blocks::VerifyBlocks;
use assay_ssd::HostChoice;
use assay_store::Destination;
use assay_suite::SuiteError;
use assay_suite::expand::{Cell, RunPlan, jobs_at_once, single_job};

use crate::args::{JobArguments, NamedJob};
use crate::exit::{CommandOutcome, UsageError};
use crate::json;
use crate::terminal::Output;

fn jobs(arguments: &JobArguments) -> Vec<NamedJob> {
    match arguments.jobs.is_empty() {
        true => vec![NamedJob {
            name: String::new(),
            options: arguments.workload.0.clone(),
        }],
        false => arguments.jobs.clone(),
    }
}

pub fn run(arguments: JobArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let jobs = jobs(&arguments);
    let session_options = SessionOptions {
        destroy: arguments.destroy,
        will_write: jobs.iter().any(|job| job.options.writes()),
        keep_data: jobs.iter().any(|job| job.options.verify == Some(true)),
        power_meter: super::power_meter(arguments.power_meter.as_deref(), 1)?,
        generator: Some(Arc::new(VerifyBlocks)),
        host: HostChoice::Year2025,
        only_looks: false,
    };
    // Read-only first: an invalid option is reported before a safety refusal.
    let read_only = SessionOptions {
        will_write: false,
        destroy: Vec::new(),
        only_looks: true,
        ..session_options.clone()
    };
    let mut drives = super::open_drives(&[arguments.drive], &read_only)?;
    let plan = plan(&jobs, &drives[0])?;
    let writes = |cell: &Cell| cell.writes();
    let session_options = SessionOptions {
        // The operations of a trace are known when it has been read.
        will_write: plan.cells.iter().any(writes),
        ..session_options
    };
    drives[0].authorise(&session_options)?;
    super::check_destroy_serials(&super::serials_of(&drives), &session_options.destroy)?;
    let watch = super::Watch::new(&arguments.live)?;
    let kept = arguments.out.is_some();
    let destination = arguments.out.map(Destination::At);
    let info = drives[0].info().clone();
    let summary = super::run_plan(&plan, &mut drives, destination, watch, output, |run, _| {
        let text = || {
            let mut text = assay_report::terminal::render(run, output.columns(), output.style());
            if kept {
                text.push_str(&format!("\nRun folder: {}\n", run.path.display()));
            }
            text
        };
        output.show(text, || json::job(run, &run.cells, &info))?;
        Ok(())
    })?;
    Ok(super::outcome_of(&summary))
}

/// An invalid option is an error of usage.
fn plan(jobs: &[NamedJob], drive: &DriveSession) -> anyhow::Result<RunPlan> {
    let planned = match jobs {
        [job] => single_job(&job.options, drive),
        several => {
            let jobs = several.iter();
            let jobs = jobs.map(|job| (job.name.clone(), job.options.clone()));
            jobs_at_once(&jobs.collect::<Vec<_>>(), drive)
        }
    };
    planned.map_err(|error| match error {
        SuiteError::Cell { source, .. } if jobs.len() == 1 => UsageError(source.to_string()).into(),
        SuiteError::Cell { cell, source } => UsageError(format!("job {cell}: {source}")).into(),
        other => anyhow::Error::new(other),
    })
}

#[cfg(test)]
#[path = "../../tests/unit/commands/job.rs"]
mod tests;
