//! Mean power of a drive over the measured span. Readings are means over their intervals, evenly
//! spaced, so their mean is that of the span. Readings of the ramp count only where there are none
//! after it.

use assay_store::read::CellDrive;
use assay_units::Nanos;

use crate::estimate::{MeanEstimate, of_series, step_s};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeanPower {
    sum_mw: u64,
    readings: u64,
}

impl MeanPower {
    pub fn add(&mut self, power_mw: u64) {
        self.sum_mw += power_mw;
        self.readings += 1;
    }

    /// `None` without a reading, or where all are zero (a drive without a meter).
    pub fn watts(&self) -> Option<f64> {
        (self.sum_mw > 0).then(|| self.sum_mw as f64 / self.readings as f64 / 1e3)
    }
}

fn readings(part: &CellDrive) -> Vec<u64> {
    let ramp: Option<Nanos> = part.series.iter().filter(|p| p.ramp).map(|p| p.end).max();
    let all = || part.telemetry.iter();
    let after = all().filter(|t| ramp.is_none_or(|end| t.at > end));
    let measured: Vec<u64> = after.filter_map(|t| t.power_mw).collect();
    if measured.iter().any(|&mw| mw > 0) {
        return measured;
    }
    all().filter_map(|t| t.power_mw).collect()
}

pub fn mean_watts(part: &CellDrive) -> Option<f64> {
    let mut mean = MeanPower::default();
    readings(part).into_iter().for_each(|mw| mean.add(mw));
    mean.watts()
}

/// Readings are as far apart as intervals.
pub fn estimate(part: &CellDrive) -> MeanEstimate {
    let watts: Vec<f64> = readings(part).iter().map(|&mw| mw as f64 / 1e3).collect();
    of_series(&watts, step_s(&part.measured_intervals()))
}

#[cfg(test)]
#[path = "../tests/unit/power.rs"]
mod tests;
