//! Arguments, exactly as typed. Each command turns its own into a plan; nothing below sees them.

mod job;
pub mod serve;
pub mod stream;
pub mod testbench;

use std::path::PathBuf;

use assay_device::session::PurgeHow;
use assay_workload::options::JobOptions;
use clap::builder::styling::{AnsiColor, Styles};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

use crate::terminal::Output;
use job::WorkloadArguments;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Yellow.on_default().bold())
    .usage(AnsiColor::Yellow.on_default().bold())
    .literal(AnsiColor::Green.on_default())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER: &str = "\
DRIVE is a block device (/dev/nvme0n1), a file, a simulated drive (sim:samsung-951, sim:intel-600p,seed=7,state=fresh,
sim:./my-drive.toml), or null: (measures this program itself).

First steps:
  assay list                                  what drives are here, and which can be simulated
  assay run quick sim:samsung-951             a first look, under a minute, read-only
  assay run bandwidth /dev/nvme0n1            the whole procedure, read-only until --destroy names the drive
  assay job FILE --rw randread --bs 4k --iodepth 32 --runtime 5s
  assay report RUN -o report.html             one self-contained page
  producer | assay record DRIVE --index       a stream onto a drive; assay replay DRIVE > stream gives it back
  assay fit samsung-951 --to RUN --name mine  a simulated drive that does what yours did
  assay serve sim:samsung-951 --nbd unix:PATH a simulated drive that other programs can use

Nothing is ever written to a drive unless --destroy names it, and never to one that is in use.
Exit status: 0 done, 1 the drive or its data failed, 2 usage, 3 refused for safety, 4 I/O error, 130 ended by the user.";

/// The open lab that finds out what an SSD is really made of.
#[derive(Debug, Parser)]
#[command(name = "assay", version, styles = STYLES, after_help = AFTER, max_term_width = 110, disable_help_subcommand = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// One JSON document on stdout instead of text; progress stays on stderr.
    #[arg(long, global = true)]
    json: bool,
}

