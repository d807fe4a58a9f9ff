//! Arguments of `assay import`.

use std::path::PathBuf;

use assay_import::fio::options::Options;
use assay_units::text::parse_capacity;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay import old-results/ --out drive-2023 --model \"Samsung SSD 980 PRO\" --capacity 1TB
  assay import randread.json --out randread && assay report randread -o randread.html
  assay import results/ --out run --device nvme0n1 --drive-from smartctl.json --state steady
  assay import fio.txt --out run --assume direct=1
  fio job.fio --output-format=json+ | assay import - --out run

Reads fio's JSON, JSON+, text, terse output and logs of versions 2.1 to today, and results of \
                        DiskSpd, elbencho, vdbench, ezFIO, CrystalDiskMark, yabs.sh, iotune and \
                        iocost_coef_gen.py (docs/import.md).
The folder is a run folder: report, compare, verdict and export read it.
Exit status 1: some files that look like results could not be read; all others were imported.")]
pub struct ImportArguments {
    /// Files, folders (with those below them), or - for standard input.
    #[arg(required = true)]
    pub paths: Vec<PathBuf>,
    /// The run folder to make.
    #[arg(long, value_name = "RUN")]
    pub out: PathBuf,
    /// Only results of this device, by its name in the files.
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Model of the drive, which result files do not have.
    #[arg(long)]
    pub model: Option<String>,
    /// Serial of the drive.
    #[arg(long)]
    pub serial: Option<String>,
    /// Firmware of the drive.
    #[arg(long, value_name = "REVISION")]
    pub firmware: Option<String>,
    /// Capacity of the drive, as drives are sold: 1TB.
    #[arg(long, value_name = "SIZE", value_parser = capacity)]
    pub capacity: Option<u64>,
    /// Model, serial, firmware and capacity from a report about the drive: `smartctl --json`,
    /// `nvme id-ctrl -o json` or `assay probe --json`.
    #[arg(long, value_name = "FILE")]
    pub drive_from: Option<PathBuf>,
    /// State of the drive before the measurements, as far as it is known.
    #[arg(long, value_enum, default_value_t)]
    pub state: DriveState,
    /// An option of fio that the files do not have, such as direct=1, iodepth=32 or rw=randread.
    #[arg(long, value_name = "OPTION=VALUE", value_parser = option)]
    pub assume: Vec<(String, String)>,
}

/// What is known of the drive's state before the measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DriveState {
    /// Purged.
    Empty,
    /// Written once.
    Filled,
    /// In steady state.
    Steady,
    /// Not known.
    #[default]
    Unknown,
}

impl ImportArguments {
    /// The options for files that do not have them.
    pub fn assumed(&self) -> Options {
        let pairs = self.assume.iter();
        Options::new(pairs.map(|(name, value)| (name.as_str(), value.as_str())))
    }
}

fn capacity(text: &str) -> Result<u64, String> {
    parse_capacity(text).map_err(|error| error.to_string())
}

fn option(text: &str) -> Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').ok_or_else(|| "not OPTION=VALUE, such as direct=1".to_owned())?;
    match assay_fio_job::options::find(name) {
        Some(_) => Ok((name.to_owned(), value.to_owned())),
        None => Err(format!("fio has no option {name:?}")),
    }
}
