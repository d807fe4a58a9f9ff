//! Drive conditioning between workloads (purge, idle time, power states) and its effect on the next
//! measurement.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_device::session::{DriveSession, InitialContents, SessionError, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_integrity::finding::Unjudged;
use assay_io::{Nanos, Telemetry};
use assay_ssd::InitialState;
use assay_stats::{HostLoad, Interval};
use assay_units::Op;
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;
use assay_workload::run::{DriveJob, DriveOutcome, RunObserver, run_jobs};

#[derive(Default)]
struct Seen {
    telemetry: Vec<(Nanos, Telemetry)>,
}

impl RunObserver for Seen {
    fn interval(&mut self, _: usize, _: &Interval) {}
    fn telemetry(&mut self, drive: usize, at: Nanos, telemetry: Telemetry) {
        assert_eq!(drive, 7);
        self.telemetry.push((at, telemetry));
    }
    fn host(&mut self, _: u32, _: HostLoad) {}
}

fn session(spec: &str, options: &SessionOptions) -> DriveSession {
    DriveSession::open(&DriveSpec::parse(spec).unwrap(), options).unwrap()
}

fn sim(spec: &str) -> DriveSession {
    session(spec, &SessionOptions::default())
}

/// Runs a job given as `key=value` pairs.
fn job(session: &mut DriveSession, words: &str) -> (DriveOutcome, Seen) {
    let text: String = words
        .split_whitespace()
        .map(|word| {
            let (key, value) = word.split_once('=').unwrap();
            match value.parse::<u64>().is_ok() || value == "true" {
                true => format!("{key} = {value}\n"),
                false => format!("{key} = \"{value}\"\n"),
            }
        })
        .collect();
    let options: JobOptions = toml::from_str(&text).unwrap();
    let workload = Workload::plan(&options, &session.target_properties()).unwrap();
    let mut target = session.acquire(workload.open_mode()).unwrap();
    let mut seen = Seen::default();
    let mut parts = [DriveJob { drive: 7, workload: &workload, target: &mut target }];
    let outcome = run_jobs(&mut parts, &AtomicBool::new(false), &mut seen).unwrap();
    session.release(target);
    (outcome.drives.into_iter().next().unwrap(), seen)
}

fn iops(outcome: &DriveOutcome, op: Op) -> f64 {
    outcome.totals.summary(op).ios as f64 / outcome.totals.elapsed().as_secs_f64()
}

#[test]
fn a_purged_simulated_drive_writes_like_a_fresh_one_and_keeps_wear_and_time() {
    let writing = "rw=randwrite bs=4k iodepth=32 runtime=2s";
    let (fresh, _) = job(&mut sim("sim:samsung-951,state=fresh"), writing);
    let mut drive = sim("sim:samsung-951");
    let soak = "rw=randwrite bs=4k iodepth=32 io_size=24g runtime=90s";
    job(&mut drive, soak);
    let (worn, seen) = job(&mut drive, writing);
    assert!(iops(&worn, Op::Write) < 0.7 * iops(&fresh, Op::Write));
    let before = seen.telemetry.last().unwrap().1.clone();
    let purged = drive.purge().unwrap();
    assert!(purged.complete, "{purged:?}");
    assert_eq!(drive.initial_contents(), InitialContents::Modelled(InitialState::Fresh));
    let after = drive.telemetry().unwrap();
    assert_eq!(after.host_bytes_written, before.host_bytes_written);
    assert_eq!(after.nand_bytes_written, before.nand_bytes_written);
    assert!(after.temperature_c.unwrap() > 35.0, "{after:?}");
    let (again, seen) = job(&mut drive, writing);
    let ratio = iops(&again, Op::Write) / iops(&fresh, Op::Write);
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
    let end = &seen.telemetry.last().unwrap().1;
    let grown = |of: fn(&Telemetry) -> Option<u64>| of(end).unwrap() - of(&after).unwrap();
    let (host, nand) = (grown(|t| t.host_bytes_written), grown(|t| t.nand_bytes_written));
    let amplification = nand as f64 / host as f64;
    assert!((0.95..1.05).contains(&amplification), "{amplification}");
}

