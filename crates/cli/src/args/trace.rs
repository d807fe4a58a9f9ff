//! Arguments of `assay trace`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay trace info server.csv
  assay trace info blkparse.txt --device 8,0 --json
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
    /// The trace: text of blkparse, fio iolog, CSV of MSR Cambridge, SYSTOR '17 or Alibaba; also
    /// compressed with zstd.
    pub trace: PathBuf,
    /// Its format: auto, blkparse, iolog, msr, systor, alibaba.
    #[arg(long, default_value = "auto")]
    pub format: String,
    /// Only requests of this device, by its name in the trace.
    #[arg(long, value_name = "NAME")]
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
