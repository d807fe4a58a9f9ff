//! Rounds of a step: rule of the steady state, tracking variable, limit.

use crate::common;

use assay_stats::SteadyRule;
use assay_store::model::RunEnd;
use assay_store::read::{CellRecord, CellState};
use assay_suite::expand::RoundCriterion;
use assay_suite::schema::TrackingVariable;

use common::{cells, plan, run, text};

const ROUNDS: &str = r#"
[[step]]
id = "r"
title = "Rounds"
kind = "measure"
view = "rounds"
rounds = { most = 8, track = { rwmixread = 0 } }
job = { rw = "randrw", bs = "4k", size = "1GiB", runtime = "50ms", interval = "10ms" }
matrix = { rwmixread = [100, 0] }
"#;

/// A drive with equal rounds is in steady state after the five rounds of SNIA's window.
#[test]
fn rounds_end_in_steady_state() {
    let (_, run, _folder) = run(&text(ROUNDS), &["null:"]);
    let cells = cells(&run, "r");
    assert_eq!(cells.len(), 16);
    let tracked = |c: &&&CellRecord| c.plan.round.as_ref().unwrap().tracked;
    assert_eq!(cells.iter().filter(tracked).count(), 8);
    let [steady] = run.steady.as_slice() else {
        panic!("{:?}", run.steady);
    };
    assert_eq!(steady.group, "null/r/rwmixread=0");
    // On a busy host the null target's rate may vary; the rounds must continue exactly until steady
    // state.
    let done = steady.values.len();
    for (i, cell) in cells.iter().enumerate() {
        if i < done * 2 {
            assert_eq!(cell.state, CellState::Finished, "{}", cell.plan.id);
        } else {
            let CellState::Skipped(why) = &cell.state else {
                panic!("{} is not needed", cell.plan.id);
            };
            assert!(why.contains(&format!("round {done}")), "{why}");
        }
    }
    assert!(steady.achieved || done == 8);
}

/// A fresh drive whose write cache fills during the rounds: no steady window.
#[test]
fn rounds_without_steady_state_are_reported() {
    let suite = ROUNDS
        .replace("[100, 0]", "[0]")
        .replace("most = 8", "most = 5, range_pct = 0.001, excursion_pct = 0.001")
        .replace("size = \"1GiB\"", "iodepth = 32");
    let (ending, run, _folder) = run(&text(&suite), &["sim:samsung-951"]);
    assert_eq!(ending.outcome, RunEnd::Complete);
    let steady = &run.steady[0];
    assert!(!steady.achieved);
    assert_eq!(steady.values.len(), 5);
    let why = steady.why.as_ref().unwrap();
    let warning = run.warnings.iter().find(|w| w.code == "not-steady").unwrap();
    assert!(warning.message.contains(why), "{}", warning.message);
}

/// The standards' suites take another rule and a dwell as parameters; a fio rule names its tracking
/// variable.
#[test]
fn the_rule_of_rounds_is_a_parameter_with_its_figure() {
    for (suite, of_suite) in [
        ("snia-iops", TrackingVariable::Iops),
        ("snia-throughput", TrackingVariable::MibPerS),
        ("snia-latency", TrackingVariable::MeanLatency),
        ("jesd219", TrackingVariable::Iops),
    ] {
        let rule = |set: &[(&str, &str)]| {
            let planned = plan(suite, &["sim:samsung-951"], set, 1.0).unwrap();
            let rules: Vec<RoundCriterion> =
                planned.cells.into_iter().filter_map(|c| c.rounds).collect();
            assert!(rules.iter().all(|r| *r == rules[0]), "{suite}");
            rules.into_iter().next().unwrap()
        };
        let usual = rule(&[]);
        assert_eq!((usual.rule, usual.dwell, usual.figure), (SteadyRule::default(), 0, of_suite));
        let fio = rule(&[("steady_rule", "bw:1%"), ("dwell", "2")]);
        assert_eq!((fio.dwell, fio.figure), (2, TrackingVariable::MibPerS), "{suite}");
        let words = fio.text();
        assert!(words.starts_with("fio") && words.contains("2 further rounds"), "{words}");
        assert_eq!(rule(&[("steady_rule", "iops_slope:0.3%")]).figure, TrackingVariable::Iops);
        let error = plan(suite, &["sim:samsung-951"], &[("steady_rule", "iops")], 1.0).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("not a steady-state rule") && error.contains("`snia`"), "{error}");
    }
}

/// The recorded tracking variable is the one that the rule names.
#[test]
fn the_tracking_variable_of_a_fio_rule_is_recorded() {
    let suite = ROUNDS
        .replace("[100, 0]", "[0]")
        .replace("most = 8", "most = 6, dwell = 1, rule = \"bw:50%\"");
    let (_, run, _folder) = run(&text(&suite), &["sim:samsung-951"]);
    let [steady] = run.steady.as_slice() else {
        panic!("{:?}", run.steady);
    };
    assert_eq!(steady.figure, "MiB/s");
    let result = cells(&run, "r")[0].drives[0].result.as_ref().unwrap();
    assert!((steady.values[0] - result.mib_per_s()).abs() < 1e-9);
}

/// Without a tracked combination, rounds would run to the limit without an evaluation.
#[test]
fn rounds_without_a_tracking_variable_are_refused() {
    for (suite, set, wanted) in [
        ("snia-iops", ("blocks", "8k,16k"), "bs=4k"),
        ("snia-latency", ("mixes", "100,65"), "rwmixread=0"),
    ] {
        let error = plan(suite, &["sim:samsung-951"], &[set], 1.0).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains("--set"), "{error}");
    }
    plan("snia-iops", &["sim:samsung-951"], &[("blocks", "4096,16k")], 1.0).unwrap();
}
