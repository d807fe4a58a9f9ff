//! Command-line arguments as typed. Each command converts its own into a plan; lower crates do not
//! see them.

mod fio;
pub mod fleet;
pub mod import;
mod job;
mod jobs;
pub mod judge;
pub mod predict;
pub mod prepare;
mod run;
pub mod serve;
pub mod stream;
mod supervised;
pub mod testbench;
pub mod trace;

use std::path::PathBuf;

use assay_device::session::PurgeHow;
use assay_io::Nanos;
use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

use crate::log::Log;
use crate::terminal::Output;
pub use fio::FioArguments;
pub use jobs::{NamedJob, parse};
pub use judge::{CheckArguments, CompareArguments, VerdictArguments};
pub use run::{JobArguments, JobExecution, RunArguments};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER: &str = "\
DRIVE is a block device (/dev/nvme0n1), a file, a simulated drive (sim:samsung-951, \
                     sim:intel-600p,seed=7,state=fresh,
sim:./my-drive.toml), or null: (measures assay's own overhead). A job uses a simulated drive from a
current host, a suite from the test bench of its profile's source; sim:NAME,host=2017, 2025, bench
or 2.3us (per asynchronous 4 KiB I/O) names another.

First steps:
  assay list                                  drives of this host, and simulated drives
  assay check /dev/nvme0n1                    is this drive OK: an answer in a minute, read-only
  assay run quick sim:samsung-951             a short read-only test, under a minute
  assay run bandwidth /dev/nvme0n1            the full procedure, read-only unless --destroy names \
                     the drive
  assay job FILE --rw randread --bs 4k --iodepth 32 --runtime 5s
  assay report RUN -o report.html             one self-contained page
  producer | assay record DRIVE --index       record a stream; assay replay DRIVE > stream reads \
                     it back
  assay fit samsung-951 --to RUN --name mine  fit a simulated drive to a measured one
  assay serve sim:samsung-951 --nbd unix:PATH a simulated drive for other programs

My SSD gets slow, which test answers what (docs/slow.md):
  assay check DRIVE                           now, against data sheet and class (1 minute)
  assay run consistency DRIVE                 random writes of an hour on a full drive (destroys \
                     data)
  assay run thermal DRIVE                     does it throttle when warm
  assay run fill DRIVE                        what a full drive costs (destroys data)

A drive is written only if --destroy names it, and never while it is in use.
Exit status: 0 done, 1 the drive or its data failed, 2 usage, 3 refused for safety, 4 I/O error, \
                     75 the run folder or the drive is in use
by another process (try again later), 130 interrupted by the user.";

/// How the C library is linked.
#[cfg(target_feature = "crt-static")]
macro_rules! linkage {
    () => {
        "static: needs no shared library"
    };
}
#[cfg(not(target_feature = "crt-static"))]
macro_rules! linkage {
    () => {
        "dynamic: needs the system's C library"
    };
}

/// `assay --version`; `assay -V` is its first line.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    "\ncommit:  ",
    env!("ASSAY_COMMIT"),
    "\ntarget:  ",
    env!("ASSAY_TARGET"),
    "\nlinkage: ",
    linkage!(),
    "\nprofile: ",
    env!("ASSAY_PROFILE"),
);

/// Measures SSDs, real and simulated.
#[derive(Debug, Parser)]
#[command(
    name = "assay", version, long_version = VERSION, styles = STYLES, after_help = AFTER,
    max_term_width = 110
)]
pub struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub log: Log,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the drives of this host, and the simulated drives.
    #[command(after_help = "\
Examples:
  assay list
  assay list --json | jq -r .simulated[].spec")]
    List,
    /// Show identity, geometry, link, queues, scheduler and temperature of a drive, and whether it
    /// may be written.
    Probe(ProbeArguments),
    /// Is this drive OK: reads for a minute, and compares link, health, settings and rates with the
    /// data sheet and with public figures of its class.
    Check(CheckArguments),
    /// List the suites, or explain one: procedure, source, duration, parameters, and whether it
    /// destroys data.
    #[command(after_help = "\
Examples:
  assay suites
  assay suites quick
  assay suites --json | jq -r .suites[].name

