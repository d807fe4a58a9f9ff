//! The test bench passes on drives of every kind, and each injected fault is detected and named by the test meant for
//! it.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use assay_device::identity::PcieLink;
use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_integrity::pattern::PatternPages;
use assay_io::Target;
use assay_stream::drives::{IoCalls, TargetLayer};
use assay_testbench::faulty::{BenchFault, Counts, Faults, Trigger};
use assay_testbench::{
    BenchError, BenchObserver, BenchOptions, BenchReport, FaultInjection, TestOutcome, TestResult,
    TestSetup, render, run, run_through,
};

const CHUNK: u32 = 16 << 10;
/// The window at this depth is 64 chunks, a session 16, and a ring 8.
const DEPTH: u32 = 8;
const CHUNKS: u64 = 256;

fn options(pages: Option<Arc<PatternPages>>) -> BenchOptions {
    BenchOptions {
        last: Some((CHUNKS - 1) * u64::from(CHUNK)),
        chunk_bytes: CHUNK,
        depth: DEPTH,
        seed: 7,
        pages,
        ..BenchOptions::default()
    }
}

struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture {
            folder: tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap(),
        }
    }

    fn file(&self) -> String {
        let path = self.folder.path().join("drive");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(CHUNKS * u64::from(CHUNK)).unwrap();
        path.display().to_string()
    }
}

fn open(specs: &[&str]) -> (Vec<DriveSession>, BenchOptions) {
    let pages = Arc::new(PatternPages::new());
    let session = SessionOptions {
        power_meter: None,
        destroy: specs
            .iter()
            .filter_map(|s| s.rsplit('/').next())
            .map(str::to_owned)
            .collect(),
        will_write: true,
        keep_data: true,
        generator: Some(pages.clone()),
    };
    let open =
        |spec: &&str| DriveSession::open(&DriveSpec::parse(spec).unwrap(), &session).unwrap();
    (specs.iter().map(open).collect(), options(Some(pages)))
}

#[track_caller]
fn bench(specs: &[&str]) -> BenchReport {
    let (mut drives, options) = open(specs);
    run(&mut drives, &options, &mut ()).unwrap()
}

/// The results as a string: P, F or n for each test.
fn results(report: &BenchReport) -> String {
    let letter = |test: &TestResult| match test.result {
        TestOutcome::Pass => 'P',
        TestOutcome::Fail => 'F',
        TestOutcome::NotApplicable => 'n',
    };
    report.tests.iter().map(letter).collect()
}

fn detail<'r>(report: &'r BenchReport, id: &str) -> &'r str {
    let test = report.tests.iter().find(|test| test.id == id);
    test.map_or("", |test| test.detail.as_str())
}

#[test]
fn all_pass_on_a_simulated_drive_and_its_power_is_cut() {
    let report = bench(&["sim:samsung-951"]);
    let text = render(&report);
    assert_eq!(results(&report), "PPPPPPPPPPPP", "{text}");
    assert!(
        detail(&report, "00").contains("8.0 GT/s PCIe x4 (simulated)"),
        "{text}"
    );
    assert!(
        detail(&report, "03").contains("the power was cut"),
        "{text}"
    );
    // 64 chunks, stopped when 25 were taken: the next begins at beat 25 * 1024.
    for id in ["05", "06"] {
        let message = detail(&report, id);
        assert!(
            message.contains("fails at beat 25600") && message.contains("39 chunks after it"),
            "{message}"
        );
        assert!(
            message.contains(&format!("last address {}", 24 * CHUNK)),
            "{message}"
        );
    }
    assert!(
        text.contains("(simulated)") && text.contains("PASS: 12 passed, 0 failed"),
        "{text}"
    );
    assert_eq!(
        (report.passed, report.failed, report.not_applicable),
        (12, 0, 0)
    );
    let sizes: Vec<u64> = report.sweep.iter().map(|row| row.chunks).collect();
    assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
    assert!(
        report
            .sweep
            .iter()
            .all(|row| row.write_bytes_per_s > 0.0 && row.read_bytes_per_s > 0.0)
    );
    assert_eq!(report.continuous.unwrap().chunks, CHUNKS);
    // Bit-identical.
    assert_eq!(bench(&["sim:samsung-951"]), report);
}

