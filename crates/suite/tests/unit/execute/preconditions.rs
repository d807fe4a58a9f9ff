use assay_store::model::{CellKind, CellPlan};

use super::*;
use crate::expand::Preconditioning;

fn cell(step: &str, kind: CellKind) -> Cell {
    Cell {
        plan: CellPlan {
            step: step.to_owned(),
            kind,
            drives: vec![0],
            ..CellPlan::default()
        },
        ..Cell::default()
    }
}

fn leaving(last: bool) -> Cell {
    Cell {
        leaves: Some(Preconditioning {
            name: "random".to_owned(),
            workload: String::new(),
            last,
        }),
        ..cell("prepare", CellKind::Prepare)
    }
}

fn wanting() -> Cell {
    Cell {
        wants: Some("random".to_owned()),
        ..cell("measure", CellKind::Measure)
    }
}

fn done(preconditions: &mut Preconditions, cell: &Cell, well: bool) -> bool {
    assert_eq!(preconditions.objection(cell), None);
    preconditions.begins(cell);
    preconditions.ends(cell, well)
}

#[test]
fn what_is_wanted_must_have_been_made_whole_and_not_purged_since() {
    let mut c = Preconditions::new(1);
    assert!(c.objection(&wanting()).is_some());
    assert!(!done(&mut c, &leaving(false), true));
    assert!(c.objection(&wanting()).is_some(), "half of it");
    assert!(done(&mut c, &leaving(true), true));
    assert_eq!(c.objection(&wanting()), None);
    assert!(c.objection(&leaving(true)).is_some(), "not twice");
    done(&mut c, &cell("purge", CellKind::Purge), true);
    assert!(c.objection(&wanting()).is_some());
    assert_eq!(c.objection(&leaving(false)), None);
}

#[test]
fn a_cell_that_failed_leaves_nothing() {
    let mut c = Preconditions::new(1);
    done(&mut c, &leaving(false), false);
    assert!(!done(&mut c, &leaving(true), true));
    assert!(c.objection(&wanting()).is_some());
}

#[test]
fn what_is_remembered_says_since_when() {
    let mut c = Preconditions::new(1);
    c.remembered(0, "random", "2026-11-21T03:00:00Z");
    assert!(c.is_remembered(0));
    assert_eq!(c.objection(&wanting()), None);
    let why = c.objection(&leaving(true)).unwrap();
    assert!(why.contains("2026-11-21"), "{why}");
}