Run one with `assay run SUITE DRIVE`; write your own as a TOML file (docs/suites.md).")]
    Suites {
        /// The suite to explain: a name, or the path of a suite file [default: list all]
        suite: Option<String>,
    },
    /// Run a suite on one or several drives, into a run folder.
    Run(RunArguments),
    /// Run one workload, with fio's option names.
    Job(Box<JobArguments>),
    /// Run a command line of fio, or its job files, as they are.
    Fio(Box<FioArguments>),
    /// Show what a block trace holds, or fit a synthetic workload to it; `assay job --trace`
    /// replays one.
    Trace(trace::TraceArguments),
    /// Make a run folder of results of other programs: fio, DiskSpd, elbencho and others.
    Import(import::ImportArguments),
    /// Render one self-contained HTML page of one or several runs.
    Report(ReportArguments),
    /// Make a static site of many runs: a table of drives, their histories, two side by side.
    Library(LibraryArguments),
    /// Compare runs in the terminal: values, and significant differences.
    Compare(CompareArguments),
    /// Evaluate each drive over all runs by a policy, with reasons.
    Verdict(VerdictArguments),
    /// Where a drive stands among public measurements of other drives, by like procedures.
    Rank(judge::RankArguments),
    /// Write the figures of a run for the tables of public drives, without what identifies you.
    Contribute(judge::ContributeArguments),
    /// Fit the parameters of a simulated drive to measured figures: a table, a run (custom
    /// profile), or the published ones.
    Fit(Box<FitArguments>),
    /// Predict random reads of a drive from its data sheet, and from measured cells if there are
    /// any; it needs no profile.
    Predict(predict::PredictArguments),
    /// Compare the simulated drives with published figures of the real ones, as one HTML page.
    Fidelity(FidelityArguments),
    /// Export runs: Parquet, CSV, JSON, JSON in fio's layout, Open Compute's output, joined tables
    /// of many runs.
    Export(ExportArguments),
    /// Record a stream onto a drive, with an index and checksums.
    Record(Box<stream::RecordArguments>),
    /// Replay a recording.
    Replay(stream::ReplayArguments),
    /// Verify a recording.
    Verify(stream::VerifyArguments),
    /// Run twelve data-integrity tests of stream recording on a drive.
    Testbench(testbench::TestbenchArguments),
    /// Purge a drive: sanitize, format or discard.
    Purge(PurgeArguments),
    /// Bring a drive to a state: steady, filled, sequential or empty.
    Prepare(Box<prepare::PrepareArguments>),
    /// Serve a simulated drive to other programs and virtual machines.
    Serve(serve::ServeArguments),
    /// Run the same suites on many drives of many hosts, by serial.
    #[command(
        subcommand,
        after_help = "\
Examples:
  assay fleet plan plan.toml --here           what would run where, for how long
  assay fleet submit plan.toml --here         on this host, without a queue
  assay fleet submit plan.toml                jobs of Slurm
  assay fleet status plan.toml

docs/fleet.md explains plans."
    )]
    Fleet(fleet::FleetCommand),
    /// Print shell completions.
    Completions(CompletionsArguments),
    /// Print a manual page (roff), or write all of them.
    Man(ManArguments),
    /// Print the licences of everything in this binary.
    Licenses,
    /// Print the version.
    Version,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay purge /dev/nvme0n1 --destroy S4EWNX0M
  assay purge /dev/nvme0n1 --destroy S4EWNX0M --how format
  assay purge /dev/nvme0n1 --destroy S4EWNX0M --how sanitize --destroy nvme0n2
                                    also erases the other namespace, which must be named
  assay purge disk.img --destroy disk.img

auto selects the most thorough method that affects only this drive: sanitize if it is the only
namespace, format if it affects one namespace only, else discard. A discard is advisory, and
reported as such. See docs/real-drives.md.")]
pub struct PurgeArguments {
    /// The drive.
    pub drive: String,
    /// Allow erasing this drive: its serial (or a file's name); also the names of other affected
    /// namespaces (nvme0n2)
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Vec<String>,
    /// Method
    #[arg(long, default_value = "auto", value_parser = purge_how())]
    pub how: PurgeHow,
}

fn purge_how() -> impl TypedValueParser<Value = PurgeHow> {
    let names = PossibleValuesParser::new(["auto", "sanitize", "format", "discard"]);
    names.map(|name| match name.as_str() {
        "sanitize" => PurgeHow::Sanitize,
        "format" => PurgeHow::Format,
        "discard" => PurgeHow::Discard,
        _ => PurgeHow::Best,
    })
}

/// Longest duration of `assay probe`: a drive that answers does so within its command timeout
/// (CAP.TO of NVMe: at most 127.5 s).
const PROBE_LIMIT: Nanos = Nanos::from_secs(130);

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay probe /dev/nvme0n1
  assay probe ./disk.img
  assay probe sim:samsung-951 --json
  assay probe --from id-ctrl.json smart-log.bin   what was saved of a drive elsewhere

Read-only; shows the serial that --destroy needs.")]
pub struct ProbeArguments {
    /// The drive.
    #[arg(required_unless_present = "from")]
    pub drive: Option<String>,
    /// Files about one drive instead: JSON or binary output of `nvme id-ctrl`, `id-ns`,
    /// `smart-log` and of the log C0h, `smartctl --json -x`, `assay probe --json`.
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "drive")]
    pub from: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay report assay-runs/20261121T120000Z-quick-1a2b
  assay report old-drive new-drive -o both.html
  assay report old-drive new-drive -o both.html --summary

Several runs give one page with their drives side by side. The page is self-contained and works \
                        offline.")]