#[test]
fn all_pass_on_a_file_past_the_page_cache_and_by_blocking_calls() {
    let fixture = Fixture::new();
    let file = fixture.file();
    let report = bench(&[&file]);
    let text = render(&report);
    assert_eq!(results(&report), "nPPPPPPPPPPn", "{text}");
    assert!(detail(&report, "03").contains("no power was cut"), "{text}");
    assert!(
        !text.contains("simulated") && text.contains("2 not applicable"),
        "{text}"
    );
    assert_eq!(
        std::fs::metadata(&file).unwrap().len(),
        CHUNKS * u64::from(CHUNK),
        "the file grew"
    );
    let (mut drives, options) = open(&[&file]);
    let blocking = BenchOptions {
        calls: IoCalls::Blocking,
        ..options
    };
    let report = run(&mut drives, &blocking, &mut ()).unwrap();
    assert_eq!(results(&report), "nPPPPPPPPPPn", "{}", render(&report));
}

#[test]
fn all_pass_on_several_drives_as_one() {
    let report = bench(&[
        "sim:samsung-951",
        "sim:intel-600p",
        "sim:samsung-951,seed=2",
    ]);
    assert_eq!(results(&report), "PPPPPPPPPPPP", "{}", render(&report));
}

#[test]
fn all_pass_wherever_the_range_begins_and_a_span_bounds_it() {
    let (mut drives, options) = open(&["sim:intel-600p"]);
    let first = 1000 * u64::from(CHUNK);
    let options = BenchOptions {
        first: Some(first),
        last: None,
        span_bytes: Some(100 * u64::from(CHUNK)),
        ..options
    };
    let report = run(&mut drives, &options, &mut ()).unwrap();
    assert_eq!(results(&report), "PPPPPPPPPPPP", "{}", render(&report));
    assert_eq!(report.continuous.unwrap().chunks, 100);
    assert_eq!(report.sweep.last().unwrap().chunks, 64);
}

#[test]
fn untestable_drives_are_refused() {
    let fails = |spec: &str, change: fn(&mut BenchOptions)| {
        let (mut drives, mut options) = open(&[spec]);
        change(&mut options);
        run(&mut drives, &options, &mut ()).unwrap_err()
    };
    let null = fails("null:", |_| {});
    assert!(matches!(null, BenchError::KeepsNothing { .. }), "{null}");
    let small = fails("sim:samsung-951", |o| o.last = Some(14 * u64::from(CHUNK)));
    assert!(
        matches!(small, BenchError::TooSmall { chunks: 15, .. }),
        "{small}"
    );
    let odd = fails("sim:samsung-951", |o| o.first = Some(1));
    assert!(matches!(odd, BenchError::Range(_)), "{odd}");
    assert!(matches!(
        run(&mut [], &options(None), &mut ()),
        Err(BenchError::NoDrive)
    ));
    // The minimum size.
    let (mut drives, mut options) = open(&["sim:samsung-951"]);
    options.last = Some(15 * u64::from(CHUNK));
    let report = run(&mut drives, &options, &mut ()).unwrap();
    assert_eq!(results(&report), "PPPPPPPPPPPP", "{}", render(&report));
}

#[test]
fn a_stop_request_ends_the_bench_and_keeps_its_results() {
    struct Enough {
        ended: u32,
        progress: u64,
        began: u64,
    }
    impl BenchObserver for Enough {
        fn began(&mut self, _: &'static str, _: &'static str) {
            self.began = self.progress;
        }
        fn progress(&mut self, done: u64, total: u64) {
            assert!(done <= total && done >= self.progress);
            self.progress = done;
        }
        fn ended(&mut self, _: &TestResult) {
            self.ended += 1;
        }
        fn stop_requested(&self) -> bool {
            // During test 02.
            self.ended == 2 && self.progress > self.began + 100_000
        }
    }
    let (mut drives, options) = open(&["sim:samsung-951"]);
    let mut enough = Enough {
        ended: 0,
        progress: 0,
        began: 0,
    };
    let report = run(&mut drives, &options, &mut enough).unwrap();
    assert!(report.interrupted);
    assert_eq!(results(&report), "PP");
    assert!(
        render(&report).contains("INTERRUPTED: 2 passed"),
        "{}",
        render(&report)
    );
}

