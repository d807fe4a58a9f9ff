//! Fixtures: drives, options, results.

use std::sync::Arc;

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_integrity::pattern::PatternPages;
use assay_stream::drives::{IoCalls, SoftwareHost};
use assay_testbench::fault_table::{CHUNK_BYTES, CHUNKS, options};
use assay_testbench::{BenchOptions, BenchReport, TestOutcome, TestResult, run, software_host};

pub(crate) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        Fixture { folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap() }
    }

    pub(crate) fn file(&self) -> String {
        let path = self.folder.path().join("drive");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(CHUNKS * u64::from(CHUNK_BYTES)).unwrap();
        path.display().to_string()
    }
}

/// These drives, and the options of the bench.
pub(crate) fn open(specs: &[&str]) -> (SoftwareHost<Vec<DriveSession>>, BenchOptions) {
    let options = options();
    (open_for(specs, &options, IoCalls::default()), options)
}

pub(crate) fn open_for(
    specs: &[&str],
    options: &BenchOptions,
    calls: IoCalls,
) -> SoftwareHost<Vec<DriveSession>> {
    let pages = Arc::new(PatternPages::new());
    let session = SessionOptions {
        power_meter: None,
        destroy: specs.iter().filter_map(|s| s.rsplit('/').next()).map(str::to_owned).collect(),
        will_write: true,
        keep_data: true,
        generator: Some(pages.clone()),
        only_looks: false,
        ..SessionOptions::default()
    };
    let open =
        |spec: &&str| DriveSession::open(&DriveSpec::parse(spec).unwrap(), &session).unwrap();
    let sessions: Vec<_> = specs.iter().map(open).collect();
    software_host(sessions, options, calls).with_pages(pages)
}

#[track_caller]
pub(crate) fn bench(specs: &[&str]) -> BenchReport {
    let (mut host, options) = open(specs);
    run(&mut host, &options, &mut ()).unwrap()
}

/// The results as a string: P, F or n for each test.
pub(crate) fn results(report: &BenchReport) -> String {
    let letter = |test: &TestResult| match test.result {
        TestOutcome::Pass => 'P',
        TestOutcome::Fail => 'F',
        TestOutcome::NotApplicable => 'n',
    };
    report.tests.iter().map(letter).collect()
}

pub(crate) fn detail<'r>(report: &'r BenchReport, id: &str) -> &'r str {
    let test = report.tests.iter().find(|test| test.id == id);
    test.map_or("", |test| test.detail.as_str())
}
