//! The I/O loop and its workers against a drive with known latencies: every I/O takes exactly its configured time, on a clock
//! that advances only in waits.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicBool, Ordering};

use assay_device::session::{TargetKind, TargetProperties};
use assay_integrity::checker::LearnedSeed;
use assay_io::{Completion, Io, Target, TargetError, Telemetry};
use assay_stats::{Interval, JobTotals, OpSummary, Recorder};
use assay_units::{Nanos, Op};
use assay_workload::io_loop::{
    GIVE_UP_ERRORS, GaveUp, IO_TIMEOUT, IntervalSink, IoLoopConfig, LoopEnd, STOP_GRACE,
    run_io_loop,
};
use assay_workload::options::JobOptions;
use assay_workload::plan::{Pacing, Workload};
use assay_workload::worker::Worker;

/// Serves up to `servers` I/Os at once, each in `latency`; fails every `fail_every`-th, or nearly all from one on; never answers any after `hang_after`.
struct Clockwork {
    now: Nanos,
    latency: Nanos,
    free_at: Vec<Nanos>,
    done: BinaryHeap<Reverse<(Nanos, u64, u32, i32)>>,
    seen: Vec<Io>,
    fail_every: Option<usize>,
    hang_after: usize,
    /// From this I/O on all fail, except every n-th.
    fail_from: usize,
    works_every: usize,
}

impl Clockwork {
    fn new(latency: Nanos, servers: usize) -> Clockwork {
        Clockwork {
            now: Nanos(12_345),
            latency,
            free_at: vec![Nanos::ZERO; servers],
            done: BinaryHeap::new(),
            seen: Vec::new(),
            fail_every: None,
            hang_after: usize::MAX,
            fail_from: usize::MAX,
            works_every: usize::MAX,
        }
    }
}

impl Target for Clockwork {
    fn now(&mut self) -> Nanos {
        self.now
    }

    fn submit(&mut self, batch: &[Io]) -> Result<(), TargetError> {
        for io in batch {
            self.seen.push(*io);
            let n = self.seen.len();
            if n > self.hang_after {
                continue;
            }
            let server = self.free_at.iter_mut().min().unwrap();
            *server = self.now.max(*server) + self.latency;
            let fails = self.fail_every.is_some_and(|every| n.is_multiple_of(every));
            let fails = fails || n >= self.fail_from && !n.is_multiple_of(self.works_every);
            let result = if fails { -5 } else { io.len_bytes as i32 };
            self.done
                .push(Reverse((*server, n as u64, io.slot, result)));
        }
        Ok(())
    }

    fn reap(
        &mut self,
        min: usize,
        until: Nanos,
        out: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let before = out.len();
        while out.len() - before < min {
            match self.done.peek() {
                Some(&Reverse((at, _, slot, result))) if at <= until => {
                    self.now = self.now.max(at);
                    self.done.pop();
                    out.push(Completion { slot, result });
                }
                _ => {
                    assert!(until < Nanos::MAX, "would wait for ever");
                    self.now = self.now.max(until);
                    break;
                }
            }
        }
        Ok(())
    }

    fn buffer(&mut self, _slot: u32) -> Option<&mut [u8]> {
        None
    }
}

#[derive(Default)]
struct Collected {
    totals: JobTotals,
    intervals: Vec<Interval>,
    stop: AtomicBool,
    stop_after_intervals: Option<usize>,
}

/// Sets the run's stop flag after this number of intervals.
struct Stopper<'a>(&'a AtomicBool, &'a mut Collected);

impl IntervalSink for Stopper<'_> {
    fn interval(&mut self, interval: Interval, _telemetry: Option<Telemetry>) -> Option<Interval> {
        let Stopper(stop, collected) = self;
        collected.totals.add(&interval);
        collected.intervals.push(interval);
        if collected.stop_after_intervals == Some(collected.intervals.len()) {
            stop.store(true, Ordering::Relaxed);
        }
        None
    }
}

