//! Flushes between writes, reading back between writes, trims, and jobs that end others, on a drive
//! with known latencies.

use crate::clockwork;

use std::sync::atomic::AtomicBool;

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_integrity::blocks::VerifyBlocks;
use assay_io::Telemetry;
use assay_stats::{HostLoad, Interval};
use assay_units::{Nanos, Op};
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;
use assay_workload::run::{DriveOutcome, RunObserver, TargetJobs, run_together};

use clockwork::{Clockwork, LATENCY, go};

fn writing(ios: u64) -> JobOptions {
    JobOptions { rw: Some("write".into()), number_ios: Some(ios), ..JobOptions::default() }
}

/// A flush after every third write, none after the last, and one at the end where it is asked for.
#[test]
fn flushes_follow_writes() {
    for (end_fsync, expected) in [(None, "wwwfwwwfwww"), (Some(true), "wwwfwwwfwwwf")] {
        let mut target = Clockwork::new(LATENCY, 1);
        let options = JobOptions { fsync: Some(3), end_fsync, ..writing(9) };
        let totals = go(&mut target, &options).totals;
        let letter = |io: &assay_io::Io| match io.op {
            Op::Write => 'w',
            Op::Flush => 'f',
            _ => '?',
        };
        let seen: String = target.seen.iter().map(letter).collect();
        assert_eq!(seen, expected);
        let flushes = expected.matches('f').count() as u64;
        let (write, flush) = (totals.summary(Op::Write), totals.summary(Op::Flush));
        assert_eq!((write.ios, flush.ios, flush.bytes), (9, flushes, 0));
        assert_eq!(flush.latency_ns.max, 100_000);
    }
}

/// Every write of the job has FUA, no read has it.
#[test]
fn synchronous_writes_have_fua() {
    for (sync, expected) in
        [(None, false), (Some("none"), false), (Some("dsync"), true), (Some("sync"), true)]
    {
        let mut target = Clockwork::new(LATENCY, 4);
        let options = JobOptions {
            rw: Some("randrw".into()),
            iodepth: Some(4),
            sync: sync.map(str::to_owned),
            ..writing(200)
        };
        go(&mut target, &options);
        let wrong = |io: &&assay_io::Io| io.fua != (expected && io.op == Op::Write);
        assert_eq!(target.seen.iter().find(wrong), None, "{sync:?}");
        assert!(target.seen.iter().any(|io| io.op == Op::Write));
    }
}

/// Reads of a mix are no writes: the flushes follow the writes alone.
#[test]
fn reads_do_not_count_for_flushes() {
    let mut target = Clockwork::new(LATENCY, 4);
    let options = JobOptions {
        rw: Some("randrw".into()),
        iodepth: Some(4),
        fdatasync: Some(10),
        ..writing(2000)
    };
    let totals = go(&mut target, &options).totals;
    let ios = |op| totals.summary(op).ios;
    let (reads, writes) = (ios(Op::Read), ios(Op::Write));
    assert_eq!(reads + writes, 2000);
    assert!(ios(Op::Flush).abs_diff(writes / 10) <= 1);
}

#[test]
fn trims_deallocate_and_move_no_data() {
    let mut target = Clockwork::new(LATENCY, 1);
    let options = JobOptions { rw: Some("randtrim".into()), bs: Some("64k".into()), ..writing(50) };
    let totals = go(&mut target, &options).totals;
    assert_eq!(totals.summary(Op::Discard).bytes, 50 << 16);
    assert!(target.seen.iter().all(|io| io.op == Op::Discard));
}

struct Ignored;

impl RunObserver for Ignored {
    fn interval(&mut self, _drive: usize, _interval: &Interval) {}
    fn telemetry(&mut self, _drive: usize, _at: Nanos, _telemetry: Telemetry) {}
    fn host(&mut self, _index: u32, _load: HostLoad) {}
}

/// Workloads together on one drive.
fn together(drive: &str, options: &[JobOptions]) -> Vec<DriveOutcome> {
    let session = SessionOptions {
        keep_data: true,
        generator: Some(std::sync::Arc::new(VerifyBlocks)),
        ..SessionOptions::default()
    };
    let mut session = DriveSession::open(&DriveSpec::parse(drive).unwrap(), &session).unwrap();
    let facts = session.target_properties();
    let workloads: Vec<Workload> =
        options.iter().map(|options| Workload::plan(options, &facts).unwrap()).collect();
    let mut mode = workloads[0].open_mode();
    mode.writes = workloads.iter().any(Workload::writes);
    let mut target = session.acquire(mode).unwrap();
    let mut jobs =
        [TargetJobs { parts: workloads.iter().enumerate().collect(), target: &mut target }];
    run_together(&mut jobs, &AtomicBool::new(false), &mut Ignored).unwrap().drives
}

