//! One module per command: converts the arguments into a plan, executes it, and shows the result.

pub mod check;
pub mod compare;
pub mod completions;
pub mod contribute;
pub mod export;
pub mod fidelity;
pub mod fio;
pub mod fit;
pub mod fleet;
pub mod import;
pub mod job;
pub mod library;
pub mod licenses;
pub mod list;
pub mod man;
pub mod ocp;
pub mod predict;
pub mod prepare;
pub mod probe;
pub mod purge;
pub mod rank;
pub mod record;
pub mod replay;
pub mod report;
pub mod run;
pub mod serve;
pub mod stream;
pub mod streamer;
pub mod suites;
pub mod testbench;
pub mod trace;
pub mod verdict;
pub mod verify;
pub mod version;

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use assay_device::host;
use assay_device::session::{DriveSession, SessionOptions};
use assay_device::signature::{KINDS, is_kind};
use assay_device::spec::DriveSpec;
use assay_device::supervise::{ending_signals, is_another_ending, requested, requests};
use assay_device::telemetry_monitor::power_meter::PowerMeter;
use assay_execute::drive_state_cache::DriveStateCache;
use assay_execute::live::Live;
use assay_execute::manifest::manifest;
use assay_execute::run::{Resume, RunSummary, Runner, check_io_logs};
use assay_io::Nanos;
use assay_io::clock::Clock;
use assay_metrics::{Prepared, RunIdentity};
use assay_store::model::BuildRecord;
use assay_store::replace::replace_content;
use assay_store::{Destination, Run, RunWriter};
use assay_suite::expand::RunPlan;
use assay_units::text::did_you_mean;
use signal_hook::consts::SIGUSR1;
use signal_hook::iterator::Signals;

use self::ocp::OcpOutput;
use crate::exit::{self, CommandOutcome, UsageError, bail_usage};
use crate::live::{self, LiveArguments, LiveView, Viewed};
use crate::progress::RunProgress;
use crate::terminal::Output;

/// Calls `work` in a thread with each signal, and whether it asks to end at once.
pub fn on_signals(
    signals: &[i32],
    mut work: impl FnMut(i32, bool) + Send + 'static,
) -> anyhow::Result<()> {
    const FAILED: &str = "cannot listen for signals";
    let mut received = Signals::new(requests(signals)).context(FAILED)?;
    let listen = move || {
        for (signal, at_once) in received.forever().map(requested) {
            work(signal, at_once);
        }
    };
    let builder = std::thread::Builder::new().name("signals".to_owned());
    builder.spawn(listen).context(FAILED)?;
    Ok(())
}

/// Each of [`ending_signals`] sets the flag; a second one ends the process at once.
pub fn stop_flag() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let work = move |signal, at_once| {
        if stopped.swap(true, Ordering::SeqCst) || at_once {
            signal_hook::low_level::exit(128 + signal);
        }
    };
    on_signals(&ending_signals(), work)?;
    Ok(stop)
}

/// Each of [`ending_signals`] sets the flag; a second one ends the process at once, with the
/// terminal as it was. SIGUSR1 ends the run when its present cell has ended.
#[derive(Clone, Default)]
pub struct Stop {
    pub flag: Arc<AtomicBool>,
    after_cell: Arc<AtomicBool>,
    /// Set when the run has begun.
    live: Arc<OnceLock<Arc<Live>>>,
}

impl Stop {
    pub fn on_signals() -> anyhow::Result<Stop> {
        let stop = Stop::default();
        let requested = stop.clone();
        let mut heard = ending_signals();
        heard.push(SIGUSR1);
        on_signals(&heard, move |signal, at_once| {
            if signal == SIGUSR1 {
                requested.after_cell.store(true, Ordering::SeqCst);
                requested.live.get().inspect(|live| live.control.end_after_cell());
                return;
            }
            if requested.flag.swap(true, Ordering::SeqCst) || at_once {
                live::tty::restore();
                signal_hook::low_level::exit(128 + signal);
            }
            if let Some(live) = requested.live.get() {
                live.control.stopped();
            }
        })?;
        Ok(stop)
    }

    /// Passes on the requests so far, and later ones.
    fn begin(&self, live: &Arc<Live>) {
        let _ = self.live.set(Arc::clone(live));
        // After `live` was set: the signal is seen here, or passed on by the thread.
        if self.after_cell.load(Ordering::SeqCst) {
            live.control.end_after_cell();
        }
    }
}

pub struct Watch {
    pub stop: Stop,
    arguments: LiveArguments,
    metrics: Option<Prepared>,
    /// No cell is begun that could end later.
    pub until: Option<Date>,
    /// File for Open Compute's output.
    pub ocp: Option<PathBuf>,
}

#[derive(Clone, Debug)]
pub struct Date {
    pub text: String,
    /// Whole seconds since 1970, UTC.
    pub unix_s: u64,
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Date, String> {
        let unix_s = host::parse_date(text).map_err(|why| {
            format!(
                "{why}; write a date with its zone, as in 2027-02-01T06:00:00Z or \
                 2027-02-01T07:00:00+01:00"
            )
        })?;
        let text = text.to_owned();
        Ok(Date { text, unix_s })
    }
}

