//! `assay run SUITE DRIVE...` and `assay run --resume RUN`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_device::session::{DriveSession, SessionOptions};
use assay_integrity::blocks::VerifyBlocks;
use assay_store::model::{DriveRecord, Manifest};
use assay_store::{Destination, Run, RunWriter};
use assay_suite::SuiteError;
use assay_suite::catalogue;
use assay_suite::execute::{Resume, RunSummary};
use assay_suite::expand::{RunPlan, RunSettings, expand};
use assay_suite::manifest::{drive, manifest};
use assay_suite::schema::Suite;

use crate::args::RunArguments;
use crate::exit::{CommandOutcome, UsageError};
use crate::json;
use crate::terminal::Output;

/// Default parent of run folders.
const DEFAULT_FOLDER: &str = "assay-runs";

/// Suite, drives and settings: from the command line, or from the resumed run.
struct Request {
    suite: Suite,
    drives: Vec<String>,
    settings: RunSettings,
    destroy: Vec<String>,
}

/// Run or resume a suite.
pub fn run(arguments: RunArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let resumed = arguments.resume.clone();
    let out = arguments.out.clone();
    let meter = arguments.power_meter.clone();
    let request = match &resumed {
        Some(path) => resumed_request(path, arguments.destroy)?,
        None => new_request(arguments)?,
    };
    let options = SessionOptions {
        destroy: request.destroy.clone(),
        will_write: false,
        keep_data: request
            .suite
            .steps
            .iter()
            .any(|s| s.job.contains_key("verify")),
        power_meter: super::power_meter(meter.as_deref(), request.drives.len())?,
        generator: Some(Arc::new(VerifyBlocks)),
    };
    let mut drives = super::open_drives(&request.drives, &options)?;
    let plan = expand(&request.suite, &request.settings, &drives)?;
    let stop = super::stop_flag()?;
    let (writer, resume) = match &resumed {
        Some(path) => {
            let (writer, run) = RunWriter::resume(path)?;
            same_drives(&run, &drives)?;
            let resume = Resume::from_run(&run, &plan)?;
            (writer, resume)
        }
        None => {
            let manifest = manifest(&plan, &drives, super::tool(), super::command_line());
            (
                RunWriter::create(&destination(out), &manifest)?,
                Resume::default(),
            )
        }
    };
    let folder = writer.path().to_owned();
    let resume = &resume;
    let summary = super::execute(&plan, &mut drives, writer, resume, &stop, output)?;
    show(&folder, &plan, &summary, output)?;
    Ok(super::outcome_of(&summary))
}

fn destination(out: Option<PathBuf>) -> Destination {
    out.map_or_else(
        || Destination::Under(DEFAULT_FOLDER.into()),
        Destination::At,
    )
}

fn new_request(arguments: RunArguments) -> anyhow::Result<Request> {
    let suite = catalogue::load(&arguments.suite.unwrap_or_default())?;
    let set = arguments
        .set
        .iter()
        .map(|text| {
            text.split_once('=')
                .map(|(key, value)| (key.trim().to_owned(), value.trim().to_owned()))
                .ok_or_else(|| UsageError(format!("--set {text}: write KEY=VALUE")))
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Request {
        suite,
        drives: arguments.drives,
        settings: RunSettings {
            set,
            scale: arguments.scale,
            seed: arguments.seed,
        },
        destroy: arguments.destroy,
    })
}

/// Suite text, parameters, drives and seed of the interrupted run; only `--destroy` is given again.
fn resumed_request(path: &Path, destroy: Vec<String>) -> anyhow::Result<Request> {
    let manifest = Manifest::load(path)?;
    if manifest.suite.text.is_empty() {
        return Err(UsageError(format!(
            "{} is the run of a single job, which cannot be resumed; run the job again",
            path.display()
        ))
        .into());
    }
    Ok(Request {
        suite: Suite::parse(&manifest.suite.name, &manifest.suite.text)?,
        drives: manifest.drives.iter().map(resumed_spec).collect(),
        settings: RunSettings {
            set: manifest.parameters.into_iter().collect(),
            scale: manifest.scale,
            seed: manifest.seed,
        },
        destroy,
    })
}

/// The absolute path of a real drive: its name may be relative to the directory of the first attempt.
fn resumed_spec(drive: &DriveRecord) -> String {
    let path = drive
        .details
        .get("path")
        .filter(|_| ["file", "block"].contains(&drive.kind.as_str()));
    path.cloned().unwrap_or_else(|| drive.spec.clone())
}

/// Error unless the drives are those of the interrupted run.
fn same_drives(run: &Run, drives: &[DriveSession]) -> Result<(), SuiteError> {
    for (before, session) in run.manifest.drives.iter().zip(drives) {
        let now = drive(session.info(), &before.label);
        let identity = |d: &DriveRecord| {
            (
                d.model.clone(),
                d.serial.clone(),
                d.capacity_bytes,
                d.logical_block_bytes,
            )
        };
        if identity(before) != identity(&now) {
            let text = |d: &DriveRecord| {
                format!(
                    "{} serial {}, {} bytes",
                    d.model, d.serial, d.capacity_bytes
                )
                .trim()
                .to_owned()
            };
            return Err(SuiteError::NotTheSame {
                run: run.path.display().to_string(),
                why: format!(
                    "{} is now another drive: {} then, {} now",
                    before.spec,
                    text(before),
                    text(&now)
                ),
            });
        }
    }
    Ok(())
}

fn show(folder: &Path, plan: &RunPlan, summary: &RunSummary, output: Output) -> anyhow::Result<()> {
    use assay_store::model::RunEnd;
    let run = Run::open(folder)?;
    let shown = folder.display();
    let text = || {
        let mut text = assay_report::terminal::render(&run, output.columns(), output.style());
        if !text.ends_with('\n') {
            text.push('\n');
        }
        if summary.outcome == RunEnd::Interrupted {
            text.push_str(&interruption(&run, summary, &shown.to_string()));
        }
        text.push_str(&format!(
            "\nRun folder: {shown}\nReport:     assay report {shown} -o {}.html\n",
            plan.suite.name
        ));
        text
    };
    output.show(text, || json::suite(&run))?;
    Ok(())
}

/// Reason of an interruption, and the command to resume.
fn interruption(run: &Run, summary: &RunSummary, folder: &str) -> String {
    let gone: Vec<&str> = summary
        .lost_drives
        .iter()
        .filter_map(|&drive| Some(run.manifest.drives.get(drive)?.spec.as_str()))
        .collect();
    let resume = format!("assay run --resume {folder}");
    if gone.is_empty() {
        return format!("\nInterrupted: measured intervals are kept. Continue with: {resume}\n");
    }
    format!(
        "\nInterrupted: drive lost: {}. Measured intervals are kept. When it is back, continue with: {resume}\n",
        gone.join(", ")
    )
}
