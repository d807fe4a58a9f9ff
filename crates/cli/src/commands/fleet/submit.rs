//! `assay fleet submit`.

use std::fmt::Write;
use std::path::Path;

use anyhow::Context;
use assay_fleet::inventory::{HostInventory, publish};
use assay_fleet::plan::confirm_destroy;
use assay_fleet::queue::{HereQueue, Queue, SlurmQueue};
use assay_fleet::status::{DriveTaskState, status};
use assay_fleet::submit::{SubmitOptions, Submitted, submit};
use assay_fleet::{FleetError, Plan, PlanId, Serial};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use signal_hook::iterator::Signals;

use super::plan::counted;
use super::{OpenPlan, open_plan};
use crate::args::fleet::SubmitArguments;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(arguments: &SubmitArguments, output: Output) -> anyhow::Result<CommandOutcome> {
    let opened = open_plan(&arguments.file)?;
    // Before anything is looked for.
    confirm_destroy(&opened.plan, arguments.destroy_count).map_err(FleetError::from)?;
    let inventories = super::inventories(&opened, arguments.here.here, &arguments.here.host)?;
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    let options = SubmitOptions {
        destroy_count: arguments.destroy_count,
        resume: arguments.resume,
        hosts: match arguments.here.here {
            true => super::hosts_here(&arguments.here.host)?,
            false => Vec::new(),
        },
        queue: if arguments.here.here { "here" } else { "slurm" }.to_owned(),
        by: super::operator()?,
    };
    match arguments.here.here {
        true => here(&opened, &arguments.file, &inventories, &options, &program, output),
        false => {
            let store = opened.plan.store.at.clone();
            let mut queue = SlurmQueue::new(opened.plan.slurm.clone(), store, program);
            let submitted = make(&opened, &inventories, &mut queue, &options)?;
            let name = &arguments.file;
            output.show(|| text(&opened, &submitted, name), || json_of(&opened.id, &submitted))
        }
    }
}

fn make(
    opened: &OpenPlan,
    inventories: &[HostInventory],
    queue: &mut dyn Queue,
    options: &SubmitOptions,
) -> Result<Submitted, FleetError> {
    let store = opened.store.as_ref();
    submit(&opened.plan, &opened.id, store, inventories, queue, options)
}

fn here(
    opened: &OpenPlan,
    file: &Path,
    inventories: &[HostInventory],
    options: &SubmitOptions,
    program: &Path,
    output: Output,
) -> anyhow::Result<CommandOutcome> {
    let OpenPlan { plan, id, store } = opened;
    let mut queue = HereQueue::new(program.to_owned(), plan.store.at.clone());
    for inventory in inventories {
        if options.hosts.contains(&inventory.host) {
            publish(store.as_ref(), inventory)?;
        }
    }
    // Before the tasks, so that no signal is lost between.
    let signals = super::super::ending_signals();
    let mut signals = Signals::new(signals).context("cannot listen for Ctrl-C")?;
    let submitted = make(opened, inventories, &mut queue, options)?;
    if !submitted.reopened.is_empty() {
        output.note(&reopened_text(&submitted));
    }
    let started = submitted.jobs.made.len();
    output.note(&match started {
        0 => "no task was started: nothing is left to do on this host".to_owned(),
        _ => format!(
            "{} started; Ctrl-C ends them, and `assay fleet submit` goes on later",
            counted(started, "task")
        ),
    });
    let tasks = queue.processes();
    let handle = signals.handle();
    let forwarder = std::thread::spawn(move || {
        for signal in signals.forever() {
            let signal = Signal::from_named_raw(signal).unwrap_or(Signal::TERM);
            for task in &tasks {
                // A task may have ended.
                let pid = i32::try_from(*task).ok().and_then(Pid::from_raw);
                let _ = pid.map(|pid| kill_process(pid, signal));
            }
        }
    });
    let ended = queue.wait();
    handle.close();
    let _ = forwarder.join();
    for end in ended.map_err(FleetError::from)? {
        // The drives' outcomes are in their claims.
        if !matches!(end.status.code(), Some(0 | 1 | 130)) {
            let host = end.job.host;
            let status = end.status;
            return Err(FleetError::Task { host, status }.into());
        }
    }
    let now = status(plan, id, store.as_ref(), inventories)?;
    super::status::show(&now, opened, file, output)?;
    let unfinished =
        [DriveTaskState::Interrupted, DriveTaskState::Running].map(|state| now.count(state));
    let failed = now.count(DriveTaskState::Failed) > 0;
    Ok(CommandOutcome::from_flags(failed, unfinished.iter().sum::<usize>() > 0))
}

fn text(opened: &OpenPlan, submitted: &Submitted, file: &Path) -> String {
    let jobs = &submitted.jobs;
    let mut text = format!(
        "Plan {}: {} made, {} there already; {} of {} finished\n",
        opened.id,
        counted(jobs.made.len(), "job"),
        jobs.present.len(),
        submitted.finished,
        counted(submitted.assignment.drives(), "drive"),
    );
    if !submitted.reopened.is_empty() {
        let _ = writeln!(text, "  {}", reopened_text(submitted));
    }
    for (name, job) in &jobs.made {
        let _ = writeln!(text, "  job {job}: {name}");
    }
    for left_out in &submitted.assignment.left_out {
        let _ = writeln!(text, "  left out: {}: {}", left_out.serial, left_out.why);
    }
    let _ = writeln!(text, "Progress: assay fleet status {}", file.display());
    text
}

fn reopened_text(submitted: &Submitted) -> String {
    let serials = submitted.reopened.iter().map(Serial::as_str);
    let serials: Vec<&str> = serials.collect();
    format!(
        "the shared store has lost run folders of {}: they are shipped or measured again",
        serials.join(", ")
    )
}

fn json_of(id: &PlanId, submitted: &Submitted) -> Value {
    let jobs = |jobs: &[(String, String)]| -> Vec<Value> {
        let jobs = jobs.iter();
        jobs.map(|(name, id)| json!({ "name": name, "id": id })).collect()
    };
    json!({
        "plan": id,
        "made": jobs(&submitted.jobs.made),
        "present": jobs(&submitted.jobs.present),
        "finished": submitted.finished,
        "reopened": submitted.reopened,
        "drives": submitted.assignment.drives(),
        "left_out": super::plan::left_out(&submitted.assignment),
    })
}

pub(super) fn slurm(plan: &Plan) -> anyhow::Result<SlurmQueue> {
    let program = std::env::current_exe().context("cannot find the path of this program")?;
    let store = plan.store.at.clone();
    Ok(SlurmQueue::new(plan.slurm.clone(), store, program))
}
