//! What heat does to a drive over a whole cell: for how much of the time it is slow, and what rate is left.
//!
//! The first and the last seconds of a long run say nothing of a drive that comes and goes, such as one that is throttled for ten seconds in every forty: so the
//! slow time and the mean rate are taken from the first onset on, fast and slow states together.

use crate::attribution::{Cause, Phase};

/// Throttling in a cell, from its first onset to its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Throttling {
    /// When it began, seconds since the cell's start.
    pub onset_s: f64,
    /// Composite temperature then, degrees Celsius, where known.
    pub onset_c: Option<f64>,
    /// Share of the time from then on in the slow state, percent.
    pub duty_pct: f64,
    /// From one fall to the next, seconds, where it comes and goes.
    pub period_s: Option<f64>,
    /// Mean rate before, MiB/s; `None` where it was throttled from the first moment on.
    pub before_mib_per_s: Option<f64>,
    /// Mean rate from then on, MiB/s.
    pub since_mib_per_s: f64,
}

/// Mean rate of phases, by their length.
fn mean(phases: &[Phase]) -> Option<f64> {
    let length: f64 = phases.iter().map(|p| p.to_s - p.from_s).sum();
    let sum: f64 = phases
        .iter()
        .map(|p| p.mean_mib_per_s * (p.to_s - p.from_s))
        .sum();
    (length > 0.0).then(|| sum / length)
}

/// Of the phases of a cell; `None` where it was never throttled.
pub fn of(phases: &[Phase]) -> Option<Throttling> {
    let slow = |p: &Phase| match p.cause {
        Cause::ThermalThrottling { duty_pct, .. } => (p.to_s - p.from_s) * duty_pct / 100.0,
        _ => 0.0,
    };
    let first = phases
        .iter()
        .position(|p| matches!(p.cause, Cause::ThermalThrottling { .. }))?;
    let (before, since) = phases.split_at(first);
    let Cause::ThermalThrottling {
        onset_c,
        onset_s,
        period_s,
        ..
    } = since[0].cause
    else {
        return None;
    };
    let length: f64 = since.iter().map(|p| p.to_s - p.from_s).sum();
    Some(Throttling {
        onset_s,
        onset_c,
        duty_pct: since.iter().map(slow).sum::<f64>() / length.max(f64::MIN_POSITIVE) * 100.0,
        period_s,
        before_mib_per_s: mean(before),
        since_mib_per_s: mean(since)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attribution::{Facts, Moment, Watched, phases};

    /// Report A's M8Pe(G): warm after five minutes; from then on 177 MiB/s for ten seconds and 1,400 for thirty, by turns.
    fn cycling(seconds: u32) -> Watched {
        let moments = (0..seconds)
            .map(|s| {
                let since = s.checked_sub(300);
                let slow = since.is_some_and(|since| since % 40 < 10);
                Moment {
                    start_s: f64::from(s),
                    elapsed_s: 1.0,
                    iops: if slow { 1_416.0 } else { 11_200.0 },
                    mib_per_s: if slow { 177.0 } else { 1_400.0 },
                    temperature_c: Some(match since {
                        None => 40.0 + 37.0 * f64::from(s) / 300.0,
                        Some(since) if since % 40 < 10 => 77.0 - f64::from(since % 40) * 0.3,
                        Some(since) => 74.0 + f64::from(since % 40 - 10) * 0.1,
                    }),
                    throttled: Some(slow),
                    ..Moment::default()
                }
            })
            .collect();
        Watched {
            moments,
            facts: Facts::default(),
        }
    }

    #[test]
    fn a_drive_that_comes_and_goes_is_seen_where_first_and_last_seconds_are_alike() {
        // It ends in the fast state: its last fifth may look like its first.
        let found = of(&phases(&cycling(900))).unwrap();
        assert!((found.duty_pct - 25.0).abs() < 3.0, "{found:?}");
        assert!((found.onset_s - 300.0).abs() < 3.0, "{found:?}");
        assert!((found.period_s.unwrap() - 40.0).abs() < 2.0, "{found:?}");
        let before = found.before_mib_per_s.unwrap();
        assert!((before - 1_400.0).abs() < 15.0, "{found:?}");
        let truth = (10.0 * 177.0 + 30.0 * 1_400.0) / 40.0;
        assert!(
            (found.since_mib_per_s / truth - 1.0).abs() < 0.05,
            "{found:?}"
        );
    }

    #[test]
    fn a_cool_drive_is_not_throttled() {
        let cool = phases(&cycling(300));
        assert!(!cool.is_empty());
        assert_eq!(of(&cool), None);
        assert_eq!(of(&[]), None);
    }
}
