use assay_stats::{JobTotals, OpInterval};
use assay_units::Op;

use super::*;

fn second(index: u32, latency_ns: u64) -> Interval {
    let mut counts = OpInterval { ios: 1, bytes: 4096, ..OpInterval::default() };
    counts.latency.record(Nanos(latency_ns));
    Interval {
        index,
        ramp: false,
        start: Nanos::from_secs(u64::from(index)),
        end: Nanos::from_secs(u64::from(index) + 1),
        ops: vec![(Op::Read, counts)],
        submitted: Vec::new(),
    }
}

#[test]
fn sums_of_minutes_lose_nothing() {
    let mut minutes = Minutes::default();
    let (mut by_second, mut by_minute) = (JobTotals::default(), JobTotals::default());
    let mut recorded = Vec::new();
    for index in 0..150 {
        let interval = second(index, 1000 + 7 * u64::from(index));
        by_second.add(&interval);
        recorded.extend(minutes.interval(0, &interval));
    }
    assert_eq!(recorded.len(), 2);
    recorded.extend(minutes.end());
    let places: Vec<(u32, u64, u64)> = recorded
        .iter()
        .map(|(_, sum)| (sum.index, sum.start.0 / 1_000_000_000, sum.end.0 / 1_000_000_000))
        .collect();
    assert_eq!(places, [(0, 0, 60), (1, 60, 120), (2, 120, 150)]);
    recorded.iter().for_each(|(_, sum)| by_minute.add(sum));
    assert_eq!(by_minute, by_second);
    assert!(minutes.end().is_empty());
}

#[test]
fn a_late_share_keeps_its_minute() {
    let mut minutes = Minutes::default();
    assert!(minutes.interval(0, &second(59, 1000)).is_empty());
    assert_eq!(minutes.interval(0, &second(60, 1000)).len(), 1);
    assert!(minutes.interval(0, &second(58, 1000)).is_empty());
    let late = minutes.interval(0, &second(61, 1000));
    assert_eq!((late.len(), late[0].1.index), (1, 0));
}

#[test]
fn readings_are_kept_each_minute_and_when_the_drive_throttles() {
    let mut minutes = Minutes::default();
    let reading = |throttled| Telemetry { throttled: Some(throttled), ..Telemetry::default() };
    let kept: Vec<u64> = (0..180)
        .filter(|&s| minutes.keeps(0, Nanos::from_secs(s), &reading((70..75).contains(&s))))
        .collect();
    assert_eq!(kept, [0, 60, 70, 75, 120]);
}

#[test]
fn the_load_of_the_host_is_the_mean_of_its_minute() {
    let mut minutes = Minutes::default();
    let load = |user_pct| HostLoad { user_pct, ..HostLoad::default() };
    assert_eq!(minutes.host(load(10.0)), None);
    assert_eq!(minutes.host(load(30.0)), None);
    minutes.interval(0, &second(60, 1000));
    assert_eq!(minutes.host(load(50.0)), Some((0, load(20.0))));
    assert_eq!(minutes.host_end(), Some((1, load(50.0))));
    assert_eq!(minutes.host_end(), None);
}
