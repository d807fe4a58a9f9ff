//! Arguments of `assay fleet`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use assay_analysis::cohort::Grouping;
use assay_fleet::{HostName, PlanId, Serial};
use clap::{Args, Subcommand, ValueEnum};

/// The commands of a fleet.
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Show the drives of this host with their serials, as a plan names them.
    Inventory(InventoryArguments),
    /// Check a plan, and show what would run where, how long it takes, and what is left out.
    Plan(PlanArguments),
    /// Make the jobs of a plan that are missing; repeating it changes nothing where nothing is left
    /// to do.
    Submit(SubmitArguments),
    /// Show how far each drive of a plan is.
    Status(StatusArguments),
    /// Stop each drive of a plan at the end of its cell.
    Pause(PauseArguments),
    /// Stop all drives of a plan at once.
    Cancel(CancelArguments),
    /// Compute in chunks on many hosts: simulated drives over a matrix of numbers of a profile, or
    /// the starts of a fit.
    Sweep(SweepArguments),
    /// Do what is left to do of a plan for the drives of this host: what a job runs. Can be run
    /// again at any time.
    Task(TaskArguments),
    /// Fetch the run folders of a plan from its shared store, checked.
    Collect(CollectArguments),
    /// Draw conclusions from the runs of many drives: spread, outliers, hosts, groups, and whether
    /// chance explains them.
    Cohort(CohortArguments),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet inventory
  assay fleet inventory --json | jq -r .drives[].serial
  assay fleet inventory --store /shared/assay
  assay fleet inventory --slurm
  assay fleet inventory --store /shared/assay --host node17 --remove

Drives are found in /sys; drives without a serial are left out. Further ones (files, loop devices, \
                        sim:NAME,lot=N) are listed, one per
line, in the file $ASSAY_FLEET_DRIVES/HOST.")]
pub struct InventoryArguments {
    /// Name of this host [default: the kernel's host name]
    #[arg(long, value_name = "NAME")]
    pub host: Option<HostName>,
    /// Also write it into this shared store, where plans look for drives: an absolute path, or
    /// s3://BUCKET/PREFIX
    #[arg(long, value_name = "AT")]
    pub store: Option<String>,
    /// Rack of this host, for {rack} in a plan's slurm.partition
    #[arg(long, value_name = "NAME")]
    pub rack: Option<String>,
    /// Remove the inventory of a host that is gone from the shared store, so that its drives can be
    /// found on other hosts.
    #[arg(long, requires = "store", requires = "host", conflicts_with_all = ["rack", "slurm"])]
    pub remove: bool,
    /// Print the configuration line of a dynamic node of Slurm, with a GRES type per serial, for
    /// plans with place = "drive".
    #[arg(long)]
    pub slurm: bool,
}

