//! Each injected fault is detected and named by the test meant for it.

use assay_integrity::planned_faults::{BenchFault, Counts, Faults, Trigger};
use assay_testbench::fault_table::rows;
use assay_testbench::faulty::FaultInjection;
use assay_testbench::{BenchObserver, BenchReport, FaultsInTest, TestResult, render, run};

use crate::bench::fixture::{Fixture, bench, detail, open, results};

/// Reads of the software streamer in test 01 until a replay is stopped: 16 chunks delivered, 7 read
/// ahead.
const STOPPED_READS: u64 = 23;

/// The bench with faults in one test, or in all of them.
#[track_caller]
fn with_faults(spec: &str, faults: &Faults, only: Option<&'static str>) -> BenchReport {
    let (host, options) = open(&[spec]);
    let mut host = host.with_layer(FaultInjection::new(std::slice::from_ref(faults)));
    let report = match only {
        Some(only) => {
            let mut armed = FaultsInTest::new(std::slice::from_ref(faults), only);
            run(&mut host, &options, &mut armed)
        }
        None => run(&mut host, &options, &mut ()),
    };
    let report = report.unwrap();
    if only.is_some() || faults.triggered() > 0 {
        assert!(faults.triggered() > 0, "the fault did not strike: {}", render(&report));
    }
    report
}

/// Reads, writes and flushes of one test.
fn counts(test: &'static str) -> Counts {
    struct Counting {
        faults: Faults,
        test: &'static str,
        counts: Counts,
    }
    impl BenchObserver for Counting {
        fn began(&mut self, _: &'static str, _: &'static str) {
            self.faults.arm(true);
        }
        fn ended(&mut self, result: &TestResult) {
            if result.id == self.test {
                self.counts = self.faults.counts();
            }
        }
    }
    let faults = Faults::new(&[]);
    let (host, options) = open(&["sim:samsung-951"]);
    let mut host = host.with_layer(FaultInjection::new(std::slice::from_ref(&faults)));
    let mut counting = Counting { faults, test, counts: Counts::default() };
    let report = run(&mut host, &options, &mut counting).unwrap();
    assert_eq!(report.failed, 0, "faults that are none: {}", render(&report));
    counting.counts
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
    for row in rows(STOPPED_READS) {
        let report = with_faults(spec, &row.faults, Some(row.test));
        let text = render(&report);
        assert_eq!(results(&report), expected(row.test, link), "{}\n{text}", row.name);
        let message = detail(&report, row.test);
        for word in row.says {
            assert!(message.contains(word), "{}: not {word:?}\n{message}", row.name);
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
        ("a bit of every 7th write flipped", each(BenchFault::BitFlip(99), 7)),
        ("every 64th write a chunk too far", each(BenchFault::MisdirectedWrite(16 << 10), 64)),
        ("every write runs on for 512 bytes", each(BenchFault::Overrun(512), 1)),
        (
            "every write damages the next chunk's first block",
            each(BenchFault::DamagedBlock(16 << 10), 1),
        ),
        (
            "every 9th write damages the next chunk's first block",
            each(BenchFault::DamagedBlock(16 << 10), 9),
        ),
        (
            "every 9th write damages the last block before it",
            each(BenchFault::DamagedBlock(-512), 9),
        ),
        (
            "every 9th write damages a block 8 chunks on",
            each(BenchFault::DamagedBlock(8 * (16 << 10)), 9),
        ),
        ("every 50th read stale", each(BenchFault::StaleRead, 50)),
        ("every 50th read moves nothing", each(BenchFault::UnfilledRead, 50)),
        ("no flush is done", each(BenchFault::LostFlush, 1).volatile()),
        ("no flush is done, and power stays", each(BenchFault::LostFlush, 1)),
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
nPPPFFFFPPPn every write damages the next chunk's first block
nPPPPPPFPPPn every 9th write damages the next chunk's first block
nFFFFFFFFFFn every 9th write damages the last block before it
nPPPFFFFPFPn every 9th write damages a block 8 chunks on
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
        for id in ["00", "01", "02", "03", "04", "05", "06", "07", "08", "09", "10"] {
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
        (format!("drop-write@{}", full.writes + 50), "10", "lost write: chunk 49"),
        (format!("corrupt-write@{}", full.writes + 50), "10", "flipped bits: chunk 49"),
        (format!("misdirect-write@{}", stop.writes + 64 + 25), "06", "chunk 24"),
        (format!("stale-read@{}", full.reads + 50), "10", "read again it is right"),
        (format!("write-error@{}", full.writes + 50), "10", "device error"),
        (format!("read-error@{}", full.reads + 50), "10", "device error"),
        (format!("drop-flush@{}", before("03").flushes + 1), "03", "lost in a power cut"),
    ] {
        let spec = format!("sim:samsung-951,fault={fault}");
        let report = bench(&[&spec]);
        assert_eq!(results(&report), expected(test, 'P'), "{fault}\n{}", render(&report));
        assert!(detail(&report, test).contains(says), "{fault}: {}", detail(&report, test));
    }
    // Counterfeit capacity.
    let report = bench(&["sim:samsung-951,fault=wrap:2m"]);
    assert_eq!(results(&report), "PPPPPPPPFPFP", "{}", render(&report));
    // Surprise removal: all later tests fail, and the bench completes.
    let report = bench(&[&format!("sim:samsung-951,fault=vanish@{}", before("05").writes)]);
    assert!(report.failed >= 5, "{}", render(&report));
}
