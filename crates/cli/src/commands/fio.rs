//! `assay fio ARGS...`, lines of `assay job` with options of fio, and `assay run FILE.fio [DRIVE]`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use assay_device::host::{HostInfo, page_bytes};
use assay_device::identity::{DriveInfo, DriveKind};
use assay_device::open::make_file;
use assay_device::session::{DriveSession, SessionOptions};
use assay_fio_job::job::Target;
use assay_fio_job::substitute::Substitution;
use assay_fio_job::{CommandLine, Conversion, FioJob, JobFile, convert, pattern};
use assay_integrity::blocks::VerifyBlocks;
use assay_ssd::HostChoice;
use assay_store::replace::check_output;
use assay_store::{Destination, Run};
use assay_suite::SuiteError;
use assay_suite::expand::{PlannedJob, job_file};
use assay_trace::{TraceError, TraceSource, TraceSurvey};
use assay_units::text::format_size;
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;

use crate::args::FioArguments;
use crate::exit::{CommandOutcome, UsageError, bail_usage};
use crate::live::LiveArguments;
use crate::terminal::Output;

mod results;

use results::{beyond_limits, log_files, show};

/// The jobs, and what is beside them.
pub struct FioRequest {
    pub line: CommandLine,
    pub drive: Option<String>,
    pub destroy: Vec<String>,
    pub power_meter: Option<String>,
    /// `None`: the run folder is temporary.
    pub destination: Option<Destination>,
    /// A page to write of the run.
    pub report: Option<PathBuf>,
    /// Print the jobs, run nothing; with a drive, check them against it.
    pub dry_run: bool,
    pub live: LiveArguments,
    /// Print fio's lines, too.
    pub as_fio: bool,
}

/// A drive of the run, and what its jobs need of it.
struct Needed {
    name: String,
    writes: bool,
    /// Files that are made here, and filled before its first job.
    created: Vec<String>,
}

impl Needed {
    fn files(&self, jobs: &[FioJob]) -> Vec<String> {
        let own = jobs.iter().find(|job| job.target.name() == self.name);
        match own.map(|job| job.target.files()) {
            Some(files) if !files.is_empty() => files,
            _ => vec![self.name.clone()],
        }
    }
}

/// Removed again when the run is refused.
struct MadeFiles(Vec<PathBuf>);

impl MadeFiles {
    fn make(needed: &mut [Needed], jobs: &[FioJob]) -> anyhow::Result<MadeFiles> {
        let mut made = MadeFiles(Vec::new());
        for drive in needed {
            let mut before = Vec::new();
            for file in drive.files(jobs) {
                let length = std::fs::metadata(&file).map_or(0, |file| file.len());
                let is_new = create(drive, &file, jobs, &before)?;
                before.push(length);
                if is_new {
                    made.0.push(PathBuf::from(&file));
                    drive.created.push(file);
                }
            }
        }
        Ok(made)
    }
}

impl Drop for MadeFiles {
    fn drop(&mut self) {
        for path in &self.0 {
            // The error of the refusal is the one to report.
            let _ = std::fs::remove_file(path);
        }
    }
}

pub fn run_line(arguments: FioArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let execution = arguments.execution;
    let request = FioRequest {
        line: arguments.line,
        drive: arguments.drive,
        destroy: execution.destroy,
        power_meter: execution.power_meter,
        destination: execution.out.map(Destination::At),
        report: None,
        dry_run: arguments.dry_run,
        live: execution.live,
        as_fio: true,
    };
    run(request, output)
}

