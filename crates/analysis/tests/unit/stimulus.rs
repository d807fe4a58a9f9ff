use assay_store::series::OpSample;
use assay_units::{MIB, Nanos, Op};

use super::*;
use crate::fixtures;

fn minutes(rates: impl Fn(u64) -> u64, count: u64) -> CellDrive {
    let sample = |minute: u64| OpSample {
        index: minute as u32,
        ramp: false,
        start: Nanos::from_secs(60 * minute),
        end: Nanos::from_secs(60 * (minute + 1)),
        op: Op::Write,
        ios: 60 * rates(minute),
        bytes: 60 * rates(minute) * MIB,
        errors: 0,
        latency: Default::default(),
    };
    CellDrive { series: (0..count).map(sample).collect(), ..CellDrive::default() }
}

/// Eight hours: 100 MiB/s for the first 80 minutes, then 400.
#[test]
fn the_level_and_the_time_until_it() {
    let found = stimulus_of_cell(&minutes(|m| if m < 80 { 100 } else { 400 }, 480)).unwrap();
    assert_eq!(found.first_mib_per_s, 100.0);
    assert_eq!(found.lowest_mib_per_s, 100.0);
    assert_eq!(found.level_mib_per_s, 400.0);
    assert_eq!(found.block_s, 480.0);
    assert_eq!(found.settled_s, Some(80.0 * 60.0));
    let level = stimulus_of_cell(&minutes(|_| 250, 30)).unwrap();
    assert_eq!((level.settled_s, level.block_s), (Some(0.0), 60.0));
}

#[test]
fn a_rate_that_still_changes_at_the_end_has_not_settled() {
    let falling = stimulus_of_cell(&minutes(|m| 1000 - 2 * m, 480)).unwrap();
    assert_eq!(falling.settled_s, None);
    // Too few intervals say nothing.
    assert_eq!(stimulus_of_cell(&minutes(|_| 1, 9)), None);
}

#[test]
fn a_workload_is_compared_with_its_last_occurrence_in_the_sequence() {
    let mut run = fixtures::run(vec![fixtures::drive("sim:x")]);
    for (id, rw) in [("a", "write"), ("b", "randwrite"), ("c", "write")] {
        let mut workload = fixtures::reads(4096, 1, 1);
        workload.rw = rw.to_owned();
        let mut plan = fixtures::plan(id, workload);
        (plan.id, plan.view) = (id.to_owned(), Some(CellView::CrossStimulus));
        run.cells.push(CellRecord {
            plan,
            ..fixtures::cell(fixtures::plan(id, fixtures::reads(4096, 1, 1)), 1.0, 1.0, 1, 0.0, 1)
        });
    }
    let before = |at: usize| same_before(&run, &run.cells[at]).map(|c| c.plan.id.as_str());
    assert_eq!([before(0), before(1), before(2)], [None, None, Some("a")]);
}
