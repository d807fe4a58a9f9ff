//! `assay run SUITE DRIVE...` and `assay run --resume RUN`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_device::session::{DriveSession, SessionOptions};
use assay_execute::ExecuteError;
use assay_execute::live::NotBegun;
use assay_execute::manifest::drive;
use assay_execute::run::{Resume, RunSummary};
use assay_fio_job::CommandLine;
use assay_integrity::blocks::VerifyBlocks;
use assay_report::resume::resume_command;
use assay_store::model::{DriveRecord, Manifest, RunEnd};
use assay_store::replace::check_output;
use assay_store::{Destination, Run, RunWriter};
use assay_suite::catalogue;
use assay_suite::expand::{ENGINE, RunPlan, RunSettings, expand, expand_labelled};
use assay_suite::schema::Suite;
use assay_workload::plan::DEFAULT_SEED;

use crate::args::RunArguments;
use crate::commands::Executed;
use crate::commands::fio::FioRequest;
use crate::commands::ocp::OcpOutput;
use crate::commands::report::PAGE_HEAD;
use crate::exit::{CommandOutcome, bail_usage};
use crate::json;
use crate::terminal::Output;

const DEFAULT_FOLDER: &str = "assay-runs";

struct Request {
    suite: Suite,
    drives: Vec<String>,
    settings: RunSettings,
    /// Set where the run was begun before.
    labels: Option<Vec<String>>,
    /// Refused without permission to write, where a suite leaves out what it may not do.
    will_write: bool,
}

pub fn run(arguments: RunArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    if let Some(page) = &arguments.report {
        check_output(page, PAGE_HEAD)?;
    }
    if let Some(file) = &arguments.ocp {
        OcpOutput::check(file)?;
    }
    if let Some(file) = arguments.job_file() {
        return job_file(file, arguments.clone(), output);
    }
    let request = match &arguments.resume {
        Some(path) => resumed_request(path, &arguments.drive)?,
        None => {
            let suite = catalogue::load(arguments.suite.as_deref().unwrap_or_default())?;
            new_request(suite, &arguments)?
        }
    };
    execute(request, arguments, output)
}

/// A new run of a suite that is no file and writes.
pub fn run_suite(
    suite: Suite,
    arguments: RunArguments,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let request = Request { will_write: true, ..new_request(suite, &arguments)? };
    execute(request, arguments, output)
}

fn execute(
    request: Request,
    arguments: RunArguments,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let Request { suite, drives: names, settings, labels, will_write } = request;
    let options = SessionOptions {
        destroy: arguments.destroy,
        will_write,
        keep_data: suite.steps.iter().any(|s| s.job.contains_key("verify")),
        power_meter: super::power_meter(arguments.power_meter.as_deref(), names.len())?,
        generator: Some(Arc::new(VerifyBlocks)),
        ..SessionOptions::default()
    };
    let mut drives = super::open_drives(&names, &options)?;
    let plan = match labels {
        Some(labels) => expand_labelled(&suite, &settings, &drives, labels)?,
        None => expand(&suite, &settings, &drives)?,
    };
    if will_write && let Some(note) = super::prepare::endurance_to_be_spent(&plan, &drives) {
        output.note(&note);
    }
    let mut watch = super::Watch::new(&arguments.live)?;
    watch.until = arguments.until.clone();
    watch.ocp = arguments.ocp.clone();
    let folder = |drives: &[DriveSession]| {
        run_folder(&plan, drives, arguments.resume.as_deref(), arguments.out)
    };
    let executed = super::execute(&plan, &mut drives, folder, watch, output)?;
    let Executed { run, summary, ocp } = executed;
    // The result is shown first, whatever becomes of the page.
    let page = arguments.report.as_deref();
    let written = super::report::write_page_of(&run, page);
    let page = page.filter(|_| written.is_ok());
    let text = || {
        let mut text = assay_report::terminal::render(&run, output.columns(), output.style());
        if will_write {
            text.push_str(&super::prepare::endurance_spent(&run));
        }
        if summary.outcome == RunEnd::Interrupted {
            let until = arguments.until.as_ref().map(|until| until.text.as_str());
            text.push_str(&interruption(&run, &summary, until));
        }
        text.push_str(&super::report::lines(&run, page, &plan.suite.name));
        text
    };
    output.show(text, || json::suite(&run))?;
    written?;
    ocp?;
    let failed = arguments.gate && super::measured_nothing(&run);
    Ok(super::outcome_of(&summary).unless(failed))
}

/// The run folder to be continued, or a new one.
fn run_folder(
    plan: &RunPlan,
    drives: &[DriveSession],
    resumed: Option<&Path>,
    out: Option<PathBuf>,
) -> anyhow::Result<(RunWriter, Resume)> {
    if let Some(path) = resumed {
        let (writer, run) = super::retry_while_in_use(|| Ok(RunWriter::resume(path)?))?;
        same_drives(&run, drives)?;
        return Ok((writer, Resume::from_run(&run, plan)?));
    }
    let default = || Destination::Under(DEFAULT_FOLDER.into());
    super::new_folder(plan, drives, &out.map_or_else(default, Destination::At))
}