fn run(target: &mut Clockwork, options: &JobOptions, collected: Collected) -> (Collected, LoopEnd) {
    run_for(target, options, collected, Nanos::MAX)
}

/// [`run`], with the timeout without completions.
fn run_for(
    target: &mut Clockwork,
    options: &JobOptions,
    mut collected: Collected,
    io_timeout: Nanos,
) -> (Collected, LoopEnd) {
    let facts = TargetProperties {
        name: "clockwork".to_owned(),
        capacity_bytes: 1 << 30,
        min_io_bytes: 512,
        kind: TargetKind::Simulated,
    };
    let workload = Workload::plan(options, &facts).unwrap();
    let start = target.now;
    let learned = LearnedSeed::default();
    let mut workers: Vec<Worker> = (0..workload.numjobs)
        .map(|i| Worker::new(&workload, i, i * workload.iodepth, start, &learned).unwrap())
        .collect();
    let open = matches!(workload.pacing, Pacing::Open { .. });
    let mut recorder = Recorder::new(start, workload.interval, workload.ramp, open);
    let stop = AtomicBool::new(collected.stop.load(Ordering::Relaxed));
    let end = run_io_loop(
        target,
        &mut workers,
        IoLoopConfig {
            io_timeout,
            ..IoLoopConfig::of(&workload)
        },
        &mut recorder,
        &stop,
        &mut Stopper(&stop, &mut collected),
    )
    .unwrap();
    (collected, end)
}

fn go(target: &mut Clockwork, options: &JobOptions) -> Collected {
    run(target, options, Collected::default()).0
}

fn read_of(target: &mut Clockwork, options: &JobOptions) -> OpSummary {
    go(target, options).totals.summary(Op::Read)
}

fn reading(runtime: &str) -> JobOptions {
    JobOptions {
        rw: Some("randread".into()),
        runtime: Some(runtime.into()),
        ..JobOptions::default()
    }
}

const LATENCY: Nanos = Nanos::from_micros(100);

/// Little's law: depth 8 on a drive with 8 servers of 100 us gives 80 000 IOPS, every latency 100 us.
#[test]
fn closed_loop_rates_and_latencies_are_exact() {
    for (numjobs, iodepth) in [(1, 8), (8, 1), (4, 2)] {
        let mut target = Clockwork::new(LATENCY, 8);
        let options = JobOptions {
            numjobs: Some(numjobs),
            iodepth: Some(iodepth),
            ..reading("2s")
        };
        let read = read_of(&mut target, &options);
        assert_eq!(
            (read.latency_ns.min, read.latency_ns.max),
            (100_000, 100_000)
        );
        assert_eq!(read.latency_ns.samples, read.ios);
        assert!(
            (read.iops - 80_000.0).abs() < 40.0,
            "{numjobs} x {iodepth}: {}",
            read.iops
        );
        assert_eq!(read.service_ns, None);
    }
}

/// More in flight than the drive has servers: a closed loop counts the queueing as latency.
#[test]
fn queueing_in_the_drive_counts() {
    let mut target = Clockwork::new(LATENCY, 1);
    let read = read_of(
        &mut target,
        &JobOptions {
            iodepth: Some(10),
            ..reading("1s")
        },
    );
    assert!((read.iops - 10_000.0).abs() < 20.0, "{}", read.iops);
    assert!(
        read.latency_ns.p50.abs_diff(1_000_000) <= 1_000,
        "{}",
        read.latency_ns.p50
    );
}

/// An offered load of half of the drive's rate: the open loop keeps its rate, and the latency is the service time.
#[test]
fn open_loop_latency_below_the_knee_is_the_service_time() {
    let mut target = Clockwork::new(LATENCY, 1);
    let options = JobOptions {
        iodepth: Some(32),
        rate: Some("5000".into()),
        ..reading("4s")
    };
    let read = read_of(&mut target, &options);
    assert!((read.iops - 5_000.0).abs() < 5.0, "{}", read.iops);
    assert_eq!(
        (read.latency_ns.min, read.latency_ns.max),
        (100_000, 100_000)
    );
}

