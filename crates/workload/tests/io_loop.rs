//! The I/O loop and its workers against a drive with known latencies: every I/O takes exactly its
//! configured time, on a clock that advances only in waits.

use crate::clockwork;

use std::sync::atomic::AtomicBool;

use assay_io::Telemetry;
use assay_stats::{Interval, Recorder};
use assay_units::{Nanos, Op};
use assay_workload::flow::FlowGroups;
use assay_workload::io_loop::{IntervalSink, IoLoopConfig, run_io_loop};
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;
use assay_workload::worker::Worker;

use clockwork::{Clockwork, LATENCY, go, planned, read_of, reading};

struct Ignore;

impl IntervalSink for Ignore {
    fn interval(&mut self, _: usize, _: Interval, _: Option<Telemetry>) -> Option<Interval> {
        None
    }
}

/// Little's law: depth 8 on a drive with 8 servers of 100 us gives 80 000 IOPS, every latency 100
/// us.
#[test]
fn closed_loop_rates_and_latencies_are_exact() {
    for (numjobs, iodepth) in [(1, 8), (8, 1), (4, 2)] {
        let mut target = Clockwork::new(LATENCY, 8);
        let options =
            JobOptions { numjobs: Some(numjobs), iodepth: Some(iodepth), ..reading("2s") };
        let read = read_of(&mut target, &options);
        assert_eq!((read.latency_ns.min, read.latency_ns.max), (100_000, 100_000));
        assert_eq!(read.latency_ns.samples, read.ios);
        assert!((read.iops - 80_000.0).abs() < 40.0, "{numjobs} x {iodepth}: {}", read.iops);
        assert_eq!(read.service_ns, None);
    }
}

/// Threads that wait for each other are asked at each completion and after each pause, not once for
/// each pause of the past.
#[test]
fn a_thread_that_waits_for_its_turn_is_asked_once_per_pause() {
    let workloads = [32, 1].map(|weight| {
        planned(&JobOptions {
            iodepth: Some(8),
            flow: Some(weight),
            flow_sleep: Some("7us".into()),
            ..reading("50ms")
        })
    });
    let mut target = Clockwork::new(LATENCY, 16);
    let groups = FlowGroups::new(workloads.iter());
    let worker = |(slot, workload): (u32, &Workload)| {
        let worker = Worker::new(workload, 0, slot, target.now).unwrap();
        worker.with_flow(groups.share(workload))
    };
    let mut workers: Vec<Worker> = [0, 8].into_iter().zip(&workloads).map(worker).collect();
    let mut recorder = Recorder::new(target.now, Nanos::SECOND, Nanos::ZERO, false);
    run_io_loop(
        &mut target,
        &mut workers,
        IoLoopConfig::new(&workloads[0]),
        std::slice::from_mut(&mut recorder),
        &AtomicBool::new(false),
        &mut Ignore,
    )
    .unwrap();
    let (ios, pauses) = (target.seen.len() as u64, 2 * 50_000 / 7);
    assert!(ios > 3_500, "{ios}");
    assert!(target.reaps < ios + pauses + 100, "{} for {ios}", target.reaps);
}

/// More in flight than the drive has servers: a closed loop counts the queueing as latency.
#[test]
fn queueing_in_the_drive_counts() {
    let mut target = Clockwork::new(LATENCY, 1);
    let read = read_of(&mut target, &JobOptions { iodepth: Some(10), ..reading("1s") });
    assert!((read.iops - 10_000.0).abs() < 20.0, "{}", read.iops);
    assert!(read.latency_ns.p50.abs_diff(1_000_000) <= 1_000, "{}", read.latency_ns.p50);
}

/// An offered load of half of the drive's rate: the open loop keeps its rate, and the latency is
/// the service time.
#[test]
fn open_loop_latency_below_the_knee_is_the_service_time() {
    let mut target = Clockwork::new(LATENCY, 1);
    let options = JobOptions { iodepth: Some(32), rate: Some("5000".into()), ..reading("4s") };
    let read = read_of(&mut target, &options);
    assert!((read.iops - 5_000.0).abs() < 5.0, "{}", read.iops);
    assert_eq!((read.latency_ns.min, read.latency_ns.max), (100_000, 100_000));
}

/// M/D/1 at 50 % load: the mean wait is rho / (2 (1 - rho)) service times, by Pollaczek and
/// Khinchine.
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

/// An offered load of twice the drive's rate: a closed loop would report 100 us. The open loop
/// reports the growing queue, and separates service and waiting times.
#[test]
fn open_loop_latency_beyond_the_knee_includes_the_backlog() {
    let mut target = Clockwork::new(LATENCY, 1);
    let options = JobOptions { iodepth: Some(1), rate: Some("20000".into()), ..reading("2s") };
    let read = read_of(&mut target, &options);
    assert!((read.iops - 10_000.0).abs() < 20.0, "{}", read.iops);
    // After two seconds half of the arrivals wait: the last completed one was due one second
    // before.
    assert!(read.latency_ns.max.abs_diff(1_000_000_000) < 5_000_000, "{}", read.latency_ns.max);
    let service = read.service_ns.unwrap();
    assert_eq!((service.min, service.max), (100_000, 100_000));
}

