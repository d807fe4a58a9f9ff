//! Commits on drives whose write cache is known.

use crate::common;

use assay_analysis::figure::{DOUBLE_WRITE_COST, FigureInput, Measured};
use assay_store::read::Run;

use common::{cells, run_built_in};

const SET: [(&str, &str); 8] = [
    ("precondition", "1%"),
    ("runtime", "500ms"),
    ("ramp", "0s"),
    ("pause", "0s"),
    ("appends", "4k"),
    ("committers", "1"),
    ("depths", "1"),
    ("loads", "1"),
];

/// Median latency of a step's writes and flushes, microseconds.
fn medians_us(run: &Run, step: &str) -> (f64, f64) {
    let cell = cells(run, step)[0];
    let result = cell.drives[0].result.as_ref().unwrap();
    let median = |ns: u64| ns as f64 / 1e3;
    (median(result.write.latency_ns.p50), median(result.flush.latency_ns.p50))
}

/// Known truth: the 951 has a volatile cache, so that a commit programs flash, by a flush or by FUA
/// alike; the cache of the 983 DCT is protected, so that both are free.
#[test]
fn commits_cost_a_program_where_the_cache_is_volatile() {
    let (run, _folder) = run_built_in("database", &SET, "sim:samsung-951");
    let (write, flush) = medians_us(&run, "commit");
    let (forced, none) = medians_us(&run, "commit-fua");
    assert!(write < 60.0 && flush > 500.0, "{write}, {flush}");
    assert!(forced > 500.0 && forced < write + flush, "{forced}");
    assert_eq!(none, 0.0, "no flush");

    let (run, _folder) = run_built_in("database", &SET, "sim:samsung-983-dct");
    let (write, flush) = medians_us(&run, "commit");
    let (forced, _) = medians_us(&run, "commit-fua");
    assert!(flush < 60.0, "{flush}");
    assert!((forced / write - 1.0).abs() < 0.05, "{forced}, {write}");
}

/// With a double write a page takes two writes and two flushes; without the promise of the drive
/// there is nothing to compare it with.
#[test]
fn a_double_write_costs_two_writes_of_each_page() {
    let cost = |spec: &str| {
        let (run, _folder) = run_built_in("database", &SET, spec);
        let cell = cells(&run, "pages-double-write")[0];
        let input = FigureInput {
            cells: vec![Measured::new(&run, cell, 0).unwrap()],
            ..FigureInput::default()
        };
        let skipped = cells(&run, "pages-atomic")[0].plan.skipped.clone();
        (DOUBLE_WRITE_COST.compute(&input).map(|found| found.value), skipped)
    };
    let (found, skipped) = cost("sim:samsung-951,awupf=16k");
    assert!((found.unwrap() / 2.0 - 1.0).abs() < 0.1, "{found:?}");
    assert_eq!(skipped, None);
    for without in ["sim:samsung-951", "sim:samsung-951,awupf=8k"] {
        let (found, skipped) = cost(without);
        assert_eq!(found, None);
        assert!(skipped.unwrap().contains("--atomic"));
    }
}
