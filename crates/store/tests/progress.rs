//! A run in progress, watched from outside.

use crate::fixtures;

use assay_store::model::{CellKind, Entry, RunEnd};
use assay_store::progress::{ProgressFigures, RunProgress};
use assay_store::{Destination, RunWriter};

use fixtures::{SMALL, Size};

#[test]
fn figures_follow_the_journal_event_by_event() {
    let size = Size { max_ios_per_interval: 100, ..SMALL };
    let dir = tempfile::tempdir().unwrap();
    let manifest = fixtures::manifest(size);
    let under = Destination::Under(dir.path().to_owned());
    let mut writer = RunWriter::create(&under, &manifest).unwrap();
    let folder = writer.path.clone();
    let mut progress = RunProgress::open(&folder).unwrap();
    assert_eq!(progress.advance().unwrap().cells_done, 0);
    let (mut rates, mut most, mut errors) = (0, 0, 0);
    for entry in fixtures::entries(&manifest, size) {
        writer.append(&entry).unwrap();
        let figures: ProgressFigures = progress.advance().unwrap().clone();
        most = most.max(figures.cells_done);
        match &entry {
            Entry::CellStart { cell, .. } => assert_eq!(figures.cell.as_ref(), Some(cell)),
            Entry::Interval(record) => {
                let ios: u64 = record.ops.iter().map(|op| op.counts.ios).sum();
                let seconds = (record.end - record.start).as_secs_f64();
                let iops = figures.drives[record.drive].iops;
                assert!((iops - ios as f64 / seconds).abs() <= 1e-9 * iops, "{iops}");
                rates += 1;
                errors += record.ops.iter().map(|op| op.counts.errors).sum::<u64>();
            }
            Entry::Telemetry(record) => {
                assert_eq!(figures.drives[record.drive].temperature_c, record.temperature_c);
            }
            Entry::CellFinish { .. } => {
                assert_eq!((figures.cell, figures.drives[0].iops), (None, 0.0));
            }
            _ => {}
        }
    }
    assert!(rates > 10);
    writer.finish(RunEnd::Complete, "2026-03-14T09:41:07Z").unwrap();
    let figures = progress.advance().unwrap();
    assert_eq!(figures.outcome, Some(RunEnd::Complete));
    assert_eq!(figures.cells_done, most);
    let counted: u64 = figures.drives.iter().map(|drive| drive.errors).sum();
    assert!(errors > 0);
    assert_eq!(counted, errors);
    assert!(manifest.cells.iter().any(|cell| cell.kind == CellKind::Soak));
}
