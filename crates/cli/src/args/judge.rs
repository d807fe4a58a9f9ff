//! Arguments of the commands that judge: `check`, `compare`, `verdict`.

use std::path::PathBuf;

use assay_analysis::compare::SlowerBy;
use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay check /dev/nvme0n1
  assay check /dev/nvme0n1 --datasheet mine.toml --report check.html
  assay check sim:samsung-951 --gate          status 1 if anything is below what is expected

Read-only. A figure is judged only beside a reference of the same procedure, and only of a drive: \
                        a file or a virtual disk is not judged.
docs/slow.md explains the ratings, and what to measure next.")]
pub struct CheckArguments {
    /// The drive.
    pub drive: String,
    /// End with status 1 if anything is below what is expected, or if nothing was measured.
    #[arg(long)]
    pub gate: bool,
    /// Data sheets of drives: a TOML file of [[facts]], as for `assay verdict`.
    #[arg(long, value_name = "FILE")]
    pub datasheet: Option<PathBuf>,
    /// Also write the report of the measurement, one HTML page.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Keep the run folder, for reports and comparisons.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay compare before after
  assay compare drive-a drive-b drive-c --json
  assay compare before after --details       the answer for every workload
  assay compare --before run-1 run-2 run-3 --after run-4 run-5 run-6
  assay compare baseline today --fail-if slower=5%     a gate for scripts

Runs of the same drive are pooled; the first drive is the baseline. Runs of only one drive are
compared with each other, or those --before a change with those --after it. Only workloads that both
have are compared; each metric is reported as faster, slower, same or can't tell, with its
confidence interval; of one run on each side, whether these runs differ, or by more than repetition
is known to give (docs/statistics.md).")]
pub struct CompareArguments {
    /// Run folders.
    #[arg(
        required_unless_present_any = ["before", "after"],
        conflicts_with_all = ["before", "after"],
        value_name = "RUN"
    )]
    pub runs: Vec<PathBuf>,
    /// Runs before a change, of the drives of those after it: one side, repeated.
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "after")]
    pub before: Vec<PathBuf>,
    /// Runs after the change.
    #[arg(long, value_name = "RUN", num_args = 1.., requires = "before")]
    pub after: Vec<PathBuf>,
    /// Show every workload that the drives have in common, not only the summary of each pair.
    #[arg(long)]
    pub details: bool,
    /// End with status 1 where a workload is slower than on the baseline, by more than a share:
    /// slower, or slower=5%. What cannot be told does not count; a comparison of nothing fails.
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Option<SlowerBy>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay verdict bandwidth-run consistency-run
  assay verdict bandwidth-run --policy mine.toml
  assay verdict run-of-seven-drives --against drives         each drive against the best of them
  assay verdict quick-run --against datasheet                a simulated drive against its model's \
                        data sheet
  assay verdict quick-run --against datasheet --datasheet mine.toml

The limits of a policy are opinions about the drives of one year; --against compares with other \
                        drives or with the data sheet instead.")]
pub struct VerdictArguments {
    /// Run folders.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// End with status 1 if a drive is not recommended, for scripts and CI.
    #[arg(long)]
    pub gate: bool,
    /// Verdict rules, a TOML file like policies/client.toml [default: that file].
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// What rates and latencies are compared with: the policy's limits, the best of the drives
    /// given, or each drive's data sheet.
    #[arg(
        long, value_name = "REFERENCE", default_value = "limits",
        value_parser = ["limits", "drives", "datasheet"]
    )]
    pub against: String,
    /// Data sheets of drives: a TOML file of [[facts]] as in policies/client.toml, with
    /// `rated = { random_read_iops = 300000 }`.
    #[arg(long, value_name = "FILE")]
    pub datasheet: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay run iocost ./area.img --destroy area.img --out costs && assay rank costs
  assay import old-results/ --out run && assay rank run
  assay rank run --with contributed/*.csv
  assay rank run --json | jq -r '.drives[].figures[] | [.workload, .metric, .rank, .of] | @tsv'

Figures of different procedures are never compared (docs/rank.md).")]
pub struct RankArguments {
    /// A run folder.
    pub run: PathBuf,
    /// Files of `assay contribute`, whose drives join the public ones: a colleague's, or those of
    /// your own laboratory.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub with: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay contribute run                           every text that would be handed over
  assay contribute run --out mine.csv            and the file
  assay rank other-run --with mine.csv

The file has the figures of real drives, as the tables of public drives do, with model, firmware
and capacity. Serial numbers are hashed; names of hosts, paths and labels are left out. Nothing is
sent anywhere: CONTRIBUTING.md says where the file goes.")]
pub struct ContributeArguments {
    /// A run folder, measured or imported.
    pub run: PathBuf,
    /// The file to write, CSV.
    #[arg(short, long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}