/// M/D/1 at 50 % load: the mean wait is rho / (2 (1 - rho)) service times, by Pollaczek and Khinchine.
#[test]
fn poisson_queueing_matches_theory() {
    let mut target = Clockwork::new(LATENCY, 1);
    let options = JobOptions {
        iodepth: Some(256),
        rate: Some("5000".into()),
        arrival: Some("poisson".into()),
        ..reading("100s")
    };
    let read = read_of(&mut target, &options);
    let expected = 100_000.0 * (1.0 + 0.5 / (2.0 * 0.5));
    assert!(
        (read.latency_ns.mean / expected - 1.0).abs() < 0.02,
        "{} against {expected}",
        read.latency_ns.mean
    );
}

/// An offered load of twice the drive's rate: a closed loop would report 100 us. The open loop reports the growing queue, and
/// separates service and waiting times.
#[test]
fn open_loop_latency_beyond_the_knee_includes_the_backlog() {
    let mut target = Clockwork::new(LATENCY, 1);
    let options = JobOptions {
        iodepth: Some(1),
        rate: Some("20000".into()),
        ..reading("2s")
    };
    let read = read_of(&mut target, &options);
    assert!((read.iops - 10_000.0).abs() < 20.0, "{}", read.iops);
    // After two seconds half of the arrivals wait: the last completed one was due one second before.
    assert!(
        read.latency_ns.max.abs_diff(1_000_000_000) < 5_000_000,
        "{}",
        read.latency_ns.max
    );
    let service = read.service_ns.unwrap();
    assert_eq!((service.min, service.max), (100_000, 100_000));
}

/// A rate limit delays a closed loop; latency counts from the submission.
#[test]
fn a_limited_closed_loop_counts_from_submission() {
    let mut target = Clockwork::new(LATENCY, 1);
    let read = read_of(
        &mut target,
        &JobOptions {
            rate_iops: Some("20000".into()),
            ..reading("1s")
        },
    );
    assert!((read.iops - 10_000.0).abs() < 20.0, "{}", read.iops);
    assert_eq!(read.latency_ns.max, 100_000);
    let mut target = Clockwork::new(LATENCY, 4);
    let options = JobOptions {
        numjobs: Some(4),
        rate_iops: Some("500".into()),
        ..reading("1s")
    };
    let read = read_of(&mut target, &options);
    // Each thread has the rate, as each of fio's jobs.
    assert!((read.iops - 2_000.0).abs() < 5.0, "{}", read.iops);
}

/// The rate in bytes per second is exact for any block size, below one I/O per second, and for mixed sizes.
#[test]
fn a_limit_in_bytes_is_met_exactly() {
    for (bs, rate_bw, runtime, jobs) in [
        ("4m", "6m", "100s", 1),
        ("64k", "20k", "1000s", 1),
        ("4m", "5m", "100s", 1),
        ("4m", "5m", "100s", 3),
        ("4k/30:64k/70", "100k", "4000s", 1),
    ] {
        let mut target = Clockwork::new(LATENCY, 4);
        let options = JobOptions {
            bs: Some(bs.into()),
            rate_bw: Some(rate_bw.into()),
            numjobs: Some(jobs),
            ..reading(runtime)
        };
        let read = read_of(&mut target, &options);
        let limit = assay_units::parse_size(rate_bw).unwrap() as f64 * f64::from(jobs);
        let off =
            read.bytes as f64 / assay_units::parse_duration(runtime).unwrap().as_secs_f64() / limit
                - 1.0;
        assert!(off.abs() < 0.015, "{bs} at {rate_bw}: off by {off}");
    }
}

#[test]
fn bytes_end_a_job_exactly() {
    let mut target = Clockwork::new(LATENCY, 4);
    let options = JobOptions {
        rw: Some("write".into()),
        iodepth: Some(4),
        numjobs: Some(3),
        io_size: Some("1m".into()),
        bs: Some("64k".into()),
        ..JobOptions::default()
    };
    let write = go(&mut target, &options).totals.summary(Op::Write);
    assert_eq!(
        (write.bytes, write.ios, target.seen.len()),
        (3 << 20, 48, 48)
    );
}

