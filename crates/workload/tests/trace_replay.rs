//! Replay of traces on a simulated drive and on a file: what the drive gets, when, and what is
//! counted.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_io::Telemetry;
use assay_stats::{HostLoad, Interval};
use assay_units::{Nanos, Op};
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;
use assay_workload::run::{DriveJob, DriveOutcome, RunObserver, run_jobs};

struct Ignore;

impl RunObserver for Ignore {
    fn interval(&mut self, _drive: usize, _interval: &Interval) {}
    fn telemetry(&mut self, _drive: usize, _at: Nanos, _telemetry: Telemetry) {}
    fn host(&mut self, _index: u32, _load: HostLoad) {}
}

fn session(drive: &str, destroy: &[&str]) -> DriveSession {
    let options = SessionOptions {
        destroy: destroy.iter().map(ToString::to_string).collect(),
        will_write: !destroy.is_empty(),
        ..SessionOptions::default()
    };
    DriveSession::open(&DriveSpec::parse(drive).unwrap(), &options).unwrap()
}

/// Replay a trace with these options, `name value` by line.
fn replay(drive: &str, destroy: &[&str], trace: &Path, options: &[(&str, &str)]) -> DriveOutcome {
    let mut job = JobOptions::default();
    job.set("trace", trace.to_str().unwrap()).unwrap();
    for (name, value) in options {
        job.set(name, value).unwrap();
    }
    let mut session = session(drive, destroy);
    let workload = Workload::plan(&job, &session.target_properties()).unwrap();
    let mut target = session.acquire(workload.open_mode()).unwrap();
    let mut jobs = [DriveJob { drive: 0, workload: &workload, target: &mut target }];
    let outcome = run_jobs(&mut jobs, &AtomicBool::new(false), &mut Ignore).unwrap();
    outcome.drives.into_iter().next().unwrap()
}

/// An iolog of `requests` reads of 4 KiB, one every `gap_us`, every fourth a write, with a flush at
/// the end.
fn iolog(folder: &Path, requests: u64, gap_us: u64) -> std::path::PathBuf {
    let mut text = "fio version 3 iolog\n0 f add\n0 f open\n".to_owned();
    for n in 0..requests {
        let word = if n % 4 == 3 { "write" } else { "read" };
        text += &format!("{} f {word} {} 4096\n", n * gap_us, n * 7919 % 4096 * 4096);
    }
    text += &format!("{} f sync 0 0\n{} f close\n", requests * gap_us, requests * gap_us);
    let path = folder.join("t.log");
    fs::write(&path, text).unwrap();
    path
}

const DRIVE: &str = "sim:samsung-951";

#[test]
fn a_timed_replay_keeps_the_times_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let trace = iolog(folder.path(), 1000, 500);
    let found = replay(DRIVE, &[], &trace, &[]);
    let outcome = found.trace.as_ref().unwrap();
    assert!(outcome.is_whole);
    assert_eq!((outcome.ios, outcome.counts.requests, outcome.late_ios), (1001, 1001, 0));
    let totals = &found.totals;
    let ios = |op| totals.counts(op).map_or(0, |counts| counts.ios);
    assert_eq!([Op::Read, Op::Write, Op::Flush].map(ios), [750, 250, 1]);
    // The last request is due at half a second, and is a flush.
    let elapsed_ms = totals.elapsed().0 / 1_000_000;
    assert!((500..600).contains(&elapsed_ms), "{elapsed_ms}");
    // Nothing waits for a slot: latency is service.
    let reads = totals.summary(Op::Read);
    assert_eq!(reads.latency_ns.mean, reads.service_ns.unwrap().mean);
    // Ten phases of equal shares, which add up to the totals.
    assert_eq!(outcome.phases.len(), 10);
    for op in [Op::Read, Op::Write, Op::Flush] {
        let of_phase = |phase: &assay_workload::worker::TracePhase| {
            let found = phase.ops.iter().find(|(known, _)| *known == op);
            found.map(|(_, counts)| counts.clone())
        };
        let mut sum = assay_stats::OpInterval::default();
        outcome.phases.iter().filter_map(of_phase).for_each(|counts| sum.merge(&counts));
        assert_eq!(Some(&sum), totals.counts(op));
    }
    let begins: Vec<u64> = outcome.phases.iter().map(|phase| phase.start.0 / 1_000_000).collect();
    assert_eq!(begins, [0, 50, 100, 150, 200, 250, 300, 350, 400, 450]);
}

