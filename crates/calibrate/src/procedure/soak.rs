//! Report A's soak: random reads of 64 KiB by 64 threads for ten minutes, rate and temperatures by the second.

use assay_ssd::Profile;
use assay_units::Nanos;
use assay_units::rate::mib_per_second;

use crate::CalibrateError;
use crate::drive_under_test::DriveUnderTest;
use crate::measurement::{AccessPattern, ReferenceWorkload, SoakFigure};

/// Length of a soak in seconds.
const SOAK_S: u64 = 600;
/// What of a soak's end is taken as settled, in seconds.
const SETTLED_S: usize = 100;
/// A second whose rate is below this share of the first second's is slow.
const SLOW: f64 = 0.8;

/// One second of a soak.
#[derive(Clone, Debug)]
pub struct SoakSecond {
    mib_per_s: f64,
    celsius: f64,
    second_sensor: Option<f64>,
    /// Seconds of throttling that the drive has counted so far.
    throttled_s: u64,
}

/// Run it, second by second.
///
/// With `hurry` above 1 the drive's heat capacity is that much smaller and a "second" that much shorter: the same course in less
/// time, with temperatures and rates as they are and durations to about a thermal step (50 ms) times `hurry`. Good for a fit.
///
/// # Errors
/// When the profile makes no drive or the drive fails an I/O.
pub fn run(profile: &Profile, hurry: u64) -> Result<Vec<SoakSecond>, CalibrateError> {
    let mut profile = profile.clone();
    profile.thermal.time_constant_s.value /= hurry as f64;
    let mut drive = DriveUnderTest::new(
        &profile,
        ReferenceWorkload::read(AccessPattern::Random, 64, 65_536),
    )?;
    let span = Nanos(Nanos::SECOND.0 / hurry);
    let mut out = Vec::new();
    for second in 1..=SOAK_S {
        let bytes = drive.run(u64::MAX, Nanos(span.0 * second))?;
        let health = drive.telemetry();
        out.push(SoakSecond {
            mib_per_s: mib_per_second(bytes, span),
            celsius: f64::from(health.composite_celsius),
            second_sensor: health.sensors.first().copied().map(f64::from),
            throttled_s: health.throttled_time_s,
        });
    }
    Ok(out)
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = values.fold((0, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

/// A figure of a soak; `None` where it has nothing to show (a sensor that is not there, a drive that never throttled).
pub fn figure(seconds: &[SoakSecond], figure: SoakFigure) -> Option<f64> {
    let settled = seconds.get(seconds.len().checked_sub(SETTLED_S)?..)?;
    // Throttling shows in the rate, as it did to those who published it.
    let cool = seconds.first()?.mib_per_s;
    let slow = |second: &SoakSecond| second.mib_per_s < SLOW * cool;
    match figure {
        SoakFigure::CelsiusAfter120S => Some(seconds.get(119)?.celsius),
        SoakFigure::SettledCelsius => mean(settled.iter().map(|second| second.celsius)),
        SoakFigure::SettledRead => mean(settled.iter().map(|second| second.mib_per_s)),
        SoakFigure::SecondSensor => mean(settled.iter().filter_map(|second| second.second_sensor)),
        SoakFigure::ThrottleCelsius => {
            let first = seconds
                .iter()
                .position(|second| second.throttled_s > 0)
                .or_else(|| seconds.iter().position(slow))?;
            seconds
                .get(..=first)?
                .iter()
                .map(|second| second.celsius)
                .max_by(f64::total_cmp)
        }
        SoakFigure::ThrottledRead => {
            // The stretch from the first slow second on, less its ends, up to where the rate changes again.
            let from = seconds.iter().position(slow)? + 1;
            let rate = seconds.get(from)?.mib_per_s;
            let stretch = seconds
                .get(from..)?
                .iter()
                .take_while(|second| (second.mib_per_s / rate - 1.0).abs() < 0.1);
            mean(stretch.map(|second| second.mib_per_s))
        }
        SoakFigure::ThrottledS => mean_stretch(seconds, true, &slow),
        SoakFigure::RecoveredS => mean_stretch(seconds, false, &slow),
    }
}

/// Mean length of the stretches of slow (or not slow) seconds that begin and end within the soak, the first slow one excluded.
fn mean_stretch(
    seconds: &[SoakSecond],
    wanted: bool,
    slow: &dyn Fn(&SoakSecond) -> bool,
) -> Option<f64> {
    let stretches: Vec<(bool, usize)> = seconds
        .chunk_by(|a, b| slow(a) == slow(b))
        .map(|stretch| (slow(&stretch[0]), stretch.len()))
        .collect();
    let whole = stretches.get(2..stretches.len().checked_sub(1)?)?;
    mean(
        whole
            .iter()
            .filter(|(is_slow, _)| *is_slow == wanted)
            .map(|&(_, length)| length as f64),
    )
}

#[cfg(test)]
#[path = "../../tests/unit/procedure/soak.rs"]
mod tests;
