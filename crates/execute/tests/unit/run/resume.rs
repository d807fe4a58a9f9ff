use assay_store::model::CellKind;

use super::*;
use assay_suite::expand::Preconditioning;

fn cell(id: &str, sets_state: Option<&str>, needs_state: Option<&str>) -> Cell {
    Cell {
        plan: CellPlan {
            id: id.to_owned(),
            kind: CellKind::Measure,
            drives: vec![0],
            ..CellPlan::default()
        },
        sets_state: sets_state.map(|name| Preconditioning {
            name: name.to_owned(),
            workload: String::new(),
            last: true,
            ..Preconditioning::default()
        }),
        needs_state: needs_state.map(str::to_owned),
        ..Cell::default()
    }
}

#[test]
fn a_superseded_state_is_needed_only_by_remaining_cells() {
    let plan = [
        cell("fill", Some("full"), None),
        cell("measure", None, Some("full")),
        cell("fill-otherwise", Some("other"), None),
        cell("measure-otherwise", None, Some("other")),
    ];
    let mut resume = Resume::default();
    for id in ["fill", "measure"] {
        resume.finished.insert(id.to_owned(), Vec::new());
    }
    assert!(!resume.is_superseded(&plan, 0), "it is the latest");
    resume.finished.insert("fill-otherwise".to_owned(), Vec::new());
    assert!(resume.is_superseded(&plan, 0));
    assert!(!resume.is_superseded(&plan, 2));
    // A failed cell is measured again and needs the state.
    resume.finished.remove("measure");
    resume.remaining.insert("measure".to_owned());
    assert!(!resume.is_superseded(&plan, 0));
    let not_needed = BTreeSet::from(["fill".to_owned(), "measure".to_owned()]);
    resume.not_needed = not_needed;
    assert!(resume.was_not_needed(&plan[0]) && !resume.was_not_needed(&plan[1]));
}

#[test]
fn an_interrupted_cell_may_have_written_more_than_journaled() {
    let (record, part) = (
        CellRecord {
            plan: CellPlan { idle_ns: 5_000_000_000, ..CellPlan::default() },
            state: CellState::Unfinished,
            drives: Vec::new(),
            host: Vec::new(),
        },
        |points: &[(u64, Op, u64)]| CellDrive {
            drive: 0,
            result: None,
            series: points
                .iter()
                .map(|&(second, op, bytes)| assay_store::series::OpSample {
                    index: second as u32,
                    ramp: false,
                    start: Nanos::from_secs(second),
                    end: Nanos::from_secs(second + 1),
                    op,
                    ios: 1,
                    bytes,
                    errors: 0,
                    latency: Default::default(),
                })
                .collect(),
            telemetry: Vec::new(),
            distributions: Vec::new(),
            gaps: Vec::new(),
        },
    );
    let cell = cell("writes", None, None);
    let seen = part(&[(0, Op::Write, 100), (0, Op::Read, 9000), (1, Op::Write, 300)]);
    let wrote = possible_writes(&record, &cell, &seen);
    assert_eq!((wrote.journaled_bytes, wrote.unjournaled_bytes), (400, 900));
    assert_eq!(wrote.max_duration, Nanos::from_secs(5 + 2 + 3 + 10));
    let unseen = possible_writes(&record, &cell, &part(&[]));
    assert_eq!(unseen.journaled_bytes, 0);
    assert_eq!(unseen.unjournaled_bytes, 3 * MAX_BYTES_PER_S);
}
