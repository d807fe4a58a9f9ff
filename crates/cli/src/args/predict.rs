use assay_units::parse_size;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay predict --rated-iops 500000 --rated-mb 3500 --capacity 512GB
  assay predict --rated-iops 370000 --rated-mb 3500 --cell-bits 2
  assay predict --rated-iops 550k --rated-mb 2500 --medium 3d-xpoint
  assay predict --rated-iops 500k,450k --rated-mb 3500,3000 --cells runs/quick
  assay predict --cells runs/quick

Every figure has the interval in which nine of ten drives are expected.
Writes, tails of latency and sequential reads of a drive that nobody measured are not
predicted: they differ between drives by factors. Of SATA drives and of 3D XPoint few were
measured (docs/fidelity.md): their intervals are as wide as that demands.")]
pub struct PredictArguments {
    /// Random 4 KiB reads per second by the data sheet, and writes, which change nothing.
    #[arg(long, value_name = "READS[,WRITES]", value_parser = rating, requires = "rated_mb")]
    #[arg(required_unless_present = "cells")]
    pub rated_iops: Option<f64>,
    /// Sequential reads in MB/s (10^6 bytes) by the data sheet, and writes, which change nothing.
    #[arg(long, value_name = "READS[,WRITES]", value_parser = rating, requires = "rated_iops")]
    pub rated_mb: Option<f64>,
    /// Bits per cell of its flash [default: 3]. From 3 on, data sheets rate reads of the SLC
    /// cache, and data that were written earlier are read more slowly.
    #[arg(long, value_name = "BITS", requires = "rated_iops")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=5))]
    pub cell_bits: Option<u32>,
    /// Its capacity. With three or more bits per cell it tells about how many dies are read.
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "rated_iops")]
    pub capacity: Option<u64>,
    /// What it stores data in; ratings do not tell.
    #[arg(long, value_enum, requires = "rated_iops")]
    pub medium: Option<Medium>,
    /// How it is connected [default: sata where it is rated for 600 MB/s or less, else nvme].
    #[arg(long, value_enum, requires = "rated_iops")]
    pub interface: Option<Interface>,
    /// Measured cells of the drive: a run folder, or a table of measurements (.csv).
    #[arg(long, value_name = "WHAT")]
    pub cells: Option<String>,
    /// Label of the drive, in a run of several.
    #[arg(long, value_name = "LABEL", requires = "cells")]
    pub drive: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Medium {
    Flash,
    #[value(name = "3d-xpoint")]
    XPoint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Interface {
    Nvme,
    Sata,
}

/// The rating of reads, of one or of two.
fn rating(text: &str) -> Result<f64, String> {
    let number = |text: &str| {
        // Data sheets count in thousands.
        let (digits, unit) = match text.trim().strip_suffix(['k', 'K']) {
            Some(digits) => (digits, 1e3),
            None => (text.trim(), 1.0),
        };
        let value = digits.parse::<f64>().ok()? * unit;
        (1.0..=1e12).contains(&value).then_some(value)
    };
    let (reads, writes) = text.split_once(',').map_or((text, None), |(r, w)| (r, Some(w)));
    let is_right = writes.is_none_or(|writes| number(writes).is_some());
    let reads = number(reads).filter(|_| is_right);
    reads.ok_or_else(|| "not a number from 1, such as 500000 or 500k, or two of them".to_owned())
}
