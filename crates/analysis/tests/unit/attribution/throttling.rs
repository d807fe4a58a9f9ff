use super::super::{CellContext, phases};
use super::*;
use crate::fixtures::sample;

fn moment(second: usize, rate: f64, celsius: f64, throttled: bool) -> ObservedInterval {
    ObservedInterval {
        sample: sample(second, (rate * 8.0) as u64, (rate as u64) << 20, true),
        temperature_c: Some(celsius),
        throttled: Some(throttled),
        ..ObservedInterval::default()
    }
}

/// A cache for a minute, the flash behind it for two, 12 slow seconds of every 40 for eight
/// minutes, and three cool minutes.
pub(crate) fn cached_then_hot_then_cool() -> ObservedCell {
    let at = |second: usize| match second {
        0..60 => moment(second, 2000.0, 45.0, false),
        60..180 => moment(second, 1000.0, 60.0, false),
        180..660 => {
            let slow = (second - 180) % 40 < 12;
            let rate = if slow { 250.0 } else { 1000.0 };
            moment(second, rate, 76.0 + f64::from(u8::from(slow)), slow)
        }
        _ => moment(second, 1000.0, 50.0, false),
    };
    ObservedCell {
        intervals: (0..840).map(at).collect(),
        context: CellContext {
            write_share: 1.0,
            capacity_bytes: 1 << 40,
            span_bytes: 1 << 40,
            ..CellContext::default()
        },
    }
}

#[test]
fn the_throttling_loss_is_relative_to_the_preceding_phase() {
    let observed = cached_then_hot_then_cool();
    let phases = phases(&observed);
    let hot = throttling(&observed, &phases).unwrap();
    assert_eq!((hot.onset_s, hot.onset_c), (180.0, Some(77.0)));
    let before = hot.before.unwrap();
    assert_eq!((before.to_s, before.mib_per_s), (180.0, 1000.0), "{phases:#?}");
    assert!((hot.duty_pct - 30.0).abs() < 2.0, "{hot:?}");
    assert_eq!(hot.period_s, Some(40.0));
    let slow = hot.slow_mib_per_s.unwrap();
    assert!((250.0..270.0).contains(&slow), "{hot:?}");
    assert!((hot.after_mib_per_s - 775.0).abs() < 20.0, "{hot:?}");
    let recovery = hot.recovery.unwrap();
    assert_eq!((recovery.to_s, recovery.mib_per_s), (840.0, 1000.0));
    // And it equals the value of the phases.
    let duty_and_period = |phase: &RatePhase| match phase.cause {
        Cause::ThermalThrottling { duty_pct, period_s, .. } => Some((duty_pct, period_s)),
        _ => None,
    };
    let thermal: Vec<&RatePhase> = phases.iter().filter(|p| duty_and_period(p).is_some()).collect();
    assert_eq!(thermal.len(), 1, "{phases:#?}");
    assert_eq!(hot.after_mib_per_s, thermal[0].mean_mib_per_s);
    assert_eq!(duty_and_period(thermal[0]), Some((hot.duty_pct, hot.period_s)));
    assert!(hot.covers(180.0) && !hot.covers(179.0) && !hot.covers(recovery.from_s));
}

#[test]
fn a_cell_that_starts_hot_has_no_reference_rate_and_a_cool_one_no_throttling() {
    let mut observed = cached_then_hot_then_cool();
    observed.intervals.retain(|m| (180.0..600.0).contains(&m.sample.start_s()));
    let hot = throttling(&observed, &phases(&observed)).unwrap();
    assert_eq!((hot.before, hot.recovery), (None, None));
    observed.intervals.iter_mut().for_each(|m| m.throttled = Some(false));
    assert_eq!(throttling(&observed, &phases(&observed)), None);
    assert_eq!(throttling(&ObservedCell::default(), &[]), None);
}
