use super::*;

fn contribution(start_ms: u64, end_ms: u64, ios: u64) -> Contribution {
    Contribution {
        start: Nanos::from_millis(start_ms),
        end: Nanos::from_millis(end_ms),
        ios,
        bytes: ios * 4096,
        p99: Nanos(ios),
        cell: 1,
    }
}

#[test]
fn an_interval_is_spread_over_the_seconds_that_it_covers() {
    let mut history = History::default();
    history.add(contribution(0, 1000, 100));
    history.add(contribution(1000, 3500, 250));
    let seconds = history.to_vec();
    let rates: Vec<f64> = seconds.iter().map(HistorySecond::iops).collect();
    assert_eq!(rates, [100.0, 100.0, 100.0, 100.0]);
    assert_eq!(seconds[3].covered_s, 0.5);
    assert_eq!(seconds[3].ios, 50.0);
    assert_eq!(seconds[1].bytes_per_s(), 409_600.0);
    assert_eq!(seconds[0].p99_ns, 100);
}

#[test]
fn short_intervals_of_one_second_add_up() {
    let mut history = History::default();
    for tenth in 0..10 {
        history.add(contribution(tenth * 100, (tenth + 1) * 100, 7));
    }
    let seconds = history.to_vec();
    assert_eq!(seconds.len(), 1);
    assert!((seconds[0].iops() - 70.0).abs() < 1e-6, "{seconds:?}");
}

#[test]
fn only_the_last_minutes_are_kept() {
    let mut history = History::default();
    for second in 0..2 * KEPT_SECONDS as u64 {
        history.add(contribution(second * 1000, (second + 1) * 1000, second));
    }
    let seconds = history.to_vec();
    assert_eq!(seconds.len(), KEPT_SECONDS);
    assert_eq!(seconds[0].ios, KEPT_SECONDS as f64);
    // An interval of hours, and a jump over more than is kept.
    history.add(contribution(2_000_000, 90_000_000, 88_000));
    let seconds = history.to_vec();
    assert_eq!(seconds.len(), KEPT_SECONDS);
    assert!((seconds[0].iops() - 1.0).abs() < 1e-6);
    history.add(contribution(u64::MAX / 1_000_000 - 1000, u64::MAX / 1_000_000, 5));
    assert!(history.to_vec().len() <= KEPT_SECONDS);
}
