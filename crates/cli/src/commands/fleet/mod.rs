//! `assay fleet`: one module per sub-command.

mod collect;
mod inventory;
mod plan;
mod sweep;
mod task;

use assay_fleet::inventory::{HostInventory, of_this_host};
use assay_fleet::{FleetError, HostName, Plan};

use crate::args::fleet::FleetCommand;
use crate::exit::{CommandOutcome, bail_usage};
use crate::terminal::Output;

pub fn run(command: &FleetCommand, output: Output) -> anyhow::Result<CommandOutcome> {
    match command {
        FleetCommand::Inventory(inventory) => inventory::run(inventory, output),
        FleetCommand::Plan(plan) => plan::run(plan, output),
        FleetCommand::Sweep(sweep) => sweep::run(sweep, output),
        FleetCommand::Task(task) => task::run(task, output),
        FleetCommand::Collect(collect) => collect::run(collect, output),
    }
}

/// The host that `--host` names, else this one by the kernel's host name.
fn host(given: Option<&HostName>) -> anyhow::Result<HostName> {
    given.map_or_else(|| Ok(HostName::of_this_host()?), |host| Ok(host.clone()))
}

/// The inventories that a plan looks into: those of the shared store, or of this host under the names `hosts`, its own if there are none.
fn inventories(plan: &Plan, here: bool, hosts: &[HostName]) -> anyhow::Result<Vec<HostInventory>> {
    if !here {
        bail_usage!(
            "{} has no inventories yet; look for drives of this host with --here",
            plan.store.at
        );
    }
    let hosts = match hosts {
        [] => vec![HostName::of_this_host()?],
        hosts => hosts.to_vec(),
    };
    let taken = hosts.iter().map(of_this_host);
    Ok(taken.collect::<Result<Vec<HostInventory>, FleetError>>()?)
}
