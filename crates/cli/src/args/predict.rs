use assay_units::parse_size;
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay predict --rated-iops 500000 --rated-mb 3500 --capacity 512GB
  assay predict --rated-iops 1.5M --rated-mb 14000
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
    #[arg(long, value_name = "READS[,WRITES]", value_parser = rated_iops, requires = "rated_mb")]
    #[arg(required_unless_present = "cells")]
    pub rated_iops: Option<f64>,
    /// Sequential reads in MB/s (10^6 bytes) by the data sheet, and writes, which change nothing.
    #[arg(long, value_name = "READS[,WRITES]", value_parser = rated_mb, requires = "rated_iops")]
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

/// Data sheets count operations in thousands and millions.
fn rated_iops(text: &str) -> Result<f64, String> {
    let iops = |text: &str| {
        let unit = match text.chars().last()? {
            'k' | 'K' => 1e3,
            'm' | 'M' => 1e6,
            _ => return text.parse().ok(),
        };
        Some(text[..text.len() - 1].parse::<f64>().ok()? * unit)
    };
    let error = "not a number from 1, such as 500000, 500k or 1.5M, or two of them";
    rating(text, 1e9, iops).ok_or_else(|| error.to_owned())
}

/// No link of a drive carries more than a terabyte per second.
fn rated_mb(text: &str) -> Result<f64, String> {
    let error = "not a number of MB/s from 1, such as 3500, or two of them";
    rating(text, 1e6, |text| text.parse().ok()).ok_or_else(|| error.to_owned())
}

/// The rating of reads, of one or of two.
fn rating(text: &str, most: f64, parse: impl Fn(&str) -> Option<f64>) -> Option<f64> {
    let number = |text: &str| parse(text.trim()).filter(|value| (1.0..=most).contains(value));
    let (reads, writes) = text.split_once(',').map_or((text, None), |(r, w)| (r, Some(w)));
    let is_right = writes.is_none_or(|writes| number(writes).is_some());
    number(reads).filter(|_| is_right)
}
