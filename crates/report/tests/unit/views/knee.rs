use assay_store::model::{CellPlan, CellResult};
use assay_store::read::{CellDrive, CellRecord, CellState};

use super::*;
use crate::drive_set::DriveSet;

fn cell(iops: f64, state: CellState) -> CellRecord {
    let mut result = CellResult::default();
    result.read.iops = iops;
    CellRecord {
        plan: CellPlan::default(),
        state,
        drives: vec![CellDrive {
            drive: 0,
            result: Some(result),
            series: Vec::new(),
            telemetry: Vec::new(),
            distributions: Vec::new(),
            gaps: Vec::new(),
        }],
        host: Vec::new(),
    }
}

fn index_of(rates: &[f64], unfinished: Option<usize>) -> Option<usize> {
    let cells: Vec<CellRecord> = rates
        .iter()
        .enumerate()
        .map(|(i, r)| {
            let state =
                if unfinished == Some(i) { CellState::Unfinished } else { CellState::Finished };
            let mut cell = cell(*r, state);
            (cell.plan.workload.numjobs, cell.plan.workload.iodepth) = (1 << i, 1);
            cell
        })
        .collect();
    let set = DriveSet::new(&[]);
    let points: Vec<Point<'_>> = cells
        .iter()
        .map(|cell| Point {
            set: &set,
            run: 0,
            index: 0,
            drive: 0,
            cell,
            data: cell.drives.first(),
            not_steady_reason: None,
            alone: None,
            phases: Default::default(),
            row: 0,
            column: 0,
        })
        .collect();
    index(&points.iter().collect::<Vec<_>>())
}

#[test]
fn the_knee_is_the_first_depth_with_95_percent_of_the_best() {
    assert_eq!(index_of(&[10.0, 60.0, 94.9, 95.0, 100.0, 98.0], None), Some(3));
    // A rate that falls with depth has its knee at the maximum.
    assert_eq!(index_of(&[100.0, 80.0, 60.0], None), Some(0));
    assert_eq!(index_of(&[100.0], None), None);
    assert_eq!(index_of(&[0.0, 0.0], None), None);
    // Incomplete results are neither the knee nor the best.
    assert_eq!(index_of(&[10.0, 20.0, 99.0], Some(2)), Some(1));
}