#[test]
fn no_data_is_readable_after_a_purge() {
    for spec in ["sim:samsung-951,data=checksum", "sim:intel-optane-memory-32gb,data=keep"] {
        let mut drive = sim(spec);
        let (written, _) = job(&mut drive, "rw=write bs=64k size=4m verify=true");
        assert_eq!(written.verify.unwrap().findings(), 0);
        drive.purge().unwrap();
        let (read, _) = job(&mut drive, "rw=read bs=64k size=4m verify=true");
        let report = read.verify.unwrap();
        assert!(report.is_clean(), "{report:?}");
        let zeroes = report.not_judged().get(&Unjudged::Zeroes).copied();
        assert_eq!(zeroes, Some(1024), "nothing that was written is left");
    }
}

#[test]
fn a_purged_file_is_one_hole_of_its_length_and_needs_permission() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let (path, other) = (dir.path().join("disk"), dir.path().join("other"));
    let content = vec![7_u8; 4 << 20];
    fs::write(&path, &content).unwrap();
    fs::write(&other, &content).unwrap();
    let spec = path.to_str().unwrap();
    let mut reader = sim(spec);
    let error = reader.purge().unwrap_err();
    assert!(matches!(&error, SessionError::NoPermit { serial, .. } if serial == "disk"), "{error}");
    assert!(fs::read(&path).unwrap() == content);
    drop(reader);
    let options = SessionOptions {
        destroy: vec!["disk".to_owned()],
        will_write: true,
        ..SessionOptions::default()
    };
    let mut drive = session(spec, &options);
    let purged = drive.purge().unwrap();
    assert_eq!((purged.scope, purged.complete), ("file", false));
    let after = fs::metadata(&path).unwrap();
    assert_eq!((after.len(), after.blocks()), (4 << 20, 0));
    assert!(fs::read(&path).unwrap().iter().all(|&byte| byte == 0));
    assert!(fs::read(&other).unwrap() == content);
    // The permit does not apply to a file that replaced the permitted one.
    fs::rename(&other, &path).unwrap();
    assert!(matches!(drive.purge(), Err(SessionError::Open(_))));
    assert!(fs::read(&path).unwrap() == content);
}

#[test]
fn the_null_target_has_no_purge_and_no_idle_time() {
    let mut null = sim("null:");
    assert!(null.purge().unwrap().complete);
    let mut seen = Seen::default();
    let rested = null.idle_for(
        Nanos::from_secs(60),
        Nanos::SECOND,
        &AtomicBool::new(false),
        &mut |at, telemetry| seen.telemetry(7, at, telemetry),
    );
    assert_eq!(rested, Nanos::ZERO);
    assert!(seen.telemetry.is_empty());
}

#[test]
fn an_idle_drive_cools_and_uses_its_idle_power() {
    let mut drive = sim("sim:samsung-951");
    job(&mut drive, "rw=read bs=128k iodepth=8 size=16g runtime=120s");
    let hot = drive.telemetry().unwrap().temperature_c.unwrap();
    let mut seen = Seen::default();
    let never = AtomicBool::new(false);
    let span = Nanos::from_millis(60_500);
    assert_eq!(
        drive.idle_for(span, Nanos::from_secs(1), &never, &mut |at, t| seen.telemetry(7, at, t)),
        span
    );
    let times: Vec<f64> = seen.telemetry.iter().map(|(at, _)| at.as_secs_f64()).collect();
    let wanted: Vec<f64> = (1..=60).map(f64::from).chain([60.5]).collect();
    assert_eq!(times, wanted);
    let cooled: Vec<f64> = seen.telemetry.iter().map(|(_, t)| t.temperature_c.unwrap()).collect();
    assert!(cooled.is_sorted_by(|a, b| a >= b) && cooled[60] < hot - 5.0);
    for (_, telemetry) in &seen.telemetry {
        // 1.7 W, the idle power of the profile, independent of the power before the idle time.
        assert_eq!(telemetry.power_mw, Some(1_700));
        assert_eq!(telemetry.power_state, Some(0));
    }
}

