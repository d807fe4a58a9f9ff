use assay_stats::OpInterval;
use assay_units::Op;

use super::super::journal::Ignore;
use super::*;
use crate::live::CellFlags;

const RULE: StopRule =
    StopRule { window: Nanos::from_secs(10), rate_pct: 2.0, celsius: 0.5, limit_c: 90.0 };

/// Feed seconds of (I/Os, temperature); returns the stop time and reason.
fn feed(seconds: impl Iterator<Item = (u64, Option<f64>)>) -> Option<(u64, StopReason)> {
    let (stop, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let (user_stop, flags) = (AtomicBool::new(false), CellFlags::default());
    let mut ignore = Ignore { stop: &user_stop, flags: &flags };
    let mut early_stop = EarlyStop::new(StopWhen::Settled(RULE), &mut ignore, &stop, &ended);
    for (second, (ios, celsius)) in seconds.enumerate() {
        let second = second as u64;
        let counts = OpInterval { ios, ..OpInterval::default() };
        let end = Nanos::from_secs(second + 1);
        early_stop.telemetry(0, end, Telemetry { temperature_c: celsius, ..Telemetry::default() });
        early_stop.interval(
            0,
            &Interval {
                index: second as u32,
                ramp: false,
                start: Nanos::from_secs(second),
                end,
                ops: vec![(Op::Read, counts)],
                submitted: Vec::new(),
            },
        );
        if ended.load(Ordering::Relaxed) {
            return early_stop.reason.map(|by| (second + 1, by));
        }
    }
    None
}

#[test]
fn a_cell_stops_after_two_steady_windows() {
    let flat = feed((0..100).map(|_| (1000, Some(50.0))));
    assert_eq!(flat, Some((20, StopReason::Settled)));
    assert_eq!(
        feed((0..100).map(|_| (1000, None))),
        Some((20, StopReason::Settled)),
        "no temperature sensor"
    );
}

#[test]
fn a_cell_continues_while_temperature_rises_or_rate_falls() {
    assert_eq!(feed((0..60).map(|s| (1000, Some(30.0 + s as f64 * 0.1)))), None);
    assert_eq!(feed((0..60).map(|s| (1000 - s * 10, Some(50.0)))), None);
    let warm_then_still = (0..100).map(|s| (1000, Some(30.0 + f64::from(s.min(40)))));
    let (second, by) = feed(warm_then_still).unwrap();
    assert!((50..=60).contains(&second), "{second}");
    assert_eq!(by, StopReason::Settled);
}

#[test]
fn a_cell_ends_at_the_limit() {
    let rising = (0..100).map(|s| (1000, Some(60.0 + f64::from(s))));
    assert_eq!(feed(rising), Some((31, StopReason::TemperatureLimit)));
}

#[test]
fn a_share_that_comes_two_intervals_late_counts_its_span_once() {
    let (stop, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    let (user_stop, flags) = (AtomicBool::new(false), CellFlags::default());
    let mut ignore = Ignore { stop: &user_stop, flags: &flags };
    let mut early_stop = EarlyStop::new(StopWhen::Settled(RULE), &mut ignore, &stop, &ended);
    for (second, ios) in [(0, 600), (1, 1000), (2, 1000), (0, 400)] {
        let counts = OpInterval { ios, ..OpInterval::default() };
        let interval = Interval {
            index: second,
            ramp: false,
            start: Nanos::from_secs(second.into()),
            end: Nanos::from_secs(u64::from(second) + 1),
            ops: vec![(Op::Read, counts)],
            submitted: Vec::new(),
        };
        early_stop.interval(0, &interval);
    }
    let rate = early_stop.drives[&0].rate(Nanos::ZERO, Nanos::from_secs(3));
    assert_eq!(rate, Some(1000.0));
}