impl Watch {
    /// Called before anything is measured.
    pub fn new(arguments: &LiveArguments) -> anyhow::Result<Watch> {
        let metrics = arguments.metrics.as_deref();
        let metrics = metrics.map(|to| Prepared::new(to, &arguments.metrics_host));
        Ok(Watch {
            metrics: metrics.transpose()?,
            arguments: arguments.clone(),
            stop: Stop::on_signals()?,
            until: None,
            ocp: None,
        })
    }
}

/// The meter measures one drive.
pub fn power_meter(
    command: Option<&str>,
    drives: usize,
) -> anyhow::Result<Option<Arc<PowerMeter>>> {
    let Some(command) = command else {
        return Ok(None);
    };
    if drives != 1 {
        bail_usage!(
            "--power-meter measures one drive, and {drives} are named; run them one after the \
             other"
        );
    }
    let meter = PowerMeter::start(command).map_err(|error| UsageError(error.to_string()))?;
    Ok(Some(Arc::new(meter)))
}

/// A killed process gives up its drive and run folder only when its I/O in flight has ended.
const RELEASE: Nanos = Nanos::from_secs(3);
const ATTEMPT_INTERVAL: Nanos = Nanos::from_millis(50);

/// Repeats while a process that is on its way out has the drive or folder in use, at most for
/// [`RELEASE`]. A process that goes on causes a refusal at once.
pub fn retry_while_in_use<T>(mut attempt: impl FnMut() -> anyhow::Result<T>) -> anyhow::Result<T> {
    let clock = Clock::monotonic();
    let until = clock.now() + RELEASE;
    let mut may_have_ended = true;
    loop {
        let result = attempt();
        let in_use = result.as_ref().is_err_and(exit::is_in_use);
        if !in_use || clock.now() >= until {
            return result;
        }
        if is_another_ending() {
            clock.wait_until(clock.now() + ATTEMPT_INTERVAL);
        } else if !std::mem::take(&mut may_have_ended) {
            return result;
        }
        // Otherwise it may have ended between the attempt and this look: once more.
    }
}

/// Naming one drive twice is an error.
pub fn open_drives(
    names: &[String],
    options: &SessionOptions,
) -> anyhow::Result<Vec<DriveSession>> {
    let mut drives: Vec<DriveSession> = Vec::new();
    for name in names {
        let spec = DriveSpec::parse(name).map_err(assay_device::session::SessionError::from)?;
        let drive = retry_while_in_use(|| Ok(DriveSession::open(&spec, options)?))?;
        let is_same = |other: &&DriveSession| other.info().is_same_storage(drive.info());
        if let Some(same) = drives.iter().find(is_same) {
            bail_usage!("{name} and {} are the same drive; name it once", same.info().spec);
        }
        drives.push(drive);
    }
    check_destroy_serials(&serials_of(&drives), &options.destroy)?;
    Ok(drives)
}

pub fn serials_of(drives: &[DriveSession]) -> Vec<&str> {
    let serials = drives.iter().flat_map(|drive| {
        let info = drive.info();
        match info.files.is_empty() {
            true => vec![info.serial.as_str()],
            false => info.files.iter().map(|file| file.serial.as_str()).collect(),
        }
    });
    serials.collect()
}

/// Fails for a value that names none of the drives, no kind of signature, and no NVMe namespace:
/// a purge that erases several asks for their kernel names. A kind of signature need not be on a
/// drive, so that a command can be repeated after the first run has overwritten it.
pub fn check_destroy_serials(serials: &[&str], destroy: &[String]) -> anyhow::Result<()> {
    let is_namespace = |name: &str| {
        let numbers = name.strip_prefix("nvme").and_then(|n| n.split_once('n'));
        numbers.is_some_and(|(a, b)| a.parse::<u32>().is_ok() && b.parse::<u32>().is_ok())
    };
    for name in destroy {
        if !serials.contains(&name.as_str()) && !is_kind(name) && !is_namespace(name) {
            let serials = serials.join(", ");
            let similar = did_you_mean(name, &format!("{serials}, {KINDS}"));
            bail_usage!(
                "--destroy {name} names none of the drives given, and no kind of \
                 signature{similar} (serials of the drives: {serials})"
            );
        }
    }
    Ok(())
}

pub fn tool() -> BuildRecord {
    BuildRecord {
        name: "assay".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("ASSAY_COMMIT").to_owned(),
    }
}

pub fn command_line() -> Vec<String> {
    let arguments = std::env::args_os();
    arguments.map(|a| a.to_string_lossy().into_owned()).collect()
}

pub fn open_runs(paths: &[PathBuf], output: Output) -> anyhow::Result<Vec<Run>> {
    paths.iter().map(|path| open_run(path, output)).collect()
}

/// Prints a note if the folder is damaged.
pub fn open_run(path: &Path, output: Output) -> anyhow::Result<Run> {
    let run = Run::open(path)?;
    if let [first, rest @ ..] = &run.damaged_lines[..] {
        let more = match rest.len() {
            0 => String::new(),
            n => format!("; and {n} more (assay export --format json lists them)"),
        };
        output.note(&format!("{} is damaged: {first}{more}", path.display()));
    }
    Ok(run)
}

