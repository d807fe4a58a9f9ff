//! Arguments of `assay fleet`.

use assay_fleet::HostName;
use clap::{Args, Subcommand};

/// The commands of a fleet.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Show the drives of this host with their serials, as a plan names them.
    Inventory(InventoryArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet inventory
  assay fleet inventory --json | jq -r .drives[].serial

Drives are found in /sys; drives without a serial are left out. Further ones (files, loop devices, sim:NAME,lot=N) are listed, one per
line, in the file $ASSAY_FLEET_DRIVES/HOST.")]
pub struct InventoryArguments {
    /// Name of this host [default: the kernel's host name]
    #[arg(long, value_name = "NAME")]
    pub host: Option<HostName>,
}