pub fn run(request: FioRequest, output: Output) -> anyhow::Result<CommandOutcome> {
    let line = &request.line;
    let Conversion { mut jobs, notes } = read(line, request.drive.as_deref())?;
    for note in notes {
        output.note(&note);
    }
    check_line(line, &jobs)?;
    if request.dry_run && request.drive.is_none() {
        return output.show(|| dry_run(&jobs), || dry_run_json(&jobs));
    }
    resolve_logs(&mut jobs)?;
    let mut needed = needed(&jobs);
    let mut destroy = request.destroy.clone();
    let mut made = MadeFiles::make(&mut needed, &jobs)?;
    // They hold nothing that could be lost.
    let created = needed.iter().flat_map(|drive| &drive.created);
    destroy.extend(created.filter_map(|name| file_name(name)));
    let names: Vec<String> = needed.iter().map(|drive| drive.name.clone()).collect();
    let options = looking(&request, &jobs, names.len())?;
    // Read-only first: an invalid option is reported before a safety refusal.
    let mut drives = super::open_drives(&names, &options)?;
    let planned = planned_jobs(&mut jobs, &needed, &drives, output)?;
    let stem = match line.files.first().map(|file| Path::new(file).file_stem()) {
        Some(stem) => stem.unwrap_or_default().to_string_lossy().into_owned(),
        None => jobs[0].name.clone(),
    };
    let plan = job_file(&stem, &planned, &drives).map_err(|error| match error {
        SuiteError::Cell { cell, source } => UsageError(format!("{cell}: {source}")).into(),
        other => anyhow::Error::new(other),
    })?;
    if request.dry_run {
        return output.show(|| dry_run(&jobs), || dry_run_json(&jobs));
    }
    authorise(&mut drives, &needed, &options, &destroy)?;
    super::check_destroy_serials(&super::serials_of(&drives), &request.destroy)?;
    for (path, ..) in log_files(&jobs) {
        check_output(&path, "")?;
    }
    let watch = super::Watch::new(&request.live)?;
    // From here on the files hold what was measured.
    made.0.retain(|path| is_unlinked(path, &needed, &jobs));
    let kept = request.destination.is_some();
    let info: Vec<DriveInfo> = drives.iter().map(|drive| drive.info().clone()).collect();
    let mut is_beyond = false;
    let first_cell = planned.len() - jobs.len();
    let mut finish = |run: &Run| {
        let cells = &run.cells[first_cell..];
        let parts = cells.iter().zip(&jobs);
        let beyond = parts.filter_map(|(cell, job)| beyond_limits(cell, job));
        let beyond: Vec<String> = beyond.collect();
        is_beyond = !beyond.is_empty();
        let page = request.report.as_deref();
        let name = kept.then_some(stem.as_str());
        let shown = (line, info.as_slice(), output);
        let as_fio = request.as_fio;
        show(run, (cells, &jobs), &beyond, (page, name), as_fio, shown)
    };
    let destination = request.destination;
    let summary =
        super::run_plan(&plan, &mut drives, destination, watch, output, |run, _| finish(run))?;
    Ok(match (super::outcome_of(&summary), is_beyond) {
        (CommandOutcome::Done, true) => CommandOutcome::DriveFailed,
        (outcome, _) => outcome,
    })
}

/// All jobs of a file that was made here want it removed.
fn is_unlinked(path: &Path, needed: &[Needed], jobs: &[FioJob]) -> bool {
    let drive = needed.iter().find(|drive| {
        let mut created = drive.created.iter();
        created.any(|file| Path::new(file) == path)
    });
    drive.is_some_and(|drive| {
        let mut own = jobs.iter().filter(|job| job.target.name() == drive.name);
        own.all(|job| job.unlinks)
    })
}

/// What is wrong by the line alone.
fn check_line(line: &CommandLine, jobs: &[FioJob]) -> anyhow::Result<()> {
    let writer = jobs.iter().find(|job| job.options.writes());
    if let Some(job) = writer.filter(|_| line.read_only) {
        bail_usage!("[{}] writes, and --readonly is given", job.name);
    }
    if let Some(path) = &line.output {
        check_output(path, "")?;
    }
    Ok(())
}

/// How the drives are opened before their jobs are known to fit.
fn looking(request: &FioRequest, jobs: &[FioJob], drives: usize) -> anyhow::Result<SessionOptions> {
    Ok(SessionOptions {
        destroy: Vec::new(),
        will_write: false,
        keep_data: jobs.iter().any(|job| job.options.verify == Some(true)),
        power_meter: super::power_meter(request.power_meter.as_deref(), drives)?,
        generator: Some(Arc::new(VerifyBlocks)),
        host: HostChoice::Year2025,
        only_looks: true,
    })
}

fn authorise(
    drives: &mut [DriveSession],
    needed: &[Needed],
    options: &SessionOptions,
    destroy: &[String],
) -> anyhow::Result<()> {
    for (drive, needed) in drives.iter_mut().zip(needed) {
        let permitted = SessionOptions {
            destroy: destroy.to_vec(),
            will_write: needed.writes || !needed.created.is_empty(),
            only_looks: false,
            ..options.clone()
        };
        drive.authorise(&permitted)?;
    }
    Ok(())
}

