//! The end of the I/O loop: stop requests, lost I/Os, drives that fail.

use crate::clockwork;

use assay_device::session::{TargetKind, TargetProperties};
use assay_io::IO_TIMEOUT;
use assay_units::{Nanos, Op};
use assay_workload::io_loop::{GIVE_UP_ERRORS, GaveUp, IoLoopConfig, LoopEnd, STOP_GRACE};
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;

use clockwork::{Clockwork, Collected, LATENCY, reading, run, run_for};

/// After a stop request, unanswered I/Os are counted and the loop ends without a hang.
#[test]
fn unanswered_ios_are_abandoned_after_the_grace_period() {
    let mut target = Clockwork::new(LATENCY, 8);
    target.hang_after = 100;
    let stop_after_three = Collected { stop_after_intervals: Some(3), ..Collected::default() };
    let start = target.now;
    let options = JobOptions { iodepth: Some(8), ..reading("1s") };
    let (collected, end) = run(&mut target, &options, stop_after_three);
    assert_eq!(end, LoopEnd { stopped: true, unanswered: 8, gave_up: None });
    assert_eq!(collected.totals.summary(Op::Read).ios, 100);
    let waited = target.now - start;
    assert!(waited >= STOP_GRACE && waited < STOP_GRACE + Nanos::from_secs(5), "{waited}");
}

/// Lost I/Os end the loop without a stop request, possibly long after its runtime; earlier results
/// are kept.
#[test]
fn an_unresponsive_drive_ends_the_loop() {
    let patience = Nanos::from_secs(20);
    for (hang_after, swallowed) in [(100, 8), (0, 8)] {
        let mut target = Clockwork::new(LATENCY, 8);
        target.hang_after = hang_after;
        let start = target.now;
        let options = JobOptions { iodepth: Some(8), ..reading("1s") };
        let (collected, end) = run_for(&mut target, &options, Collected::default(), patience);
        let expected = LoopEnd { stopped: false, unanswered: swallowed, gave_up: None };
        assert_eq!(end, expected);
        let read = collected.totals.summary(Op::Read);
        assert_eq!(read.ios, hang_after as u64);
        let waited = target.now - start;
        assert!(waited >= patience && waited < patience + Nanos::from_secs(5), "{waited}");
    }
}

/// Slow completions are not a timeout.
#[test]
fn a_slow_drive_does_not_end_the_loop() {
    let patience = Nanos::from_secs(20);
    let mut slow = Clockwork::new(Nanos::from_secs(19), 1);
    let (collected, end) = run_for(&mut slow, &reading("100s"), Collected::default(), patience);
    assert_eq!(end, LoopEnd::default());
    assert_eq!(collected.totals.summary(Op::Read).ios, 6);
    // Nor are intervals without requests.
    let mut rested = Clockwork::new(LATENCY, 1);
    let options = JobOptions {
        rate: Some("1".to_owned()),
        interval: Some("100ms".to_owned()),
        ..reading("10s")
    };
    let patience = Nanos::from_millis(500);
    let (collected, end) = run_for(&mut rested, &options, Collected::default(), patience);
    assert_eq!(end, LoopEnd::default());
    assert_eq!(collected.totals.summary(Op::Read).ios, 10);
}

/// The timeout for real drives is finite and longer than the kernel's; simulated drives have none.
#[test]
fn the_timeout_applies_only_to_real_drives() {
    let of = |kind| {
        let facts = TargetProperties {
            placement_handles: 0,
            atomic: None,
            name: "drive".to_owned(),
            capacity_bytes: 1 << 30,
            files: Vec::new(),
            min_io_bytes: 512,
            kind,
        };
        IoLoopConfig::new(&Workload::plan(&reading("1s"), &facts).unwrap()).io_timeout
    };
    assert_eq!(of(TargetKind::Simulated), Nanos::MAX);
    assert_eq!(of(TargetKind::File), IO_TIMEOUT);
    assert!(IO_TIMEOUT > Nanos::from_secs(30 * 6));
}

/// A removed drive with immediate errors: the loop ends after a number of errors, before its
/// runtime.
#[test]
fn a_drive_that_fails_every_io_ends_the_loop() {
    let mut target = Clockwork::new(Nanos::from_micros(1), 4);
    target.fail_from = 1001;
    let options = JobOptions { iodepth: Some(4), ..reading("1000s") };
    let (collected, end) = run(&mut target, &options, Collected::default());
    let gave_up = end.gave_up.unwrap();
    assert!(gave_up.errors >= GIVE_UP_ERRORS && gave_up.errors < GIVE_UP_ERRORS + 4, "{gave_up:?}");
    assert_eq!((end.stopped, end.unanswered), (false, 0));
    let read = collected.totals.summary(Op::Read);
    assert_eq!(read.ios, 1000);
    assert_eq!(read.errors + 1000, target.seen.len() as u64);
    assert!(read.errors < GIVE_UP_ERRORS + 8);
}

/// Slow errors: ten seconds with nothing else, and at least eight.
#[test]
fn slow_errors_end_the_loop_by_time_and_count() {
    let mut target = Clockwork::new(Nanos::from_millis(100), 1);
    target.fail_from = 11;
    let (_, end) = run(&mut target, &reading("1000s"), Collected::default());
    let span = Nanos::from_secs(10);
    assert_eq!(end.gave_up, Some(GaveUp { errors: 101, span }));
    let mut target = Clockwork::new(Nanos::from_secs(30), 1);
    target.fail_from = 1;
    let (_, end) = run(&mut target, &reading("1000s"), Collected::default());
    let span = Nanos::from_secs(210);
    assert_eq!(end.gave_up, Some(GaveUp { errors: 8, span }));
}

/// One success in a thousand continues the loop.
#[test]
fn an_intermittently_failing_drive_does_not_end_the_loop() {
    let mut target = Clockwork::new(Nanos::from_micros(100), 1);
    (target.fail_from, target.works_every) = (1, 1000);
    let (collected, end) = run(&mut target, &reading("60s"), Collected::default());
    assert_eq!(end, LoopEnd::default());
    let read = collected.totals.summary(Op::Read);
    assert!(read.errors > 5 * GIVE_UP_ERRORS && read.ios >= 599, "{} {}", read.errors, read.ios);
}

/// Loops of one workload end together.
#[test]
fn end_reasons_of_threads_are_combined() {
    let span = Nanos::from_secs(3);
    let gave_up = Some(GaveUp { errors: 5, span });
    let mut all = LoopEnd::default();
    for unanswered in [0, 2] {
        all.merge(&LoopEnd { stopped: unanswered > 0, unanswered, gave_up });
    }
    all.merge(&LoopEnd::default());
    let gave_up = Some(GaveUp { errors: 10, span });
    assert_eq!(all, LoopEnd { stopped: true, unanswered: 2, gave_up });
}

#[test]
fn a_stop_waits_only_for_ios_in_flight() {
    let mut target = Clockwork::new(LATENCY, 8);
    let stop_after_two = Collected { stop_after_intervals: Some(2), ..Collected::default() };
    let options = JobOptions { iodepth: Some(8), ..reading("60s") };
    let (collected, end) = run(&mut target, &options, stop_after_two);
    assert_eq!(end, LoopEnd { stopped: true, unanswered: 0, gave_up: None });
    assert_eq!(collected.totals.summary(Op::Read).ios, target.seen.len() as u64);
    assert!(collected.totals.elapsed() < Nanos::from_millis(2_001));
}