#[test]
fn times_scale_and_idle_time_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let trace = iolog(folder.path(), 100, 10_000);
    let elapsed_ms = |options: &[(&str, &str)]| {
        let found = replay(DRIVE, &[], &trace, options);
        found.totals.elapsed().0 / 1_000_000
    };
    assert!((1000..1020).contains(&elapsed_ms(&[])));
    assert!((500..520).contains(&elapsed_ms(&[("trace_time_scale", "0.5")])));
    assert!((200..220).contains(&elapsed_ms(&[("trace_idle_limit", "2ms")])));
    assert!(elapsed_ms(&[("trace_timing", "closed")]) < 100);
    // A runtime ends a replay: the last request that is due before is at 290 ms.
    assert!((290..300).contains(&elapsed_ms(&[("runtime", "300ms")])));
}

/// At depth 1, a trace faster than the drive waits in the queue: latency counts from the due time,
/// service from submission.
#[test]
fn a_drive_that_falls_behind_is_late() {
    let folder = tempfile::tempdir().unwrap();
    let trace = iolog(folder.path(), 2000, 10);
    let found = replay(DRIVE, &[], &trace, &[("iodepth", "1"), ("trace_skip", "write,sync")]);
    let outcome = found.trace.unwrap();
    let reads = found.totals.summary(Op::Read);
    let service = reads.service_ns.unwrap();
    assert!(outcome.late_ios > 1000, "{}", outcome.late_ios);
    assert!(reads.latency_ns.mean > 10.0 * service.mean);
    // All the waiting is lag: latency is lag and service.
    let mean_lag = outcome.lag_sum.0 as f64 / outcome.ios as f64;
    assert!((reads.latency_ns.mean - service.mean - mean_lag).abs() < 1.0);
    // In a closed loop nothing is due.
    let closed = replay(DRIVE, &[], &trace, &[("iodepth", "1"), ("trace_timing", "closed")]);
    assert_eq!(closed.trace.unwrap().lag_sum, Nanos::ZERO);
}

#[test]
fn a_replay_repeats_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let trace = iolog(folder.path(), 5000, 20);
    let once = replay(DRIVE, &[], &trace, &[]);
    let again = replay(DRIVE, &[], &trace, &[]);
    assert_eq!(once.totals, again.totals);
    assert_eq!(once.trace, again.trace);
}

/// A closed replay at depth 1 on a file does the requests in order: the last write of a block is
/// what it holds.
#[test]
fn a_file_gets_what_the_trace_says() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("disk.img");
    fs::write(&file, vec![0_u8; 1 << 20]).unwrap();
    let trace = folder.path().join("t.csv");
    fs::write(&trace, "1,W,4096,8192,0\n1,R,0,4096,10\n1,W,1044480,8192,20\n1,W,5000000,4096,30\n")
        .unwrap();
    let options = [
        ("trace_timing", "closed"),
        ("iodepth", "1"),
        ("trace_map", "offset"),
        ("engine", "sync"),
        ("direct", "false"),
    ];
    let found = replay(file.to_str().unwrap(), &["disk.img"], &trace, &options);
    let counts = found.trace.unwrap().counts;
    assert_eq!((counts.clipped, counts.outside), (1, 1));
    let data = fs::read(&file).unwrap();
    let is_written = |block: usize| data[block * 4096..][..4096].iter().any(|byte| *byte != 0);
    let written: Vec<usize> = (0..256).filter(|block| is_written(*block)).collect();
    assert_eq!(written, [1, 2, 255]);
}

#[test]
fn options_that_contradict_a_trace_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trace = iolog(folder.path(), 10, 10);
    let properties = session(DRIVE, &[]).target_properties();
    let error = |options: &[(&str, &str)]| {
        let mut job = JobOptions::default();
        for (name, value) in options {
            job.set(name, value).unwrap();
        }
        Workload::plan(&job, &properties).unwrap_err().to_string()
    };
    let trace = trace.to_str().unwrap();
    for (name, value, part) in [
        ("rw", "randread", "--rw and --trace exclude one another"),
        ("verify", "true", "--verify and --trace"),
        ("numjobs", "2", "--iodepth"),
        ("trace_map", "fold", "not one of: auto"),
        ("trace_align", "1000", "multiple of the drive's logical block"),
        ("trace_device", "sda", "no request of the device \"sda\""),
    ] {
        let text = error(&[("trace", trace), (name, value)]);
        assert!(text.contains(part), "{text}");
    }
    assert!(error(&[("trace_map", "linear")]).contains("needs --trace"));
    assert!(error(&[("trace", "/nonexistent/t.log")]).contains("cannot read the trace"));
}