#[test]
fn a_mix_is_mixed_as_asked() {
    let mut target = Clockwork::new(LATENCY, 1);
    let options = JobOptions {
        rw: Some("randrw".into()),
        rwmixread: Some(70),
        ..reading("2s")
    };
    let totals = go(&mut target, &options).totals;
    let (read, write) = (totals.summary(Op::Read).ios, totals.summary(Op::Write).ios);
    let share = read as f64 / (read + write) as f64;
    // Twenty thousand draws: four standard deviations are 1.3 %.
    assert!((share - 0.7).abs() < 0.013, "{share}");
}

#[test]
fn the_ramp_is_observed_and_not_counted() {
    let mut target = Clockwork::new(LATENCY, 1);
    let collected = go(
        &mut target,
        &JobOptions {
            ramp_time: Some("1500ms".into()),
            ..reading("2s")
        },
    );
    let read = collected.totals.summary(Op::Read);
    assert!(read.ios.abs_diff(20_000) <= 2, "{}", read.ios);
    assert!(collected.totals.elapsed().0.abs_diff(2_000_000_000) <= 200_000);
    let in_ramp = collected
        .intervals
        .iter()
        .filter(|i| i.ramp)
        .flat_map(|i| &i.ops);
    let ramp: u64 = in_ramp.map(|(_, o)| o.ios).sum();
    assert!(ramp.abs_diff(15_000) <= 2, "{ramp}");
}

#[test]
fn every_io_is_in_exactly_one_interval() {
    let mut target = Clockwork::new(Nanos(77_777), 3);
    let options = JobOptions {
        iodepth: Some(5),
        interval: Some("100ms".into()),
        ..reading("3s")
    };
    let collected = go(&mut target, &options);
    let by_interval: u64 = collected
        .intervals
        .iter()
        .flat_map(|i| &i.ops)
        .map(|(_, o)| o.ios)
        .sum();
    assert_eq!(by_interval, target.seen.len() as u64);
    for pair in collected.intervals.windows(2) {
        assert_eq!(pair[0].end, pair[1].start);
        assert_eq!(pair[0].index + 1, pair[1].index);
    }
}

#[test]
fn errors_are_counted_and_have_no_latency() {
    let mut target = Clockwork::new(LATENCY, 1);
    target.fail_every = Some(10);
    let options = JobOptions {
        runtime: None,
        io_size: Some("4m".into()),
        ..reading("1s")
    };
    let read = read_of(&mut target, &options);
    assert_eq!(
        (read.ios, read.errors, read.latency_ns.samples),
        (922, 102, 922)
    );
}

/// After a stop request, unanswered I/Os are counted and the loop ends without a hang.
#[test]
fn unanswered_ios_are_abandoned_after_the_grace_period() {
    let mut target = Clockwork::new(LATENCY, 8);
    target.hang_after = 100;
    let stop_after_three = Collected {
        stop_after_intervals: Some(3),
        ..Collected::default()
    };
    let start = target.now;
    let options = JobOptions {
        iodepth: Some(8),
        ..reading("1s")
    };
    let (collected, end) = run(&mut target, &options, stop_after_three);
    assert_eq!(
        end,
        LoopEnd {
            stopped: true,
            unanswered: 8,
            gave_up: None,
        }
    );
    assert_eq!(collected.totals.summary(Op::Read).ios, 100);
    let waited = target.now - start;
    assert!(
        waited >= STOP_GRACE && waited < STOP_GRACE + Nanos::from_secs(5),
        "{waited}"
    );
}

