use assay_store::model::CellPlan;

use super::*;

fn state() -> DriveFigures {
    DriveFigures {
        identity: DriveSnapshot { simulated: true, ..DriveSnapshot::default() },
        ..DriveFigures::default()
    }
}

fn cell(id: &str) -> Cell {
    Cell {
        plan: CellPlan { id: id.to_owned(), drives: vec![0], ..CellPlan::default() },
        ..Cell::default()
    }
}

/// An interval with this number of reads of 4 KiB, each of so many nanoseconds.
fn reads(start_ms: u64, end_ms: u64, ios: u64, latency_ns: u64) -> Interval {
    let mut counts = OpInterval { ios, bytes: ios * 4096, ..OpInterval::default() };
    (0..ios).for_each(|_| counts.latency.record(Nanos(latency_ns)));
    Interval {
        index: u32::try_from(start_ms / 1000).unwrap(),
        ramp: false,
        start: Nanos::from_millis(start_ms),
        end: Nanos::from_millis(end_ms),
        ops: vec![(Op::Read, counts)],
        submitted: Vec::new(),
    }
}

#[test]
fn figures_are_those_of_the_last_interval_and_counts_those_of_the_run() {
    let mut state = state();
    state.cell_started(0, &cell("a"), None, Nanos::from_secs(10));
    assert_eq!(state.snapshot().phase, Phase::Starting);
    state.interval(&reads(0, 1000, 100, 1000), Nanos::from_secs(11));
    state.interval(&reads(1000, 3000, 400, 2000), Nanos::from_secs(12));
    let now = state.snapshot();
    assert_eq!(now.phase, Phase::Measuring);
    assert_eq!(now.read.iops, 200.0);
    assert_eq!(now.read.bytes_per_s, 200.0 * 4096.0);
    assert_eq!(now.read.latency.unwrap().p50, Nanos(2000));
    assert_eq!((now.read.ios, now.read.latency_count), (500, 500));
    assert!((now.read.latency_sum_s - 900e-6).abs() < 1e-12);
    assert_eq!(now.write, OpFigures::default());
    // Three seconds of virtual time in two of real time.
    assert_eq!(now.drive_time, Nanos::from_secs(3));
    assert_eq!(now.speed_up, Some(1.5));
}

#[test]
fn a_late_share_of_the_last_interval_is_added_and_an_older_one_only_counted() {
    let mut state = state();
    state.cell_started(0, &cell("a"), None, Nanos::ZERO);
    state.interval(&reads(0, 1000, 100, 1000), Nanos::ZERO);
    state.interval(&reads(1000, 2000, 100, 1000), Nanos::ZERO);
    state.interval(&reads(1000, 2000, 50, 1000), Nanos::ZERO);
    state.interval(&reads(0, 1000, 10, 1000), Nanos::ZERO);
    let now = state.snapshot();
    assert_eq!(now.read.iops, 150.0);
    assert_eq!(now.read.ios, 260);
}

#[test]
fn the_drain_after_the_last_interval_shows_no_rate() {
    let mut state = state();
    state.cell_started(0, &cell("a"), None, Nanos::ZERO);
    state.interval(&reads(0, 1000, 100, 1000), Nanos::ZERO);
    state.interval(&reads(1000, 1001, 1, 1000), Nanos::ZERO);
    let now = state.snapshot();
    assert_eq!(now.read.iops, 100.0);
    assert_eq!(now.read.ios, 101);
}

#[test]
fn a_new_cell_begins_without_figures_and_time_goes_on() {
    let mut state = state();
    state.cell_started(0, &cell("a"), None, Nanos::ZERO);
    state.interval(&reads(0, 1000, 100, 1000), Nanos::from_secs(1));
    state.cell_ended(false, Nanos::from_secs(1));
    assert_eq!(state.snapshot().phase, Phase::Waiting);
    assert_eq!(state.snapshot().read.iops, 100.0, "shown until the next cell");
    state.cell_started(1, &cell("b"), None, Nanos::from_secs(1));
    let now = state.snapshot();
    assert_eq!(now.read.iops, 0.0);
    assert_eq!(now.read.latency, None);
    assert_eq!(now.cell.as_ref().unwrap().id, "b");
    state.interval(&reads(0, 1000, 300, 1000), Nanos::from_secs(2));
    let now = state.snapshot();
    assert_eq!(now.drive_time, Nanos::from_secs(2));
    let cells: Vec<u32> = now.history.iter().map(|second| second.cell).collect();
    assert_eq!(cells, [1, 2]);
}

#[test]
fn progress_of_a_cell_is_its_time_if_it_has_a_runtime_or_else_its_bytes() {
    let mut state = state();
    state.cell_started(0, &cell("a"), None, Nanos::ZERO);
    // A gibibyte and more within a second.
    state.interval(&reads(0, 1000, 300_000, 1000), Nanos::ZERO);
    assert_eq!(state.done_ms(1_000_000), 2343, "at 500 MiB/s");
    state.cell.as_mut().unwrap().planned = Some(Nanos::from_secs(4));
    assert_eq!(state.done_ms(4000), 1000);
    assert_eq!(state.done_ms(500), 500);
}

#[test]
fn cells_at_the_same_time_are_shown_as_the_first_with_its_others() {
    let mut state = state();
    state.cell_started(0, &cell("a"), None, Nanos::ZERO);
    state.cell_started_beside(None);
    assert_eq!(state.snapshot().cell.unwrap().title, "with 1 other job");
    state.cell_started_beside(None);
    state.interval(&reads(0, 1000, 100, 1000), Nanos::ZERO);
    state.interval(&reads(0, 1000, 50, 1000), Nanos::ZERO);
    let now = state.snapshot();
    let cell = now.cell.unwrap();
    assert_eq!((cell.id.as_str(), cell.title.as_str()), ("a", "with 2 other jobs"));
    assert_eq!(now.read.iops, 150.0);
    assert!(state.watch_to_evaluate(Nanos::from_secs(60)).is_none());
    // The next cell alone has its own title again.
    state.cell_started(1, &self::cell("b"), None, Nanos::from_secs(2));
    assert_eq!(state.snapshot().cell.unwrap().title, "");
}