fn planned_jobs(
    jobs: &mut [FioJob],
    needed: &[Needed],
    drives: &[DriveSession],
    output: Output,
) -> anyhow::Result<Vec<PlannedJob>> {
    let mut planned = fills(needed, drives);
    for job in jobs {
        let drive = drive_of(needed, job);
        if let Some(limited) = job.limit_to(drives[drive].info().capacity_bytes) {
            output.note(&limited);
        }
        check_scheduler(job, drives[drive].info())?;
        // The plan checks the job again; here its place in the file is known.
        Workload::plan_on(&job.options, &drives[drive]).map_err(|error| {
            UsageError(job.error(&error.options(), &error.to_string()).to_string())
        })?;
        planned.push(PlannedJob {
            name: job.name.clone(),
            drive,
            options: job.options.clone(),
            stage: job.stage + 1,
            drop_cache: job.drop_cache
                && !drives[drive].info().simulated
                && drives[drive].info().path.is_some(),
            prepares: false,
        });
    }
    Ok(planned)
}

/// fio sets that of a block device; of others it knows none.
fn check_scheduler(job: &FioJob, info: &DriveInfo) -> anyhow::Result<()> {
    match (&job.scheduler, &info.scheduler) {
        (Some(asked), Some(found)) if asked != found && info.kind == DriveKind::Block => {
            bail_usage!(
                "{}: [{}]: ioscheduler={asked}: {} has {found}; before the run: echo {asked} > \
                 /sys/block/{}/queue/scheduler",
                job.place,
                job.name,
                info.spec,
                info.partition_of.as_deref().unwrap_or(&info.name)
            )
        }
        _ => Ok(()),
    }
}

fn read(line: &CommandLine, drive: Option<&str>) -> anyhow::Result<Conversion> {
    let host = HostInfo::read();
    let with = Substitution {
        variable: &|name| std::env::var(name).ok(),
        page_bytes: page_bytes(),
        memory_mib: host.memory_bytes.unwrap_or(0) >> 20,
        cpus: u64::from(host.logical_cpus),
    };
    let mut read = |path: &Path| assay_output::read_text(path).map(String::into_bytes);
    let mut file =
        JobFile::of_line(line, &with, &mut read).map_err(|error| UsageError(error.to_string()))?;
    let mut read = |path: &Path| assay_output::read_named(path);
    pattern::read_files(&mut file, &mut read).map_err(|error| UsageError(error.to_string()))?;
    Ok(convert(&file, drive).map_err(|error| UsageError(error.to_string()))?)
}

/// Of a log of fio, or another trace: all of its requests.
fn survey(log: &str) -> Result<Arc<TraceSurvey>, TraceError> {
    TraceSurvey::load(&TraceSource { path: log.into(), format: None, device: None })
}

/// The file that the log of a job names is what it runs on.
fn resolve_logs(jobs: &mut [FioJob]) -> anyhow::Result<()> {
    for job in jobs {
        let Target::OfLog(log) = &job.target else {
            continue;
        };
        let survey = survey(log)?;
        let [(file, _)] = survey.devices.as_slice() else {
            let count = survey.devices.len();
            bail_usage!(
                "{}: [{}]: read_iolog={log} names {count} files: name a drive, or one of them with \
                 replay_redirect=",
                job.place,
                job.name
            );
        };
        job.target = Target::File(file.clone());
    }
    Ok(())
}

fn needed(jobs: &[FioJob]) -> Vec<Needed> {
    let mut needed: Vec<Needed> = Vec::new();
    for job in jobs {
        let name = job.target.name();
        match needed.iter_mut().find(|drive| drive.name == name) {
            Some(drive) => drive.writes |= writes(job),
            None => needed.push(Needed {
                name: name.to_owned(),
                writes: writes(job),
                created: Vec::new(),
            }),
        }
    }
    needed
}

/// What a log says about it counts, where it can be read; the plan reports where it cannot.
fn writes(job: &FioJob) -> bool {
    let Some(log) = &job.options.trace else {
        return job.options.writes();
    };
    let skipped = job.options.trace_skip.as_deref().unwrap_or_default();
    let counts = |op: &str| !skipped.split(',').any(|skipped| skipped == op);
    survey(log).map_or(true, |survey| {
        let (writes, trims) = (survey.writes.requests, survey.discards.requests);
        writes > 0 && counts("write") || trims > 0 && counts("trim")
    })
}