#[test]
fn idle_time_ends_on_a_stop_request() {
    let stop = AtomicBool::new(true);
    let mut seen = Seen::default();
    let mut drive = sim("sim:samsung-951");
    let hour = Nanos::from_secs(3600);
    assert_eq!(
        drive.idle_for(hour, Nanos::SECOND, &stop, &mut |at, t| seen.telemetry(7, at, t)),
        Nanos::ZERO
    );
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().join("disk");
    fs::write(&path, vec![0; 1 << 20]).unwrap();
    let mut file = sim(path.to_str().unwrap());
    assert!(
        file.idle_for(hour, Nanos::SECOND, &stop, &mut |at, t| seen.telemetry(7, at, t))
            < Nanos::from_secs(60)
    );
    assert!(seen.telemetry.is_empty());
    // And after the end.
    let short = Nanos::from_millis(20);
    let never = AtomicBool::new(false);
    assert!(
        file.idle_for(short, Nanos::from_millis(5), &never, &mut |at, t| seen.telemetry(7, at, t))
            >= short
    );
}

#[test]
fn a_power_state_is_kept_until_another_is_selected() {
    let mut drive = sim("sim:memblaze-pblaze5-c916");
    let reading = "rw=randread bs=4k iodepth=8 numjobs=32 runtime=1s ramp_time=200ms";
    let (free, _) = job(&mut drive, reading);
    drive.set_power_state(Some(2)).unwrap();
    let (held, seen) = job(&mut drive, reading);
    assert!(iops(&held, Op::Read) < 0.8 * iops(&free, Op::Read));
    let last = &seen.telemetry.last().unwrap().1;
    assert_eq!(last.power_state, Some(2));
    assert!(last.power_mw.unwrap() <= 10_100, "{last:?}");
    drive.purge().unwrap();
    assert_eq!(drive.telemetry().unwrap().power_state, Some(2));
    drive.set_power_state(None).unwrap();
    let mut back = sim("sim:memblaze-pblaze5-c916");
    drive.purge().unwrap();
    back.purge().unwrap();
    let again = iops(&job(&mut drive, reading).0, Op::Read);
    let fresh = iops(&job(&mut back, reading).0, Op::Read);
    assert!((again / fresh - 1.0).abs() < 0.01, "{again} {fresh}");
    let error = drive.set_power_state(Some(9)).unwrap_err().to_string();
    assert!(error.contains("no power state 9"), "{error}");
    drive.check_power_state(2).unwrap();
    let error = drive.check_power_state(9).unwrap_err().to_string();
    assert!(error.contains("it has no power state 9, only 0, 1, 2;"), "{error}");
    let sleepy = sim("sim:samsung-951");
    sleepy.check_power_state(4).unwrap();
    let error = sleepy.check_power_state(5).unwrap_err().to_string();
    assert!(error.contains("only 0, 1, 2, 3 (non-operational), 4 (non-operational);"), "{error}");
}

#[test]
fn the_initial_power_state_is_per_drive() {
    let mut drive = sim("sim:memblaze-pblaze5-c916,ps=1");
    drive.set_power_state(Some(0)).unwrap();
    assert_eq!(drive.telemetry().unwrap().power_state, Some(0));
    drive.set_power_state(None).unwrap();
    assert_eq!(drive.telemetry().unwrap().power_state, Some(1));
}

#[test]
fn power_states_of_drives_without_them_are_refused_with_advice() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().join("disk");
    fs::write(&path, vec![0; 1 << 20]).unwrap();
    let refuses = |path: &Path| {
        let mut file = sim(path.to_str().unwrap());
        file.set_power_state(None).unwrap();
        let early = file.check_power_state(2).unwrap_err().to_string();
        let error = file.set_power_state(Some(2)).unwrap_err();
        assert_eq!(early, error.to_string());
        assert!(matches!(error, SessionError::NoPowerControl { state: 2, .. }));
        assert!(error.to_string().contains("leave power_states out"), "{error}");
    };
    refuses(&path);
}
