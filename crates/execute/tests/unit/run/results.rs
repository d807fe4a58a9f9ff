use assay_device::session::{TargetKind, TargetProperties};
use assay_workload::options::JobOptions;

use super::*;

/// (data seed, verify seed) of the cell of this name, on drive 0.
fn seeds(id: &str, kind: TargetKind, verify: bool) -> (u64, Option<u64>) {
    let options =
        JobOptions { rw: Some("write".into()), verify: Some(verify), ..JobOptions::default() };
    let properties = TargetProperties {
        placement_handles: 0,
        atomic: None,
        name: "drive".to_owned(),
        capacity_bytes: 1 << 30,
        files: Vec::new(),
        min_io_bytes: 512,
        kind,
    };
    let workload = Workload::plan(&options, &properties).unwrap();
    let mut cell = Cell::default();
    cell.plan.id = id.to_owned();
    let seeded = with_data_seeds(&cell, 0, &workload);
    (seeded.data_seed, seeded.verify_seed)
}

#[test]
fn no_two_cells_write_the_same_data() {
    let simulated = |id, verify| seeds(id, TargetKind::Simulated, verify);
    assert_eq!(simulated("a/write", true), simulated("a/write", true));
    let (first, second) = (simulated("a/write", true), simulated("a/write/round=2", true));
    assert_ne!(first.0, second.0);
    assert_ne!(first.1, second.1);
    assert_eq!(simulated("a/write", false).1, None);
    let real = || seeds("a/write", TargetKind::File, true);
    let (first, second) = (real(), real());
    assert_ne!(first.0, second.0);
    assert_ne!(first.1, second.1);
    // A JSON number.
    assert!(first.1.unwrap() < 1 << 53);
}