/// The end of the short job ends the long one of its group, also while that waits, and not the one
/// of another group.
#[test]
fn the_end_of_a_job_ends_its_group() {
    for drive in ["sim:samsung-951", "null:"] {
        let job = |runtime: &str, group: u32, thinktime: Option<&str>| JobOptions {
            rw: Some("randread".into()),
            runtime: Some(runtime.into()),
            exitall: Some("group".into()),
            exit_group: Some(group),
            thinktime: thinktime.map(str::to_owned),
            ..JobOptions::default()
        };
        let outcomes = together(
            drive,
            &[
                job("100ms", 0, None),
                job("100s", 0, None),
                job("100s", 0, Some("50s")),
                job("600ms", 1, None),
            ],
        );
        let elapsed_ms = |outcome: &DriveOutcome| outcome.totals.elapsed().0 / 1_000_000;
        let (other, ended) = outcomes.split_last().unwrap();
        for outcome in ended {
            let elapsed_ms = elapsed_ms(outcome);
            assert!(elapsed_ms < 400, "{drive}: {elapsed_ms}");
            assert!(!outcome.end.stopped, "{drive}: it is no interruption");
        }
        assert!(elapsed_ms(other) >= 590, "{drive}: {}", elapsed_ms(other));
    }
}

/// What is read back between the writes is checked: a drive that loses writes is found out; and all
/// of it is, once.
#[test]
fn a_backlog_is_read_back_between_writes() {
    let options = JobOptions {
        rw: Some("randwrite".into()),
        bs: Some("4k".into()),
        size: Some("4m".into()),
        iodepth: Some(8),
        verify: Some(true),
        verify_backlog: Some(64),
        ..writing(1000)
    };
    let outcome = &together("sim:samsung-951", std::slice::from_ref(&options))[0];
    let report = outcome.verify.as_ref().unwrap();
    assert!(report.is_clean(), "{report:?}");
    let checked = report.judged_blocks();
    // Random offsets repeat within a backlog of 64 of 1024 blocks: each block once.
    assert!((900..=1000).contains(&checked), "{checked}");
    assert_eq!(outcome.totals.summary(Op::Write).ios, 1000);
    assert_eq!(outcome.totals.summary(Op::Read).ios, 0, "not measured");
    let all_at_end = JobOptions { verify_backlog: None, ..options };
    let at_end = &together("sim:samsung-951", &[all_at_end])[0];
    let checked_at_end = at_end.verify.as_ref().unwrap().judged_blocks();
    assert!(checked_at_end < 700, "{checked_at_end} of 1024 blocks");
}

/// Each error of a plan names an option of the job, so that a job file's error can name its own.
#[test]
fn errors_of_plans_have_options() {
    let facts =
        DriveSession::open(&DriveSpec::parse("null:size=64m").unwrap(), &SessionOptions::default())
            .unwrap()
            .target_properties();
    for (option, value, expected) in [
        ("random_distribution", "pareto:x", "random_distribution"),
        ("random_distribution", "zipf:99", "random_distribution"),
        ("bs", "3k/200:4k", "bs"),
        ("bs", "128m", "bs"),
        ("size", "1t", "offset"),
        ("zonesize", "0", "zonesize"),
        ("rw", "sideways", "rw"),
        ("runtime", "1parsec", "runtime"),
        ("cpus_allowed", "9999", "cpus_allowed"),
        ("data", "purple", "data"),
        ("exitall", "everything", "exitall"),
        ("fsync", "0", "fsync"),
        ("verify_backlog", "1", "verify_backlog"),
        ("end_fsync", "true", "end_fsync"),
    ] {
        let mut options = JobOptions { rw: Some("randread".into()), ..JobOptions::default() };
        options.set(option, value).unwrap();
        let error = Workload::plan(&options, &facts).unwrap_err();
        assert_eq!(error.options().first(), Some(&expected), "{error}");
    }
}

/// I/Os for 20 ms, 50 ms without, again and again; whichever of time and number comes first.
#[test]
fn a_pause_follows_a_time_of_ios_or_a_number_of_them() {
    let job = |iotime: Option<&str>, blocks: Option<u32>| JobOptions {
        rw: Some("write".into()),
        runtime: Some("350ms".into()),
        thinktime: Some("50ms".into()),
        thinktime_iotime: iotime.map(str::to_owned),
        thinktime_blocks: blocks,
        ..JobOptions::default()
    };
    let ios = |options: &JobOptions| {
        let mut target = Clockwork::new(LATENCY, 1);
        go(&mut target, options).totals.summary(Op::Write).ios
    };
    let per_burst = 20_000_000 / LATENCY.0;
    // Five cycles of 70 ms.
    let by_time = ios(&job(Some("20ms"), None));
    assert!(by_time.abs_diff(5 * per_burst) <= 5, "{by_time}");
    let blocks = per_burst as u32 / 10;
    // A tenth of a burst, and the pause: 52 ms.
    let by_number = ios(&job(Some("20ms"), Some(blocks)));
    assert_eq!(by_number, 7 * u64::from(blocks));
    assert_eq!(by_number, ios(&job(None, Some(blocks))));
}
