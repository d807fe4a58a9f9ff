use assay_store::model::{CellKind, CellPlan};

use super::*;
use assay_suite::expand::Preconditioning;

fn cell(step: &str, kind: CellKind) -> Cell {
    Cell {
        plan: CellPlan { step: step.to_owned(), kind, drives: vec![0], ..CellPlan::default() },
        ..Cell::default()
    }
}

fn leaving(last: bool) -> Cell {
    Cell {
        sets_state: Some(Preconditioning {
            name: "random".to_owned(),
            workload: String::new(),
            last,
            ..Preconditioning::default()
        }),
        ..cell("prepare", CellKind::Prepare)
    }
}

fn wanting() -> Cell {
    Cell { needs_state: Some("random".to_owned()), ..cell("measure", CellKind::Measure) }
}

fn done(preconditions: &mut Preconditions, cell: &Cell, well: bool) -> bool {
    assert_eq!(preconditions.skip_reason(cell), None);
    preconditions.cell_started(cell);
    preconditions.cell_ended(cell, well)
}

#[test]
fn a_required_state_must_be_complete_and_not_purged() {
    let mut c = Preconditions::new(1);
    assert!(c.skip_reason(&wanting()).is_some());
    assert!(done(&mut c, &leaving(false), true));
    assert!(c.skip_reason(&wanting()).is_some(), "half of it");
    assert!(done(&mut c, &leaving(true), true));
    assert_eq!(c.skip_reason(&wanting()), None);
    assert!(c.skip_reason(&leaving(true)).is_some(), "not twice");
    done(&mut c, &cell("purge", CellKind::Purge), true);
    assert!(c.skip_reason(&wanting()).is_some());
    assert_eq!(c.skip_reason(&leaving(false)), None);
}

#[test]
fn a_failed_cell_leaves_no_state() {
    let mut c = Preconditions::new(1);
    done(&mut c, &leaving(false), false);
    assert!(!done(&mut c, &leaving(true), true));
    assert!(c.skip_reason(&wanting()).is_some());
}

#[test]
fn a_restored_state_states_its_start() {
    let mut c = Preconditions::new(1);
    c.restore(0, "random", "2026-11-21T03:00:00Z");
    assert!(c.is_restored(0));
    assert_eq!(c.skip_reason(&wanting()), None);
    let why = c.skip_reason(&leaving(true)).unwrap();
    assert!(why.contains("2026-11-21"), "{why}");
}
