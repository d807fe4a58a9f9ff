//! Arguments of `run` and `job`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::job::WorkloadArguments;
use super::jobs::NamedJob;
use crate::commands::Date;
use crate::live::LiveArguments;

#[derive(Clone, Debug, Args)]
#[command(after_help = "\
Examples:
  assay run quick /dev/nvme0n1 --report quick.html
  assay run bandwidth sim:samsung-951 sim:intel-600p --scale 0.1
  assay run bandwidth ./disk.img --destroy disk.img --set area=1GiB --out my-run
  assay run jobs.fio
  assay run --resume my-run
  assay run --resume my-run --until 2027-02-01T06:00:00Z

`assay suites SUITE` shows the parameters of a suite, for --set.")]
pub struct RunArguments {
    /// The suite: a name from `assay suites`, the path of a suite file (.toml), or of a fio job
    /// file (.fio).
    #[arg(required_unless_present = "resume")]
    pub suite: Option<String>,
    /// The drives; measured one after the other, and concurrently where the suite requires it. A
    /// fio job file names its own, and takes one drive in place of all of them.
    #[arg(value_name = "DRIVE", required_unless_present_any = ["resume", "suite"])]
    pub drives: Vec<String>,
    /// The run folder to create [default: assay-runs/DATE-SUITE].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the report of the run, one HTML page, as `assay report` does.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Also write Open Compute's Test & Validation output 2.0, a line per artifact as it happens,
    /// as `assay export --format ocp` does of a run folder.
    #[arg(long, value_name = "FILE")]
    pub ocp: Option<PathBuf>,
    /// Set a parameter of the suite.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// End with status 1 if nothing was measured, for scripts and CI.
    #[arg(long)]
    pub gate: bool,
    /// Engine of the suite's asynchronous workloads: uring, threads (where io_uring is refused) or
    /// passthru.
    #[arg(long, value_name = "ENGINE", value_parser = ["auto", "uring", "threads", "passthru"])]
    pub engine: Option<String>,
    /// Multiply every duration; reports mark the run.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true)]
    pub scale: f64,
    /// Seed of the random number generators.
    #[arg(long, default_value_t = assay_workload::plan::DEFAULT_SEED)]
    pub seed: u64,
    /// Allow overwriting this drive: its serial (or a file's name), once per drive. A file system
    /// or partition table on it needs a further --destroy (the refusal names it).
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Vec<String>,
    /// Program that prints the power of the drive in watts, one reading per line; replaces the
    /// drive's own readings (one drive only).
    #[arg(long, value_name = "COMMAND")]
    pub power_meter: Option<String>,
    /// Begin no cell that could end after this date (RFC 3339, with its zone) by its planned
    /// longest time; the run is then interrupted, and --resume continues it. SIGUSR1 ends a run
    /// likewise, when its present cell has ended.
    #[arg(long, value_name = "DATE")]
    pub until: Option<Date>,
    #[command(flatten)]
    pub live: LiveArguments,
    /// Continue an interrupted run at its first unfinished cell.
    #[arg(
        long, value_name = "RUN",
        conflicts_with_all = ["suite", "drives", "out", "set", "engine", "scale", "seed"]
    )]
    pub resume: Option<PathBuf>,
    /// With --resume: where a drive of the run is now, if it was moved or has another name; once
    /// per drive, in the order of the run. It must be the same drive, by model, serial and size.
    #[arg(long, value_name = "DRIVE", requires = "resume")]
    pub drive: Vec<String>,
}

impl RunArguments {
    /// The fio job file that is named in place of a suite.
    pub fn job_file(&self) -> Option<&Path> {
        let suite = self.suite.as_deref().map(Path::new)?;
        (suite.extension()? == "fio").then_some(suite)
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay job /dev/nvme0n1 --rw randread --bs 4k --iodepth 32 --runtime 10s
  assay job sim:samsung-951 --rw randread --bs 4k --numjobs 64 --runtime 10s
  assay job ./disk.img --rw randread --rate 20k --arrival poisson --iodepth 64 --runtime 10s
  assay job ./disk.img --rw write --bs 128k --verify --destroy disk.img
  assay job sim:samsung-951 --runtime 10s --name reads --rw randread --name writes --rw write
  assay job sim:samsung-951 --trace server.csv --trace_time_scale 0.5
  assay job sim:samsung-951 --ioengine=libaio --rw=randread --bs=4k --size=64m
  assay job --fio jobs.fio sim:samsung-951

Several --name, as with fio's, begin jobs that run at once on the drive: options of a workload \
                        before the first --name are those of all.
The first job is in the foreground.
With an option that only fio has, all options of the line do what they do in fio (assay fio).
Options are spelled as fio spells them; sizes (4k, 16g) are powers of 1024, durations take ms, s, \
                        m, h.
Without --runtime or --io_size the job makes one pass over the area.")]
pub struct JobArguments {
    /// The drive.
    pub drive: String,
    #[command(flatten)]
    pub workload: WorkloadArguments,
    /// The jobs, each with the options of all, where several are named.
    #[arg(skip)]
    pub jobs: Vec<NamedJob>,
    /// Name of a job. Given several times, each begins a job, and they run at once on the drive; a
    /// single one changes nothing
    #[arg(long, value_name = "NAME", help_heading = "fio's spelling")]
    pub name: Option<String>,
    #[command(flatten)]
    pub execution: JobExecution,
}

/// How jobs are executed: of `job` and of `fio`.
#[derive(Clone, Debug, Args)]
pub struct JobExecution {
    /// Allow overwriting this drive: its serial (or a file's name).
    #[arg(long, value_name = "SERIAL", help_heading = "Safety and output")]
    pub destroy: Vec<String>,
    /// Program that prints the power of the drive in watts, one reading per line; replaces the
    /// drive's own readings.
    #[arg(long, value_name = "COMMAND", help_heading = "Safety and output")]
    pub power_meter: Option<String>,
    /// Keep the run folder, for reports and exports.
    #[arg(long, value_name = "DIR", help_heading = "Safety and output")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub live: LiveArguments,
}
