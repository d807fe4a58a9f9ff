use assay_store::model::{CellView, OfferedLoad};

use super::*;
use crate::fixtures;

/// A depth sweep of random reads, by threads, and one of another block size that saturates earlier.
#[test]
fn one_knee_per_kind_of_workload() {
    let mut run = fixtures::run(vec![fixtures::drive("sim:a")]);
    for (bs, rates) in [
        (4096, [10e3, 20e3, 40e3, 79e3, 98e3, 100e3]),
        (8192, [10e3, 20e3, 39e3, 40e3, 40e3, 40e3]),
    ] {
        for (i, rate) in rates.into_iter().enumerate() {
            let mut plan = fixtures::plan("peak", fixtures::reads(bs, 1 << i, 1));
            plan.view = Some(CellView::Knee);
            run.cells.push(fixtures::cell(plan, rate, 1e5, 3, 0.0, 1));
        }
    }
    let knees = of_step(&run, "peak", 0);
    let found: Vec<(usize, u32, u32)> =
        knees.iter().map(|k| (k.cell, k.knee.depth, k.knee.best_depth)).collect();
    assert_eq!(found, [(4, 16, 32), (8, 4, 8)]);
    assert_eq!(of_step(&run, "other", 0), []);
    // A failed cell is not a point of the sweep.
    run.cells[4].state = CellState::Failed("unplugged".to_owned());
    assert_eq!(of_step(&run, "peak", 0)[0].knee.depth, 32);
}

#[test]
fn a_load_curve_has_its_knee_where_latency_doubles() {
    let mut run = fixtures::run(vec![fixtures::drive("sim:a")]);
    let whole = fixtures::plan("saturate", fixtures::reads(4096, 4, 32));
    let of = whole.step.clone();
    run.cells.push(fixtures::cell(whole, 100e3, 1e6, 3, 0.0, 1));
    for (percent, latency) in
        [(20.0, 80e3), (40.0, 90e3), (60.0, 120e3), (80.0, 200e3), (95.0, 900e3)]
    {
        let mut plan = fixtures::plan("load", fixtures::reads(4096, 1, 256));
        plan.id = format!("load/{percent}");
        plan.view = Some(CellView::Load);
        plan.load = Some(OfferedLoad { of: of.clone(), percent });
        let mut cell = fixtures::cell(plan, percent * 1e3, latency, 3, 0.0, 1);
        let result = cell.drives[0].result.as_mut().unwrap();
        result.values.insert("offered_iops".to_owned(), percent * 1e3);
        run.cells.push(cell);
    }
    let [curve] = of_load(&run, "load", 0)[..] else {
        panic!("one curve");
    };
    assert_eq!(
        (curve.cell, curve.knee.offered.round(), curve.knee.beyond.map(f64::round)),
        (3, 60e3, Some(80e3))
    );
    // Without recorded offered loads they are the shares of the best rate of the step.
    for cell in &mut run.cells {
        cell.drives[0].result.as_mut().unwrap().values.clear();
    }
    assert_eq!(of_load(&run, "load", 0), [curve]);
    // Without that step there is no curve.
    run.cells.remove(0);
    assert_eq!(of_load(&run, "load", 0), []);
}
