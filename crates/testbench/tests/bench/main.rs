//! The test bench passes on drives of every kind; `faults`: each injected fault is detected.

mod faults;
mod fixture;

use std::sync::Arc;

use assay_device::identity::PcieLink;
use assay_device::session::DriveSession;
use assay_integrity::pattern::PatternPages;
use assay_stream::drives::{IoCalls, SoftwareHost};
use assay_stream::status::StreamError;
use assay_stream::streamer::{StreamDrive, StreamHost, Streamer};
use assay_testbench::fault_table::{CHUNK_BYTES, CHUNKS, options};
use assay_testbench::{
    BenchError, BenchObserver, BenchOptions, TestResult, render, run, software_host,
};

use crate::bench::fixture::{Fixture, bench, detail, open, open_for, results};

#[test]
fn all_pass_on_a_simulated_drive_and_its_power_is_cut() {
    let report = bench(&["sim:samsung-951"]);
    let text = render(&report);
    assert_eq!(results(&report), "PPPPPPPPPPPP", "{text}");
    assert!(detail(&report, "00").contains("8.0 GT/s PCIe x4 (simulated)"), "{text}");
    assert!(detail(&report, "03").contains("the power was cut"), "{text}");
    // 64 chunks, stopped when 25 were taken: the next begins at beat 25 * 1024.
    for id in ["05", "06"] {
        let message = detail(&report, id);
        assert!(
            message.contains("fails at beat 25600") && message.contains("39 chunks after it"),
            "{message}"
        );
        assert!(message.contains(&format!("last address {}", 24 * CHUNK_BYTES)), "{message}");
    }
    assert!(text.contains("(simulated)") && text.contains("PASS: 12 passed, 0 failed"), "{text}");
    assert_eq!((report.passed, report.failed, report.not_applicable), (12, 0, 0));
    let sizes: Vec<u64> = report.sweep.iter().map(|row| row.chunks).collect();
    assert_eq!(sizes, [1, 2, 4, 8, 16, 32, 64, 128, 256]);
    assert!(
        report.sweep.iter().all(|row| row.write_bytes_per_s > 0.0 && row.read_bytes_per_s > 0.0)
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
    assert!(!text.contains("simulated") && text.contains("2 not applicable"), "{text}");
    assert_eq!(
        std::fs::metadata(&file).unwrap().len(),
        CHUNKS * u64::from(CHUNK_BYTES),
        "the file grew"
    );
    let options = options();
    let mut host = open_for(&[&file], &options, IoCalls::Blocking);
    let report = run(&mut host, &options, &mut ()).unwrap();
    assert_eq!(results(&report), "nPPPPPPPPPPn", "{}", render(&report));
}

#[test]
fn all_pass_on_several_drives_as_one() {
    let report = bench(&["sim:samsung-951", "sim:intel-600p", "sim:samsung-951,seed=2"]);
    assert_eq!(results(&report), "PPPPPPPPPPPP", "{}", render(&report));
}

#[test]
fn all_pass_wherever_the_range_begins_and_a_span_bounds_it() {
    let (mut host, options) = open(&["sim:intel-600p"]);
    let first = 1000 * u64::from(CHUNK_BYTES);
    let options = BenchOptions {
        first: Some(first),
        last: None,
        span_bytes: Some(100 * u64::from(CHUNK_BYTES)),
        ..options
    };
    let report = run(&mut host, &options, &mut ()).unwrap();
    assert_eq!(results(&report), "PPPPPPPPPPPP", "{}", render(&report));
    assert_eq!(report.continuous.unwrap().chunks, 100);
    assert_eq!(report.sweep.last().unwrap().chunks, 64);
}

#[test]
fn untestable_drives_are_refused() {
    let fails = |spec: &str, change: fn(&mut BenchOptions)| {
        let mut options = options();
        change(&mut options);
        let mut host = open_for(&[spec], &options, IoCalls::default());
        run(&mut host, &options, &mut ()).unwrap_err()
    };
    let null = fails("null:", |_| {});
    assert!(matches!(null, BenchError::KeepsNothing { .. }), "{null}");
    let small = fails("sim:samsung-951", |o| o.last = Some(14 * u64::from(CHUNK_BYTES)));
    assert!(matches!(small, BenchError::TooSmall { chunks: 15, .. }), "{small}");
    let odd = fails("sim:samsung-951", |o| o.first = Some(1));
    assert!(matches!(odd, BenchError::Range(_)), "{odd}");
    let mut none = software_host(Vec::new(), &options(), IoCalls::default());
    assert!(matches!(run(&mut none, &options(), &mut ()), Err(BenchError::NoDrive)));
    // The minimum size.
    let (mut host, mut options) = open(&["sim:samsung-951"]);
    options.last = Some(15 * u64::from(CHUNK_BYTES));
    let report = run(&mut host, &options, &mut ()).unwrap();
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
    let (mut host, options) = open(&["sim:samsung-951"]);
    let mut enough = Enough { ended: 0, progress: 0, began: 0 };
    let report = run(&mut host, &options, &mut enough).unwrap();
    assert!(report.interrupted);
    assert_eq!(results(&report), "PP");
    assert!(render(&report).contains("INTERRUPTED: 2 passed"), "{}", render(&report));
}

/// A link that changes between two reads.
struct ChangingLink {
    host: SoftwareHost<Vec<DriveSession>>,
    links: Vec<Option<PcieLink>>,
}

impl StreamHost for ChangingLink {
    fn drives(&self) -> &[StreamDrive] {
        self.host.drives()
    }
    fn streamer(&mut self) -> Result<Box<dyn Streamer + '_>, StreamError> {
        self.host.streamer()
    }
    fn close(&mut self) {
        self.host.close();
    }
    fn data_path(&self) -> String {
        self.host.data_path()
    }
    fn lose_power(&mut self) -> bool {
        self.host.lose_power()
    }
    fn link(&mut self, _: usize) -> Option<PcieLink> {
        self.links.remove(0)
    }
    fn pattern_pages(&self) -> Option<Arc<PatternPages>> {
        self.host.pattern_pages()
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
        let (host, options) = open(&["sim:samsung-951"]);
        run(&mut ChangingLink { host, links }, &options, &mut ()).unwrap()
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
