use assay_stats::{LatencySummary, OpSummary};

use super::*;
use crate::fixtures;

fn cell(idle_ms: u64, samples: u64, p50: u64, p99: u64) -> CellRecord {
    let mut plan = fixtures::plan("wake", fixtures::reads(4096, 1, 1));
    plan.id = format!("wake/{idle_ms}");
    plan.view = Some(CellView::Wake);
    plan.workload.idle_before_io_ns = (idle_ms > 0).then_some(idle_ms * 1_000_000);
    let mut record = fixtures::cell(plan, 1.0, 1e5, 1, 0.0, 1);
    record.drives = vec![fixtures::drive_reading(OpSummary {
        ios: samples,
        latency_ns: LatencySummary { samples, p50, p99, ..LatencySummary::default() },
        ..OpSummary::default()
    })];
    record
}

/// The reference is the shortest idle time, wherever it is in the plan.
#[test]
fn latency_after_idle_time_is_that_beyond_the_shortest_idle_time() {
    let mut run = fixtures::run(vec![fixtures::drive("sim:x")]);
    run.cells = vec![
        cell(1_000, 100, 6_080_000, 6_100_000),
        cell(0, 100, 80_000, 90_000),
        cell(10, 99, 79_000, 90_000),
    ];
    let of = |at: usize| of_cell(&run, &run.cells[at], 0).unwrap();
    assert_eq!(of(0).added_p50_ns, Some(6e6));
    assert_eq!(of(0).added_p99_ns, Some(6_020_000.0));
    assert_eq!((of(1).added_p50_ns, of(1).idle_ns), (None, 0));
    // No clamp: less is less. And 99 samples have no 99th percentile.
    assert_eq!(of(2).added_p50_ns, Some(-1e3));
    assert_eq!((of(2).p99_ns, of(2).added_p99_ns), (None, None));
}

#[test]
fn power_states_have_references_of_their_own() {
    let mut run = fixtures::run(vec![fixtures::drive("sim:x")]);
    run.cells = vec![
        cell(0, 100, 80_000, 90_000),
        cell(1_000, 100, 180_000, 190_000),
        cell(1_001, 100, 280_000, 290_000),
    ];
    for (at, state) in [(1, 2), (2, 2)] {
        run.cells[at].plan.workload.power_state = Some(state);
    }
    let of = |at: usize| of_cell(&run, &run.cells[at], 0).unwrap().added_p50_ns;
    assert_eq!(of(1), None, "the shortest of its state");
    assert_eq!(of(2), Some(1e5));
}
