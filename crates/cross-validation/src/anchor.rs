//! Figures of data sheets as soft observations. A data sheet states the best of a class under its
//! own conditions; what a drive reaches of it (mean and spread of the logarithm of achieved over
//! claimed) is learned from the other drives.

use assay_ssd::Profile;
use assay_units::MIB;

use assay_calibrate::CalibrateError;
use assay_calibrate::hardware::{Hardware, Rating};
use assay_calibrate::measurement::{
    AccessPattern, FillFigure, Measurement, Procedure, ReferenceMetric, ReferenceWorkload,
};
use assay_calibrate::published::published;

/// Least spread of the ratio, because conditions differ between makers.
const LEAST_SPREAD: f64 = 0.15;
const LEAST_DRIVES: usize = 2;

#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// The cell, with the claimed figure times the mean ratio as its value.
    pub measurement: Measurement,
    /// Spread of the ratio for a further drive.
    pub scale: f64,
}

/// A workload's rating in its unit: of random reads the lesser of what IOPS and bandwidth allow.
pub fn rated(hardware: &Hardware, drive: &str, measurement: &Measurement) -> Option<f64> {
    let facts = hardware.drive(drive)?;
    let highest = |rating| facts.highest(rating).map(|r| r.value);
    let in_unit = |bytes: f64| match measurement.metric {
        ReferenceMetric::MibPerS => Some(bytes / MIB as f64),
        ReferenceMetric::MbPerS => Some(bytes / 1e6),
        _ => None,
    };
    match measurement.procedure {
        Procedure::Steady(w) if w.op == assay_units::Op::Read => {
            let rate = highest(Rating::SequentialReadMbS).map(|mb| mb * 1e6);
            if w.access == AccessPattern::Sequential {
                return in_unit(rate?);
            }
            let random = highest(Rating::RandomReadIops)? * f64::from(w.block_bytes);
            in_unit(rate.map_or(random, |rate| rate.min(random)))
        }
        Procedure::Fill(FillFigure::First) => {
            let cached = highest(Rating::CachedWriteMbS).or(highest(Rating::SequentialWriteMbS));
            in_unit(cached? * 1e6)
        }
        Procedure::Fill(FillFigure::Steady | FillFigure::Full) => {
            in_unit(highest(Rating::SequentialWriteMbS)? * 1e6)
        }
        _ => None,
    }
}

/// The cells whose figures data sheets anchor: many small reads, and long ones.
fn cells() -> [Measurement; 2] {
    [(64, 4096), (16, 262_144)].map(|(threads, block_bytes)| {
        let read = ReferenceWorkload::read(AccessPattern::Random, threads, block_bytes);
        Measurement::to_simulate(read, "data sheet")
    })
}

/// Mean and spread, for a further drive, of the logarithm of achieved over claimed for the figures
/// that `is` selects; each drive is one observation. `None` with too few drives.
pub fn ratio(
    hardware: &Hardware,
    others: &[&str],
    is: &dyn Fn(&Measurement) -> bool,
) -> Result<Option<(f64, f64)>, CalibrateError> {
    let mut logs = Vec::new();
    for &other in others {
        let figures = published(other)?;
        let of = |m: &Measurement| Some((m.value / rated(hardware, other, m)?).ln());
        let here: Vec<f64> = figures.iter().filter(|m| is(m)).filter_map(of).collect();
        if !here.is_empty() {
            logs.push(here.iter().sum::<f64>() / here.len() as f64);
        }
    }
    if logs.len() < LEAST_DRIVES {
        return Ok(None);
    }
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|l| (l - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let spread = variance.max(LEAST_SPREAD.powi(2)) * (1.0 + 1.0 / n);
    Ok(Some((mean, spread.sqrt())))
}

/// The anchors of a drive by the ratios of the others, without those of cells in `training`.
pub fn anchors(
    hardware: &Hardware,
    drive: &str,
    others: &[&str],
    training: &[Measurement],
) -> Result<Vec<Anchor>, CalibrateError> {
    assert!(!others.contains(&drive) && Profile::builtin_text(drive).is_ok());
    let mut out = Vec::new();
    for mut measurement in cells() {
        let is_measured = training.iter().any(|m| m.key() == measurement.key());
        let key = measurement.key();
        let ratio = ratio(hardware, others, &|m| m.key() == key)?;
        if let (false, Some(claimed), Some((mean, scale))) =
            (is_measured, rated(hardware, drive, &measurement), ratio)
        {
            measurement.value = claimed * mean.exp();
            out.push(Anchor { measurement, scale });
        }
    }
    Ok(out)
}

#[cfg(test)]
#[path = "../tests/unit/anchor.rs"]
mod tests;
