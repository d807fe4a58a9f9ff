//! Steady-state claims: refused where the drive was not in steady state. (The accepted case takes a
//! whole hour: see the end-to-end tests.)

use crate::common;

use assay_analysis::{score, steady_state};
use assay_store::model::{ReasonWeight, Verdict, VerdictResult};
use assay_store::read::CellState;
use assay_store::series::IntervalSample;
use assay_suite::schema::VerdictRules;
use assay_suite::verdict::{VerdictSubject, evaluate};

use common::{run, text};

/// The first seconds of a full drive, with erased blocks available; with and without a steady-state
/// claim.
const CUT_OFF: &str = r#"
[[step]]
id = "fill"
title = "Fill"
kind = "prepare"
job = { rw = "write", bs = "128k", iodepth = 32, size = "100%", interval = "10s" }
[[step]]
id = "steady"
title = "Random writes"
kind = "measure"
steady = true
job = { rw = "randwrite", bs = "4k", iodepth = 32, size = "100%", runtime = "4s", interval = "200ms" }
[[step]]
id = "burst"
title = "The same, and said to be a burst"
kind = "measure"
job = { rw = "randwrite", bs = "4k", iodepth = 32, size = "100%", runtime = "1s", interval = "200ms" }
[[step]]
id = "short"
title = "Too short to tell"
kind = "measure"
steady = true
job = { rw = "randwrite", bs = "4k", iodepth = 32, size = "100%", runtime = "1s", interval = "200ms" }
[[verdict.rule]]
about = "steady writes"
figure = "best_iops"
step = "steady"
good = 1.0
bad = 0.5
advice = "slow"
[[verdict.rule]]
about = "burst"
figure = "best_iops"
step = "burst"
good = 1.0
bad = 0.5
advice = "slow"
[[verdict.rule]]
about = "short"
figure = "best_iops"
step = "short"
good = 1.0
bad = 0.5
advice = "slow"
"#;

fn reason<'a>(verdict: &'a Verdict, about: &str) -> (ReasonWeight, &'a str) {
    let mut reasons = verdict.reasons.iter();
    let found = reasons.find(|r| r.text.starts_with(about)).unwrap();
    (found.weight, found.text.as_str())
}

#[test]
fn a_rate_before_steady_state_is_refused() {
    let (_, run, _folder) = run(&text(CUT_OFF), &["sim:samsung-951"]);
    let verdict = run.verdicts[0].as_ref().unwrap();
    let (weight, words) = reason(verdict, "steady writes");
    assert_eq!(weight, ReasonWeight::Missing, "{words}");
    assert!(words.contains("not measured: not steady: "), "{words}");
    let (weight, words) = reason(verdict, "short");
    assert_eq!(weight, ReasonWeight::Missing);
    assert!(words.contains("intervals are too few"), "{words}");
    // A step without the claim is not checked.
    assert_eq!(reason(verdict, "burst").0, ReasonWeight::For);
    // One warning per cell, with advice.
    let warned: Vec<_> = run.warnings.iter().filter(|w| w.code == "not-steady").collect();
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert!(warned[0].cell.as_ref().unwrap().ends_with("/steady"));
    assert!(warned[0].advice.contains("do not quote it as steady"));
    let cell = run.cells.iter().find(|c| c.plan.step == "steady").unwrap();
    let why = steady_state::not_steady_reason(&run, cell, 0).unwrap();
    assert!(warned[0].message.ends_with(&why), "{why}");
}

/// Reads of one thread; some take 3.5 s.
const STALLS: &str = r#"
[[step]]
id = "read"
title = "Read"
kind = "soak"
job = { rw = "randread", bs = "4k", size = "64m", runtime = "40s" }
[[verdict.rule]]
about = "score"
figure = "score_steadiness"
step = "read"
good = 5.0
bad = 1.0
advice = "stalls"
"#;

#[test]
fn intervals_without_completions_count() {
    let spikes: String =
        (1..=4).map(|n| format!(",fault=latency-spike@{}=3500ms", n * 50_000)).collect();
    let (_, run, _folder) = run(&text(STALLS), &[&format!("sim:samsung-951{spikes}")]);
    let part = &run.cells[0].drives[0];
    let seconds = part.measured_intervals();
    assert!((40..=44).contains(&seconds.len()), "{}", seconds.len());
    let silent = seconds.iter().filter(|s| s.iops() == 0.0).count();
    // Of each stall at least two whole seconds, and at most three.
    assert!((8..=12).contains(&silent), "{silent}");
    let apart =
        |pair: &[IntervalSample]| (pair[1].start_s() - pair[0].start_s() - 1.0).abs() < 1e-6;
    assert!(seconds.windows(2).all(apart));
    let mean = seconds.iter().map(|s| s.iops() * s.elapsed_s()).sum::<f64>() / 40.0;
    let result = part.result.as_ref().unwrap();
    assert!((mean / result.iops() - 1.0).abs() < 0.1, "{mean} {}", result.iops());
    let score = score::score_of_cell(part).unwrap();
    let first_stall = seconds.iter().position(|s| s.iops() == 0.0).unwrap();
    assert!(first_stall < seconds.len() - 1);
    assert!(
        score.score.min <= seconds.iter().rev().take(4).map(|s| s.iops()).fold(f64::MAX, f64::min)
    );
}

#[test]
fn an_unfinished_cell_is_not_evaluated() {
    let (_, mut run, _folder) = run(&text(STALLS), &["sim:samsung-951"]);
    let rules = format!("[[rule]]{}", STALLS.split("[[verdict.rule]]").nth(1).unwrap());
    let rules = VerdictRules::parse("mine", &rules).unwrap();
    let whole = evaluate(&rules, &VerdictSubject::new(&run, 0));
    assert_eq!(whole.result, VerdictResult::Recommended, "{whole:?}");
    run.cells[0].state = CellState::Unfinished;
    let cut_off = evaluate(&rules, &VerdictSubject::new(&run, 0));
    assert_ne!(cut_off.result, VerdictResult::Recommended, "{cut_off:?}");
    assert_eq!(cut_off.reasons[0].weight, ReasonWeight::Missing);
}