/// A link that changes between two reads.
struct ChangingLink(Vec<Option<PcieLink>>);

impl TargetLayer for ChangingLink {
    fn spare_slots(&self) -> u32 {
        0
    }
    fn wrap<'t>(&mut self, _: usize, target: Box<dyn Target + 't>, _: u32) -> Box<dyn Target + 't> {
        target
    }
}

impl TestSetup for ChangingLink {
    fn link(&mut self, _: &DriveSession) -> Option<PcieLink> {
        self.0.remove(0)
    }
}

#[test]
fn a_link_that_is_down_or_changes_is_found() {
    let link = |speed: &str, width| {
        Some(PcieLink {
            address: "0000:01:00.0".to_owned(),
            speed: Some(speed.to_owned()),
            width: Some(width),
            max_speed: Some("16.0 GT/s PCIe".to_owned()),
            max_width: Some(4),
        })
    };
    let of = |links: Vec<Option<PcieLink>>| {
        let (mut drives, options) = open(&["sim:samsung-951"]);
        run_through(&mut drives, &mut ChangingLink(links), &options, &mut ()).unwrap()
    };
    let full = "16.0 GT/s PCIe";
    let report = of(vec![link(full, 4), link(full, 2)]);
    assert_eq!(results(&report), "PPPPPPPPPPPF");
    assert!(detail(&report, "11").contains("was 16.0 GT/s PCIe x4 and is 16.0 GT/s PCIe x2 now"));
    let report = of(vec![link(full, 4), None]);
    assert_eq!(results(&report), "PPPPPPPPPPPF");
    assert!(detail(&report, "11").contains("is no longer visible"));
    let report = of(vec![link("8.0 GT/s PCIe", 4), link("8.0 GT/s PCIe", 4)]);
    assert_eq!(results(&report), "PPPPPPPPPPPP");
    assert!(detail(&report, "00").contains("less than the 16.0 GT/s PCIe x4"));
    let report = of(vec![link("Unknown", 0), link("Unknown", 0)]);
    assert_eq!(results(&report), "FPPPPPPPPPPP");
}

/// The bench with faults in one test, or in all of them.
#[track_caller]
fn with_faults(spec: &str, faults: &Faults, only: Option<&'static str>) -> BenchReport {
    let (mut drives, options) = open(&[spec]);
    let mut setup = FaultInjection::new(std::slice::from_ref(faults), only);
    let report = run_through(&mut drives, &mut setup, &options, &mut ()).unwrap();
    if only.is_some() || faults.triggered() > 0 {
        assert!(
            faults.triggered() > 0,
            "the fault did not strike: {}",
            render(&report)
        );
    }
    report
}

/// Reads, writes and flushes of one test.
fn counts(test: &'static str) -> Counts {
    struct Counting {
        setup: FaultInjection,
        faults: Faults,
        test: &'static str,
        running: &'static str,
        counts: Counts,
    }
    impl TargetLayer for Counting {
        fn spare_slots(&self) -> u32 {
            self.setup.spare_slots()
        }
        fn wrap<'t>(
            &mut self,
            drive: usize,
            target: Box<dyn Target + 't>,
            spare: u32,
        ) -> Box<dyn Target + 't> {
            self.setup.wrap(drive, target, spare)
        }
    }
    impl TestSetup for Counting {
        fn begin(&mut self, test: &'static str) {
            if self.running == self.test {
                self.counts = self.faults.counts();
            }
            self.running = test;
            self.faults.arm(true);
        }
    }
    let faults = Faults::new(&[]);
    let mut counting = Counting {
        setup: FaultInjection::new(std::slice::from_ref(&faults), None),
        faults,
        test,
        running: "",
        counts: Counts::default(),
    };
    let (mut drives, options) = open(&["sim:samsung-951"]);
    let report = run_through(&mut drives, &mut counting, &options, &mut ()).unwrap();
    assert_eq!(
        report.failed,
        0,
        "faults that are none: {}",
        render(&report)
    );
    counting.counts
}

/// A row of the table: a fault, the test that must detect it, and the expected report.
struct Row {
    name: &'static str,
    test: &'static str,
    faults: Faults,
    says: &'static [&'static str],
}

