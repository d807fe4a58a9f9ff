use assay_store::model::{CellResult, WorkloadRecord};
use assay_store::read::CellState;
use assay_store::series::OpSample;
use assay_units::{Nanos, Op};

use super::*;
use crate::fixtures;

/// Writes by the second; a second without any is not recorded.
fn cell(id: &str, bursts: Option<Bursts>, ios: &[u64]) -> CellRecord {
    let mut plan = fixtures::plan(
        id,
        WorkloadRecord {
            rw: "randwrite".to_owned(),
            bs_bytes: 4096,
            bursts,
            ..WorkloadRecord::default()
        },
    );
    plan.id = id.to_owned();
    let sample = |(index, &ios): (usize, &u64)| OpSample {
        index: index as u32,
        ramp: false,
        start: Nanos::from_secs(index as u64),
        end: Nanos::from_secs(index as u64 + 1),
        op: Op::Write,
        ios,
        bytes: ios * 4096,
        errors: 0,
        latency: Default::default(),
    };
    CellRecord {
        plan,
        state: CellState::Finished,
        host: Vec::new(),
        drives: vec![CellDrive {
            drive: 0,
            result: Some(CellResult::default()),
            series: ios.iter().enumerate().map(sample).collect(),
            ..CellDrive::default()
        }],
    }
}

/// Bursts of 3 s and 4 s of idle time.
const PLAN: Bursts = Bursts { active_ns: 3_000_000_000, idle_ns: 4_000_000_000 };

fn run(bursts: &[u64]) -> Run {
    let mut run = fixtures::run(vec![fixtures::drive("sim:x")]);
    // The continuous writes fall to 100 in their second half.
    let before = [900, 900, 900, 900, 100, 100, 100, 100];
    run.cells = vec![cell("baseline", None, &before), cell("bursts", Some(PLAN), bursts)];
    run
}

#[test]
fn bursts_are_told_apart_by_their_idle_time() {
    let idle = [0; 4];
    let seconds = [
        &[100, 100, 100][..],
        &idle,
        // A stall within a burst is part of it.
        &[600, 0, 300],
        &idle,
        &[300, 300, 300],
        &idle,
        // Cut off by the end of the cell.
        &[300],
    ]
    .concat();
    let run = run(&seconds);
    let segment = of_cell(&run, &run.cells[1], 0).unwrap();
    let starts: Vec<f64> = segment.bursts.iter().map(|b| b.start_s).collect();
    assert_eq!(starts, [0.0, 7.0, 14.0]);
    let rates: Vec<f64> = segment.bursts.iter().map(|b| b.iops).collect();
    assert_eq!(rates, [100.0, 300.0, 300.0]);
    // The first burst follows no idle time.
    assert_eq!(segment.iops(), Some(300.0));
    assert_eq!(segment.before_iops, Some(100.0));
    assert_eq!(segment.recovery_pct(), Some(300.0));
}

#[test]
fn without_the_rate_before_or_with_long_intervals_there_is_no_recovery() {
    let mut without = run(&[100, 100, 100, 0, 0, 0, 0, 200, 200, 200]);
    without.cells.remove(0);
    let segment = of_cell(&without, &without.cells[0], 0).unwrap();
    assert_eq!((segment.iops(), segment.recovery_pct()), (Some(200.0), None));
    // Intervals of a second cannot show a second of idle time.
    let short = Bursts { idle_ns: 1_000_000_000, ..PLAN };
    let whole = run(&[100; 10]);
    assert_eq!(bursts(whole.cells[1].drive(0).unwrap(), short), Vec::new());
    // A cell without bursts is none of this.
    assert_eq!(of_cell(&whole, &whole.cells[0], 0), None);
}

/// A measured minute in one interval.
#[test]
fn the_rate_before_can_be_that_of_a_single_interval() {
    let mut run = run(&[100, 100, 100, 0, 0, 0, 0, 200, 200, 200]);
    run.cells[0] = cell("baseline", None, &[50]);
    let segment = of_cell(&run, &run.cells[1], 0).unwrap();
    assert_eq!(segment.before_iops, Some(50.0));
}
