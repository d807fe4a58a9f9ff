use assay_stats::OpInterval;
use assay_units::{GIB, MIB, Nanos};

use super::*;

fn context(random: bool) -> CellContext {
    CellContext {
        random,
        capacity_bytes: 128 * GIB,
        span_bytes: 128 * GIB,
        ..CellContext::default()
    }
}

/// A second of writes of 128 KiB at a rate.
fn second(index: u32, mib: u64) -> Interval {
    let counts = OpInterval { ios: mib * 8, bytes: mib * MIB, ..OpInterval::default() };
    Interval {
        index,
        ramp: false,
        start: Nanos::from_secs(u64::from(index)),
        end: Nanos::from_secs(u64::from(index) + 1),
        ops: vec![(Op::Write, counts)],
        submitted: Vec::new(),
    }
}

fn write(watch: &mut Watch, rates_mib: impl IntoIterator<Item = u64>) {
    for (index, mib) in (0..).zip(rates_mib) {
        // Real rates are never quite level.
        watch.interval(&second(index, mib + u64::from(index % 3)));
        watch.telemetry(&Telemetry {
            temperature_c: Some(45.0),
            throttled: Some(false),
            ..Telemetry::default()
        });
    }
}

#[test]
fn a_level_rate_proves_nothing() {
    let mut watch = Watch::new(context(false));
    assert_eq!(watch.condition(), None);
    write(&mut watch, [1000; 40]);
    assert_eq!(watch.condition(), None);
}

#[test]
fn a_lasting_fall_after_some_gigabytes_is_a_full_cache() {
    let mut watch = Watch::new(context(false));
    let rates = std::iter::repeat_n(1000, 20).chain(std::iter::repeat_n(300, 30));
    write(&mut watch, rates);
    let condition = watch.condition().unwrap();
    assert_eq!(condition.label, "SLC cache exhausted");
    assert_eq!(condition.details.as_deref(), Some("after 19.6 GiB"));
}

#[test]
fn a_throttle_status_of_the_drive_counts_at_once() {
    let mut watch = Watch::new(context(false));
    write(&mut watch, [1000; 3]);
    watch.telemetry(&Telemetry { throttled: Some(true), ..Telemetry::default() });
    assert_eq!(watch.condition().unwrap().label, "thermal throttling");
}

#[test]
fn a_long_cell_is_kept_whole_in_bounded_memory() {
    let mut watch = Watch::new(context(false));
    write(&mut watch, vec![1000; 10_000]);
    let intervals = &watch.cell.intervals;
    assert!(intervals.len() <= KEPT_INTERVALS && intervals.len() > KEPT_INTERVALS / 4);
    assert_eq!(intervals[0].sample.start, Nanos::ZERO);
    assert_eq!(intervals.last().unwrap().sample.end, Nanos::from_secs(10_000));
    let bytes: u64 = intervals.iter().map(|i| i.sample.bytes()).sum();
    assert_eq!(bytes, (0..10_000).map(|i| (1000 + i % 3) * MIB).sum::<u64>());
    for pair in intervals.windows(2) {
        assert_eq!(pair[0].sample.end, pair[1].sample.start);
    }
}

#[test]
fn late_shares_add_to_their_interval_and_the_ramp_is_left_out() {
    let mut watch = Watch::new(context(false));
    watch.interval(&Interval { ramp: true, ..second(0, 100) });
    watch.interval(&second(1, 100));
    watch.interval(&second(1, 50));
    assert_eq!(watch.cell.intervals.len(), 1);
    assert_eq!(watch.cell.intervals[0].sample.bytes(), 150 * MIB);
}

#[test]
fn the_labels_are_those_of_reports() {
    let labels: std::collections::BTreeSet<&str> = CONDITIONS.into_iter().collect();
    assert_eq!(labels.len(), CONDITIONS.len());
    assert_eq!(THROTTLING, "thermal throttling");
}
