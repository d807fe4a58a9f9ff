use assay_stats::{LatencySummary, OpSummary};
use assay_units::Nanos;

use super::*;
use crate::fixtures::plan;

fn wrote(bytes: u64, errors: u64) -> CellDrive {
    CellDrive {
        result: Some(CellResult {
            elapsed: Nanos::from_millis(2_500),
            write: OpSummary { bytes, errors, ..OpSummary::default() },
            flush: OpSummary {
                latency_ns: LatencySummary {
                    samples: 1,
                    max: 500_000_000,
                    ..LatencySummary::default()
                },
                ..OpSummary::default()
            },
            ..CellResult::default()
        }),
        ..CellDrive::default()
    }
}

fn cell(state: CellState) -> CellRecord {
    CellRecord {
        plan: plan("checkpoint", assay_store::model::WorkloadRecord::default()),
        state,
        drives: Vec::new(),
        host: Vec::new(),
    }
}

#[test]
fn the_time_to_drain_ends_with_the_flush() {
    let found = drain_of_cell(&cell(CellState::Finished), &wrote(5 << 20, 0)).unwrap();
    assert_eq!((found.bytes, found.seconds, found.flush_s), (5 << 20, 2.5, 0.5));
    assert_eq!(found.mib_per_s(), 2.0);
}

#[test]
fn what_is_not_whole_has_no_time_to_drain() {
    let finished = || cell(CellState::Finished);
    assert_eq!(drain_of_cell(&cell(CellState::Unfinished), &wrote(5 << 20, 0)), None);
    assert_eq!(drain_of_cell(&finished(), &wrote(5 << 20, 1)), None);
    assert_eq!(drain_of_cell(&finished(), &wrote(0, 0)), None);
}