impl Arguments {
    /// How output is wanted.
    pub fn output(&self) -> Output {
        Output { json: self.json }
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Drives on this machine, and drives that can be simulated.
    #[command(after_help = "\
Examples:
  assay list
  assay list --json | jq -r .simulated[].spec")]
    List,
    /// What a drive is: identity, geometry, link, queues, scheduler, temperature, and whether it may be written.
    Probe(ProbeArguments),
    /// The suites: what each does, where it comes from, how long it takes, whether it destroys data.
    #[command(after_help = "\
Examples:
  assay suites
  assay suites --json | jq -r .suites[].name

Run one with `assay run SUITE DRIVE`; write your own as a TOML file (docs/suites.md).")]
    Suites,
    /// Run a suite on one or several drives, into a run folder.
    Run(RunArguments),
    /// Run one workload, in fio's words.
    Job(Box<JobArguments>),
    /// Make one self-contained HTML page of one or several runs.
    Report(ReportArguments),
    /// Runs side by side in the terminal, and which differences are known.
    Compare(CompareArguments),
    /// What all runs together say of each drive, with reasons, by a policy that you can replace.
    Verdict(VerdictArguments),
    /// Fit a simulated drive's numbers to measured figures: of a table, of a run (a digital twin), or the published ones.
    Fit(Box<FitArguments>),
    /// The simulated drives beside what was published of the real ones, as one HTML page.
    Fidelity(FidelityArguments),
    /// A run as Parquet, CSV, JSON, or JSON in fio's layout.
    Export(ExportArguments),
    /// Record a stream onto a drive, with every byte accounted for.
    Record(Box<stream::RecordArguments>),
    /// Replay what was recorded.
    Replay(stream::ReplayArguments),
    /// Is a recording what was recorded?
    Verify(stream::VerifyArguments),
    /// Twelve tests that find out whether a drive keeps every byte of a stream.
    Testbench(testbench::TestbenchArguments),
    /// Erase a drive by the best means it has, and say what was reached.
    Purge(PurgeArguments),
    /// A simulated drive as a block device for other programs and virtual machines.
    Serve(serve::ServeArguments),
    /// Completions for a shell, to be put where it looks for them.
    Completions(CompletionsArguments),
}

/// `assay purge`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay purge /dev/nvme0n1 --destroy S4EWNX0M
  assay purge /dev/nvme0n1 --destroy S4EWNX0M --how format
  assay purge /dev/nvme0n1 --destroy S4EWNX0M --how sanitize --destroy nvme0n2     reaches the other namespace too, which must be named
  assay purge disk.img --destroy disk.img

auto takes the most thorough way that reaches nothing but this drive: sanitize where it is the only namespace, format where a format is of one
namespace, else discard. A discard is advice, and said to be so. docs/real-drives.md has the whole story.")]
pub struct PurgeArguments {
    /// The drive.
    pub drive: String,
    /// Allow this drive to be erased: its serial (or a file's name); other namespaces that are reached by their names (nvme0n2)
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Vec<String>,
    /// How
    #[arg(long, default_value = "auto", value_parser = purge_how())]
    pub how: PurgeHow,
}

fn purge_how() -> impl TypedValueParser<Value = PurgeHow> {
    PossibleValuesParser::new(["auto", "sanitize", "format", "discard"]).map(|name| {
        match name.as_str() {
            "sanitize" => PurgeHow::Sanitize,
            "format" => PurgeHow::Format,
            "discard" => PurgeHow::Discard,
            _ => PurgeHow::Best,
        }
    })
}

/// `assay probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay probe /dev/nvme0n1
  assay probe ./disk.img
  assay probe sim:samsung-951 --json

Needs no --destroy and writes nothing; it tells what --destroy would have to name.")]
pub struct ProbeArguments {
    /// The drive.
    pub drive: String,
}

/// `assay run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay run quick /dev/nvme0n1
  assay run bandwidth sim:samsung-951 sim:intel-600p --scale 0.1
  assay run bandwidth ./disk.img --destroy disk.img --set area=1GiB --out my-run
  assay run --resume my-run

The parameters of a suite, for --set, are shown by `assay suites`.")]
pub struct RunArguments {
    /// The suite: a name from `assay suites`, or the path of a suite file (.toml).
    #[arg(required_unless_present = "resume")]
    pub suite: Option<String>,
    /// The drives, measured one after the other, and together where the suite says so.
    #[arg(value_name = "DRIVE", required_unless_present = "resume")]
    pub drives: Vec<String>,
    /// The run folder to make [default: assay-runs/DATE-SUITE].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Set a parameter of the suite.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Multiply every duration; reports say so.
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 1.0,
        allow_negative_numbers = true
    )]
    pub scale: f64,
    /// Seed of every random choice.
    #[arg(long, default_value_t = assay_workload::plan::DEFAULT_SEED)]
    pub seed: u64,
    /// Allow this drive to be overwritten: its serial (or a file's name), once per drive. A file system or partition table on it
    /// must be named by a further --destroy (the refusal says which).
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Vec<String>,
    /// A program that prints the drive's watts, one reading per line (for one drive): its power, in place of what the drive tells.
    #[arg(long, value_name = "COMMAND")]
    pub power_meter: Option<String>,
    /// Continue a run that was cut off, at the first cell it did not finish.
    #[arg(long, value_name = "RUN", conflicts_with_all = ["suite", "drives", "out", "set", "scale", "seed"])]
    pub resume: Option<PathBuf>,
}

/// `assay job`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay job /dev/nvme0n1 --rw randread --bs 4k --iodepth 32 --runtime 10s
  assay job sim:samsung-951 --rw randread --bs 4k --numjobs 64 --runtime 10s
  assay job ./disk.img --rw randread --rate 20k --arrival poisson --iodepth 64 --runtime 10s
  assay job ./disk.img --rw write --bs 128k --verify --destroy disk.img

Options are spelled as fio spells them; sizes (4k, 16g) are powers of 1024, durations take ms, s, m, h.
Without --runtime or --io_size the area is gone over once.")]
pub struct JobArguments {
    /// The drive.
    pub drive: String,
    #[command(flatten)]
    workload: WorkloadArguments,
    /// Allow this drive to be overwritten: its serial (or a file's name).
    #[arg(long, value_name = "SERIAL", help_heading = "Safety and output")]
    pub destroy: Vec<String>,
    /// A program that prints the drive's watts, one reading per line: its power, in place of what the drive tells.
    #[arg(long, value_name = "COMMAND", help_heading = "Safety and output")]
    pub power_meter: Option<String>,
    /// Keep a run folder of the job here, for reports and exports.
    #[arg(long, value_name = "DIR", help_heading = "Safety and output")]
    pub out: Option<PathBuf>,
}

