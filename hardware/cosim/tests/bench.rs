//! The twelve tests of the test bench on the core, and each planned fault at its drive: detected
//! and named by the test meant for it.

use std::sync::Arc;

use assay_cosim::host::{CoreDrive, CoreHost, CoreHostError, CoreHostOptions};
use assay_cosim::pcie_drive::unlimited_profile;
use assay_cosim::streamer::CoreError;
use assay_cosim::world::WorldError;
use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_integrity::pattern::PatternPages;
use assay_integrity::planned_faults::{Counts, Faults};
use assay_ssd::DriveOptions;
use assay_stream::drives::IoCalls;
use assay_stream::streamer::StreamHost;
use assay_testbench::fault_table::{CHUNK_BYTES, options, rows};
use assay_testbench::faulty::FaultInjection;
use assay_testbench::{
    BenchObserver, BenchReport, FaultsInTest, TestOutcome, TestResult, render, run, software_host,
};

/// Reads of the software streamer in test 01 until its replay is stopped: 16 chunks delivered, 7
/// read ahead.
const SOFTWARE_STOPPED_READS: u64 = 23;

/// A core with a drive, or `None` if its model is not built.
fn core(drive: CoreDrive, faults: &[Faults]) -> Option<CoreHost> {
    let options = CoreHostOptions {
        chunk_bytes: CHUNK_BYTES,
        faults: faults.to_vec(),
        ..CoreHostOptions::default()
    };
    match CoreHost::new(vec![drive], &options) {
        Ok(host) => Some(host),
        Err(CoreHostError::Core(CoreError::World(WorldError::Model(error)))) => {
            let reason = error.skip_reason().unwrap_or_else(|| panic!("{error}"));
            println!("skipped: {reason}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A core with a drive that is as fast as its bus.
fn fast_core(faults: &[Faults]) -> Option<CoreHost> {
    let drive = CoreDrive {
        name: "rtl:sim:unlimited".to_owned(),
        profile: unlimited_profile(),
        options: DriveOptions { keep_data: true, ..DriveOptions::default() },
    };
    core(drive, faults)
}

/// P, F or n for each test.
fn results(report: &BenchReport) -> String {
    let letter = |test: &TestResult| match test.result {
        TestOutcome::Pass => 'P',
        TestOutcome::Fail => 'F',
        TestOutcome::NotApplicable => 'n',
    };
    report.tests.iter().map(letter).collect()
}

/// Faults in one test, or none of them; the bench ends with a test.
struct Until {
    faults: FaultsInTest,
    last: &'static str,
    ended: bool,
    counting: Faults,
    /// Commands of the last test.
    counts: Counts,
}

impl Until {
    fn new(faults: &Faults, only: &'static str, last: &'static str) -> Until {
        Until {
            faults: FaultsInTest::new(std::slice::from_ref(faults), only),
            last,
            ended: false,
            counting: faults.clone(),
            counts: Counts::default(),
        }
    }
}

impl BenchObserver for Until {
    fn began(&mut self, id: &'static str, name: &'static str) {
        self.faults.began(id, name);
    }

    fn ended(&mut self, result: &TestResult) {
        self.ended = result.id == self.last;
        self.counts = self.counting.counts();
    }

    fn stop_requested(&self) -> bool {
        self.ended
    }
}

#[test]
fn twelve_tests_pass_on_the_core() {
    let drive = CoreDrive::parse("rtl:sim:samsung-951", true).expect("a drive");
    let Some(mut host) = core(drive, &[]) else {
        return;
    };
    let report = run(&mut host, &options(), &mut ()).expect("the bench runs");
    let text = render(&report);
    assert_eq!(results(&report), "PPPPPPPPPPPP", "{text}");
    for (id, says) in [
        ("00", "8.0 GT/s PCIe x4 (simulated)"),
        ("03", "the power was cut"),
        // 64 chunks, stopped when 25 were taken: the next begins at beat 25 * 1024.
        ("05", "fails at beat 25600"),
        ("06", "fails at beat 25600"),
    ] {
        let test = report.tests.iter().find(|test| test.id == id);
        let detail = &test.expect("a test").detail;
        assert!(detail.contains(says), "{id}: {detail}");
    }
}

/// Reads of test 01 until its replay has stopped: those of the software, and what one of both reads
/// ahead more.
fn stopped_reads() -> Option<u64> {
    let counts = |host: &mut dyn StreamHost, faults: &Faults| {
        let mut until = Until::new(faults, "01", "01");
        run(host, &options(), &mut until).expect("the bench runs");
        until.counts.reads
    };
    let faults = Faults::new(&[]);
    let core = counts(&mut fast_core(std::slice::from_ref(&faults))?, &faults);
    let pages = Arc::new(PatternPages::new());
    let session = SessionOptions {
        power_meter: None,
        destroy: Vec::new(),
        will_write: true,
        keep_data: true,
        generator: Some(pages.clone()),
        only_looks: false,
        ..SessionOptions::default()
    };
    let spec = DriveSpec::parse("sim:samsung-951").expect("a name");
    let session = DriveSession::open(&spec, &session).expect("a drive");
    let faults = Faults::new(&[]);
    let host = software_host(vec![session], &options(), IoCalls::default()).with_pages(pages);
    let mut host = host.with_layer(FaultInjection::new(std::slice::from_ref(&faults)));
    let software = counts(&mut host, &faults);
    Some(core + SOFTWARE_STOPPED_READS - software)
}

/// Each fault of these tests is detected by its test, which names it, and by none before.
fn check_table(of_tests: &[&str]) {
    let Some(stopped_reads) = stopped_reads() else {
        return;
    };
    println!("{stopped_reads} reads until the stop");
    for row in rows(stopped_reads) {
        if !of_tests.contains(&row.test) {
            continue;
        }
        let Some(mut host) = fast_core(std::slice::from_ref(&row.faults)) else {
            return;
        };
        let mut until = Until::new(&row.faults, row.test, row.test);
        let report = run(&mut host, &options(), &mut until).expect("the bench runs");
        let text = render(&report);
        let count: usize = row.test.parse().expect("a number");
        let expected = "P".repeat(count) + "F";
        assert_eq!(results(&report), expected, "{}\n{text}", row.name);
        assert!(row.faults.triggered() > 0, "{}: did not strike", row.name);
        let detail = &report.tests[count].detail;
        for word in row.says {
            assert!(detail.contains(word), "{}: not {word:?}\n{detail}", row.name);
        }
    }
}

#[test]
fn faults_of_the_pcie_drive_are_detected_by_their_tests() {
    check_table(&["01", "02", "03", "04", "05", "06", "07"]);
}

#[test]
#[ignore = "long: the sweep and the full range before each fault; `make rtl-long`"]
fn faults_of_the_pcie_drive_are_detected_by_the_long_tests() {
    check_table(&["08", "10"]);
}
