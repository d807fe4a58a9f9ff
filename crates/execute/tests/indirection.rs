//! Write amplification by size, alignment and order on a drive whose mapping unit is known.

use crate::common;

use assay_analysis::endurance;
use assay_analysis::indirection::{self, Unit};
use assay_store::read::Run;

use common::run_built_in;

fn factors(run: &Run, step: &str) -> Vec<f64> {
    let cells = run.cells.iter().filter(|c| c.plan.step == step);
    cells.map(|c| endurance::of_cell(run, c, &c.drives[0]).unwrap().unwrap().factor).collect()
}

fn close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        assert!((found / expected - 1.0).abs() < 0.1, "{found} for {expected}");
    }
}

/// Known truth: the D5-P5336 maps units of 16 KiB (4, 8, 16, 32, 64 KiB at random, aligned, cost 16
/// KiB over their size, at least 1; 4 KiB beside, the units that they touch: 1, 1.5, 2, 3 and 5).
/// Sequential writes complete their units. A drive with units of 4 KiB shows none of it.
#[test]
fn the_unit_of_a_drive_with_coarse_units_is_found() {
    let set = [("written", "64MiB"), ("interval", "2ms")];
    let (run, _folder) = run_built_in("indirection", &set, "sim:solidigm-d5-p5336");
    close(&factors(&run, "random-aligned"), &[4.0, 2.0, 1.0, 1.0, 1.0]);
    close(&factors(&run, "random-misaligned"), &[4.0, 3.0, 2.0, 1.5, 1.25]);
    close(&factors(&run, "sequential-aligned"), &[1.0; 5]);
    close(&factors(&run, "sequential-misaligned"), &[1.0; 5]);
    assert_eq!(indirection::of_run(&run, 0), Some(Unit::Bytes(16 << 10)));
    let warnings = run.warnings.iter();
    let cuts: Vec<_> = warnings.filter(|w| w.code == "writes-cut-units").collect();
    assert_eq!(cuts.len(), 1, "once");
    assert!(
        cuts[0].message.contains("4 KiB") && cuts[0].message.contains("16 KiB"),
        "{}",
        cuts[0].message
    );

    let (run, _folder) = run_built_in("indirection", &set, "sim:samsung-983-dct");
    close(&factors(&run, "random-misaligned"), &[1.0; 5]);
    assert_eq!(indirection::of_run(&run, 0), Some(Unit::AtMost(4 << 10)));
    assert!(run.warnings.iter().all(|w| w.code != "writes-cut-units"));
}
