//! The suite `placement`: what separated streams save, and drives that cannot separate them.

use crate::common;

use assay_analysis::figure::{AMPLIFICATION_SAVING, FigureInput, Measured};
use assay_analysis::placement;
use assay_store::read::CellState;
use common::{cells, run_built_in};

#[test]
fn separated_streams_have_less_write_amplification() {
    // The shortest of its ramps that writes the whole drive.
    let (run, _folder) = run_built_in("placement", &[], "sim:samsung-pm9d3a,fdp=4,shrink=2560");
    let separated = cells(&run, "separated");
    assert_eq!(separated.len(), 3);
    for cell in &separated {
        let found = placement::of_cell(&run, cell, 0).unwrap();
        let saving = found.saving.unwrap();
        println!("{}: {saving:.2}, {:?}", cell.plan.id, found.job);
        assert!(saving > 1.5, "{saving}");
        assert!(found.job.kept_iops_pct.unwrap() >= 99.0);
        let input = FigureInput {
            cells: vec![Measured::new(&run, cell, 0).unwrap()],
            ..FigureInput::default()
        };
        assert_eq!(AMPLIFICATION_SAVING.compute(&input).unwrap().value, saving);
    }
    let mixed = cells(&run, "mixed")[0];
    assert_eq!(placement::of_cell(&run, mixed, 0), None);
}

/// Mixed streams are measured on every drive.
#[test]
fn a_drive_without_handles_has_the_mixed_streams_only() {
    for (spec, why) in [
        ("sim:samsung-pm9d3a,shrink=2560", "Flexible Data Placement"),
        ("sim:samsung-pm9d3a,fdp=2,shrink=2560", "0 to 1"),
    ] {
        let short = [("runtime", "100s"), ("ramp", "100s")];
        let (run, _folder) = run_built_in("placement", &short, spec);
        for cell in cells(&run, "mixed") {
            assert_eq!(cell.state, CellState::Finished, "{}", cell.plan.id);
        }
        for cell in cells(&run, "separated") {
            let skipped = cell.plan.skipped.as_ref().unwrap();
            assert!(skipped.contains(why), "{skipped}");
        }
    }
}
