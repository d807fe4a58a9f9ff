//! Requests to a run in progress, and its live figures.

use crate::common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use assay_execute::events::{IntervalWork, RunEvent, RunListener};
use assay_execute::live::Live;
use assay_execute::run::RunSummary;
use assay_stats::HostAudit;
use assay_store::model::RunEnd;
use assay_store::read::{CellState, Run};
use assay_suite::expand::RunPlan;

const STEPS: &str = r#"
[[step]]
id = "first"
kind = "measure"
title = "first"
job = { rw = "randread", bs = "4k", size = "1g", runtime = "3s" }

[[step]]
id = "second"
kind = "measure"
title = "second"
job = { rw = "randread", bs = "4k", size = "1g", runtime = "3s" }

[[step]]
id = "third"
kind = "measure"
title = "third"
job = { rw = "randwrite", bs = "4k", size = "1g", runtime = "3s" }
"#;

/// Does something at each interval of a cell.
struct AtInterval<'a> {
    live: &'a Live,
    cell: usize,
    act: &'a mut dyn FnMut(&Live, usize, IntervalWork),
}

impl RunListener for AtInterval<'_> {
    fn event(&mut self, plan: &RunPlan, event: &RunEvent<'_>) {
        common::refuse_failure(plan, event);
        match event {
            RunEvent::CellStarted { index, .. } => self.cell = *index,
            RunEvent::Interval { work, .. } => (self.act)(self.live, self.cell, *work),
            _ => {}
        }
    }
}

fn run(
    path: &Path,
    stop: &AtomicBool,
    mut act: impl FnMut(&Live, usize, IntervalWork),
) -> (RunSummary, Run) {
    common::run_live(
        path,
        &common::text(STEPS),
        &["sim:samsung-951"],
        HostAudit::default(),
        stop,
        |live, runner| {
            let mut progress = AtInterval { live, cell: 0, act: &mut act };
            runner(&mut progress)
        },
    )
}

fn states(run: &Run) -> Vec<&CellState> {
    run.cells.iter().map(|cell| &cell.state).collect()
}

#[test]
fn a_skipped_cell_keeps_its_intervals_and_the_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let stop = AtomicBool::new(false);
    let (summary, run) = run(&path, &stop, |live, cell, _| {
        if cell == 1 {
            live.control.skip();
        }
    });
    assert_eq!(summary.outcome, RunEnd::Complete);
    assert_eq!(summary.failed_cells, 0);
    let states = states(&run);
    assert_eq!(*states[0], CellState::Finished);
    let CellState::Skipped(why) = states[1] else {
        panic!("{states:?}");
    };
    assert_eq!(why, "skipped by the user while it ran");
    assert_eq!(*states[2], CellState::Finished);
    let skipped = &run.cells[1].drives[0];
    assert!(!skipped.series.is_empty(), "its intervals are kept");
    assert_eq!(skipped.result, None);
}

#[test]
fn a_cell_skipped_before_an_interruption_stays_skipped_when_the_run_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let stop = AtomicBool::new(false);
    let (summary, before) = run(&path, &stop, |live, cell, _| match cell {
        0 => live.control.skip(),
        1 => stop.store(true, Ordering::SeqCst),
        _ => unreachable!("the run was stopped"),
    });
    assert_eq!(summary.outcome, RunEnd::Interrupted);
    assert!(matches!(states(&before)[0], CellState::Skipped(_)));
    assert_eq!(*states(&before)[1], CellState::Unfinished);
    let mut ran = Vec::new();
    let (summary, after) = run(&path, &AtomicBool::new(false), |_, cell, _| ran.push(cell));
    assert_eq!(summary.outcome, RunEnd::Complete);
    ran.dedup();
    assert_eq!(ran, [1, 2]);
    assert!(matches!(states(&after)[0], CellState::Skipped(_)));
    assert_eq!(*states(&after)[1], CellState::Finished);
}

#[test]
fn a_stop_during_a_pause_interrupts_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let stop = Arc::new(AtomicBool::new(false));
    let mut stopping = None;
    let (summary, run) = run(&path, &stop, |live, cell, _| {
        assert_eq!(cell, 0, "the second cell waits");
        live.control.pause(true);
        // The cell that runs ends; then the run waits for the stop.
        let stop = Arc::clone(&stop);
        stopping.get_or_insert_with(|| {
            thread::spawn(move || {
                thread::park_timeout(Duration::from_millis(300));
                stop.store(true, Ordering::SeqCst);
            })
        });
    });
    stopping.unwrap().join().unwrap();
    assert_eq!(summary.outcome, RunEnd::Interrupted);
    assert_eq!(*states(&run)[0], CellState::Finished);
    assert!(!matches!(states(&run)[1], CellState::Finished));
}

#[test]
fn live_figures_are_those_of_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut last = None;
    let (_, run) = run(&path, &AtomicBool::new(false), |live, cell, work| {
        let snapshot = live.snapshot();
        let drive = &snapshot.drives[0];
        assert_eq!(drive.cell.as_ref().unwrap().index, cell);
        let iops = drive.read.iops + drive.write.iops;
        let span_s = work.span.as_secs_f64();
        if span_s > 0.1 {
            assert!((iops - work.ios as f64 / span_s).abs() < 1e-6 * iops);
        }
        assert_eq!(snapshot.cells.left, 3 - cell);
        last = Some(snapshot);
    });
    let last = last.unwrap();
    let drive = &last.drives[0];
    assert!(drive.simulated && drive.speed_up.is_some());
    let sum = |op| -> u64 {
        let parts = run.cells.iter().map(|cell| &cell.drives[0]);
        let points = parts.flat_map(|part| part.series.iter().filter(move |p| p.op == op));
        points.map(|point| point.ios).sum()
    };
    assert_eq!(drive.read.ios, sum(assay_units::Op::Read));
    assert_eq!(drive.write.ios, sum(assay_units::Op::Write));
    assert!(drive.read.ios > 0 && drive.write.ios > 0);
    assert!(drive.temperature_c.is_some());
    assert_eq!(drive.throttled, Some(false));
}
