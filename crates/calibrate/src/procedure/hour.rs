//! Consistency: an hour of 4 KiB random writes at depth 32 on a filled drive (AnandTech M8Pe).

use assay_ssd::Profile;
use assay_stats::quantile;
use assay_units::{Nanos, Op};

use super::mean;
use crate::CalibrateError;
use crate::drive_under_test::DriveUnderTest;
use crate::measurement::{AccessPattern, HourFigure, ReferenceWorkload};

const HOUR_S: u64 = 3600;
/// Last seconds that make the score.
const SCORE_S: usize = 400;
/// Last seconds that are split into fast and slow: several changes between the two.
const STATES_S: usize = 1200;

/// IOPS of each second. `shrink` divides drive and time: equally many overwrites in less time, and
/// the same figures where there are many superblocks, which is good enough for a fit.
pub fn run(
    profile: &Profile,
    over_provisioning_percent: u8,
    shrink: u32,
) -> Result<Vec<f64>, CalibrateError> {
    let mut profile = profile.clone();
    if shrink > 1 {
        // Whole MiB, as over-provisioning rounds.
        let capacity = profile.identity.capacity_bytes.value / u64::from(shrink);
        profile.identity.capacity_bytes.value = capacity & !((1 << 20) - 1);
        profile.nand.blocks_per_plane.value = profile.nand.blocks_per_plane.value.div_ceil(shrink);
        profile.thermal.speed_up(f64::from(shrink));
    }
    let job = ReferenceWorkload {
        op: Op::Write,
        threads: 1,
        queue_depth: 32,
        area_bytes: u64::MAX,
        ..ReferenceWorkload::read(AccessPattern::Random, 1, 4096)
    };
    let percent = Some(over_provisioning_percent).filter(|&percent| percent > 0);
    let mut drive = DriveUnderTest::new(&profile, job, percent)?;
    let span = Nanos(Nanos::SECOND.0 / u64::from(shrink));
    (1..=HOUR_S)
        .map(|second| {
            let bytes = drive.run(u64::MAX, Nanos(span.0 * second))?;
            Ok((bytes / 4096) as f64 / span.as_secs_f64())
        })
        .collect()
}

/// `None` where it is undefined (no slow second, no deviation).
pub fn figure(seconds: &[f64], figure: HourFigure) -> Option<f64> {
    let last = |count: usize| seconds.get(seconds.len().checked_sub(count)?..);
    let (score, states) = (last(SCORE_S)?, last(STATES_S)?);
    // Between the deciles, so that rare outliers do not matter.
    let middle = f64::midpoint(quantile(states, 0.1)?, quantile(states, 0.9)?);
    let (fast, slow): (Vec<f64>, Vec<f64>) = states.iter().partition(|&&iops| iops > middle);
    match figure {
        HourFigure::Mean => mean(score),
        HourFigure::Consistency => {
            let mean = mean(score)?;
            let squares: f64 = score.iter().map(|s| (s - mean).powi(2)).sum();
            let variance = squares / score.len() as f64;
            (variance > 0.0).then(|| mean / variance.sqrt())
        }
        // Medians, because seconds with a change of state are in both.
        HourFigure::Fast => quantile(&fast, 0.5),
        HourFigure::Slow => quantile(&slow, 0.5),
        HourFigure::FastShare => Some(fast.len() as f64 / states.len() as f64),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/procedure/hour.rs"]
mod tests;
