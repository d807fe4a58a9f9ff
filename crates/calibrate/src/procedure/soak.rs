//! Read soak: 64 KiB random reads by 64 threads for ten minutes (DragonFly NVMe tests).

use assay_ssd::Profile;
use assay_units::Nanos;
use assay_units::rate::mib_per_second;

use super::mean;
use crate::CalibrateError;
use crate::drive_under_test::DriveUnderTest;
use crate::measurement::{AccessPattern, ReferenceWorkload, SoakFigure};

const SOAK_S: u64 = 600;
/// Last seconds, in thermal steady state.
const STEADY_S: usize = 100;
/// A second is slow when its rate is below this share of the first second's.
const SLOW: f64 = 0.8;

#[derive(Clone, Debug)]
pub struct SoakSecond {
    mib_per_s: f64,
    celsius: f64,
    second_sensor: Option<f64>,
    /// Throttling time that the drive reports.
    throttled_s: u64,
}

/// Samples of each second. `speed_up` divides the drive's heat capacity and each "second": the same
/// temperatures and rates in less time, durations to about a thermal step (50 ms) times `speed_up`,
/// which is good enough for a fit.
pub fn run(profile: &Profile, speed_up: u64) -> Result<Vec<SoakSecond>, CalibrateError> {
    let mut profile = profile.clone();
    profile.thermal.speed_up(speed_up as f64);
    let job = ReferenceWorkload::read(AccessPattern::Random, 64, 65_536);
    let mut drive = DriveUnderTest::new(&profile, job, None)?;
    let span = Nanos(Nanos::SECOND.0 / speed_up);
    let second = |second| {
        let bytes = drive.run(u64::MAX, Nanos(span.0 * second))?;
        let health = drive.telemetry();
        Ok(SoakSecond {
            mib_per_s: mib_per_second(bytes, span),
            celsius: f64::from(health.composite_celsius),
            second_sensor: health.sensors.first().copied().map(f64::from),
            throttled_s: health.throttled_time_s,
        })
    };
    (1..=SOAK_S).map(second).collect()
}

/// `None` where it is undefined (a missing sensor, no throttling).
pub fn figure(seconds: &[SoakSecond], figure: SoakFigure) -> Option<f64> {
    let steady = seconds.get(seconds.len().checked_sub(STEADY_S)?..)?;
    // Throttling is detected in the rate, as by the source.
    let cool = seconds.first()?.mib_per_s;
    let slow = |second: &SoakSecond| second.mib_per_s < SLOW * cool;
    let mean = |values: &mut dyn Iterator<Item = f64>| mean(&values.collect::<Vec<_>>());
    match figure {
        SoakFigure::CelsiusAfter120S => Some(seconds.get(119)?.celsius),
        SoakFigure::SettledCelsius => mean(&mut steady.iter().map(|second| second.celsius)),
        SoakFigure::SettledRead => mean(&mut steady.iter().map(|second| second.mib_per_s)),
        SoakFigure::SecondSensor => {
            mean(&mut steady.iter().filter_map(|second| second.second_sensor))
        }
        SoakFigure::ThrottleCelsius => {
            let reported = seconds.iter().position(|second| second.throttled_s > 0);
            let first = reported.or_else(|| seconds.iter().position(slow))?;
            let before = seconds[..=first].iter().map(|second| second.celsius);
            before.max_by(f64::total_cmp)
        }
        SoakFigure::ThrottledRead => {
            // From the second after the first slow one up to the next change of the rate.
            let from = seconds.iter().position(slow)? + 1;
            let rates = seconds[from..].iter().map(|second| second.mib_per_s);
            let rate = rates.clone().next()?;
            mean(&mut rates.take_while(|other| (other / rate - 1.0).abs() < 0.1))
        }
        SoakFigure::ThrottledS => mean_period(seconds, true, &slow),
        SoakFigure::RecoveredS => mean_period(seconds, false, &slow),
    }
}

/// Mean length of the slow (or fast) periods within the soak, without the first slow one.
fn mean_period(
    seconds: &[SoakSecond],
    wanted: bool,
    slow: &dyn Fn(&SoakSecond) -> bool,
) -> Option<f64> {
    let periods: Vec<(bool, usize)> = seconds
        .chunk_by(|a, b| slow(a) == slow(b))
        .map(|period| (slow(&period[0]), period.len()))
        .collect();
    let whole = periods.get(2..periods.len().checked_sub(1)?)?.iter();
    let lengths = whole.filter(|(is_slow, _)| *is_slow == wanted);
    mean(&lengths.map(|&(_, length)| length as f64).collect::<Vec<_>>())
}

#[cfg(test)]
#[path = "../../tests/unit/procedure/soak.rs"]
mod tests;