pub struct Executed {
    /// As recorded.
    pub run: Run,
    pub summary: RunSummary,
    /// Whether Open Compute's output is whole.
    pub ocp: std::io::Result<()>,
}

/// Shows a progress bar. `folder` makes the run folder, or continues one, after all checks.
pub fn execute(
    plan: &RunPlan,
    drives: &mut [DriveSession],
    folder: impl FnOnce(&[DriveSession]) -> anyhow::Result<(RunWriter, Resume)>,
    watch: Watch,
    output: Output,
) -> anyhow::Result<Executed> {
    check_io_logs(plan)?;
    let (writer, resume) = folder(drives)?;
    let simulated = drives.iter().all(|drive| drive.info().simulated);
    let audit = assay_workload::audit::audit(simulated)?;
    let folder = writer.path.clone();
    let live = Arc::new(Live::new(plan, drives));
    if let Some(until) = &watch.until {
        live.control.end_by(until.unix_s);
    }
    watch.stop.begin(&live);
    let mut progress = RunProgress::new(output, plan, &folder, Arc::clone(&live));
    let run = folder.file_name().unwrap_or_default();
    let identity = RunIdentity { run: run.to_string_lossy().into_owned(), version: tool().version };
    let metrics = watch.metrics.map(|m| m.start(Arc::clone(&live), identity));
    let metrics = metrics.transpose()?;
    let ocp = watch.ocp.as_deref().map(|file| OcpOutput::start(file, &folder));
    let ocp = ocp.transpose()?;
    let viewed = Viewed {
        live: Arc::clone(&live),
        stop: Arc::clone(&watch.stop.flag),
        bar: progress.bar.clone(),
        folder: folder.display().to_string(),
        resumable: !plan.suite.text.is_empty(),
    };
    let view = LiveView::start(&watch.arguments, output, viewed, progress.notes.clone());
    let summary = Runner {
        plan,
        drives,
        writer,
        audit,
        stop: &watch.stop.flag,
        listener: &mut progress,
        live: &live,
        drive_states: DriveStateCache::for_user(),
    }
    .run(&resume);
    drop(view);
    drop(metrics);
    let ocp = ocp.map_or(Ok(()), |ocp| ocp.finish(&folder));
    progress.bar.finish_and_clear();
    let summary = summary?;
    Ok(Executed { run: Run::open(&folder)?, summary, ocp })
}

/// Without a destination the run folder is temporary, and is removed. Returns the run as recorded.
pub fn run_plan(
    plan: &RunPlan,
    drives: &mut [DriveSession],
    destination: Option<Destination>,
    watch: Watch,
    output: Output,
    show: impl FnOnce(&Run, &RunSummary) -> anyhow::Result<()>,
) -> anyhow::Result<RunSummary> {
    // Removed when the command ends.
    let temporary = tempfile::Builder::new().prefix("assay-job-").tempdir().context(
        "cannot create a temporary folder for the run: set TMPDIR to a writable directory, or \
             keep a run folder with --out",
    )?;
    let destination =
        destination.unwrap_or_else(|| Destination::Under(temporary.path().to_owned()));
    let executed =
        execute(plan, drives, |drives| new_folder(plan, drives, &destination), watch, output)?;
    show(&executed.run, &executed.summary)?;
    executed.ocp?;
    Ok(executed.summary)
}

pub fn new_folder(
    plan: &RunPlan,
    drives: &[DriveSession],
    destination: &Destination,
) -> anyhow::Result<(RunWriter, Resume)> {
    let manifest = manifest(plan, drives, tool(), command_line());
    Ok((RunWriter::create(destination, &manifest)?, Resume::default()))
}

/// No workload of the run completed an I/O.
pub fn measured_nothing(run: &Run) -> bool {
    let parts = run.cells.iter().flat_map(|cell| &cell.drives);
    let mut results = parts.filter_map(|part| part.result.as_ref());
    !results.any(|result| result.ios() > 0)
}

pub fn outcome_of(summary: &RunSummary) -> CommandOutcome {
    use assay_store::model::RunEnd;
    let data_failed = summary.bad_blocks > 0 || summary.unverified > 0;
    let failed = summary.io_errors > 0 || data_failed || summary.failed_cells > 0;
    let interrupted = summary.outcome == RunEnd::Interrupted;
    CommandOutcome::from_flags(failed || !summary.lost_drives.is_empty(), interrupted)
}

/// Names a folder that is not there, or is none.
pub fn check_folder(folder: &Path) -> anyhow::Result<()> {
    if !folder.is_dir() {
        bail_usage!(
            "{}: there is no such folder; name one with run folders, which `assay run` and \
             `assay import` make",
            folder.display()
        );
    }
    Ok(())
}

/// The file is the one before or the new one, whole, even after a loss of power.
pub fn write_atomically(path: &Path, text: &str) -> anyhow::Result<()> {
    replace_content(path, text.as_bytes()).with_context(|| {
        format!(
            "cannot write {}: check that the folder exists, is writable and has free space",
            path.display()
        )
    })
}
