//! Arguments of `assay fleet`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assay_fleet::{HostName, PlanId, Serial};
use clap::{Args, Subcommand};

/// The commands of a fleet.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Show the drives of this host with their serials, as a plan names them.
    Inventory(InventoryArguments),
    /// Check a plan, and show what would run where, how long it takes, and what is left out.
    Plan(PlanArguments),
    /// Measure simulated drives over a matrix of numbers of a profile.
    Sweep(SweepArguments),
    /// Do what is left to do of a plan for the drives of this host: what a job runs. Can be run again at any time.
    Task(TaskArguments),
    /// Fetch the run folders of a plan from its shared store, checked.
    Collect(CollectArguments),
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

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet plan plan.toml
  assay fleet plan plan.toml --here
  assay fleet plan plan.toml --json | jq .left_out
  assay fleet plan --schema > plan.schema.json

A plan is a TOML file (docs/fleet.md):

  name = \"m951\"
  suites = [ { suite = \"quick\" } ]
  [drives]
  model = \"SAMSUNG MZVPV128HDGM\"
  [store]
  at = \"/shared/assay\"")]
pub struct PlanArguments {
    /// The plan.
    #[arg(required_unless_present = "schema")]
    pub file: Option<PathBuf>,
    /// Look only for drives of this host, instead of in the inventories of the shared store.
    #[arg(long)]
    pub here: bool,
    /// With --here: name of this host [default: the kernel's host name]; several for a test of several hosts on one machine
    #[arg(long, value_name = "NAME", requires = "here")]
    pub host: Vec<HostName>,
    /// Print the JSON schema of plans.
    #[arg(long, conflicts_with_all = ["file", "here"])]
    pub schema: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet sweep sweep.toml -o table.csv
  sbatch --array=$(assay fleet sweep sweep.toml --missing) --wrap 'assay fleet sweep sweep.toml --chunk $SLURM_ARRAY_TASK_ID'

A chunk that has its result is not measured again. Results depend on the file alone, not on chunks, hosts and order (docs/fleet.md).")]
pub struct SweepArguments {
    /// The sweep, a TOML file with a section [sweep]
    pub file: PathBuf,
    /// Measure this chunk only, numbered from 0
    #[arg(long, value_name = "N", conflicts_with = "output")]
    pub chunk: Option<u64>,
    /// Measure nothing; print the numbers of the chunks without a result, as sbatch's --array takes them
    #[arg(long, conflicts_with_all = ["chunk", "output", "jobs"])]
    pub missing: bool,
    /// Points measured at the same time [default: one per processor]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Write the table of all points into this file, CSV
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet task --store /shared/assay --plan m951-0123456789ab
  assay fleet task --store s3://bucket/assay --plan m951-0123456789ab --host node17 --work /scratch/assay

For each drive of the plan that this host has: takes its claim, starts or resumes `assay run` for each suite that is not complete, and ships
the run folders to the shared store while they are written. SIGUSR1 ends it with the cell under way; SIGTERM at once.
Exit status: 0 done, 1 a drive failed (a result), 2 and 3 an operator must act, 4 I/O errors of the host, 75 to be queued again, 130 ended by
a signal, a pause, a cancel or `until`.")]
pub struct TaskArguments {
    /// The shared store: a directory, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "AT")]
    pub store: String,
    /// The plan, as `assay fleet plan FILE` shows its id
    #[arg(long, value_name = "ID")]
    pub plan: PlanId,
    /// Only this drive
    #[arg(long, value_name = "SERIAL")]
    pub serial: Option<Serial>,
    /// Name of this host [default: the kernel's host name]
    #[arg(long, value_name = "NAME")]
    pub host: Option<HostName>,
    /// Directory of run folders on this host [default: $ASSAY_FLEET_DIR, else /var/lib/assay/fleet]
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Job of the queue, for claims
    #[arg(long, value_name = "JOB")]
    pub job: Option<String>,
    /// Every wait, milliseconds, for tests
    #[arg(long, value_name = "MS", hide = true)]
    pub poll: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet collect plan.toml -o collected
  assay fleet collect plan.toml -o collected && assay report collected/*/* -o all.html

Can be repeated: only what was shipped since is fetched. Runs under way are collected as far as they are shipped.")]
pub struct CollectArguments {
    /// The plan.
    pub file: PathBuf,
    /// Directory for the run folders: DIR/SERIAL/NN-SUITE
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}
