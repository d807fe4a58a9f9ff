//! Figures that are said to be steady: refused where the drive was not at rest. (One that was is in the end-to-end tests: it takes the whole hour.)
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use assay_conclude::rest;
use assay_store::model::{ReasonWeight, Verdict};

use common::{run, text};

/// A full drive's first seconds, which find room ready, and the same without a claim.
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
fn a_rate_that_is_cut_off_before_rest_is_no_steady_rate() {
    let (_, run, _folder) = run(&text(CUT_OFF), &["sim:samsung-951"]);
    let verdict = run.verdicts[0].as_ref().unwrap();
    let (weight, words) = reason(verdict, "steady writes");
    assert_eq!(weight, ReasonWeight::Missing, "{words}");
    assert!(words.contains("not measured: not steady: "), "{words}");
    let (weight, words) = reason(verdict, "short");
    assert_eq!(weight, ReasonWeight::Missing);
    assert!(words.contains("too few to tell"), "{words}");
    // Who claims nothing is taken at his word.
    assert_eq!(reason(verdict, "burst").0, ReasonWeight::For);
    // Warned of, once for each, with what to do.
    let warned: Vec<_> = run
        .warnings
        .iter()
        .filter(|w| w.code == "not-steady")
        .collect();
    assert_eq!(warned.len(), 2, "{warned:?}");
    assert!(warned[0].cell.as_ref().unwrap().ends_with("/steady"));
    assert!(warned[0].advice.contains("do not quote it as steady"));
    let cell = run.cells.iter().find(|c| c.plan.step == "steady").unwrap();
    let why = rest::objection(&run, cell, 0).unwrap();
    assert!(warned[0].message.ends_with(&why), "{why}");
}