impl JobArguments {
    /// The options of the workload.
    pub fn options(&self) -> JobOptions {
        self.workload.0.clone()
    }
}

/// `assay report`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay report assay-runs/20261121T120000Z-quick-1a2b
  assay report old-drive new-drive -o both.html

Several runs make one page with their drives side by side. The page works offline and can be mailed as it is.")]
pub struct ReportArguments {
    /// Run folders.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// The page to write.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    pub output: PathBuf,
}

/// `assay compare`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay compare before after
  assay compare drive-a drive-b drive-c --json

Runs of the same drive stand on one side, and the first drive is the baseline; runs of one drive only are compared with each other.
Every metric is answered with faster, slower, same or can't tell, and the interval that says so (docs/statistics.md).")]
pub struct CompareArguments {
    /// Run folders.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
}

/// `assay verdict`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay verdict bandwidth-run consistency-run
  assay verdict bandwidth-run --policy mine.toml")]
pub struct VerdictArguments {
    /// Run folders.
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Rules to judge by, a TOML file like policies/client.toml [default: that one].
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

/// `assay export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay export my-run --format parquet -o tables
  assay export my-run --format fio-json -o - | jq .jobs[0].read.iops")]
pub struct ExportArguments {
    /// The run folder.
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// parquet, csv, json, fio-json.
    #[arg(long, default_value = "json")]
    pub format: String,
    /// File (json, fio-json; - for stdout) or folder (parquet, csv) to write [default: named after the run].
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,
}

/// `assay fit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fit samsung-951 --to assay-runs/my-run --name my-drive        a digital twin of the drive that was run
  assay run bandwidth sim:./my-drive.toml                             ... and what it would do
  assay fit wd-black --to measurements.csv --hold-out 'threads=64' -o twin.toml
  assay fit samsung-951 --to published --free nand.read_ns=40000..90000 --evaluations 500

docs/fit.md explains tables of measurements, free numbers and residuals. A fit that was cut off goes on with the same command.")]
pub struct FitArguments {
    /// Where the fit starts: a simulated drive's name, or the path of a profile (.toml).
    pub profile: String,
    /// What to fit to: a table of measurements (.csv), a run folder, or the word published.
    #[arg(long, value_name = "WHAT", default_value = "published")]
    pub to: String,
    /// Seed, evaluations, free numbers, where they begin and what is held out, as a file of recipes has them for this profile.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["free", "hold_out", "evaluations", "seed"])]
    pub recipe: Option<PathBuf>,
    /// Which drive of a run of several, by its label.
    #[arg(long, value_name = "LABEL")]
    pub drive: Option<String>,
    /// A number that may move, and within what: nand.read_ns=20000..90000 [default: those that were fitted before]
    #[arg(long, value_name = "PATH[=LOW..HIGH]")]
    pub free: Vec<String>,
    /// Keep back the measurements whose name contains this: they are not fitted to but predicted.
    #[arg(long = "hold-out", value_name = "TEXT")]
    pub hold_out: Vec<String>,
    /// Candidates to try.
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub evaluations: u64,
    /// Seed of the search.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Threads that simulate; the result does not depend on it [default: the processors]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
    /// Name of the new profile [default: that of the old one]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The profile to write [default: NAME.toml]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `assay fidelity`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay fidelity                          all of them; some minutes
  assay fidelity samsung-951 -o 951.html
  assay fidelity --json | jq '.drives[] | [.name, .summary.median_error_pct]'

Every published figure is asked of the simulated drive by the same procedure. Figures that no fit has seen are marked.")]
pub struct FidelityArguments {
    /// Simulated drives, by name or as the path of a profile (.toml) of that name [default: all that are built in]
    #[arg(value_name = "NAME")]
    pub profiles: Vec<String>,
    /// The page to write.
    #[arg(short, long, value_name = "FILE", default_value = "fidelity.html")]
    pub output: PathBuf,
    /// The same as Markdown.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// The errors of each profile as a table, which `assay list` shows once built in.
    #[arg(long, value_name = "FILE")]
    pub table: Option<PathBuf>,
    /// Threads that simulate [default: the processors]
    #[arg(long, value_name = "N")]
    pub threads: Option<usize>,
}

/// `assay completions`.
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
