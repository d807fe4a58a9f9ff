//! `assay job DRIVE ...`: one workload, with fio's option names.

use std::sync::Arc;

use anyhow::Context;
use assay_device::session::SessionOptions;
use assay_integrity::blocks::VerifyBlocks;
use assay_store::{Destination, RunWriter};
use assay_suite::SuiteError;
use assay_suite::execute::Resume;
use assay_suite::expand::single_job;
use assay_suite::manifest::manifest;

use crate::args::JobArguments;
use crate::exit::{CommandOutcome, UsageError};
use crate::json;
use crate::terminal::Output;

/// Run one workload. Without `--out` the run folder is temporary.
pub fn run(arguments: JobArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let mut options = arguments.workload.0;
    if let Some(engine) = arguments.fio.ioengine {
        options.engine = Some(engine.to_owned());
    }
    // One of them is there: the parser requires it.
    let drive = arguments
        .drive
        .or(arguments.fio.filename)
        .unwrap_or_default();
    let writes = |rw: &str| rw.contains("write") || rw.contains("rw");
    let session_options = SessionOptions {
        destroy: arguments.destroy,
        will_write: options.rw.as_deref().is_some_and(writes),
        keep_data: options.verify.unwrap_or(false),
        power_meter: super::power_meter(arguments.power_meter.as_deref(), 1)?,
        generator: Some(Arc::new(VerifyBlocks)),
    };
    // Opened read-only first: an invalid option is reported before a safety refusal.
    let read_only = SessionOptions {
        will_write: false,
        destroy: Vec::new(),
        ..session_options.clone()
    };
    let mut drives = super::open_drives(&[drive], &read_only)?;
    let plan = single_job(&options, &drives[0]).map_err(|error| match error {
        SuiteError::Cell { source, .. } => UsageError(source.to_string()).into(),
        other => anyhow::Error::new(other),
    })?;
    drives[0].authorise(&session_options)?;
    super::check_destroy_serials(&super::serials_of(&drives), &session_options.destroy)?;
    let stop = super::stop_flag()?;
    // Removed when the command ends.
    let temporary = tempfile::Builder::new().prefix("assay-job-").tempdir().context(
        "cannot create a temporary folder for the run: set TMPDIR to a writable directory, or keep a run folder with --out",
    )?;
    let kept = arguments.out.is_some();
    let default = || Destination::Under(temporary.path().to_owned());
    let destination = arguments.out.map_or_else(default, Destination::At);
    let manifest = manifest(&plan, &drives, super::tool(), super::command_line());
    let writer = RunWriter::create(&destination, &manifest)?;
    let resume = Resume::default();
    let (run, summary) = super::execute(&plan, &mut drives, writer, &resume, &stop, output)?;
    let text = || {
        let mut text = assay_report::terminal::render(&run, output.columns(), output.style());
        if kept {
            text.push_str(&format!("\nRun folder: {}\n", run.path.display()));
        }
        text
    };
    output.show(text, || json::job(&run, drives[0].info()))?;
    Ok(super::outcome_of(&summary))
}

#[cfg(test)]
#[path = "../../tests/unit/commands/job.rs"]
mod tests;
