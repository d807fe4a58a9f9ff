//! Policies: own rules and facts, and their scope.

use crate::common;

use assay_store::model::{CellResult, TelemetryRecord, Verdict, VerdictResult};
use assay_suite::schema::VerdictRules;
use assay_suite::verdict::{Basis, VerdictSubject, evaluate, evaluate_by};

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
    let subject = VerdictSubject::new(&run, 0);
    let by = |policy: &str| evaluate(&VerdictRules::parse("mine", policy).unwrap(), &subject);
    let cheap = by(POLICY);
    assert_eq!(abouts(&cheap), ["reads", "endurance, cheap"]);
    assert_eq!(cheap.result, VerdictResult::Recommended);
    assert!(cheap.reasons[1].text.contains("75 TB written rated (Budget; a data sheet)"));
    // Other rules apply in another price class.
    let dear =
        by(&POLICY
            .replace("price_class = \"Budget\"\nsource", "price_class = \"high end\"\nsource"));
    assert_eq!(abouts(&dear), ["reads", "endurance, dear"]);
    assert_eq!(dear.result, VerdictResult::NotRecommended);
    assert!(dear.reasons[1].text.ends_with("rated for few writes at its price"));
    // A drive without facts has no price class: rules of a class do not apply.
    let unknown = by(&POLICY.replace("drive = \"samsung-951\"", "drive = \"another\""));
    assert_eq!(abouts(&unknown), ["reads"]);
    // A rule about a missing fact counts as not measured.
    let for_all = POLICY
        .replace("drive = \"samsung-951\"", "drive = \"another\"")
        .replace("price_class = \"Budget\"\nfigure", "figure");
    let for_all = by(&for_all);
    assert!(for_all.reasons[1].text.ends_with("not measured"), "{for_all:?}");
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
    let known = evaluate(&rules, &VerdictSubject::new(&run, 0));
    assert_eq!(known.result, VerdictResult::Recommended, "{known:?}");
    // Only a step without a rule was measured: the error count is the only known figure.
    run.cells[0].plan.step = "another".to_owned();
    let errors_only = evaluate(&rules, &VerdictSubject::new(&run, 0));
    assert_eq!(errors_only.result, VerdictResult::Undecided, "{errors_only:?}");
    run.cells[0].drives[0].result = Some(CellResult::default());
    let nothing = evaluate(&rules, &VerdictSubject::new(&run, 0));
    assert_eq!(nothing.result, VerdictResult::Undecided, "{nothing:?}");
    assert!(nothing.reasons[1].text.ends_with("not measured"), "{nothing:?}");
    // A rule about errors alone rates nothing.
    let (head, _) = RULES.split_once("[[rule]]\nabout = \"errors\"").unwrap();
    let only = VerdictRules::parse("mine", &RULES.replace(head, "")).unwrap();
    assert_eq!(evaluate(&only, &VerdictSubject::new(&run, 0)).result, VerdictResult::Undecided);
    run.cells[0].drives[0].result.as_mut().unwrap().read.ios = 7;
    let verdict = evaluate(&only, &VerdictSubject::new(&run, 0));
    assert_eq!(verdict.result, VerdictResult::Undecided, "{verdict:?}");
    let why = &verdict.reasons[1].text;
    assert!(why.contains("no rule rates what was measured"), "{why}");
}

const RELATIVE: &str = r#"
[[rule]]
about = "reads"
figure = "best_iops"
step = "read"
rating = "random_read_iops"
advice = "slower than it should be"
"#;

/// Two drives of different speed: the slower one is rated by the faster one, and each by its data
/// sheet.
#[test]
fn rates_are_rated_against_other_drives_and_against_the_data_sheet() {
    let (_, run, _folder) = run(&text(READS), &["sim:samsung-951", "sim:crucial-mx300"]);
    let rules = VerdictRules::parse("mine", RELATIVE).unwrap();
    let runs = [run];
    let subjects = VerdictSubject::all(&runs);
    let by = |basis| -> Vec<Verdict> {
        let each = subjects.iter();
        each.map(|subject| evaluate_by(&rules, subject, basis)).collect()
    };
    let against_limits = by(Basis::Limits);
    assert!(against_limits.iter().all(|v| v.result == VerdictResult::Undecided));
    let against_drives = by(Basis::Drives(&subjects));
    let best = |v: &Verdict| v.reasons[0].text.contains("100 % of the best of these drives");
    assert_eq!(against_drives.iter().filter(|v| best(v)).count(), 1, "{against_drives:?}");
    // 4 KiB one at a time reach a few percent of what the data sheets state at depth 32.
    for verdict in by(Basis::Datasheet) {
        assert_eq!(verdict.result, VerdictResult::NotRecommended, "{verdict:?}");
        assert!(verdict.reasons[0].text.contains("of its data sheet ("), "{verdict:?}");
    }
    // A data sheet of one's own comes first, and with it the drive is as rated.
    let own = VerdictRules::parse_facts(
        "sheet",
        "[[facts]]\ndrive = \"samsung-951\"\nrated = { random_read_iops = 10 }\nsource = \"mine\"",
    );
    let mut rules = rules.clone();
    rules.facts = own.unwrap();
    let verdict = evaluate_by(&rules, &subjects[0], Basis::Datasheet);
    assert_eq!(verdict.result, VerdictResult::Recommended, "{verdict:?}");
    let alone = evaluate_by(&rules, &subjects[0], Basis::Drives(&subjects[..1]));
    assert_eq!(alone.result, VerdictResult::Undecided);
    assert!(alone.reasons[0].text.ends_with("no other drive to compare it with"));
}

/// The drive's own limits count whatever the rules are, and so does throttling.
#[test]
fn a_drive_over_its_own_temperature_limits_is_not_recommended_without_reserve() {
    const RULES: &str = r#"
[[rule]]
about = "reads"
figure = "best_iops"
step = "read"
good = 1.0
bad = 0.5
advice = "slow"
"#;
    let rules = VerdictRules::parse("mine", RULES).unwrap();
    let (_, run, _folder) = run(&text(READS), &["sim:samsung-951"]);
    let with = |readings: &[(f64, bool)]| {
        let mut run = run.clone();
        let drive = &mut run.manifest.drives[0];
        (drive.warning_c, drive.critical_c) = (Some(85), Some(95));
        let of = |&(celsius, throttled): &(f64, bool)| TelemetryRecord {
            temperature_c: Some(celsius),
            throttled: Some(throttled),
            ..TelemetryRecord::default()
        };
        run.cells[0].drives[0].telemetry = readings.iter().map(of).collect();
        evaluate(&rules, &VerdictSubject::new(&run, 0))
    };
    let cool = with(&[(84.9, false)]);
    assert_eq!(cool.result, VerdictResult::Recommended, "{cool:?}");
    assert_eq!(with(&[(85.0, false)]).result, VerdictResult::Conditionally);
    assert_eq!(with(&[(70.0, true)]).result, VerdictResult::Conditionally);
    let mut rare = vec![(60.0, false); 99];
    rare.push((60.0, true));
    assert_eq!(with(&rare).result, VerdictResult::Recommended);
    let hot = with(&[(98.0, true), (98.0, true)]);
    assert_eq!(hot.result, VerdictResult::NotRecommended, "{hot:?}");
    let texts: Vec<&str> = hot.reasons.iter().map(|r| r.text.as_str()).collect();
    assert!(texts[1].contains("98 degrees C") && texts[1].contains("critical limit of 95"));
    assert!(texts[2].contains("for 100 % of the measured time"), "{texts:?}");
}
