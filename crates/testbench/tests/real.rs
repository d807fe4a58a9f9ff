//! The test bench on block devices: zram and loop. Needs root; otherwise prints the reason and
//! passes.

#![allow(clippy::unwrap_used, reason = "a fixture that cannot be set up fails the test")]

use std::path::Path;

use assay_device::session::{DriveSession, SessionOptions};
use assay_device::spec::DriveSpec;
use assay_stream::drives::IoCalls;
use assay_testbench::{BenchOptions, TestOutcome, render, run, software_host};

use crate::interlock_fixture;

use interlock_fixture::{InterlockFixture, name};

const MIB: u64 = 1 << 20;

#[track_caller]
fn passes(device: &Path, options: &BenchOptions) {
    let session = SessionOptions {
        destroy: vec![name(device).to_owned()],
        will_write: true,
        ..SessionOptions::default()
    };
    let spec = DriveSpec::parse(device.to_str().unwrap()).unwrap();
    let drives = [DriveSession::open(&spec, &session).unwrap()];
    let mut host = software_host(drives, options, IoCalls::default());
    let report = run(&mut host, options, &mut ()).unwrap();
    let text = render(&report);
    assert_eq!((report.passed, report.failed, report.not_applicable), (10, 0, 2), "{text}");
    let links: Vec<_> = report
        .tests
        .iter()
        .filter(|test| test.result == TestOutcome::NotApplicable)
        .map(|test| (test.id, test.detail.as_str()))
        .collect();
    assert_eq!(links, [("00", "not a PCIe drive"), ("11", "not a PCIe drive")]);
    assert!(
        report.direct
            && !report.simulated
            && text.contains("PASS: 10 passed, 0 failed, 2 not applicable"),
        "{text}"
    );
    let whole = report.continuous.unwrap();
    assert_eq!(whole.bytes, report.range.bytes());
}

/// Several depths and chunk sizes, including sizes that are no power of two.
fn passes_each(device: &Path) {
    for (chunk_bytes, depth, chunks) in
        [(128 << 10, 32, None), (12 << 10, 5, Some(200)), (4 << 10, 1, Some(80))]
    {
        let options = BenchOptions {
            last: chunks.map(|chunks: u64| (chunks - 1) * u64::from(chunk_bytes)),
            chunk_bytes,
            depth,
            seed: u64::from(chunk_bytes),
            ..BenchOptions::default()
        };
        passes(device, &options);
    }
}

#[test]
fn all_pass_on_zram() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let Some(device) = fixture.zram(24) else {
        return;
    };
    passes_each(&device);
}

#[test]
fn all_pass_on_a_loop_device() {
    let Some(mut fixture) = InterlockFixture::new() else {
        return;
    };
    let image = fixture.image("image", 24);
    let Some(device) = fixture.attach(&image, &["--direct-io=on"]) else {
        return;
    };
    passes_each(&device);
    assert_eq!(std::fs::metadata(&image).unwrap().len(), 24 * MIB);
}
