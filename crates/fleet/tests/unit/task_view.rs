use std::fs::File;
use std::io::Write;

use assay_store::journal::JOURNAL_FILE;
use assay_store::model::IntervalRecord;

use super::*;

fn line(entry: &Entry) -> Vec<u8> {
    let json = serde_json::to_string(entry).unwrap();
    format!("{:08x} {json}\n", crc32c::crc32c(json.as_bytes())).into_bytes()
}

fn interval(ios: u64, errors: u64, end_s: u64) -> Entry {
    let record: IntervalRecord = serde_json::from_value(serde_json::json!({
        "cell": "c", "drive": 0, "index": end_s - 1, "ramp": false, "start": (end_s - 1) * 1_000_000_000, "end": end_s * 1_000_000_000,
        "ops": [
            { "op": "read", "ios": ios, "bytes": ios * 4096, "errors": errors, "latency": histogram() },
            { "op": "write", "ios": 1, "bytes": 512, "errors": 0, "latency": histogram() },
        ],
    }))
    .unwrap();
    Entry::Interval(record)
}

/// An empty histogram as journals have it.
fn histogram() -> serde_json::Value {
    serde_json::to_value(assay_stats::Histogram::new()).unwrap()
}

#[test]
fn figures_follow_a_journal_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let journal = folder.path().join(JOURNAL_FILE);
    let mut follower = JournalFollower::new(folder.path());
    assert_eq!(*follower.figures(), RunFigures::default());
    let mut file = File::create(&journal).unwrap();
    let at = || "2026-01-01T00:00:00Z".to_owned();
    let cell = || "c".to_owned();
    let start = Entry::CellStart { cell: cell(), at: at() };
    file.write_all(&line(&start)).unwrap();
    file.write_all(&line(&interval(100, 2, 1))).unwrap();
    // Half a line counts for nothing yet.
    let second = line(&interval(300, 1, 2));
    file.write_all(&second[..20]).unwrap();
    let figures = follower.figures().clone();
    assert_eq!(
        (figures.cell.as_deref(), figures.errors, figures.iops),
        (Some("c"), 2, Some(101.0))
    );
    assert_eq!(figures.bytes_per_s, Some(100.0 * 4096.0 + 512.0));
    file.write_all(&second[20..]).unwrap();
    assert_eq!((follower.figures().errors, follower.figures().iops), (3, Some(301.0)));
    // A damaged line is passed over; between cells there is no rate.
    file.write_all(b"00000000 {}\n").unwrap();
    let end = Entry::CellFailed { cell: cell(), at: at(), message: "no".to_owned() };
    file.write_all(&line(&end)).unwrap();
    let figures = follower.figures().clone();
    assert_eq!((figures.cells_done, figures.iops, figures.errors), (1, None, 3));
    // A journal that is gone changes nothing.
    std::fs::remove_file(&journal).unwrap();
    assert_eq!(*follower.figures(), figures);
}

#[test]
fn a_view_keeps_what_was_not_changed() {
    let view = TaskView::default();
    let serial = Serial::parse("S").unwrap();
    view.update(&serial, |drive| drive.attempt = 3);
    view.update(&serial, |drive| drive.state = TaskState::Shipping);
    let drive = view.snapshot().remove(&serial).unwrap();
    assert_eq!((drive.attempt, drive.state), (3, TaskState::Shipping));
}