/// A rate limit delays a closed loop; latency counts from the submission.
#[test]
fn a_limited_closed_loop_counts_from_submission() {
    let mut target = Clockwork::new(LATENCY, 1);
    let read =
        read_of(&mut target, &JobOptions { rate_iops: Some("20000".into()), ..reading("1s") });
    assert!((read.iops - 10_000.0).abs() < 20.0, "{}", read.iops);
    assert_eq!(read.latency_ns.max, 100_000);
    let mut target = Clockwork::new(LATENCY, 4);
    let options = JobOptions { numjobs: Some(4), rate_iops: Some("500".into()), ..reading("1s") };
    let read = read_of(&mut target, &options);
    // Each thread has the rate, as each of fio's jobs.
    assert!((read.iops - 2_000.0).abs() < 5.0, "{}", read.iops);
}

/// The rate in bytes per second is exact for any block size, below one I/O per second, and for
/// mixed sizes.
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
    assert_eq!((write.bytes, write.ios, target.seen.len()), (3 << 20, 48, 48));
}

#[test]
fn a_mix_is_mixed_as_asked() {
    let mut target = Clockwork::new(LATENCY, 1);
    let options = JobOptions { rw: Some("randrw".into()), rwmixread: Some(70), ..reading("2s") };
    let totals = go(&mut target, &options).totals;
    let (read, write) = (totals.summary(Op::Read).ios, totals.summary(Op::Write).ios);
    let share = read as f64 / (read + write) as f64;
    // Twenty thousand draws: four standard deviations are 1.3 %.
    assert!((share - 0.7).abs() < 0.013, "{share}");
}

/// Each direction has its own sizes, in any order of offsets; a limit in bytes counts both.
#[test]
fn reads_and_writes_have_their_own_sizes() {
    for (rw, bs) in [("randrw", "4k,64k"), ("rw", "64k,4k"), ("randrw", "4k/50:8k/50,32k")] {
        let mut target = Clockwork::new(LATENCY, 1);
        let options = JobOptions {
            rw: Some(rw.into()),
            bs: Some(bs.into()),
            size: Some("1000k".into()),
            rate_bw: Some("1m".into()),
            ..reading("400s")
        };
        let totals = go(&mut target, &options).totals;
        let own = |op| {
            let sizes = target.seen.iter().filter(|io| io.op == op);
            let mut sizes: Vec<u32> = sizes.map(|io| io.len_bytes >> 10).collect();
            sizes.sort_unstable();
            sizes.dedup();
            sizes
        };
        let expected: [&[u32]; 2] = match bs {
            "4k,64k" => [&[4], &[64]],
            "64k,4k" => [&[64], &[4]],
            _ => [&[4, 8], &[32]],
        };
        assert_eq!([own(Op::Read), own(Op::Write)], expected, "{rw} {bs}");
        let rate = totals.bytes() as f64 / totals.elapsed().as_secs_f64();
        assert!((rate / f64::from(1 << 20) - 1.0).abs() < 0.03, "{rate}");
    }
}

#[test]
fn the_ramp_is_observed_and_not_counted() {
    let mut target = Clockwork::new(LATENCY, 1);
    let collected =
        go(&mut target, &JobOptions { ramp_time: Some("1500ms".into()), ..reading("2s") });
    let read = collected.totals.summary(Op::Read);
    assert!(read.ios.abs_diff(20_000) <= 2, "{}", read.ios);
    assert!(collected.totals.elapsed().0.abs_diff(2_000_000_000) <= 200_000);
    let in_ramp = collected.intervals.iter().filter(|i| i.ramp).flat_map(|i| &i.ops);
    let ramp: u64 = in_ramp.map(|(_, o)| o.ios).sum();
    assert!(ramp.abs_diff(15_000) <= 2, "{ramp}");
}

#[test]
fn every_io_is_in_exactly_one_interval() {
    let mut target = Clockwork::new(Nanos(77_777), 3);
    let options = JobOptions { iodepth: Some(5), interval: Some("100ms".into()), ..reading("3s") };
    let collected = go(&mut target, &options);
    let by_interval: u64 =
        collected.intervals.iter().flat_map(|i| &i.ops).map(|(_, o)| o.ios).sum();
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
    let options = JobOptions { runtime: None, io_size: Some("4m".into()), ..reading("1s") };
    let read = read_of(&mut target, &options);
    assert_eq!((read.ios, read.errors, read.latency_ns.samples), (922, 102, 922));
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
        target.seen.iter().map(|io| io.offset_bytes).collect::<Vec<_>>()
    };
    assert_eq!(stream(10, 5), stream(999_999, 5));
    assert_ne!(stream(10, 5), stream(10, 6));
}
