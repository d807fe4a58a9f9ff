use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  assay predict --rated-iops 500000 --rated-mb 3500
  assay predict --rated-iops 500000 --rated-mb 3500 --cells runs/quick

Every figure has the interval in which nine of ten drives are expected. Writes, tails of latency \
                        and sequential reads of a drive that nobody measured are not predicted: \
                        they differ between drives by factors.")]
pub struct PredictArguments {
    /// Random 4 KiB reads per second, by the data sheet.
    #[arg(long, value_name = "IOPS", value_parser = rating)]
    pub rated_iops: f64,
    /// Sequential reads in MB/s (10^6 bytes), by the data sheet.
    #[arg(long, value_name = "MB/S", value_parser = rating)]
    pub rated_mb: f64,
    /// Measured cells of the drive: a run folder, or a table of measurements (.csv).
    #[arg(long, value_name = "WHAT")]
    pub cells: Option<String>,
    /// Label of the drive, in a run of several.
    #[arg(long, value_name = "LABEL", requires = "cells")]
    pub drive: Option<String>,
}

fn rating(text: &str) -> Result<f64, String> {
    let value = text
        .parse()
        .ok()
        .filter(|value| (1.0..=1e12).contains(value));
    value.ok_or_else(|| "not a number from 1, such as 500000".to_owned())
}
