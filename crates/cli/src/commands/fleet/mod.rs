//! `assay fleet`: one module per sub-command.

mod cancel;
mod cohort;
mod collect;
mod inventory;
mod pause;
mod plan;
mod status;
mod submit;
mod sweep;
mod task;

use std::collections::BTreeSet;
use std::path::Path;

use assay_fleet::inventory::{HostInventory, of_this_host, published};
use assay_fleet::missing::{MissingRun, submission};
use assay_fleet::shared_store::{self, SharedStore};
use assay_fleet::{FleetError, HostName, Plan, PlanId, stored_plan};

use crate::args::fleet::FleetCommand;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(command: &FleetCommand, output: Output) -> anyhow::Result<CommandOutcome> {
    match command {
        FleetCommand::Cohort(cohort) => cohort::run(cohort, output),
        FleetCommand::Inventory(inventory) => inventory::run(inventory, output),
        FleetCommand::Plan(plan) => plan::run(plan, output),
        FleetCommand::Sweep(sweep) => sweep::run(sweep, output),
        FleetCommand::Task(task) => task::run(task, output),
        FleetCommand::Collect(collect) => collect::run(collect, output),
        FleetCommand::Submit(submit) => submit::run(submit, output),
        FleetCommand::Status(status) => status::run(status, output),
        FleetCommand::Pause(pause) => pause::run(pause, output),
        FleetCommand::Cancel(cancel) => cancel::run(cancel, output),
    }
}

/// `--host`, else the kernel's host name.
fn host(given: Option<&HostName>) -> anyhow::Result<HostName> {
    given.map_or_else(|| Ok(HostName::of_this_host()?), |host| Ok(host.clone()))
}

struct OpenPlan {
    plan: Plan,
    id: PlanId,
    store: Box<dyn SharedStore>,
}

fn open_plan(file: &Path) -> anyhow::Result<OpenPlan> {
    let plan = Plan::load(file).map_err(FleetError::from)?;
    let id = plan.id().map_err(FleetError::from)?;
    let store = shared_store::open(&plan.store.at).map_err(FleetError::from)?;
    Ok(OpenPlan { plan, id, store })
}

/// A changed plan file is another plan.
fn check_submitted(opened: &OpenPlan) -> anyhow::Result<()> {
    stored_plan::read(opened.store.as_ref(), &opened.id)?;
    Ok(())
}

fn hosts_here(given: &[HostName]) -> anyhow::Result<Vec<HostName>> {
    match given {
        [] => Ok(vec![HostName::of_this_host()?]),
        hosts => Ok(hosts.to_vec()),
    }
}

/// Those of the shared store; with `here`, those of this host as taken now replace its earlier
/// ones.
fn inventories(
    opened: &OpenPlan,
    here: bool,
    hosts: &[HostName],
) -> anyhow::Result<Vec<HostInventory>> {
    let mut all = published(opened.store.as_ref())?;
    if here {
        for host in hosts_here(hosts)? {
            all.retain(|inventory| inventory.host != host);
            let mut inventory = of_this_host(&host)?;
            inventory.read_wear();
            all.push(inventory);
        }
    }
    Ok(all)
}

/// An error where run folders are missing, with the command that brings them back.
fn check_missing(opened: &OpenPlan, file: &Path, missing: &[MissingRun]) -> anyhow::Result<()> {
    let serials: BTreeSet<_> = missing.iter().map(|run| &run.serial).collect();
    if serials.is_empty() {
        return Ok(());
    }
    let hosts: BTreeSet<_> = missing.iter().map(|run| &run.host).collect();
    let hosts: Vec<_> = hosts.into_iter().collect();
    let (store, file) = (opened.store.as_ref(), file.display().to_string());
    let command = submission(store, &opened.plan, &opened.id, &file, &hosts)?;
    let drives = serials.len();
    Err(FleetError::Missing { drives, command }.into())
}

/// `USER@HOST`.
fn operator() -> anyhow::Result<String> {
    let user = std::env::var("USER").or_else(|_| std::env::var("LOGNAME"));
    let user = user.unwrap_or_else(|_| format!("uid {}", rustix::process::getuid().as_raw()));
    Ok(format!("{user}@{}", HostName::of_this_host()?))
}
