use std::collections::BTreeMap;

use assay_store::model::{CellResult, WorkloadRecord};
use assay_store::series::OpSample;

use super::*;
use crate::fixtures::{drive, plan, run};

const AREA: u64 = 100_000;

fn written(second: u64, bytes: u64) -> OpSample {
    OpSample {
        index: second as u32,
        ramp: false,
        start: Nanos::from_secs(second),
        end: Nanos::from_secs(second + 1),
        op: Op::Write,
        ios: 1,
        bytes,
        errors: 0,
        latency: Default::default(),
    }
}

fn cell(id: &str, kind: CellKind, bytes: &[u64], values: &[(&str, f64)]) -> CellRecord {
    let mut plan = plan(id.split('/').next().unwrap(), WorkloadRecord::default());
    (plan.id, plan.kind, plan.drives) = (id.to_owned(), kind, vec![0]);
    plan.title = format!("title of {id}");
    plan.workload.rw = "randwrite".to_owned();
    (plan.workload.bs_bytes, plan.workload.span_bytes) = (4096, AREA);
    let values: BTreeMap<String, f64> = values.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect();
    CellRecord {
        plan,
        state: CellState::Finished,
        drives: vec![CellDrive {
            drive: 0,
            result: Some(CellResult { values, ..CellResult::default() }),
            series: bytes.iter().zip(0..).map(|(b, second)| written(second, *b)).collect(),
            ..CellDrive::default()
        }],
        host: Vec::new(),
    }
}

fn probe() -> CellRecord {
    let found = [(PROBE_START_PCT, 101.0), (STEADY_BYTES_PER_SECOND, 1000.0)];
    cell("reference/phase=probe", CellKind::Prepare, &[1000], &found)
}

fn of_cells(cells: Vec<CellRecord>) -> Run {
    Run { cells, ..run(vec![drive("sim:d")]) }
}

/// The end of a preparation, a fifth of the area, by what a later probe found.
#[test]
fn a_preparation_is_compared_with_a_later_probe() {
    let (first, last) = ([9000; 2], [1350; 15]);
    let two_passes = cell("two", CellKind::Prepare, &[&first[..], &last].concat(), &[]);
    let found = of_drive(&of_cells(vec![two_passes.clone(), probe()]), 0);
    let [left] = &found[..] else {
        panic!("{found:?}");
    };
    assert_eq!((left.cell.as_str(), left.at_pct), ("two", 135.0));
    assert!(left.text.contains("135 % of the steady rate of 4 KiB"), "{left:?}");
    // Not of passes that draw each block once, whose last writes find blocks without valid data.
    let mut covering = two_passes.clone();
    covering.plan.workload.options = "--rw randwrite --random_distribution cover".to_owned();
    assert_eq!(of_drive(&of_cells(vec![covering, probe()]), 0), []);
    // Not by a probe that did not end, nor one of another area.
    let mut failed = probe();
    failed.drives[0].result.as_mut().unwrap().values.remove(PROBE_START_PCT);
    let mut small = probe();
    small.plan.workload.span_bytes /= 2;
    for other in [failed, small] {
        assert_eq!(of_drive(&of_cells(vec![two_passes.clone(), other]), 0), []);
    }
}

#[test]
fn rounds_are_compared_with_their_mean() {
    let mut run = of_cells(vec![cell("iops", CellKind::Measure, &[], &[])]);
    run.steady = vec![SteadyRecord {
        step: "iops".to_owned(),
        group: "d/iops/bs=4k".to_owned(),
        figure: "IOPS".to_owned(),
        achieved: true,
        values: vec![150.0, 110.0, 100.0],
        mean: 100.0,
        ..SteadyRecord::default()
    }];
    assert_eq!(of_drive(&run, 0)[0].at_pct, 150.0);
    run.steady[0].achieved = false;
    assert_eq!(of_drive(&run, 0), []);
}

/// Only the last preparation counts, and only a probe that ended.
#[test]
fn a_cell_begins_steady_after_a_probe() {
    let began = |before: Vec<CellRecord>| {
        let measured = cell("score", CellKind::Soak, &[], &[]);
        let run = of_cells(before.into_iter().chain([measured.clone()]).collect());
        began_steady(&run, &measured, 0)
    };
    assert!(began(vec![probe()]));
    assert!(!began(vec![]));
    assert!(!began(vec![probe(), cell("fill", CellKind::Prepare, &[], &[])]));
    let mut restored = probe();
    restored.drives[0].result = None;
    restored.state = CellState::Skipped("not needed: steady".to_owned());
    assert!(began(vec![restored]));
}

/// Where the same sequential writes, or one thread, wrote everything in order; not other threads,
/// whose regions are others, nor a part of it, and not what something else overwrote.
#[test]
fn a_cell_begins_steady_after_a_sequential_pass() {
    let sequential = |id: &str, kind, bytes: &[u64], numjobs| {
        let mut cell = cell(id, kind, bytes, &[]);
        cell.plan.workload.rw = "write".to_owned();
        cell.plan.workload.numjobs = numjobs;
        cell
    };
    let whole = vec![AREA / 10; 10];
    let began_after = |before: Vec<CellRecord>, offset_bytes, span_bytes| {
        let mut measured = sequential("measured", CellKind::Measure, &[], 32);
        measured.plan.workload.offset_bytes = offset_bytes;
        measured.plan.workload.span_bytes = span_bytes;
        let cells = before.into_iter().chain([measured.clone()]).collect();
        began_steady(&of_cells(cells), &measured, 0)
    };
    let began = |before| began_after(vec![before], 0, AREA);
    let fill = || sequential("fill", CellKind::Prepare, &whole, 1);
    assert!(began(sequential("pass", CellKind::Prepare, &whole, 32)));
    assert!(!began(sequential("pass", CellKind::Prepare, &whole, 8)));
    assert!(began(fill()));
    let part = &whole[1..];
    assert!(!began(sequential("pass", CellKind::Prepare, part, 32)));
    let mut restored = sequential("fill", CellKind::Prepare, &[], 1);
    restored.state = CellState::Skipped("not needed: full".to_owned());
    assert!(began(restored));
    // Each half is written by other threads: what one overwrites is nothing to the other.
    let half = AREA / 2;
    let mut first = sequential("first", CellKind::Measure, part, 8);
    first.plan.workload.span_bytes = half;
    assert!(began_after(vec![fill(), first.clone()], half, half));
    assert!(!began_after(vec![fill(), first], 0, half));
    let purge = cell("purge", CellKind::Purge, &[], &[]);
    assert!(!began_after(vec![fill(), purge], 0, half));
    // A random pass writes each block once, and is far from steady state.
    let random = cell("pass", CellKind::Prepare, &whole, &[]);
    let measured = cell("measured", CellKind::Measure, &[], &[]);
    assert!(!began_steady(&of_cells(vec![random, measured.clone()]), &measured, 0));
}