fn job_file(
    file: &Path,
    arguments: RunArguments,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let mut drives = arguments.drives.into_iter();
    let drive = drives.next();
    if drives.next().is_some() {
        bail_usage!(
            "{}: a job file takes one drive in place of those that it names, or none",
            file.display()
        );
    }
    let is_set = !arguments.set.is_empty() || arguments.engine.is_some();
    if is_set || arguments.scale != 1.0 || arguments.seed != DEFAULT_SEED {
        bail_usage!(
            "{}: a job file has no parameters: --set, --engine, --scale and --seed are of suites; \
             write runtime=, ioengine= and randseed= into it",
            file.display()
        );
    }
    if arguments.gate {
        bail_usage!(
            "{}: --gate is of suites; a job file whose I/O fails ends with status 1 without it",
            file.display()
        );
    }
    let default = || Destination::Under(DEFAULT_FOLDER.into());
    if arguments.until.is_some() {
        bail_usage!(
            "{}: --until interrupts a run that can be resumed, and the run of a job file cannot; \
             leave it out",
            file.display()
        );
    }
    if let Some(ocp) = &arguments.ocp {
        bail_usage!(
            "{}: --ocp {} is of suites; leave it out, and export the run folder afterwards: assay \
             export RUN --format ocp",
            file.display(),
            ocp.display()
        );
    }
    let request = FioRequest {
        line: CommandLine::of_file(file),
        drive,
        destroy: arguments.destroy,
        power_meter: arguments.power_meter,
        destination: Some(arguments.out.map_or_else(default, Destination::At)),
        report: arguments.report,
        dry_run: false,
        live: arguments.live,
        as_fio: false,
    };
    super::fio::run(request, output)
}

fn new_request(suite: Suite, arguments: &RunArguments) -> anyhow::Result<Request> {
    if arguments.drives.is_empty() {
        bail_usage!("no drive given: assay run SUITE DRIVE (`assay list` shows the drives)");
    }
    let mut set = Vec::new();
    for text in &arguments.set {
        let Some((key, value)) = text.split_once('=') else {
            bail_usage!("--set {text}: write KEY=VALUE");
        };
        set.push((key.trim().to_owned(), value.trim().to_owned()));
    }
    let engine = arguments.engine.clone();
    set.extend(engine.map(|engine| (ENGINE.to_owned(), engine)));
    let settings = RunSettings { set, scale: arguments.scale, seed: arguments.seed };
    Ok(Request {
        suite,
        drives: arguments.drives.clone(),
        settings,
        labels: None,
        will_write: false,
    })
}

/// Only `--destroy` is given again. `moved`: where the drives are now, if not where they were.
fn resumed_request(path: &Path, moved: &[String]) -> anyhow::Result<Request> {
    let manifest = Manifest::load(path)?;
    if manifest.suite.text.is_empty() {
        let path = path.display();
        bail_usage!(
            "{path} is the run of a single job, which cannot be resumed; run the job again"
        );
    }
    let suite = Suite::parse(&manifest.suite.name, &manifest.suite.text)?;
    let before: Vec<String> = manifest.drives.iter().map(resumed_spec).collect();
    let drives = match moved.len() {
        0 => before,
        now if now == before.len() => moved.to_vec(),
        now => bail_usage!(
            "{} is a run of {} drives, and --drive names {now}; name all, in the order of the run",
            path.display(),
            before.len()
        ),
    };
    let labels = manifest.drives.iter().map(|drive| drive.label.clone());
    let labels = Some(labels.collect());
    let settings = RunSettings {
        set: manifest.parameters.into_iter().collect(),
        scale: manifest.scale,
        seed: manifest.seed,
    };
    Ok(Request { suite, drives, settings, labels, will_write: false })
}

/// The name may be relative to the directory of the first attempt.
fn resumed_spec(drive: &DriveRecord) -> String {
    let path = drive.details.get("path");
    let path = path.filter(|_| ["file", "block"].contains(&drive.kind.as_str()));
    path.unwrap_or(&drive.spec).clone()
}

/// The drives must be those of the interrupted run.
fn same_drives(run: &Run, drives: &[DriveSession]) -> Result<(), ExecuteError> {
    for (before, session) in run.manifest.drives.iter().zip(drives) {
        let now = drive(session.info(), &before.label);
        let text = |d: &DriveRecord| {
            let text = format!("{} serial {}, {} bytes", d.model, d.serial, d.capacity_bytes);
            text.trim().to_owned()
        };
        let [was, is] = [before, &now].map(|d| {
            let blocks = d.logical_block_bytes;
            (&d.model, &d.serial, d.capacity_bytes, blocks)
        });
        if was != is {
            let (spec, was, is) = (&before.spec, text(before), text(&now));
            return Err(ExecuteError::NotTheSame {
                run: run.path.display().to_string(),
                why: format!("{spec} is now another drive: {was} then, {is} now"),
            });
        }
    }
    Ok(())
}

/// The text has the command to resume.
fn interruption(run: &Run, summary: &RunSummary, until: Option<&str>) -> String {
    let lost = summary.lost_drives.iter();
    let lost = lost.filter_map(|&drive| Some(run.manifest.drives.get(drive)?.spec.as_str()));
    let lost: Vec<&str> = lost.collect();
    let resume = resume_command(&run.path, &run.manifest.command_line);
    if lost.is_empty() {
        let why = match (&summary.not_begun, until) {
            (Some((cell, NotBegun::Asked)), _) => {
                format!("as SIGUSR1 asks, the cell {cell} was not begun; ")
            }
            (Some((cell, NotBegun::TooLong)), Some(until)) => {
                format!("the cell {cell} could end after {until} and was not begun; ")
            }
            _ => String::new(),
        };
        return format!(
            "\nInterrupted: {why}measured intervals are kept. Continue with: {resume}\n"
        );
    }
    format!(
        "\nInterrupted: drive lost: {}. Measured intervals are kept. When it is back, continue \
         with: {resume}\n",
        lost.join(", ")
    )
}
