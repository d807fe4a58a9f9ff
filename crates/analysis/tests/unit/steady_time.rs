use assay_store::series::OpSample;
use assay_units::Nanos;
use proptest::prelude::*;

use super::*;

const CAPACITY: u64 = 100 * 4096 * 3600;

/// Seconds of random writes of 4 KiB at these rates.
fn seconds(count: u64, rate: impl Fn(u64) -> u64) -> CellDrive {
    let sample = |second: u64| OpSample {
        index: second as u32,
        ramp: false,
        start: Nanos::from_secs(second),
        end: Nanos::from_secs(second + 1),
        op: Op::Write,
        ios: rate(second),
        bytes: rate(second) * 4096,
        errors: 0,
        latency: Default::default(),
    };
    CellDrive { series: (0..count).map(sample).collect(), ..CellDrive::default() }
}

fn time(part: &CellDrive) -> Result<TimeToSteady, String> {
    of_part(part, CAPACITY).unwrap()
}

/// Ten minutes of a fresh drive at 1000 IOPS, then 100: steady from then on.
#[test]
fn the_time_and_the_capacities_until_the_last_level() {
    let found = time(&seconds(3600, |s| if s < 600 { 1000 } else { 100 })).unwrap();
    assert_eq!((found.seconds, found.round_s), (600.0, 60.0));
    assert_eq!(found.written_bytes, 600 * 1000 * 4096);
    let capacities = found.capacities.unwrap();
    assert!((capacities - 600_000.0 / 360_000.0).abs() < 1e-9);
    assert_eq!(found.level_iops, 100.0);
}

#[test]
fn a_level_rate_is_steady_from_the_start() {
    let found = time(&seconds(3600, |_| 100)).unwrap();
    assert_eq!((found.seconds, found.written_bytes), (0.0, 0));
}

/// Two plateaus, each of which meets SNIA's rule by itself: the first one is not steady state.
#[test]
fn a_plateau_before_a_drop_is_not_steady_state() {
    let rate = |s: u64| match s {
        ..900 => 1000,
        900..1800 => 500,
        _ => 250,
    };
    assert_eq!(time(&seconds(3600, rate)).unwrap().seconds, 1800.0);
}

/// A slow decline meets the rule in every window: 1 % a minute is 4 % across one. The level of the
/// end counts.
#[test]
fn a_slow_decline_is_steady_only_near_its_end_level() {
    let found = time(&seconds(3600, |s| 10_000 - s)).unwrap();
    let level = found.level_iops;
    // The mean of a window is that of its middle, 150 s after its start.
    let expected = 10_000.0 - 1.1 * level - 150.0;
    assert!((found.seconds - expected).abs() <= 60.0, "{found:?}");
}

#[test]
fn a_rate_that_falls_at_the_end_is_never_steady() {
    let why = time(&seconds(3600, |s| if s < 3400 { 1000 } else { 100 })).unwrap_err();
    assert!(why.starts_with("the last 5 rounds: range"), "{why}");
}

/// A cell of ten minutes has rounds of ten seconds; of fewer than ten intervals nothing is
/// concluded.
#[test]
fn short_cells_have_shorter_rounds() {
    let found = time(&seconds(600, |s| if s < 120 { 300 } else { 100 })).unwrap();
    assert_eq!((found.seconds, found.round_s), (120.0, 10.0));
    assert_eq!(of_part(&seconds(9, |_| 100), CAPACITY), None);
    assert!(of_part(&seconds(10, |_| 100), CAPACITY).is_some());
    assert_eq!(time(&seconds(600, |_| 1)).map(|t| t.capacities), Ok(Some(0.0)));
    assert_eq!(of_part(&seconds(600, |_| 1), 0).unwrap().unwrap().capacities, None);
}

proptest! {
    /// Whatever the rates: every window from the answer on meets the rule, and the one before it
    /// does not.
    #[test]
    fn the_answer_is_the_first_round_of_the_last_run_of_steady_windows(
        rates in prop::collection::vec(88.0..112.0f64, 5..60),
    ) {
        let rule = SteadyRule::default();
        let level = mean(&rates[rates.len() - 5..]);
        let steady = |at: usize| {
            let window = &rates[at..at + 5];
            rule.evaluate(window).achieved && (mean(window) - level).abs() <= 0.1 * level
        };
        let last = rates.len() - 5;
        match steady_from(&rates) {
            Ok((from, found)) => {
                prop_assert_eq!(found, level);
                prop_assert!((from..=last).all(steady));
                prop_assert!(from == 0 || !steady(from - 1));
            }
            Err(_) => prop_assert!(!rule.evaluate(&rates[last..]).achieved),
        }
    }
}
