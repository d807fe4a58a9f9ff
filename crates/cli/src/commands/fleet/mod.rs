//! `assay fleet`: one module per sub-command.

mod inventory;

use assay_fleet::HostName;

use crate::args::fleet::FleetCommand;
use crate::exit::CommandOutcome;
use crate::terminal::Output;

pub fn run(command: &FleetCommand, output: Output) -> anyhow::Result<CommandOutcome> {
    match command {
        FleetCommand::Inventory(inventory) => inventory::run(inventory, output),
    }
}

/// The host that `--host` names, else this one by the kernel's host name.
fn host(given: Option<&HostName>) -> anyhow::Result<HostName> {
    given.map_or_else(|| Ok(HostName::of_this_host()?), |host| Ok(host.clone()))
}
