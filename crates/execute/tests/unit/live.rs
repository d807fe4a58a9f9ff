use std::borrow::Cow;

use assay_stats::Interval;
use assay_store::model::{CellPlan, Warning};

use super::*;
use crate::events::IntervalWork;

fn live(cells: usize) -> Live {
    Live {
        suite: "test".into(),
        began: Clock::monotonic().now(),
        clock: Clock::monotonic(),
        // The second cell is skipped by the plan.
        weights_ms: (0..cells).map(|i| if i == 1 { 0 } else { 1000 }).collect(),
        simulated: false,
        unplanned: false,
        drives: vec![Mutex::new(DriveFigures::default())],
        run: Mutex::new(RunFigures {
            cells: vec![CellStatus::Left; cells],
            ..RunFigures::default()
        }),
        control: Control::default(),
    }
}

fn cell() -> Cell {
    Cell { plan: CellPlan { drives: vec![0], ..CellPlan::default() }, ..Cell::default() }
}

fn interval(end_ms: u64) -> Interval {
    Interval {
        index: 0,
        ramp: false,
        start: Nanos::ZERO,
        end: Nanos::from_millis(end_ms),
        ops: Vec::new(),
        submitted: Vec::new(),
    }
}

#[test]
fn cells_and_work_add_up() {
    let live = live(5);
    let cells = [cell()];
    let event = |event: RunEvent<'_>| live.event(&cells, &event);
    event(RunEvent::CellStarted { index: 0, beside: false });
    let planned = Some(Nanos::from_secs(1));
    live.drive(0).unwrap().cell.as_mut().unwrap().planned = planned;
    event(RunEvent::Interval {
        drive: 0,
        work: IntervalWork::default(),
        interval: Some(&interval(500)),
    });
    assert_eq!(live.work_ms(), (500, 4000));
    event(RunEvent::CellEnded { index: 0, purged: false });
    event(RunEvent::CellPassed { index: 0 });
    event(RunEvent::CellPassed { index: 1 });
    assert_eq!(live.work_ms(), (1000, 4000));
    event(RunEvent::CellSkipped { index: 2 });
    event(RunEvent::CellPassed { index: 2 });
    event(RunEvent::CellFailed { index: 3, message: "".into() });
    event(RunEvent::CellPassed { index: 3 });
    let snapshot = live.snapshot();
    let counts = CellCounts { done: 1, skipped: 1, failed: 1, left: 1 };
    assert_eq!(snapshot.cells, counts);
    assert_eq!(counts.all(), 4);
    assert_eq!(snapshot.done_share, 0.75);
    assert!(snapshot.left <= Nanos::from_secs(1));
    assert!(!snapshot.ended);
    event(RunEvent::Ended);
    assert!(live.snapshot().ended);
}

#[test]
fn the_latest_warnings_are_kept_and_all_are_counted() {
    let live = live(1);
    for number in 0..KEPT_WARNINGS + 5 {
        let warning = Warning {
            code: "x".into(),
            cell: None,
            drive: None,
            message: number.to_string(),
            advice: String::new(),
        };
        live.event(&[], &RunEvent::Warned(Cow::Owned(warning)));
    }
    let snapshot = live.snapshot();
    assert_eq!(snapshot.warning_count(), KEPT_WARNINGS + 5);
    assert_eq!(snapshot.warnings.len(), KEPT_WARNINGS);
    assert_eq!(snapshot.warnings[0].message, "5");
}

/// The first of two cells, planned to take a second each, was done at once.
fn left(unplanned: bool) -> Nanos {
    let mut live = live(3);
    live.unplanned = unplanned;
    live.began = live.clock.now();
    live.set_status(0, CellStatus::Done);
    live.left()
}

#[test]
fn where_bytes_end_the_cells_their_pace_decides_the_time_left() {
    assert_eq!(left(false), Nanos::from_secs(1));
    assert!(left(true) < Nanos::from_millis(900));
}