fn row(
    name: &'static str,
    test: &'static str,
    fault: BenchFault,
    nth: u64,
    says: &'static [&'static str],
) -> Row {
    Row {
        name,
        test,
        faults: Faults::new(&[(fault, Trigger::Once(nth))]),
        says,
    }
}

fn table() -> Vec<Row> {
    let chunk = CHUNK;
    vec![
        // Reads after the stopped replay: 16 were delivered and up to 8 read ahead.
        row(
            "left-over beats",
            "01",
            BenchFault::UnfilledRead,
            30,
            &[
                "wrong read: chunk 6",
                "of the same stream",
                "read again it is right",
            ],
        ),
        row(
            "flipped bit, read by the checker",
            "02",
            BenchFault::BitFlip(12_345),
            9,
            &["flipped bits: chunk 8", "bit 57"],
        ),
        Row {
            faults: Faults::new(&[(BenchFault::LostFlush, Trigger::Once(1))]).volatile(),
            ..row(
                "lost flush at power cut",
                "03",
                BenchFault::LostFlush,
                1,
                &["lost in a power cut", "lost write: chunk 0"],
            )
        },
        Row {
            faults: Faults::new(&[(BenchFault::EarlyWrite(2), Trigger::Once(64))]).volatile(),
            ..row(
                "early completion at power cut",
                "03",
                BenchFault::LostFlush,
                1,
                &["lost in a power cut", "lost write: chunk 63"],
            )
        },
        // The 64 of the old pattern, then 21 whole chunks and the partial one.
        row(
            "range overrun of a sector",
            "04",
            BenchFault::Overrun(512),
            64 + 22,
            &["overrun after the stream's end", "chunk 21"],
        ),
        row(
            "write after the abort",
            "05",
            BenchFault::Overrun(chunk),
            64 + 25,
            &[
                "overrun",
                "26624 and must at beat 25600",
                "16384 bytes",
                "written after the end",
            ],
        ),
        row(
            "write after the stop",
            "06",
            BenchFault::Overrun(512),
            64 + 25,
            &["overrun", "25632 and must at beat 25600", "512 bytes"],
        ),
        // The last session written is the second of four; its last chunk goes to the first of the third.
        row(
            "misdirected write",
            "07",
            BenchFault::MisdirectedWrite(16 << 10),
            64,
            &[
                "misdirected write: chunk 31",
                "chunk 32: the chunk holds chunk 15 of what session 1",
            ],
        ),
        row(
            "stale read",
            "08",
            BenchFault::StaleRead,
            300,
            &["wrong read", "read again it is right"],
        ),
        row(
            "dropped write",
            "10",
            BenchFault::DroppedWrite,
            100,
            &[
                "lost write: chunk 99",
                "still holds what the stream of 256 chunks (test 08) wrote",
            ],
        ),
        row(
            "torn chunk",
            "10",
            BenchFault::TornWrite(4096 + 512),
            100,
            &["torn write: chunk 99", "the rest is right"],
        ),
        row(
            "flipped bit",
            "10",
            BenchFault::BitFlip(1000),
            100,
            &["flipped bits: chunk 99", "bit 104"],
        ),
    ]
}

fn expected(test: &str, link: char) -> String {
    let ids = (0..12).map(|n| format!("{n:02}"));
    ids.map(|id| match id.as_str() {
        "00" | "11" => link,
        _ if id == test => 'F',
        _ => 'P',
    })
    .collect()
}

/// Each fault is detected by its test, which names it, and by no other.
#[track_caller]
fn check_table(spec: &str, link: char) {
    for row in table() {
        let report = with_faults(spec, &row.faults, Some(row.test));
        let text = render(&report);
        assert_eq!(
            results(&report),
            expected(row.test, link),
            "{}\n{text}",
            row.name
        );
        let message = detail(&report, row.test);
        for word in row.says {
            assert!(
                message.contains(word),
                "{}: not {word:?}\n{message}",
                row.name
            );
        }
    }
}

#[test]
fn faults_are_detected_on_a_simulated_drive() {
    check_table("sim:samsung-951", 'P');
}

#[test]
fn faults_are_detected_on_a_file() {
    let fixture = Fixture::new();
    check_table(&fixture.file(), 'n');
}

