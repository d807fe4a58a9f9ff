//! Arguments of `assay trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay trace info server.csv
  assay trace info blkparse.txt --trace_device 8,0 --json
  assay trace info mine.csv --trace_columns time=1:us,op=2,offset=3:512,size=4
  assay trace fit server.csv -o server.toml
  assay run ./server.toml sim:samsung-951

Replay a trace: assay job DRIVE --trace FILE (docs/traces.md).")]
pub struct TraceArguments {
    #[command(subcommand)]
    pub command: TraceCommand,
}

#[derive(Debug, Subcommand)]
pub enum TraceCommand {
    /// Show what a trace holds: operations, sizes, order, hot spots, arrivals.
    Info(TraceFile),
    /// Fit a synthetic workload to a trace, as a suite.
    Fit(TraceFitArguments),
}

/// A trace.
#[derive(Clone, Debug, Args)]
pub struct TraceFile {
    /// The trace: of blktrace, blkparse, ftrace, biosnoop, fio, a published one, or lines with
    /// columns; also compressed with gzip or zstd (docs/traces.md).
    pub trace: PathBuf,
    /// Its format, as `assay job` takes it; auto: by its first lines.
    #[arg(long = "trace_format", alias = "format", value_name = "FORMAT", default_value = "auto")]
    pub format: String,
    /// Which column of a line is what, in place of a format.
    #[arg(long = "trace_columns", alias = "columns", value_name = "COLUMNS")]
    pub columns: Option<String>,
    /// Only requests of this device, by its name in the trace.
    #[arg(long = "trace_device", alias = "device", value_name = "NAME")]
    pub device: Option<String>,
}

#[derive(Debug, Args)]
pub struct TraceFitArguments {
    #[command(flatten)]
    pub file: TraceFile,
    /// The suite to write [default: NAME.toml, by the name of the trace]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