pub struct ReportArguments {
    /// Run folders.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// The page to write.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
    /// Also write its scoreboard, as a picture (-summary.svg) and as a Markdown table (-summary.md)
    /// beside the page.
    #[arg(long)]
    pub summary: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay library assay-runs -o site
  assay library assay-runs imported fleet-runs -o site && xdg-open site/index.html

Searches the folders for run folders, measured and imported ones. The site is a table of all
drives, a page for each with the history of its figures over time and firmware, and a page
with two drives side by side. It needs no server and no network; made again, it replaces the
earlier one.
Exit status 1: some run folders could not be read; all others are in the site.")]
pub struct LibraryArguments {
    /// Folders with run folders, at any depth to eight levels.
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// The folder of the site.
    #[arg(short, long, value_name = "SITE")]
    pub out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay export my-run --format parquet -o tables
  assay export my-run --format fio-json -o - | jq .jobs[0].read.iops
  assay export assay-runs/* --format lake -o lake                 joined tables of many runs; \
                        docs/lake.md has queries")]
pub struct ExportArguments {
    /// The run folder; several with --format lake.
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<PathBuf>,
    /// parquet, csv, json, fio-json, bench-fio, fio-logs, ocp (Open Compute's Test & Validation
    /// output), lake (joined Parquet tables of many runs).
    #[arg(long, default_value = "json")]
    pub format: String,
    /// With --format lake: the plan that the runs are of, by which their tables are partitioned.
    #[arg(long, value_name = "PLAN")]
    pub plan: Option<String>,
    /// File (json, fio-json, ocp; - for stdout) or folder (parquet, csv, bench-fio, fio-logs, lake)
    /// to write [default: named after the run; lake].
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fit auto --to assay-runs/my-run --name my-drive        a twin of the measured drive: \
                        structure and numbers
  assay fit samsung-951 --to assay-runs/my-run --name my-drive  the numbers of a named structure \
                        only
  assay run bandwidth sim:./my-drive.toml                             runs a suite on it
  assay fit wd-black --to measurements.csv --hold-out 'threads=64' -o mine.toml
  assay fit samsung-951 --to published --free nand.read_ns=40000..90000 --evaluations 500

docs/fit.md explains measurement tables, free parameters and residuals. The same command continues \
                        an interrupted fit.")]
pub struct FitArguments {
    /// Where the fit starts: a simulated drive's name, the path of a profile (.toml), or "auto" for
    /// the nearest ones and their structure too.
    pub profile: String,
    /// Figures to fit to: a table of measurements (.csv), a run folder, or "published".
    #[arg(long, value_name = "WHAT", default_value = "published")]
    pub to: String,
    /// Recipe file with this profile's seed, evaluations, free parameters, start values and
    /// held-out figures.
    #[arg(
        long, value_name = "FILE",
        conflicts_with_all = ["free", "hold_out", "evaluations", "seed"]
    )]
    pub recipe: Option<PathBuf>,
    /// Label of the drive, in a run of several.
    #[arg(long, value_name = "LABEL")]
    pub drive: Option<String>,
    /// Free parameter, with its range: nand.read_ns=20000..90000 [default: the parameters marked as
    /// fitted]
    #[arg(long, value_name = "PATH[=LOW..HIGH]")]
    pub free: Vec<String>,
    /// Hold out the measurements whose name contains TEXT: they are predicted, not fitted.
    #[arg(long = "hold-out", value_name = "TEXT")]
    pub hold_out: Vec<String>,
    /// Number of evaluations.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub evaluations: u64,
    /// Seed of the search.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Simulation threads; the result does not depend on them [default: number of CPUs]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Name of the new profile [default: the old name; needed with auto]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The profile to write [default: NAME.toml]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fidelity                          all drives; some minutes
  assay fidelity samsung-951 -o 951.html
  assay fidelity --json | jq '.drives[] | [.name, .summary.median_error_pct]'

Each published figure is simulated by the same procedure. Held-out figures, not used by any fit, \
                        are marked.")]
pub struct FidelityArguments {
    /// Simulated drives, by name or as the path of a profile (.toml) of that name [default: all
    /// that are built in]
    #[arg(value_name = "NAME")]
    pub profiles: Vec<String>,
    /// The page to write.
    #[arg(short, long, value_name = "FILE", default_value = "fidelity.html")]
    pub output: PathBuf,
    /// Also write the page as Markdown.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Also write the errors of each profile as a table (shown by `assay list` when built in).
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Simulation threads [default: number of CPUs]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay completions bash > ~/.local/share/bash-completion/completions/assay
  assay completions zsh > ~/.zfunc/_assay
  assay completions fish > ~/.config/fish/completions/assay.fish")]
pub struct CompletionsArguments {
    /// bash, zsh, fish, elvish, powershell.
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay man job | man -l -
  assay man fleet submit | man -l -
  assay man --out ~/.local/share/man/man1")]
pub struct ManArguments {
    /// The command, with its sub-command [default: the page of assay itself]
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Write the pages of all commands into this folder.
    #[arg(long = "out", value_name = "FOLDER", conflicts_with = "command")]
    pub output: Option<PathBuf>,
}
