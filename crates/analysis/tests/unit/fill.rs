use assay_stats::{LatencySummary, OpSummary};

use super::*;
use crate::fixtures;

fn cell(step: &str, rw: &str, iops: f64, p99: u64) -> CellRecord {
    let workload =
        assay_store::model::WorkloadRecord { rw: rw.to_owned(), ..fixtures::reads(4096, 1, 1) };
    let mut plan = fixtures::plan(step, workload);
    plan.id = format!("{step}/{rw}");
    plan.view = Some(CellView::Fill);
    let mut record = fixtures::cell(plan, iops, 1e5, 1, 0.0, 1);
    record.drives = vec![fixtures::drive_reading(OpSummary {
        ios: 1000,
        iops,
        latency_ns: LatencySummary { samples: 1000, p99, ..LatencySummary::default() },
        ..OpSummary::default()
    })];
    record
}

#[test]
fn a_state_is_compared_with_the_first_cell_of_the_same_workload() {
    let mut run = fixtures::run(vec![fixtures::drive("sim:x")]);
    run.cells = vec![
        cell("empty", "randread", 10_000.0, 100_000),
        cell("empty", "randwrite", 50_000.0, 30_000),
        cell("full", "randwrite", 10_000.0, 300_000),
        cell("full", "randread", 8_000.0, 250_000),
    ];
    let effect = |at: usize| of_cell(&run, &run.cells[at], 0);
    assert_eq!(effect(0), None, "the reference itself");
    assert_eq!(effect(1), None);
    let both = |of_empty_pct, p99_ratio| {
        Some(FillEffect { of_empty_pct: Some(of_empty_pct), p99_ratio: Some(p99_ratio) })
    };
    assert_eq!(effect(2), both(20.0, 10.0));
    assert_eq!(effect(3), both(80.0, 2.5));
}

#[test]
fn other_views_and_other_areas_are_not_compared() {
    let mut run = fixtures::run(vec![fixtures::drive("sim:x")]);
    run.cells = vec![
        cell("empty", "randread", 10_000.0, 100_000),
        cell("full", "randread", 8_000.0, 250_000),
        cell("half", "randread", 8_000.0, 250_000),
    ];
    run.cells[1].plan.workload.span_bytes = 1 << 30;
    run.cells[2].plan.view = None;
    assert_eq!(of_cell(&run, &run.cells[1], 0), None);
    assert_eq!(of_cell(&run, &run.cells[2], 0), None);
}
