//! `assay fleet task`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::Context;
use assay_device::identity::identify;
use assay_execute::drive_state_cache::DriveStateCache;
use assay_fleet::assignment::order;
use assay_fleet::inventory::{InventoryDrive, of_this_host, publish};
use assay_fleet::shared_store::{self, SharedStore};
use assay_fleet::task::Pace;
use assay_fleet::task::host_lock::HostLock;
use assay_fleet::task::machine::{DriveEnd, Event, Limits};
use assay_fleet::task::runner::{self, Report, Setup};
use assay_fleet::task::selection;
use assay_fleet::task::view::TaskView;
use assay_fleet::{FleetError, HostName, Plan, PlanId, Serial, queue, stored_plan};
use assay_metrics::{Exporter, fleet as metrics};
use assay_store::replace::write_unflushed;
use serde_json::json;
use signal_hook::consts::SIGUSR1;

use crate::args::fleet::TaskArguments;
use crate::commands::{ending_signals, on_signals};
use crate::exit::{CommandOutcome, TaskStatus};
use crate::terminal::Output;

/// Interval of looks at the journals.
const TICK: Duration = Duration::from_secs(1);
const CONTROL_POLL: Duration = Duration::from_secs(5);
const BEGIN_TRIES: u32 = 60;
/// The job is to be queued again.
const QUEUE_AGAIN: u8 = 75;
const WORK: &str = "/var/lib/assay/fleet";
const WORK_VARIABLE: &str = "ASSAY_FLEET_DIR";

pub fn run(arguments: &TaskArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let host = super::host(arguments.host.as_ref())?;
    let store: Arc<dyn SharedStore> = Arc::from(shared_store::open(&arguments.store)?);
    let inbox = channel();
    listen(inbox.0.clone())?;
    let mut inventory = of_this_host(&host)?;
    let poll = arguments.poll.map(Duration::from_millis);
    let pause = poll.unwrap_or(CONTROL_POLL);
    let load = || stored_plan::read(store.as_ref(), &arguments.plan);
    let Some(stored) = reached(load, &inbox.1, pause, output)? else {
        return Ok(CommandOutcome::Interrupted);
    };
    let plan = stored.plan;
    if plan.run.endurance_limit_pct.is_some() {
        inventory.read_wear();
    }
    // The inventory is compared with those of other hosts.
    let publish = || publish(store.as_ref(), &inventory);
    if reached(publish, &inbox.1, pause, output)?.is_none() {
        return Ok(CommandOutcome::Interrupted);
    }
    let only = arguments.serial.clone();
    let drives = selection::selected(&plan, &inventory.drives, only.as_ref());
    let drives = order(drives, |drive| drive, &arguments.plan, &host);
    let work = work_folder(arguments)?;
    let limits = limits(&plan, poll);
    // Held until the end of this function.
    let _alone = match alone(&work, &host, only.as_ref(), limits, &inbox.1, output)? {
        Alone::Yes(lock) => lock,
        Alone::Interrupted => return Ok(CommandOutcome::Interrupted),
        Alone::Busy => return ended(QUEUE_AGAIN, arguments),
    };
    let suites = suites(&plan, &arguments.plan, &work)?;
    let view = Arc::new(TaskView::default());
    let exporter = exporter(arguments, &plan, &host, &drives, &view)?;
    let tick = poll.unwrap_or(TICK);
    let every = plan.store.every.0 / u64::try_from(tick.as_nanos())?.max(1);
    let setup = Setup {
        store: Arc::clone(&store),
        plan: arguments.plan.clone(),
        suites,
        drives,
        destroy: plan.run.destroy,
        until: plan.run.until.as_ref().map(|(text, _)| text.clone()),
        share: plan.run.share,
        host: host.clone(),
        job: arguments.job.clone(),
        work,
        program: std::env::current_exe().context("cannot find the program of this process")?,
        limits,
        pace: Pace { tick, every: u32::try_from(every.max(1)).unwrap_or(u32::MAX) },
        control_poll: poll.unwrap_or(CONTROL_POLL),
        look: Box::new(move || Ok(of_this_host(&host)?.drives)),
        drive_state: Arc::new(drive_state),
        install_state: Arc::new(install_state),
        note: Arc::new(move |text: String| output.note(&text)),
        view: Arc::clone(&view),
    };
    let report = runner::run(setup, inbox)?;
    drop(exporter);
    output.show(|| text(&report), || document(&arguments.plan, &report))?;
    ended(report.status, arguments)
}