fn drive_of(needed: &[Needed], job: &FioJob) -> usize {
    let mut names = needed.iter().map(|drive| drive.name.as_str());
    let at = names.position(|name| name == job.target.name());
    at.expect("every target is among the drives")
}

fn file_name(path: &str) -> Option<String> {
    Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned())
}

/// Makes a missing file, as fio does; returns whether it did.
fn create(drive: &Needed, file: &str, jobs: &[FioJob], before: &[u64]) -> anyhow::Result<bool> {
    let of_drive = || jobs.iter().filter(|job| job.target.name() == drive.name);
    let path = Path::new(file);
    let is_file = of_drive().any(|job| matches!(job.target, Target::File(_)));
    if !is_file || path.exists() {
        return Ok(false);
    }
    if let Some(job) = of_drive().find(|job| !job.may_create) {
        bail_usage!(
            "{}: [{}]: {} does not exist, and allow_file_create=0",
            job.place,
            job.name,
            file
        );
    }
    let ends: Option<Vec<u64>> = of_drive().map(|job| job.end_bytes(before)).collect();
    let Some(bytes) = ends.and_then(|ends| ends.into_iter().max()) else {
        bail_usage!(
            "{} does not exist, and without size= nothing says how long it is to be; name the \
             drive on the command line, or give size=",
            file
        );
    };
    if bytes == 0 {
        bail_usage!(
            "{file} has no byte: a length of the range filesize= is rounded down to blocks; begin \
             the range at a block, or lower bs="
        );
    }
    make_file(path, bytes)
        .with_context(|| format!("cannot make {file}, {} long", format_size(bytes)))?;
    Ok(true)
}

/// Every byte of a new file is written before it is measured, else reads would not reach the drive.
fn fills(needed: &[Needed], drives: &[DriveSession]) -> Vec<PlannedJob> {
    let mut fills = Vec::new();
    for (number, (drive, session)) in needed.iter().zip(drives).enumerate() {
        let info = session.info();
        for file in &drive.created {
            let part = info.files.iter().find(|part| part.name == *file);
            let (offset_bytes, bytes) =
                part.map_or((0, info.capacity_bytes), |part| (part.start_bytes, part.len_bytes));
            let least = u64::from(info.min_io_bytes.max(1));
            let block = match bytes.is_multiple_of(1 << 20) {
                true => "1m",
                false => "4k",
            };
            fills.push(PlannedJob {
                name: format!("Fill {}", file_name(file).unwrap_or_default()),
                drive: number,
                options: JobOptions {
                    rw: Some("write".to_owned()),
                    bs: Some(block.to_owned()),
                    iodepth: Some(8),
                    offset: part.map(|_| offset_bytes.to_string()),
                    size: part.map(|_| (bytes - bytes % least).to_string()),
                    ..JobOptions::default()
                },
                // Fills run one after the other; jobs of files have later stages.
                stage: usize::MAX - fills.len(),
                prepares: true,
                ..PlannedJob::default()
            });
        }
    }
    fills
}

/// A line of `assay job` for each job, by stage.
fn dry_run(jobs: &[FioJob]) -> String {
    let mut text = String::new();
    let mut stage = None;
    for job in jobs {
        if stage.replace(job.stage) != Some(job.stage) {
            let beside = jobs.iter().filter(|other| other.stage == job.stage).count();
            let how = if beside > 1 { ", at the same time" } else { "" };
            let _ = writeln!(text, "# stage {}{how}", job.stage + 1);
        }
        let drive = job.target.name();
        let _ =
            writeln!(text, "# [{}]\nassay job {drive} {}", job.name, job.options.command_line());
    }
    text
}

fn dry_run_json(jobs: &[FioJob]) -> serde_json::Value {
    let job = |job: &FioJob| {
        serde_json::json!({
            "name": job.name,
            "stage": job.stage + 1,
            "drive": job.target.name(),
            "options": job.options.command_line(),
        })
    };
    serde_json::json!({ "jobs": jobs.iter().map(job).collect::<Vec<_>>() })
}

#[cfg(test)]
#[path = "../../tests/unit/commands/fio.rs"]
mod tests;
