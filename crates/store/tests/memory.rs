//! Memory of reading a long run. A separate binary, because it measures the peak of the process.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod fixtures;

use assay_stats::{Histogram, OpInterval};
use assay_store::model::{Entry, IntervalRecord, OpRecord};
use assay_store::{Destination, Run, RunWriter};
use assay_units::{Nanos, Op};

use fixtures::SMALL;

/// Hours of per-second intervals need memory for figures, not for histograms (264 KiB each).
#[test]
fn a_long_run_is_folded_in_bounded_memory() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(SMALL);
    let at = manifest.cells.iter().position(|c| c.drives.len() == 2).unwrap();
    let cell = manifest.cells[at].id.clone();
    let under = Destination::Under(dir.path().to_owned());
    let mut writer = RunWriter::create(&under, &manifest).unwrap();
    // Latencies all over the range, so that a histogram that is kept costs all its pages.
    let mut latency = Histogram::new();
    for step in 0..170 {
        latency.record(Nanos(100 << (step / 5)));
        latency.record(Nanos((100 << (step / 5)) / 5 * (step % 5 + 5)));
    }
    let seconds = 3_600;
    for index in 0..seconds {
        for drive in 0..2 {
            let op = OpRecord {
                op: Op::Read,
                counts: OpInterval {
                    ios: latency.count(),
                    bytes: 4096 * latency.count(),
                    latency: latency.clone(),
                    ..OpInterval::default()
                },
            };
            let record = IntervalRecord {
                cell: cell.clone(),
                drive,
                index,
                ramp: false,
                start: Nanos::from_secs(index.into()),
                end: Nanos::from_secs(u64::from(index) + 1),
                ops: vec![op],
            };
            writer.append(&Entry::Interval(record)).unwrap();
        }
    }
    let before = peak_bytes();
    let run = Run::open(&writer.path).unwrap();
    let grown = peak_bytes() - before;
    for drive in &run.cells[at].drives {
        assert_eq!(drive.series.len(), seconds as usize);
        let ios = drive.result.as_ref().unwrap().read.ios;
        assert_eq!(ios, u64::from(seconds) * latency.count());
    }
    // Two hours' histograms would be 1.8 GiB.
    assert!(grown < 32 << 20, "{grown} bytes more");
}

/// Peak resident memory of this process.
fn peak_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|l| l.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}