/// Repeated faults: which tests detect them. This is the table of docs/testbench.md.
#[test]
fn repeated_faults_are_detected_by_many_tests() {
    let each = |fault, every| Faults::new(&[(fault, Trigger::Every(every))]);
    let rows = [
        ("no fault", Faults::new(&[])),
        ("every 7th write dropped", each(BenchFault::DroppedWrite, 7)),
        ("every 7th write torn", each(BenchFault::TornWrite(8192), 7)),
        (
            "a bit of every 7th write flipped",
            each(BenchFault::BitFlip(99), 7),
        ),
        (
            "every 64th write a chunk too far",
            each(BenchFault::MisdirectedWrite(16 << 10), 64),
        ),
        (
            "every write runs on for 512 bytes",
            each(BenchFault::Overrun(512), 1),
        ),
        ("every 50th read stale", each(BenchFault::StaleRead, 50)),
        (
            "every 50th read moves nothing",
            each(BenchFault::UnfilledRead, 50),
        ),
        (
            "no flush is done",
            each(BenchFault::LostFlush, 1).volatile(),
        ),
        (
            "no flush is done, and power stays",
            each(BenchFault::LostFlush, 1),
        ),
    ];
    let fixture = Fixture::new();
    let file = fixture.file();
    let mut found = String::new();
    for (name, faults) in &rows {
        let report = with_faults(&file, faults, None);
        found += &format!("{} {name}\n", results(&report));
    }
    let pinned = "\
nPPPPPPPPPPn no fault
nFFFFFFFFFFn every 7th write dropped
nFFFFFFFFFFn every 7th write torn
nFFFFFFFFFFn a bit of every 7th write flipped
nFPFFFFFFFFn every 64th write a chunk too far
nPPPFFFFPPPn every write runs on for 512 bytes
nFFFFFFFFFFn every 50th read stale
nFFFFFFFFFFn every 50th read moves nothing
nPPFPFPPPPPn no flush is done
nPPPPPPPPPPn no flush is done, and power stays
";
    assert_eq!(found, pinned, "\n{found}");
}

/// Faults of the simulated drive, by the ordinal of the command in the whole run.
#[test]
fn faults_of_the_simulated_drive_are_detected() {
    let before = |test: &str| -> Counts {
        let mut sum = Counts::default();
        for id in [
            "00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10",
        ] {
            if id == test {
                break;
            }
            let of = counts(id);
            sum.reads += of.reads;
            sum.writes += of.writes;
            sum.flushes += of.flushes;
        }
        sum
    };
    let (full, stop) = (before("10"), before("06"));
    for (fault, test, says) in [
        (
            format!("drop-write@{}", full.writes + 50),
            "10",
            "lost write: chunk 49",
        ),
        (
            format!("corrupt-write@{}", full.writes + 50),
            "10",
            "flipped bits: chunk 49",
        ),
        (
            format!("misdirect-write@{}", stop.writes + 64 + 25),
            "06",
            "chunk 24",
        ),
        (
            format!("stale-read@{}", full.reads + 50),
            "10",
            "read again it is right",
        ),
        (
            format!("write-error@{}", full.writes + 50),
            "10",
            "device error",
        ),
        (
            format!("read-error@{}", full.reads + 50),
            "10",
            "device error",
        ),
        (
            format!("drop-flush@{}", before("03").flushes + 1),
            "03",
            "lost in a power cut",
        ),
    ] {
        let spec = format!("sim:samsung-951,fault={fault}");
        let report = bench(&[&spec]);
        assert_eq!(
            results(&report),
            expected(test, 'P'),
            "{fault}\n{}",
            render(&report)
        );
        assert!(
            detail(&report, test).contains(says),
            "{fault}: {}",
            detail(&report, test)
        );
    }
    // Counterfeit capacity.
    let report = bench(&["sim:samsung-951,fault=wrap:2m"]);
    assert_eq!(results(&report), "PPPPPPPPFPFP", "{}", render(&report));
    // Surprise removal: all later tests fail, and the bench completes.
    let report = bench(&[&format!(
        "sim:samsung-951,fault=vanish@{}",
        before("05").writes
    )]);
    assert!(report.failed >= 5, "{}", render(&report));
}
