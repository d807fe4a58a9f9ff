//! A job that only reads verifies the blocks of every job that wrote there, whatever their seeds.

use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_integrity::finding::VerifyReport;
use assay_io::{Nanos, Telemetry};
use assay_stats::{HostLoad, Interval};
use assay_workload::options::JobOptions;
use assay_workload::plan::Workload;
use assay_workload::run::{DriveJob, RunObserver, run_jobs};

const MIB: u64 = 1 << 20;

struct NullObserver;

impl RunObserver for NullObserver {
    fn interval(&mut self, _: usize, _: &Interval) {}
    fn telemetry(&mut self, _: usize, _: Nanos, _: Telemetry) {}
    fn host(&mut self, _: u32, _: HostLoad) {}
}

/// Findings of verification in 4 KiB jobs on the first 8 MiB.
fn verify(session: &mut DriveSession, options: JobOptions) -> VerifyReport {
    let options =
        JobOptions { bs: Some("4k".into()), verify: Some(true), direct: Some(false), ..options };
    let workload = Workload::plan(&options, &session.target_properties()).unwrap();
    let mut target = session.acquire(workload.open_mode()).unwrap();
    let mut parts = [DriveJob { drive: 0, workload: &workload, target: &mut target }];
    let outcome = run_jobs(&mut parts, &AtomicBool::new(false), &mut NullObserver).unwrap();
    session.release(target);
    outcome.drives[0].verify.clone().unwrap()
}

fn write(session: &mut DriveSession, offset: &str, seed: u64) {
    let options = JobOptions {
        rw: Some("write".into()),
        offset: Some(offset.into()),
        size: Some("4m".into()),
        verify_seed: Some(seed),
        ..JobOptions::default()
    };
    assert!(verify(session, options).is_clean());
}

fn read(session: &mut DriveSession, numjobs: u32, split: bool) -> VerifyReport {
    let options = JobOptions {
        rw: Some("read".into()),
        size: Some("8m".into()),
        io_size: (!split).then(|| "8m".into()),
        numjobs: Some(numjobs),
        split: Some(split),
        ..JobOptions::default()
    };
    verify(session, options)
}

/// Two halves of two seeds, read by one thread or by one thread per half.
fn two_seeds(session: &mut DriveSession) {
    write(session, "0", 11);
    write(session, "4m", 22);
    for (numjobs, split, blocks) in [(1, false, 2048), (2, true, 2048), (2, false, 4096)] {
        let report = read(session, numjobs, split);
        assert_eq!(report.judged_blocks(), blocks, "{numjobs} threads");
        assert!(report.is_clean() && report.not_judged().is_empty());
        assert_eq!(report.seed(), None);
    }
    write(session, "4m", 11);
    let report = read(session, 2, true);
    assert!(report.is_clean(), "{:?}", report.found());
    assert_eq!(report.seed(), Some(11));
}

#[test]
fn blocks_of_two_seeds_are_right_on_a_simulated_drive() {
    let spec = DriveSpec::parse("sim:samsung-951,data=keep").unwrap();
    two_seeds(&mut DriveSession::open(&spec, &SessionOptions::default()).unwrap());
}

#[test]
fn blocks_of_two_seeds_are_right_on_a_file() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("seeds.img");
    fs::write(&path, vec![0_u8; 8 * MIB as usize]).unwrap();
    let name = path.to_str().unwrap();
    let options = SessionOptions {
        destroy: vec!["seeds.img".to_owned()],
        will_write: true,
        ..SessionOptions::default()
    };
    let spec = DriveSpec::parse(name).unwrap();
    two_seeds(&mut DriveSession::open(&spec, &options).unwrap());
    fs::remove_file(&path).unwrap();
}
