use std::sync::Arc;

use assay_device::identity::DriveInfo;
use assay_device::session::{DriveSession, SessionOptions};
use assay_integrity::blocks::VerifyBlocks;
use assay_report::duration;
use assay_ssd::HostChoice;
use assay_store::Destination;
use assay_suite::SuiteError;
use assay_suite::expand::{Cell, RunPlan, jobs_at_once, single_job};

use assay_units::text::format_size;
use assay_units::{Nanos, rate};
use assay_workload::plan::Workload;

use crate::args::{JobArguments, NamedJob};
use crate::exit::{CommandOutcome, UsageError};
use crate::json;
use crate::terminal::Output;

fn jobs(arguments: &JobArguments) -> Vec<NamedJob> {
    match arguments.jobs.is_empty() {
        true => vec![NamedJob { name: String::new(), options: arguments.workload.0.clone() }],
        false => arguments.jobs.clone(),
    }
}

pub fn run(arguments: JobArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let jobs = jobs(&arguments);
    let JobArguments { drive, execution, .. } = arguments;
    let session_options = SessionOptions {
        destroy: execution.destroy,
        will_write: jobs.iter().any(|job| job.options.writes()),
        keep_data: jobs.iter().any(|job| job.options.verify == Some(true)),
        power_meter: super::power_meter(execution.power_meter.as_deref(), 1)?,
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
    let mut drives = super::open_drives(&[drive], &read_only)?;
    let plan = plan(&jobs, &drives[0])?;
    let writes = |cell: &Cell| cell.writes();
    let session_options = SessionOptions {
        // The operations of a trace are known when it has been read.
        will_write: plan.cells.iter().any(writes),
        ..session_options
    };
    drives[0].authorise(&session_options)?;
    super::check_destroy_serials(&super::serials_of(&drives), &session_options.destroy)?;
    let watch = super::Watch::new(&execution.live)?;
    let kept = execution.out.is_some();
    let destination = execution.out.map(Destination::At);
    let info = drives[0].info().clone();
    if let Some(note) = plan.cells.first().and_then(|cell| end_note(cell, &info)) {
        output.note(&note);
    }
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

/// Shorter jobs without a runtime need no note.
const LEAST_NOTED: Nanos = Nanos::from_secs(1);

/// What ends a job without a runtime, and after what time where that can be known.
fn end_note(cell: &Cell, drive: &DriveInfo) -> Option<String> {
    if cell.planned_span().is_some() || cell.expected_span() < LEAST_NOTED {
        return None;
    }
    let bytes = cell.workloads.iter().filter_map(Workload::planned_bytes);
    let bytes = bytes.fold(0, u64::saturating_add);
    let workload = &cell.plan.workload;
    let offered = workload.rate_iops.max(workload.rate_limit_iops.unwrap_or(0.0));
    let offered = offered * workload.single_bs_bytes().unwrap_or(0) as f64;
    let time = |bytes_per_s| duration(rate::transfer_time(bytes, bytes_per_s).0);
    let expected = match (cell.workloads.as_slice(), drive.link_bytes_per_second) {
        ([_], _) if offered > 0.0 => format!("about {}, by its rate", time(offered as u64)),
        (_, Some(link)) => format!("at least {}, for its link carries no more", time(link)),
        _ => "a time that depends on the drive".to_owned(),
    };
    let whose = if drive.simulated { "simulated time" } else { "time" };
    Some(format!(
        "without --runtime the job ends after {} ({expected}); the {whose} left is shown with the \
         progress",
        format_size(bytes)
    ))
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
