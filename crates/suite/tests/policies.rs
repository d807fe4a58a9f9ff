//! Policies: own rules and facts, and their scope.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use assay_store::model::{CellResult, Verdict, VerdictResult};
use assay_suite::schema::VerdictRules;
use assay_suite::verdict::{VerdictSubject, evaluate};

use common::{run, text};

const READS: &str = r#"
[[step]]
id = "read"
title = "Read"
kind = "measure"
job = { rw = "randread", bs = "4k", size = "64m", runtime = "20ms" }
"#;

const POLICY: &str = r#"
[[facts]]
drive = "samsung-951"
endurance_tb = 75
price_class = "Budget"
source = "a data sheet"
[[rule]]
about = "reads"
figure = "best_iops"
step = "read"
good = 1.0
bad = 0.5
advice = "slow"
[[rule]]
about = "endurance, cheap"
price_class = "Budget"
figure = "endurance_tb"
good = 70.0
bad = 30.0
advice = "wears out early"
[[rule]]
about = "endurance, dear"
price_class = "high end"
figure = "endurance_tb"
good = 200.0
bad = 100.0
advice = "rated for few writes at its price"
[[rule]]
about = "of a suite that was not run"
suite = "thermal"
step = "soak"
figure = "throttled_pct"
good = 5.0
bad = 50.0
lower_is_better = true
advice = "hot"
"#;

fn abouts(verdict: &Verdict) -> Vec<&str> {
    let reasons = verdict.reasons.iter();
    reasons.map(|r| r.text.split(':').next().unwrap()).collect()
}

#[test]
fn rules_follow_the_price_class_and_facts_change_the_verdict() {
    let (_, run, _folder) = run(&text(READS), &["sim:samsung-951"]);
    let subject = VerdictSubject::of(&run, 0);
    let by = |policy: &str| evaluate(&VerdictRules::parse("mine", policy).unwrap(), &subject);
    let cheap = by(POLICY);
    assert_eq!(abouts(&cheap), ["reads", "endurance, cheap"]);
    assert_eq!(cheap.result, VerdictResult::Recommended);
    assert!(
        cheap.reasons[1]
            .text
            .contains("75 TB written rated (Budget; a data sheet)")
    );
    // Other rules apply in another price class.
    let dear = by(&POLICY.replace(
        "price_class = \"Budget\"\nsource",
        "price_class = \"high end\"\nsource",
    ));
    assert_eq!(abouts(&dear), ["reads", "endurance, dear"]);
    assert_eq!(dear.result, VerdictResult::NotRecommended);
    assert!(
        dear.reasons[1]
            .text
            .ends_with("rated for few writes at its price")
    );
    // A drive without facts has no price class: rules of a class do not apply.
    let unknown = by(&POLICY.replace("drive = \"samsung-951\"", "drive = \"another\""));
    assert_eq!(abouts(&unknown), ["reads"]);
    // A rule about a missing fact counts as not measured.
    let for_all = POLICY
        .replace("drive = \"samsung-951\"", "drive = \"another\"")
        .replace("price_class = \"Budget\"\nfigure", "figure");
    let for_all = by(&for_all);
    assert!(
        for_all.reasons[1].text.ends_with("not measured"),
        "{for_all:?}"
    );
}

/// An unused drive has no errors; that alone does not recommend it.
#[test]
fn a_drive_with_errors_and_without_facts_is_not_recommended() {
    const RULES: &str = r#"
[[rule]]
about = "reads"
figure = "best_iops"
step = "read"
good = 1.0
bad = 0.5
advice = "slow"
[[rule]]
about = "errors"
figure = "errors"
good = 0.0
bad = 0.0
lower_is_better = true
advice = "do not trust it"
"#;
    let rules = VerdictRules::parse("mine", RULES).unwrap();
    let (_, mut run, _folder) = run(&text(READS), &["sim:samsung-951"]);
    let known = evaluate(&rules, &VerdictSubject::of(&run, 0));
    assert_eq!(known.result, VerdictResult::Recommended, "{known:?}");
    // Only a step without a rule was measured: the error count is the only known figure.
    run.cells[0].plan.step = "another".to_owned();
    let errors_only = evaluate(&rules, &VerdictSubject::of(&run, 0));
    assert_eq!(
        errors_only.result,
        VerdictResult::Undecided,
        "{errors_only:?}"
    );
    run.cells[0].drives[0].result = Some(CellResult::default());
    let nothing = evaluate(&rules, &VerdictSubject::of(&run, 0));
    assert_eq!(nothing.result, VerdictResult::Undecided, "{nothing:?}");
    assert!(
        nothing.reasons[1].text.ends_with("not measured"),
        "{nothing:?}"
    );
    // If the only rule is about errors, it decides.
    let (head, _) = RULES.split_once("[[rule]]\nabout = \"errors\"").unwrap();
    let only = VerdictRules::parse("mine", &RULES.replace(head, "")).unwrap();
    assert_eq!(
        evaluate(&only, &VerdictSubject::of(&run, 0)).result,
        VerdictResult::Undecided
    );
    run.cells[0].drives[0].result.as_mut().unwrap().read.ios = 7;
    assert_eq!(
        evaluate(&only, &VerdictSubject::of(&run, 0)).result,
        VerdictResult::Recommended
    );
}