/// On this host, without a queue.
#[derive(Debug, Args)]
pub struct HereArguments {
    /// Without a queue: take the inventory of this host now, and run its tasks here.
    #[arg(long)]
    pub here: bool,
    /// With --here: name of this host [default: the kernel's host name]; several for a test of
    /// several hosts on one machine
    #[arg(long, value_name = "NAME", requires = "here")]
    pub host: Vec<HostName>,
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
    #[command(flatten)]
    pub here: HereArguments,
    /// Print the JSON schema of plans.
    #[arg(long, conflicts_with_all = ["file", "here"])]
    pub schema: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet sweep sweep.toml -o table.csv
  sbatch --array=$(assay fleet sweep sweep.toml --missing) --wrap 'assay fleet sweep sweep.toml \
                        --chunk $SLURM_ARRAY_TASK_ID'

The section of the file says what is computed: [sweep], simulated drives over a matrix of \
                        parameters; [fit], the starts of a fit. A chunk that has its result is \
                        not computed again. Results depend on the file alone, not on
chunks, hosts and order (docs/fleet.md).")]
pub struct SweepArguments {
    /// TOML file with a section [sweep] or [fit]
    pub file: PathBuf,
    /// Compute this chunk only, numbered from 0
    #[arg(long, value_name = "N", conflicts_with = "output")]
    pub chunk: Option<u64>,
    /// Compute nothing; print the numbers of the chunks without a result, as sbatch's --array takes
    /// them
    #[arg(long, conflicts_with_all = ["chunk", "output", "jobs"])]
    pub missing: bool,
    /// Points, or simulated drives of a fit, at the same time [default: one per processor]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Write the result: the table of all points (CSV), or the profile of the best start (.toml)
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet submit plan.toml --here
  assay fleet submit plan.toml
  assay fleet submit plan.toml --destroy-count 400
  assay fleet submit plan.toml --resume

By Slurm, or with --here on this host alone: then it waits for the end, and Ctrl-C stops it. \
                        Drives that are finished are left out, jobs that are
there are found by their names, interrupted drives go on at the unfinished cell. Destroying data \
                        takes destroy = true and a list of serials in the
plan, and the number of serials here.

Exit status with --here: 0 done, 1 a drive failed, 130 interrupted.")]
pub struct SubmitArguments {
    /// The plan.
    pub file: PathBuf,
    #[command(flatten)]
    pub here: HereArguments,
    /// Confirm that the data of this many drives is destroyed: the number of serials in the plan's
    /// list
    #[arg(long, value_name = "N")]
    pub destroy_count: Option<usize>,
    /// Continue a plan that was cancelled.
    #[arg(long)]
    pub resume: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet status plan.toml
  assay fleet status plan.toml --json | jq .counts
  assay fleet status plan.toml --openmetrics /var/lib/prometheus/node-exporter/assay-fleet.prom

From the shared store alone, whatever the queue says: progress is what was shipped last. \"At \
                        most\" is the planned time of what is left.")]
pub struct StatusArguments {
    /// The plan.
    pub file: PathBuf,
    /// Also write the state of all drives as OpenMetrics text, for the textfile collector of the
    /// node exporter.
    #[arg(long, value_name = "FILE")]
    pub openmetrics: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet pause plan.toml
  assay fleet submit plan.toml                goes on")]
pub struct PauseArguments {
    /// The plan.
    pub file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet cancel plan.toml
  assay fleet cancel plan.toml --here
  assay fleet submit plan.toml --resume       goes on

The cell under way is lost, measured cells are kept. The plan stays cancelled: jobs that the queue \
                        brings back end at once.")]
pub struct CancelArguments {
    /// The plan.
    pub file: PathBuf,
    /// The plan runs without a queue: only tell its tasks.
    #[arg(long)]
    pub here: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet task --store /shared/assay --plan m951-0123456789ab
  assay fleet task --store s3://bucket/assay --plan m951-0123456789ab --host node17 --work \
                        /scratch/assay

For each drive of the plan that this host has: takes its claim, starts or resumes `assay run` for \
                        each suite that is not complete, and ships
the run folders to the shared store while they are written. SIGUSR1 ends it with the cell under \
                        way; SIGTERM at once.
Exit status: 0 done, 1 a drive failed (a result), 2 and 3 an operator must act, 4 I/O errors of \
                        the host, 75 to be queued again, 130 ended by
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
    /// Keep live figures of the drives in this folder, as OpenMetrics for the textfile collector of
    /// the node exporter [default: run.metrics of the plan]
    #[arg(long, value_name = "DIR")]
    pub metrics: Option<PathBuf>,
    /// At exit status 75, have Slurm queue the job again (scontrol requeue)
    #[arg(long, requires = "job")]
    pub requeue: bool,
    /// Every wait, milliseconds, for tests
    #[arg(long, value_name = "MS", hide = true)]
    pub poll: Option<u64>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet collect plan.toml -o collected
  assay fleet collect plan.toml -o collected --lake lake
  assay fleet collect plan.toml -o collected && assay report collected/*/* -o all.html

Can be repeated: only what was shipped since is fetched. Runs under way are collected as far as \
                        they are shipped.")]
pub struct CollectArguments {
    /// The plan.
    pub file: PathBuf,
    /// Directory for the run folders: DIR/SERIAL/NN-SUITE
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
    /// Also join the runs into the tables of this directory (docs/lake.md).
    #[arg(long, value_name = "DIR")]
    pub lake: Option<PathBuf>,
}

/// How drives are grouped.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum GroupBy {
    /// No groups.
    None,
    /// Groups of the plan.
    Group,
    /// Firmware.
    Firmware,
    /// Model.
    Model,
    /// Production lot.
    Lot,
}

impl From<GroupBy> for Grouping {
    fn from(by: GroupBy) -> Grouping {
        match by {
            GroupBy::None => Grouping::None,
            GroupBy::Group => Grouping::Group,
            GroupBy::Firmware => Grouping::Firmware,
            GroupBy::Model => Grouping::Model,
            GroupBy::Lot => Grouping::Lot,
        }
    }
}

/// A share of 1 as the plan's `minimum_effect`: `0.02`.
fn effect(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("a share from 0 to 1 is expected, as 0.02 for 2 %".to_owned()),
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fleet cohort runs/ -o fleet.html
  assay fleet cohort plan.toml -o fleet.html
  assay fleet cohort --lake lake/ --primary consistency.score --groups firmware
  assay fleet cohort runs/ --limit soak.temperature_c=70 --limit soak.errors_per_bit=1e-16
  assay fleet cohort runs/ --json | jq .cohort.outliers

Figures are named SUITE.KEY (headline metrics) and SUITE/STEP/AXES.FIGURE (cells). Primary ones are
declared before measuring; everything else is exploration. docs/cohorts.md explains each conclusion
and how often chance alone gives it.")]
pub struct CohortArguments {
    /// Run folders, folders that hold them, or a plan: then its runs are collected from its shared
    /// store, if none are named.
    #[arg(required_unless_present = "lake", value_name = "FILE|RUN")]
    pub sources: Vec<PathBuf>,
    /// Joined tables (assay export --format lake), of the plan if one is named.
    #[arg(long, value_name = "FOLDER")]
    pub lake: Option<PathBuf>,
    /// A primary figure; may be repeated [default: those of the plan]
    #[arg(long, value_name = "FIGURE")]
    pub primary: Vec<String>,
    /// Smallest relative difference that matters [default: that of the plan, else 0.01]
    #[arg(long, value_name = "SHARE", value_parser = effect)]
    pub minimum_effect: Option<f64>,
    /// What drives are grouped by [default: as the plan says; else groups, model or firmware,
    /// whichever differs]
    #[arg(long, value_name = "PROPERTY")]
    pub groups: Option<GroupBy>,
    /// The group that others are compared with [default: the first by name]
    #[arg(long, value_name = "GROUP")]
    pub baseline: Option<String>,
    /// Limit of a figure of a soak, as soak.temperature_c=70: says when a drifting drive reaches
    /// it; of soak.errors_per_bit, which drives exceed it [default: 1e-15]; may be repeated.
    #[arg(long, value_name = "FIGURE=VALUE", value_parser = limit)]
    pub limit: Vec<(String, f64)>,
    /// Write the page to this file.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

fn limit(text: &str) -> Result<(String, f64), String> {
    let (figure, value) = text.rsplit_once('=').ok_or("FIGURE=VALUE is expected")?;
    let value: f64 = value.parse().map_err(|_| format!("{value} is not a number"))?;
    match value.is_finite() && value > 0.0 {
        true => Ok((figure.to_owned(), value)),
        false => Err(format!("{value} is not above 0")),
    }
}