/// Lost I/Os end the loop without a stop request, possibly long after its runtime; earlier results are kept.
#[test]
fn an_unresponsive_drive_ends_the_loop() {
    let patience = Nanos::from_secs(20);
    for (hang_after, swallowed) in [(100, 8), (0, 8)] {
        let mut target = Clockwork::new(LATENCY, 8);
        target.hang_after = hang_after;
        let start = target.now;
        let options = JobOptions {
            iodepth: Some(8),
            ..reading("1s")
        };
        let (collected, end) = run_for(&mut target, &options, Collected::default(), patience);
        let expected = LoopEnd {
            stopped: false,
            unanswered: swallowed,
            gave_up: None,
        };
        assert_eq!(end, expected);
        let read = collected.totals.summary(Op::Read);
        assert_eq!(read.ios, hang_after as u64);
        let waited = target.now - start;
        assert!(
            waited >= patience && waited < patience + Nanos::from_secs(5),
            "{waited}"
        );
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
            name: "drive".to_owned(),
            capacity_bytes: 1 << 30,
            min_io_bytes: 512,
            kind,
        };
        IoLoopConfig::of(&Workload::plan(&reading("1s"), &facts).unwrap()).io_timeout
    };
    assert_eq!(of(TargetKind::Simulated), Nanos::MAX);
    assert_eq!(of(TargetKind::File), IO_TIMEOUT);
    assert!(IO_TIMEOUT > Nanos::from_secs(30 * 6));
}

/// A removed drive with immediate errors: the loop ends after a number of errors, before its runtime.
#[test]
fn a_drive_that_fails_every_io_ends_the_loop() {
    let mut target = Clockwork::new(Nanos::from_micros(1), 4);
    target.fail_from = 1001;
    let options = JobOptions {
        iodepth: Some(4),
        ..reading("1000s")
    };
    let (collected, end) = run(&mut target, &options, Collected::default());
    let gave_up = end.gave_up.unwrap();
    assert!(
        gave_up.errors >= GIVE_UP_ERRORS && gave_up.errors < GIVE_UP_ERRORS + 4,
        "{gave_up:?}"
    );
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
    assert!(
        read.errors > 5 * GIVE_UP_ERRORS && read.ios >= 599,
        "{} {}",
        read.errors,
        read.ios
    );
}

/// Loops of one workload end together.
#[test]
fn end_reasons_of_threads_are_combined() {
    let span = Nanos::from_secs(3);
    let gave_up = Some(GaveUp { errors: 5, span });
    let mut all = LoopEnd::default();
    for unanswered in [0, 2] {
        all.merge(&LoopEnd {
            stopped: unanswered > 0,
            unanswered,
            gave_up,
        });
    }
    all.merge(&LoopEnd::default());
    let gave_up = Some(GaveUp { errors: 10, span });
    assert_eq!(
        all,
        LoopEnd {
            stopped: true,
            unanswered: 2,
            gave_up
        }
    );
}

#[test]
fn a_stop_waits_only_for_ios_in_flight() {
    let mut target = Clockwork::new(LATENCY, 8);
    let stop_after_two = Collected {
        stop_after_intervals: Some(2),
        ..Collected::default()
    };
    let options = JobOptions {
        iodepth: Some(8),
        ..reading("60s")
    };
    let (collected, end) = run(&mut target, &options, stop_after_two);
    assert_eq!(
        end,
        LoopEnd {
            stopped: true,
            unanswered: 0,
            gave_up: None,
        }
    );
    assert_eq!(
        collected.totals.summary(Op::Read).ios,
        target.seen.len() as u64
    );
    assert!(collected.totals.elapsed() < Nanos::from_millis(2_001));
}

/// The stream of I/Os is independent of engine and latency.
#[test]
fn the_stream_of_addresses_depends_on_the_seed_alone() {
    let stream = |latency: u64, seed: u64| {
        let mut target = Clockwork::new(Nanos(latency), 1);
        let io_size = Some("4m".into());
        let options = JobOptions {
            runtime: None,
            io_size,
            seed: Some(seed),
            iodepth: Some(4),
            ..reading("1s")
        };
        go(&mut target, &options);
        target
            .seen
            .iter()
            .map(|io| io.offset_bytes)
            .collect::<Vec<_>>()
    };
    assert_eq!(stream(10, 5), stream(999_999, 5));
    assert_ne!(stream(10, 5), stream(10, 6));
}
