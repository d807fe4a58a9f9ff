//! `assay job DRIVE ...`: one workload, in fio's words.

use std::sync::Arc;

use anyhow::Context;
use assay_device::session::{DriveSession, SessionOptions};
use assay_integrity::blocks::VerifyBlocks;
use assay_store::{Destination, Run, RunWriter};
use assay_suite::drive_state_cache::DriveStateCache;
use assay_suite::execute::{Resume, Runner};
use assay_suite::expand::single_job;
use assay_suite::manifest::manifest;
use assay_workload::plan::Workload;

use crate::args::JobArguments;
use crate::exit::{CommandOutcome, UsageError};
use crate::json;
use crate::progress::RunProgress;
use crate::terminal::Output;

/// Run one workload. Without `--out` its run folder is temporary: figures are computed from it and it is removed.
pub fn run(arguments: JobArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let options = arguments.options();
    let session_options = SessionOptions {
        destroy: arguments.destroy,
        will_write: options
            .rw
            .as_deref()
            .is_some_and(|rw| rw.contains("write") || rw.contains("rw")),
        keep_data: options.verify.unwrap_or(false),
        power_meter: super::power_meter(arguments.power_meter.as_deref(), 1)?,
        generator: Some(Arc::new(VerifyBlocks)),
    };
    let names = [arguments.drive];
    let mut drives = open_checked(&names, &session_options, &options)?;
    let plan = single_job(&options, &drives[0])?;
    let stop = super::stop_flag()?;
    // Dropped, and with it the folder, when the command ends.
    let temporary = tempfile::Builder::new().prefix("assay-job-").tempdir().context(
        "cannot make a temporary folder for the job's records: set TMPDIR to one that can be written, or keep a run folder with --out",
    )?;
    let kept = arguments.out.is_some();
    let destination = arguments.out.map_or_else(
        || Destination::Under(temporary.path().to_owned()),
        Destination::At,
    );
    let manifest = manifest(&plan, &drives, super::tool(), super::command_line());
    let writer = RunWriter::create(&destination, &manifest)?;
    let folder = writer.path().to_owned();
    let audit = assay_workload::audit::audit()?;
    let mut watch = RunProgress::new(output, &plan, &folder);
    let ending = Runner {
        plan: &plan,
        drives: &mut drives,
        writer,
        audit,
        stop: &stop,
        progress: &mut watch,
        drive_states: DriveStateCache::for_user(),
    }
    .run(&Resume::default());
    watch.finish();
    let ending = ending?;
    let run = Run::open(&folder)?;
    output.show(
        || {
            let mut text = assay_report::terminal::render(&run, output.columns(), output.style());
            if !text.ends_with('\n') {
                text.push('\n');
            }
            if kept {
                text.push_str(&format!("\nRun folder: {}\n", folder.display()));
            }
            text
        },
        || json::job(&run, drives[0].info()),
    )?;
    Ok(super::outcome_of(&ending))
}

/// Check the workload before the interlock is asked, so that a typing error is not answered with a safety refusal.
fn open_checked(
    names: &[String],
    session_options: &SessionOptions,
    options: &assay_workload::options::JobOptions,
) -> anyhow::Result<Vec<DriveSession>> {
    let read_only = SessionOptions {
        will_write: false,
        destroy: Vec::new(),
        ..session_options.clone()
    };
    let looked_at = super::open_drives(names, &read_only)?;
    let facts = looked_at[0].target_properties();
    Workload::plan(options, &facts).map_err(|error| UsageError(error.to_string()))?;
    drop(looked_at);
    super::open_drives(names, session_options)
}
