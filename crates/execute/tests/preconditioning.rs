//! Preconditioning by random writes: what it covers, and the state it leaves.

use crate::common;

use assay_store::model::RunEnd;
use assay_store::model::warning::code::AREA_NOT_COVERED;
use assay_store::read::Run;

use common::{cells, plan, run, small_drive, text, value};

/// Two passes of random writes with further options, then random writes in the state they leave.
fn preconditioned(options: &str) -> Run {
    let (_profile, drive) = small_drive();
    let suite = text(&format!(
        r#"
[[step]]
id = "precondition"
title = "Two passes"
kind = "prepare"
sets_state = "random"
job = {{ rw = "randwrite", bs = "4k", iodepth = 16, io_size = "200%", {options} }}
[[step]]
id = "write"
title = "Random writes"
kind = "measure"
needs_state = "random"
job = {{ rw = "randwrite", bs = "4k", iodepth = 32, runtime = "1s", interval = "100ms" }}
"#
    ));
    let (ending, run, _folder) = run(&suite, &[&format!("{drive},state=fresh")]);
    assert_eq!(ending.outcome, RunEnd::Complete);
    run
}

fn written_pct(run: &Run) -> f64 {
    value(cells(run, "precondition")[0], "area_written_pct")
}

fn amplification(run: &Run) -> f64 {
    value(cells(run, "write")[0], "write_amplification")
}

fn warned(run: &Run) -> Vec<&str> {
    let warnings = run.warnings.iter().filter(|w| w.code == AREA_NOT_COVERED);
    warnings.map(|w| w.cell.as_deref().unwrap()).collect()
}

/// Every block is written once per pass, by one thread and by several; with replacement 13.5 % are
/// never written, and the drive with that much more spare amplifies writes far less than a full
/// one.
#[test]
fn random_preconditioning_covers_the_area() {
    let covering = preconditioned("");
    assert_eq!(written_pct(&covering), 100.0);
    assert_eq!(warned(&covering), [""; 0]);
    // A quarter of the passes each: a thread's `io_size` is its own.
    let quarters = preconditioned("numjobs = 4, size = \"100%\", number_ios = 61035");
    assert_eq!(written_pct(&quarters), 100.0);
    let replaced = preconditioned("random_distribution = \"random\"");
    assert!((written_pct(&replaced) - 86.5).abs() < 0.5);
    assert_eq!(warned(&replaced).len(), 1);
    let (once_each, at_random) = (amplification(&covering), amplification(&replaced));
    println!("write amplification: {once_each:.2}, with replacement {at_random:.2}");
    assert!(once_each > 1.5 * at_random, "{once_each}, {at_random}");
}

/// `client` and `load` too.
#[test]
fn built_in_suites_cover_the_area() {
    for suite in ["client", "load"] {
        let planned = plan(suite, &["sim:samsung-951"], &[], 1.0).unwrap();
        let mut cells = planned.cells.iter();
        let cell = cells.find(|c| c.plan.step == "precondition").unwrap();
        let options = &cell.plan.workload.options;
        assert!(options.contains("--random_distribution cover"), "{options}");
    }
}
