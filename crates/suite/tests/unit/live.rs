use assay_store::model::{CellPlan, Warning};

use super::*;

fn live(cells: usize) -> Live {
    Live {
        suite: "test".into(),
        began: Clock::monotonic().now(),
        clock: Clock::monotonic(),
        // The second cell is skipped by the plan.
        weights_ms: (0..cells).map(|i| if i == 1 { 0 } else { 1000 }).collect(),
        simulated: false,
        drives: vec![Mutex::new(DriveState::default())],
        run: Mutex::new(RunState {
            cells: vec![CellStatus::Left; cells],
            ..RunState::default()
        }),
        control: Control::default(),
    }
}

fn cell() -> Cell {
    Cell {
        plan: CellPlan {
            drives: vec![0],
            ..CellPlan::default()
        },
        ..Cell::default()
    }
}

fn interval(end_ms: u64) -> Interval {
    Interval {
        index: 0,
        ramp: false,
        start: Nanos::ZERO,
        end: Nanos::from_millis(end_ms),
        ops: Vec::new(),
    }
}

#[test]
fn cells_and_work_add_up() {
    let live = live(5);
    live.cell_started(0, &cell());
    let planned = Some(Nanos::from_secs(1));
    live.drive(0).unwrap().cell.as_mut().unwrap().planned = planned;
    live.interval(0, &interval(500));
    assert_eq!(live.work_ms(), (500, 4000));
    live.cell_ended(&cell(), false);
    live.cell_passed(0);
    live.cell_passed(1);
    assert_eq!(live.work_ms(), (1000, 4000));
    live.cell_skipped(2);
    live.cell_passed(2);
    live.cell_failed(3);
    live.cell_passed(3);
    let snapshot = live.snapshot();
    let counts = CellCounts {
        done: 1,
        skipped: 1,
        failed: 1,
        left: 1,
    };
    assert_eq!(snapshot.cells, counts);
    assert_eq!(counts.all(), 4);
    assert_eq!(snapshot.done_share, 0.75);
    assert!(snapshot.left <= Nanos::from_secs(1));
    assert!(!snapshot.ended);
    live.ended();
    assert!(live.snapshot().ended);
}

#[test]
fn the_latest_warnings_are_kept_and_all_are_counted() {
    let live = live(1);
    for number in 0..KEPT_WARNINGS + 5 {
        live.warned(&Warning {
            code: "x".into(),
            cell: None,
            drive: None,
            message: number.to_string(),
            advice: String::new(),
        });
    }
    let snapshot = live.snapshot();
    assert_eq!(snapshot.warning_count(), KEPT_WARNINGS + 5);
    assert_eq!(snapshot.warnings.len(), KEPT_WARNINGS);
    assert_eq!(snapshot.warnings[0].message, "5");
}
