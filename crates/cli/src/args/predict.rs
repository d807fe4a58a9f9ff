use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay predict --rated-iops 500000 --rated-mb 3500
  assay predict --rated-iops 370000 --rated-mb 3500 --cell-bits 2
  assay predict --rated-iops 500k,450k --rated-mb 3500,3000 --cells runs/quick
  assay predict --cells runs/quick

Every figure has the interval in which nine of ten drives are expected.
Writes, tails of latency and sequential reads of a drive that nobody measured are not
predicted: they differ between drives by factors. The drives that teach are NVMe drives
with flash: for SATA drives and 3D XPoint nothing here is a prediction.")]
pub struct PredictArguments {
    /// Random 4 KiB reads per second by the data sheet, and writes, which change nothing.
    #[arg(long, value_name = "READS[,WRITES]", value_parser = rating, requires = "rated_mb")]
    #[arg(required_unless_present = "cells")]
    pub rated_iops: Option<f64>,
    /// Sequential reads in MB/s (10^6 bytes) by the data sheet, and writes, which change nothing.
    #[arg(long, value_name = "READS[,WRITES]", value_parser = rating, requires = "rated_iops")]
    pub rated_mb: Option<f64>,
    /// Bits per cell of its flash. From 3 on, data sheets rate reads of the SLC cache, and data
    /// that were written earlier are read more slowly.
    #[arg(
        long,
        value_name = "BITS",
        default_value_t = 3,
        requires = "rated_iops"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=5))]
    pub cell_bits: u32,
    /// Measured cells of the drive: a run folder, or a table of measurements (.csv).
    #[arg(long, value_name = "WHAT")]
    pub cells: Option<String>,
    /// Label of the drive, in a run of several.
    #[arg(long, value_name = "LABEL", requires = "cells")]
    pub drive: Option<String>,
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
    let (reads, writes) = text
        .split_once(',')
        .map_or((text, None), |(r, w)| (r, Some(w)));
    let is_right = writes.is_none_or(|writes| number(writes).is_some());
    let reads = number(reads).filter(|_| is_right);
    reads.ok_or_else(|| "not a number from 1, such as 500000 or 500k, or two of them".to_owned())
}
