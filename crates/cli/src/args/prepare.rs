//! `assay prepare`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::live::LiveArguments;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TargetState {
    /// As random writes leave it in the long run: one write of its flash, and a probe
    Steady,
    /// Every block written once, sequentially
    Filled,
    /// Every block written twice, sequentially: SNIA's workload-independent preconditioning
    Sequential,
    /// Purged
    Empty,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay prepare /dev/nvme0n1 --to steady --destroy S4EWNX0M
  assay prepare sim:samsung-951,shrink=64 --to steady
  assay prepare disk.img --to filled --destroy disk.img

Suites whose preconditioning is the same find the drive prepared, as long as nothing else writes \
                        to it.
An interrupted preparation is continued with assay run --resume RUN.
docs/preconditioning.md explains steady state, and how it was checked.")]
pub struct PrepareArguments {
    /// The drive.
    pub drive: String,
    /// The state to bring it to
    #[arg(long, value_name = "STATE")]
    pub to: TargetState,
    /// Block size of the random writes to come, of the state `steady`
    #[arg(long, value_name = "SIZE", default_value = "4k")]
    pub bs: String,
    /// Allow overwriting this drive: its serial (or a file's name).
    #[arg(long, value_name = "SERIAL")]
    pub destroy: Vec<String>,
    /// The run folder to create [default: assay-runs/DATE-prepare].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub live: LiveArguments,
}
