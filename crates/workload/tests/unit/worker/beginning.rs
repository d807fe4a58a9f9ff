use assay_device::session::{TargetKind, TargetProperties};
use assay_integrity::checker::{CheckerOptions, JobChecker};
use assay_integrity::data::DataPattern;
use assay_io::null::NullTarget;
use assay_units::Nanos;

use super::*;
use crate::options::JobOptions;
use crate::plan::Workload;

/// Nothing that completes would make it possible.
#[test]
fn an_io_outside_of_what_is_verified_ends_the_worker_with_an_error() {
    let options = JobOptions {
        rw: Some("write".to_owned()),
        verify: Some(true),
        iodepth: Some(4),
        ..JobOptions::default()
    };
    let facts = TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "file".to_owned(),
        capacity_bytes: 1 << 20,
        files: Vec::new(),
        min_io_bytes: 512,
        kind: TargetKind::File,
    };
    let workload = Workload::plan(&options, &facts).unwrap();
    let mut worker = Worker::new(&workload, 0, 0, Nanos::ZERO).unwrap();
    let two_blocks = CheckerOptions {
        seed: Some(1),
        pattern: DataPattern::Incompressible,
        interval_bytes: 4096,
        offset_bytes: 0,
        size_bytes: 8192,
        writes: true,
        reads_back: true,
        max_io_bytes: 4096,
        atomic: false,
    };
    worker.checker = Some(JobChecker::new(two_blocks).unwrap());
    let mut batch = Vec::new();
    worker.issue(Nanos::ZERO, &mut NullTarget::new(4), &mut batch);
    assert_eq!(batch.len(), 2);
    let failure = worker.take_failure().unwrap().to_string();
    assert!(failure.contains("a write of 4096 bytes at 8192"), "{failure}");
    assert!(worker.take_failure().is_none());
}