fn limits(plan: &Plan, poll: Option<Duration>) -> Limits {
    let defaults = Limits::default();
    Limits {
        io_error_attempts: plan.run.attempts,
        pause: poll.unwrap_or(defaults.pause),
        poll: poll.unwrap_or(defaults.poll),
        ..defaults
    }
}

fn exporter(
    arguments: &TaskArguments,
    plan: &Plan,
    host: &HostName,
    drives: &[InventoryDrive],
    view: &Arc<TaskView>,
) -> anyhow::Result<Option<Exporter>> {
    let Some(folder) = arguments.metrics.as_ref().or(plan.run.metrics.as_ref()) else {
        return Ok(None);
    };
    let models = drives.iter();
    let identity = metrics::TaskIdentity {
        plan: arguments.plan.clone(),
        host: host.clone(),
        models: models.map(|drive| (drive.serial.clone(), drive.model.clone())).collect(),
    };
    let only = arguments.serial.as_ref();
    let exporter = metrics::start(folder, only, identity, Arc::clone(view))?;
    Ok(Some(exporter))
}

fn work_folder(arguments: &TaskArguments) -> anyhow::Result<PathBuf> {
    let of_environment = || std::env::var_os(WORK_VARIABLE).map(PathBuf::from);
    let work = arguments.work.clone().or_else(of_environment);
    let work = work.unwrap_or_else(|| WORK.into());
    Ok(std::path::absolute(&work)?)
}

fn ended(status: u8, arguments: &TaskArguments) -> anyhow::Result<CommandOutcome> {
    match status {
        0 => Ok(CommandOutcome::Done),
        1 => Ok(CommandOutcome::DriveFailed),
        130 => Ok(CommandOutcome::Interrupted),
        _ => {
            if let (QUEUE_AGAIN, true, Some(job)) = (status, arguments.requeue, &arguments.job) {
                queue::requeue(job).map_err(FleetError::from)?;
            }
            let plan = arguments.plan.to_string();
            Err(TaskStatus { status, plan }.into())
        }
    }
}

/// The task is the only one of its host, or not.
enum Alone {
    Yes(HostLock),
    /// Another task was there for an hour, or until the time limit of the job was near.
    Busy,
    Interrupted,
}

/// Waits for an earlier task of this host that goes on without its queue.
fn alone(
    work: &Path,
    host: &HostName,
    serial: Option<&Serial>,
    limits: Limits,
    events: &Receiver<Event>,
    output: Output,
) -> anyhow::Result<Alone> {
    let take = || {
        HostLock::try_take(work, host, serial)
            .with_context(|| format!("cannot lock this host's folder {}", work.display()))
    };
    for waited in 0..=limits.polls {
        if let Some(lock) = take()? {
            return Ok(Alone::Yes(lock));
        }
        if waited == 0 {
            output.note("another task measures on this host; waiting for its end");
        }
        // Until a signal comes, or until the next look.
        match events.recv_timeout(limits.poll) {
            Ok(Event::EndSignal) => return Ok(Alone::Interrupted),
            Ok(Event::NearLimit) => break,
            _ => {}
        }
    }
    Ok(Alone::Busy)
}

