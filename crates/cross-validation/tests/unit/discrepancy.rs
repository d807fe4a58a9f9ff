//! Discrepancies against drawn ones of known scale and correlation.

use super::*;
use assay_calibrate::inference::linear::diagonal;
use assay_units::Rng;

fn column(threads: u32) -> Vec<ReadCell> {
    let blocks = (9..19).map(|power| f64::from(1u32 << power).ln());
    blocks
        .map(|ln_block| ReadCell { ln_block, threads })
        .collect()
}

fn drawn(truth: &Discrepancy, rng: &mut Rng) -> FittedResiduals {
    let cells = [column(16), column(64)].concat();
    let factor = truth.factor(&cells).unwrap();
    let z: Vec<f64> = cells.iter().map(|_| truth.scale * rng.normal()).collect();
    FittedResiduals {
        errors: factor.iter().map(|row| dot(row, &z)).collect(),
        absorbed: diagonal(&vec![0.0; cells.len()]),
        cells,
    }
}

#[test]
fn scale_and_correlation_of_drawn_errors_are_found() {
    let mut rng = Rng::new(3);
    let truth = Discrepancy {
        scale: 0.1,
        own: 0.15,
        length: 1.4,
        across: 0.75,
    };
    let all: Vec<FittedResiduals> = (0..30).map(|_| drawn(&truth, &mut rng)).collect();
    let found = Discrepancy::learned(&all.iter().collect::<Vec<_>>());
    assert!((found.scale / truth.scale).ln().abs() < 0.5, "{found:?}");
    assert!((found.across - truth.across).abs() < 0.3, "{found:?}");
    let (a, b) = (
        truth.effective(&all[0].cells),
        found.effective(&all[0].cells),
    );
    assert!((a / b).ln().abs() < 0.5, "{a} {b}");
    // Independent errors are found to be so.
    let alone = Discrepancy { own: 1.0, ..truth };
    let all: Vec<FittedResiduals> = (0..30).map(|_| drawn(&alone, &mut rng)).collect();
    let found = Discrepancy::learned(&all.iter().collect::<Vec<_>>());
    assert!(found.effective(&column(16)) > 7.0, "{found:?}");
}

#[test]
fn alike_cells_count_as_one_and_tell_of_each_other() {
    let alike = Discrepancy {
        scale: 0.1,
        own: 0.05,
        length: 100.0,
        across: 0.95,
    };
    let cells = column(16);
    assert!(alike.effective(&cells) < 1.2);
    let known: Vec<(ReadCell, f64)> = cells.iter().map(|c| (*c, 0.08)).collect();
    let (mean, variance) = alike.conditional(&known, &column(64)[3]);
    assert!((0.06..0.08).contains(&mean), "{mean}");
    assert!(variance < 0.002, "{variance}");
    // Without known cells, nothing but the scale.
    let (mean, variance) = alike.conditional(&[], &cells[0]);
    assert_eq!(mean, 0.0);
    assert!((variance - 0.01).abs() < 1e-12);
}

#[test]
fn residuals_of_a_shipped_profile_are_those_of_its_published_reads() {
    let fitted = FittedResiduals::of("toshiba-rd400", 1).unwrap().unwrap();
    assert_eq!(fitted.cells.len(), 10);
    assert!(fitted.errors.iter().all(|e| e.abs() < 0.12));
    assert!(fitted.absorbed[0][0] > 0.0);
    assert!(FittedResiduals::of("intel-p4510", 1).unwrap().is_none());
}
