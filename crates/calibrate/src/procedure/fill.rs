//! Sequential write of the area, and random read of zeroes (DragonFly NVMe tests).

use assay_ssd::Profile;
use assay_units::rate::mib_per_second;
use assay_units::{GIB, MIB, Nanos, Op};

use super::steady_mean;
use crate::CalibrateError;
use crate::drive_under_test::DriveUnderTest;
use crate::measurement::{AREA_BYTES, AccessPattern, FillFigure, ReferenceWorkload};

const SAMPLE_BYTES: u64 = 128 * MIB;
const BLOCK_BYTES: u32 = 131_072;

/// Steady state without an SLC cache: the means of twice so many samples differ by less than this.
const STEADY_SAMPLES: usize = 8;
const STEADY_SHARE: f64 = 0.002;

/// MB/s of each 128 MiB. With `stop_when_steady` the write of a drive without an SLC cache ends in
/// steady state, and the rest is extrapolated.
pub fn run(profile: &Profile, stop_when_steady: bool) -> Result<Vec<f64>, CalibrateError> {
    let job = ReferenceWorkload {
        op: Op::Write,
        ..ReferenceWorkload::read(AccessPattern::Sequential, 1, BLOCK_BYTES)
    };
    let mut drive = DriveUnderTest::new(profile, job, None)?;
    let mut out = Vec::new();
    let area = AREA_BYTES.min(drive.capacity_bytes());
    let samples = (area / SAMPLE_BYTES) as usize;
    let stop_when_steady = stop_when_steady && profile.slc.is_none();
    while out.len() < samples {
        let steady = steady_mean(&out, STEADY_SAMPLES, STEADY_SHARE);
        if let Some(rate) = steady.filter(|_| stop_when_steady) {
            out.resize(samples, rate);
            break;
        }
        let start = drive.now;
        let bytes = drive.run(SAMPLE_BYTES / u64::from(BLOCK_BYTES), Nanos::MAX)?;
        out.push(bytes as f64 / (drive.now - start).as_secs_f64() / 1e6);
    }
    Ok(out)
}

/// MB/s, or GB for the cache.
pub fn figure(rates: &[f64], figure: FillFigure) -> Option<f64> {
    // Equal amounts at different rates: the mean rate is the harmonic one.
    let rate = |list: &[f64]| list.len() as f64 / list.iter().map(|rate| 1.0 / rate).sum::<f64>();
    let gib = (GIB / SAMPLE_BYTES) as usize;
    let first = rate(rates.get(..gib)?);
    let last = rate(&rates[rates.len() - gib..]);
    Some(match figure {
        FillFigure::Steady => rate(rates),
        FillFigure::First => first,
        FillFigure::Full => last,
        FillFigure::Cache => {
            let middle = f64::midpoint(first, last);
            let fast = rates.iter().take_while(|&&rate| rate > middle).count();
            (fast as u64 * SAMPLE_BYTES) as f64 / 1e9
        }
    })
}

/// The source does not state which of its two thread counts, 16 or 64, was used; either reads data
/// at about 1030 MiB/s (1037 is its cell of 16), and 64 is the harder case for a model.
pub const ZEROED_READ_THREADS: u32 = 64;
/// Block of the read of zeroes: 102,900 reads/s are 3215 MiB/s.
pub const ZEROED_READ_BYTES: u32 = 32_768;

/// MiB/s of random reads of an area to which only zeroes were written.
pub fn zeroed_read(profile: &Profile) -> Result<f64, CalibrateError> {
    let (threads, bytes) = (ZEROED_READ_THREADS, ZEROED_READ_BYTES);
    let job = ReferenceWorkload::read(AccessPattern::Random, threads, bytes);
    let mut drive = DriveUnderTest::new(profile, job, None)?;
    drive.write_zeroes()?;
    drive.run(1_000, Nanos::MAX)?;
    let start = drive.now;
    let bytes = drive.run(100_000, Nanos::MAX)?;
    Ok(mib_per_second(bytes, drive.now - start))
}

#[cfg(test)]
#[path = "../../tests/unit/procedure/fill.rs"]
mod tests;