/// The shared store may be away for a while. `None` after an ending signal.
fn reached<T>(
    begin: impl Fn() -> Result<T, FleetError>,
    events: &Receiver<Event>,
    pause: Duration,
    output: Output,
) -> Result<Option<T>, FleetError> {
    let mut last = None;
    for _ in 1..BEGIN_TRIES {
        match begin() {
            Err(FleetError::SharedStore(error)) if error.is_temporary() => {
                // Each cause once.
                let cause = Some(error.cause());
                if cause != last {
                    output.note(&format!("{error}; trying again"));
                    last = cause;
                }
                // Until a signal comes, or until the next try.
                if let Ok(Event::EndSignal) = events.recv_timeout(pause) {
                    return Ok(None);
                }
            }
            reached => return reached.map(Some),
        }
    }
    begin().map(Some)
}

/// Suite files are written into the work directory.
fn suites(plan: &Plan, id: &PlanId, work: &Path) -> anyhow::Result<Vec<runner::SuiteCall>> {
    let mut calls = Vec::new();
    for (index, suite) in plan.suites.iter().enumerate() {
        let file = match &suite.text {
            None => None,
            Some(text) => {
                let folder = work.join(id.as_str()).join("suites");
                std::fs::create_dir_all(&folder)
                    .with_context(|| format!("cannot create {}", folder.display()))?;
                let path = folder.join(format!("{}.toml", suite.label));
                write_unflushed(&path, text)?;
                Some(path.display().to_string())
            }
        };
        calls.push(selection::call(plan, index, suite, file.as_deref()));
    }
    Ok(calls)
}

/// A second ending signal is passed on to the machine like the first, which has told the children
/// by then.
fn listen(events: Sender<Event>) -> anyhow::Result<()> {
    let mut heard = ending_signals();
    heard.push(SIGUSR1);
    on_signals(&heard, move |signal, _| {
        let event = match signal {
            SIGUSR1 => Event::NearLimit,
            _ => Event::EndSignal,
        };
        // Fails when the task has ended.
        let _ = events.send(event);
    })
}

/// Empty without a state.
fn drive_state(drive: &InventoryDrive) -> Vec<u8> {
    let info = identify(Path::new(&drive.spec)).ok();
    let info = info.filter(|_| !drive.simulated);
    let state = info.and_then(|info| DriveStateCache::for_user().export(&info));
    state.unwrap_or_default()
}

/// A state that does not hold for the drive is not installed.
fn install_state(drive: &InventoryDrive, state: &[u8]) {
    if let Ok(info) = identify(Path::new(&drive.spec)) {
        let _ = DriveStateCache::for_user().install(&info, state);
    }
}

fn in_words(end: &DriveEnd) -> (&'static str, &str) {
    match end {
        DriveEnd::Done { failed: false } => ("done", ""),
        DriveEnd::Done { failed: true } => ("failed", ""),
        DriveEnd::Refused { why, .. } => ("refused", why),
        DriveEnd::IoError { why } => ("i/o error", why),
        DriveEnd::InUse { why } => ("in use", why),
        DriveEnd::Unavailable { why } => ("shared store away", why),
        DriveEnd::NotShipped { why } => ("not shipped", why),
        DriveEnd::Interrupted { why, .. } => ("interrupted", why),
        DriveEnd::Lost => ("lost", "the drive disappeared while it was measured"),
        DriveEnd::Fenced { why } => ("taken over", why),
    }
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    for (serial, end) in &report.drives {
        let (state, why) = in_words(end);
        text.push_str(format!("{serial}: {state}. {why}").trim_end());
        text.push('\n');
    }
    if report.drives.is_empty() {
        text.push_str("this host has no drive of the plan\n");
    }
    text
}

fn document(plan: &PlanId, report: &Report) -> serde_json::Value {
    let row = |(serial, end): &(Serial, DriveEnd)| {
        let (state, why) = in_words(end);
        json!({ "serial": serial, "state": state, "why": why, "status": end.status() })
    };
    let drives: Vec<_> = report.drives.iter().map(row).collect();
    json!({ "plan": plan, "status": report.status, "drives": drives })
}
